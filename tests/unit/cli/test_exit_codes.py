"""The command line as scripts see it: exit codes, one readable line, never a traceback, nothing half written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness import __version__
from harness.cli.app import run

ROOT = Path(__file__).parents[3]
BUNDLE = ROOT / "evidence" / "0.104.0" / "handled-failure.local-agent"


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """An evidence folder of one small bundle, without any trust."""
    folder = tmp_path / "evidence"
    shutil.copytree(BUNDLE, folder / "0.104.0" / BUNDLE.name)
    return folder


def accept(evidence: Path, reports: Path, *more: str) -> int:
    return run(["accept", "--evidence", str(evidence), "--reports", str(reports), "--at", "2026-11-30", *more])


def test_version_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"harness {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["accept", "--evidence", "not/there"], "no such evidence folder"),
        (["accept", "--release", "9.9.9"], "no evidence of release 9.9.9"),
        (["accept", "--at", "yesterday"], "is not a time"),
        (["accept", "--unknown"], "--unknown"),
        (["show", "F-0000000000"], "no finding"),
        (["verify", "not/there"], "no such bundle"),
        (["compare", "not/there"], "no such bundle"),
        (["project", "not-there.jsonl"], "no such session"),
        (["record", "--product", "0.104.0", "--driver", "telepathy"], "is no driver"),
        (["record", "--product", "not/a/binary"], "no program there"),
        (["authorize", str(BUNDLE), "--key", "not-there.pem", "--reason", "r"], "no such key file"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_wrong_command_line_is_usage(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    output = capsys.readouterr()
    assert says in output.err
    assert "Traceback" not in output.err


def test_unauthorized_evidence_is_insufficient_and_reported(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert accept(evidence, tmp_path / "reports", "--json") == 3
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["verdict"] == "insufficient"
    assert verdict["observations"][0]["authorization"] == "unauthorized"
    assert {path.name for path in (tmp_path / "reports").iterdir()} == {
        "report.html",
        "report.md",
        "verdict.json",
        "junit.xml",
        "ctrf.json",
    }


def test_one_changed_byte_is_tampered_and_outranks_the_rest(evidence: Path, tmp_path: Path) -> None:
    member = evidence / "0.104.0" / BUNDLE.name / "stimulus.json"
    content = bytearray(member.read_bytes())
    content[5] ^= 1
    member.write_bytes(content)
    assert accept(evidence, tmp_path / "reports") == 4
    assert run(["verify", str(evidence), "--evidence", str(evidence)]) == 4


def test_an_evidence_folder_without_a_release_is_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evidence").mkdir()
    assert accept(tmp_path / "evidence", tmp_path / "reports") == 2
    assert "no release has evidence" in capsys.readouterr().err
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("name", ["trust-policy.toml", "waivers.toml"])
def test_a_policy_or_waiver_file_with_unknown_members_writes_no_report(
    name: str, evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (evidence / name).write_text('schema = 1\nsurprise = "x"\n')
    assert accept(evidence, tmp_path / "reports") == 2
    assert name in capsys.readouterr().err
    assert not (tmp_path / "reports").exists()


def test_a_waiver_that_matches_nothing_keeps_its_reason_in_the_verdict(evidence: Path, tmp_path: Path) -> None:
    (evidence / "waivers.toml").write_text(
        """
        schema = 1
        [[waiver]]
        id = "W-1"
        requirement = "code-mode.total-calls"
        observation = "handled-failure.local-agent"
        label = "Total calls"
        owner = "nobody"
        reason = "none"
        issue = "none"
        expires = "2027-01-01T00:00:00Z"
        release = "0.104.0"
        """
    )
    assert accept(evidence, tmp_path / "reports") == 3
    verdict = json.loads((tmp_path / "reports" / "verdict.json").read_text())
    assert any("W-1" in reason and "matches no finding" in reason for reason in verdict["reasons"])


def test_the_whole_act_of_a_release_authority(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_KEY_PASSPHRASE", "correct horse")
    keys = tmp_path / "keys"
    assert run(["authority", "new", str(keys)]) == 0
    private = keys / "release-authority.pem"
    assert private.stat().st_mode & 0o777 == 0o600
    assert b"ENCRYPTED" in private.read_bytes()
    assert run(["authority", "new", str(keys)]) == 2, "a key must never be overwritten"
    public = (keys / "release-authority.pub.pem").read_text()
    (evidence / "trust-policy.toml").write_text(
        f'schema = 1\nthreshold = 1\n[[key]]\nname = "tester"\nrole = "authority"\npublic_key = """\n{public}"""\n'
    )
    bundle = str(evidence / "0.104.0" / BUNDLE.name)
    signing = [
        "authorize",
        bundle,
        "--key",
        str(private),
        "--reason",
        "reviewed",
        "--valid-from",
        "2026-11-01",
        "--yes",
    ]
    assert run(signing) == 0
    at = ["--evidence", str(evidence), "--at"]
    assert run(["verify", bundle, *at, "2026-12-01"]) == 0
    assert run(["verify", bundle, *at, "2026-10-31"]) == 3, "not yet valid"
    assert run(["verify", bundle, *at, "2028-01-01"]) == 3, "expired"
    capsys.readouterr()

    reports = tmp_path / "reports"
    assert accept(evidence, reports, "--attest", str(private)) == 1, "authorized, and the release disagrees"
    statement = ["verify", str(reports / "verdict.dsse.json"), "--evidence", str(evidence), "--key"]
    assert run([*statement, str(keys / "release-authority.pub.pem")]) == 0
    assert "the same" in capsys.readouterr().out
    (evidence / "waivers.toml").write_text("schema = 1\n")
    assert run([*statement, str(keys / "release-authority.pub.pem")]) == 4
    assert "waivers is not the one that was judged" in capsys.readouterr().out

    monkeypatch.setenv("HARNESS_KEY_PASSPHRASE", "wrong")
    assert run(signing) == 2
