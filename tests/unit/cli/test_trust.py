"""Signatures that count for nothing without anybody being told, and quiet signing that says too much or too little."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

from harness.cli import places
from harness.cli.app import run
from tests.support.authorities import entry, key_file, policy_text

ROOT = Path(__file__).parents[3]
RELEASE = "0.104.0"
NAMES = ("fatal-failure.local-agent", "handled-failure.local-agent")
NOTHING = "this signature will count for nothing"


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """Two original runs and nothing beside them."""
    folder = tmp_path / "evidence"
    for name in NAMES:
        shutil.copytree(ROOT / "evidence" / RELEASE / name, folder / RELEASE / name)
    return folder


def signing(evidence: Path, *more: str, owner: str = "ada") -> list[str]:
    bundles = [str(evidence / RELEASE / name) for name in NAMES]
    return ["authorize", *bundles, "--key", str(key_file(evidence.parent, owner)), "--reason", "seen", *more]


def write_policy(evidence: Path, text: str) -> None:
    (evidence / "trust-policy.toml").write_text(text, encoding="utf-8")


def envelopes(evidence: Path) -> list[Path]:
    folder = evidence / "authorizations"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def to_be_copied(warning: str) -> str:
    """What a warning says is to be written: everything below the advice."""
    return warning.partition("to that file:\n")[2] or warning.partition("into that file:\n")[2]


# Quiet


def test_quiet_signing_says_what_was_signed_and_nothing_else(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(evidence, policy_text(entry("ada")))
    assert run(signing(evidence, "--yes", "-q")) == 0
    printed = capsys.readouterr()
    (path,) = envelopes(evidence)
    assert [line.partition(" with ")[0] for line in printed.out.splitlines()] == [
        f"signed {RELEASE}/{name}" for name in NAMES
    ]
    assert all(line.endswith(f" findings: {path}") for line in printed.out.splitlines())
    assert printed.err == ""


@pytest.mark.parametrize(("answer", "signed"), [("y\n", 1), ("n\n", 0)])
def test_quiet_signing_still_asks_and_what_is_confirmed_is_seen(
    answer: str, signed: int, evidence: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_policy(evidence, policy_text(entry("ada")))
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    assert run(signing(evidence, "-q")) == 0
    before, asked, after = capsys.readouterr().out.partition("Sign 2 original runs with the key ")
    assert asked
    lines = before.splitlines()
    for name, line in zip(NAMES, lines, strict=False):
        digest = (evidence / RELEASE / name / "manifest.json.sha256").read_text().split()[0]
        assert line.startswith(f"{RELEASE}/{name} with ")
        assert line.endswith(f" findings, manifest sha256 {digest}")
    assert len(lines) == len(NAMES) + 1
    assert lines[-1].startswith("Valid from ")
    assert lines[-1].endswith("Reason: seen")
    assert len(envelopes(evidence)) == signed
    assert after.count(f"signed {RELEASE}/") == signed * len(NAMES)
    assert after.count("Nothing was signed.") == 1 - signed


def test_a_clock_that_is_far_off_is_a_problem_that_quiet_tells(
    evidence: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_policy(evidence, policy_text(entry("ada")))
    monkeypatch.setattr(places, "parse_time", lambda text: text or "1970-01-01T00:00:00Z")
    assert run(signing(evidence, "--yes", "-q", "--expires", "1971-01-01T00:00:00Z")) == 0
    printed = capsys.readouterr()
    assert printed.err.count("is the clock right?") == len(NAMES)
    assert "is the clock right?" not in printed.out


def test_help_says_what_quiet_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["authorize", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "With --quiet a run is one line" in text
    assert "Without --yes it always asks" in text


# Keys that the policy does not count


def test_a_key_that_the_policy_does_not_name_is_told_what_to_add(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(evidence, policy_text(entry("bob")))
    assert run(signing(evidence, "--yes", "-q")) == 0
    warned = capsys.readouterr().err
    assert warned.count(NOTHING) == 1
    assert str(evidence / "trust-policy.toml") in warned
    assert len(envelopes(evidence)) == 1, "it is no error"
    assert run(["verify", str(evidence), "-q"]) == 3
    with (evidence / "trust-policy.toml").open("a", encoding="utf-8") as stream:
        stream.write(to_be_copied(warned))
    assert run(["verify", str(evidence)]) == 0
    assert "2 authorized" in capsys.readouterr().out


def test_without_a_policy_a_whole_one_is_told(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(signing(evidence, "--yes")) == 0
    warned = capsys.readouterr().err
    assert warned.startswith(f"harness: warning: there is no {evidence}/trust-policy.toml")
    assert warned.count("warning") == 1
    write_policy(evidence, to_be_copied(warned))
    assert run(["verify", str(evidence)]) == 0
    assert "2 authorized" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"role": "recorder"}, "has the role recorder"),
        ({"revoked": "2026-01-01T00:00:00Z"}, "is revoked since 2026-01-01T00:00:00Z"),
        ({"valid_until": "2026-01-01T00:00:00Z"}, "was valid until 2026-01-01T00:00:00Z"),
    ],
)
def test_a_key_that_the_policy_names_and_does_not_count_is_told_why(
    members: dict[str, str], says: str, evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(evidence, policy_text(entry("bob"), entry("ada", **members)))
    assert run(signing(evidence, "--yes")) == 0
    warned = capsys.readouterr().err
    assert f"(ada) {says}" in warned
    assert NOTHING in warned
    assert run(signing(evidence, "--yes", owner="bob")) == 0
    assert capsys.readouterr().err == ""


def test_a_further_signature_that_counts_for_nothing_is_told_so(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(evidence, policy_text(entry("ada")))
    assert run(signing(evidence, "--yes")) == 0
    assert capsys.readouterr().err == ""
    (path,) = envelopes(evidence)
    assert run(["authorize", "--cosign", str(path), "--yes", "--key", str(key_file(evidence.parent, "eve"))]) == 0
    assert capsys.readouterr().err.count(NOTHING) == 1


def test_a_policy_that_cannot_be_read_keeps_nobody_from_signing(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(evidence, "schema = ")
    assert run(signing(evidence, "--yes")) == 0
    assert "is no trust policy" in capsys.readouterr().err
    assert len(envelopes(evidence)) == 1


# Evidence with signatures and without a policy


@pytest.mark.parametrize("named", ["evidence", "release", "bundle", "option"])
@pytest.mark.parametrize("more", [[], ["-q"], ["--json"]])
def test_verify_says_once_that_there_is_no_policy(
    more: list[str], named: str, evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (evidence / "authorizations").mkdir()
    (evidence / "authorizations" / "broken.dsse.json").write_bytes(b"{}")
    places_of = {
        "evidence": [str(evidence)],
        "release": [str(evidence / RELEASE)],
        "bundle": [str(evidence / RELEASE / NAMES[0])],
        "option": ["--evidence", str(evidence)],
    }
    assert run(["verify", *places_of[named], *more]) == 3
    printed = capsys.readouterr()
    missing = evidence / "trust-policy.toml"
    assert printed.err.count(f"there is no {missing}, so that no signature counts") == 1
    assert printed.err.count(f"write {missing}") == 1
    assert "harness authorize" not in printed.out
    if "--json" in more:
        assert all(isinstance(json.loads(line), dict) for line in printed.out.splitlines())


def test_a_policy_or_no_signature_is_nothing_to_warn_of(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--evidence", str(evidence)]) == 3
    assert capsys.readouterr().err == ""
    write_policy(evidence, policy_text(entry("ada")))
    assert run(signing(evidence, "--yes")) == 0
    assert run(["verify", str(evidence)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("more", [[], ["-q"], ["--json"], ["-v"]])
def test_the_main_job_says_once_that_there_is_no_policy(
    more: list[str], evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (evidence / "authorizations").mkdir()
    (evidence / "authorizations" / "broken.dsse.json").write_bytes(b"{}")
    judge = ["accept", "--evidence", str(evidence), "--reports", str(tmp_path / "reports")]
    assert run([*judge, *more]) == 3
    printed = capsys.readouterr()
    missing = evidence / "trust-policy.toml"
    said = printed.err if "-q" in more or "--json" in more else printed.out
    assert said.count(f"there is no {missing}, so that no signature counts") == 1
    assert said.count(f"write {missing}") == 1
    assert (printed.out + printed.err).count(f"there is no {missing}") == 1
    if "--json" in more:
        assert json.loads(printed.out)["verdict"] == "insufficient"
    write_policy(evidence, policy_text(entry("ada")))
    assert run([*judge, *more]) == 3
    printed = capsys.readouterr()
    assert str(missing) not in printed.out + printed.err
