"""`harness authorize --cosign`: a further authority signs what the first one signed, if it can see all of it itself."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authorize import envelope, statement
from harness.bundle import read_bundle
from harness.cli import places
from harness.cli.app import run
from harness.evidence_folder import read_trust
from harness.model.manifest import Recorder
from tests.support import bundles
from tests.support.authorities import entry, key, key_file, policy_text, print_of
from tests.support.bundles import files

ROOT = Path(__file__).parents[3]
BUNDLE = ROOT / "evidence" / "0.104.0" / "handled-failure.local-agent"


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """One original run, two authorities of which both have to sign, and what ada has signed."""
    folder = tmp_path / "evidence"
    shutil.copytree(BUNDLE, folder / "0.104.0" / BUNDLE.name)
    (folder / "trust-policy.toml").write_text(policy_text(entry("ada"), entry("bob"), threshold=2))
    assert run(["authorize", str(folder / "0.104.0" / BUNDLE.name), *signing(tmp_path, "ada"), "--reason", "r"]) == 0
    return folder


def signing(folder: Path, owner: str) -> list[str]:
    return ["--key", str(key_file(folder, owner)), "--yes"]


def envelope_of(evidence: Path) -> Path:
    (path,) = (evidence / "authorizations").iterdir()
    return path


def status(evidence: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    capsys.readouterr()
    run(["verify", str(evidence / "0.104.0"), "--evidence", str(evidence), "--json"])
    (line,) = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    return said["status"], "; ".join(said["reasons"])


def test_the_second_signature_reaches_the_threshold(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(evidence, capsys) == ("below_threshold", "1 of 2 signatures count")
    path = envelope_of(evidence)
    before = envelope.decode(path.read_bytes(), where="")
    assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "bob")]) == 0
    printed = capsys.readouterr().out
    for part in (
        BUNDLE.name,
        "findings",
        "Reason: r",
        "Signed so far: ada",
        "wants 2",
        f"signed 1 original run: {path}",
    ):
        assert part in printed
    after = envelope.decode(path.read_bytes(), where="")
    assert (after.payload, after.payload_type) == (before.payload, before.payload_type)
    assert after.signatures[:1] == before.signatures
    assert [signature.keyid for signature in after.signatures] == [print_of("ada"), print_of("bob")]
    assert envelope_of(evidence) == path, "the name stays"
    found, detail = status(evidence, capsys)
    assert (found, detail.partition(" until")[0]) == ("authorized", "by ada, bob")


def test_a_signature_in_a_file_of_its_own_counts_as_well_and_collides_with_none(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = envelope_of(evidence), evidence / "authorizations"
    assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "bob"), "--out", str(folder), "--json"]) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines()[-1:])
    assert (told["key"], told["signed"][0]["bundle"]) == (print_of("bob"), f"0.104.0/{BUNDLE.name}")
    names = sorted(item.name for item in folder.iterdir())
    assert len(names) == 2
    assert names[0].rsplit("-", 1)[0] == names[1].rsplit("-", 1)[0], "both are of one statement"
    assert status(evidence, capsys)[0] == "authorized"
    assert len(read_trust(evidence).claims) == 1


def test_signing_the_same_again_changes_nothing_and_another_envelope_is_never_overwritten(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = envelope_of(evidence)
    before = files(evidence)
    assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "ada")]) == 2
    assert "has signed it already" in capsys.readouterr().err
    assert files(evidence) == before
    taken = path.with_name(path.name.replace(print_of("ada")[:8], print_of("bob")[:8]))
    taken.write_bytes(b"something else")
    before = files(evidence)
    command = ["authorize", "--cosign", str(path), *signing(tmp_path, "bob"), "--out", str(path.parent)]
    assert run(command) == 2
    assert "none is overwritten" in capsys.readouterr().err
    assert files(evidence) == before


def damaged(evidence: Path) -> None:
    (evidence / "0.104.0" / BUNDLE.name / "session.jsonl.gz").write_bytes(b"")


def gone(evidence: Path) -> None:
    shutil.rmtree(evidence / "0.104.0" / BUNDLE.name)


def another(evidence: Path) -> None:
    """A whole run, and not the one that was signed."""
    gone(evidence)
    shutil.copytree(BUNDLE.with_name("fatal-failure.local-agent"), evidence / "0.104.0" / BUNDLE.name)


@pytest.mark.parametrize(
    ("change", "says"),
    [(damaged, "session.jsonl.gz"), (gone, BUNDLE.name), (another, "is not the one that was signed")],
)
def test_what_is_no_more_as_it_was_signed_is_not_signed_again(
    change: Callable[[Path], None], says: str, evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(evidence)
    path = envelope_of(evidence)
    before = path.read_bytes()
    assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "bob")]) == 4
    assert says in capsys.readouterr().err
    assert path.read_bytes() == before


def made(evidence: Path, **changes: object) -> Path:
    """An envelope of ada's with other words, over the run that is there."""
    path = envelope_of(evidence)
    said = json.loads(envelope.verify(envelope.decode(path.read_bytes(), where=""), [], where="").payload)
    said["predicate"].update({name: value for name, value in changes.items() if name != "subject"})
    said["subject"][0].update({"name": changes["subject"]} if "subject" in changes else {})
    payload = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    path.write_bytes(envelope.sign(payload, [key("ada")]))
    return path


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"productSha256": ["0" * 64]}, (2, "is of the binary")),
        ({"classes": []}, (4, "another release or class")),
        ({"release": "0.100.0"}, (4, "another release or class")),
        ({"validFrom": "2020-01-01T00:00:00Z", "expires": "2020-02-01T00:00:00Z"}, (2, "expired at 2020-02-01")),
        ({"subject": "../0.104.0/x/manifest.json"}, (4, "names no run")),
        ({"subject": "0.104.0/../x/manifest.json"}, (4, "names no run")),
        ({"subject": "0.104.0"}, (4, "names no run")),
    ],
)
def test_a_statement_that_is_not_true_of_its_run_gets_no_second_signature(
    changes: dict[str, object],
    refused: tuple[int, str],
    evidence: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = made(evidence, **changes)
    before = path.read_bytes()
    assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "bob")]) == refused[0]
    assert refused[1] in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"", b"{}", envelope.sign(b"{}", [key("ada")]), envelope.sign(b"{}", [key("ada")], "text/plain")]
)
def test_what_is_no_authorization_is_not_signed(
    content: bytes, evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = envelope_of(evidence)
    path.write_bytes(content)
    assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "bob")]) == 4
    assert str(path) in capsys.readouterr().err
    assert path.read_bytes() == content


def test_without_a_yes_nothing_is_signed(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = envelope_of(evidence)
    before = path.read_bytes()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run(["authorize", "--cosign", str(path), "--key", str(key_file(tmp_path, "bob"))]) == 130
    assert path.read_bytes() == before
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "whose signature"),
        (["--key", "K", "--json"], "needs --yes"),
        (["--key", "K", "--yes"], "no bundle is named"),
        (["--key", "K", "--cosign", "E", "--reason", "mine"], "the envelope says all that is signed"),
        (["--key", "K", "--cosign", "not-there.dsse.json"], "no such envelope"),
    ],
)
def test_half_a_command_line_is_a_mistake(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = key_file(tmp_path, "bob")
    assert run(["authorize", *(str(path) if item == "K" else item for item in arguments)]) == 2
    assert says in capsys.readouterr().err


def test_whoever_recorded_a_run_cannot_cosign_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bundle is imported, so that no scenario makes it stale before its recorder is looked at."""
    folder = tmp_path / "evidence"
    written = bundles.write(
        folder / "0.104.0" / "reads-notes.local-agent",
        scenario="",
        recorder=Recorder(name="import", version="0.1.0", foreign=True, key=print_of("bob")),
    )
    digest = (folder / "0.104.0" / written.observation / "manifest.json.sha256").read_text().split()[0]
    subject = statement.Subject(name=f"0.104.0/{written.observation}/manifest.json", digest={"sha256": digest})
    predicate = statement.Authorizes(
        product="magi-code",
        release="0.104.0",
        product_sha256=(bundles.PRODUCT.sha256,),
        classes=written.classes,
        valid_from="2026-11-01T00:00:00Z",
        expires="2100-01-01T00:00:00Z",
        reason="r",
    )
    path = folder / "authorizations" / "a.dsse.json"
    path.parent.mkdir()
    path.write_bytes(envelope.sign(statement.encode((subject,), predicate), [key("ada")]))
    assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "bob")]) == 2
    assert "was recorded with this very key" in capsys.readouterr().err


def test_a_clock_that_is_far_off_is_pointed_out_to_whoever_signs(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = read_bundle(evidence / "0.104.0" / BUNDLE.name).manifest.recorded_at
    path = envelope_of(evidence)
    for now, said in (("1970-01-01T00:00:00Z", True), (recorded, False)):
        monkeypatch.setattr(places, "parse_time", lambda _, now=now: now)
        capsys.readouterr()
        assert run(["authorize", "--cosign", str(path), *signing(tmp_path, "bob"), "--out", str(tmp_path / now)]) == 0
        printed = capsys.readouterr().out
        assert f"recorded  {recorded} by card-acceptance-harness" in printed
        assert ("is the clock right?" in printed) is said
