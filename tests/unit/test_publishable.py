"""What can never be evidence is refused by whoever records, imports or signs it, and nothing is left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from harness import recording
from harness.bundle import prompt_text, read_bundle, write_bundle
from harness.cli.app import run
from harness.importing import Provenance, import_captures, product
from harness.model.errors import EvidenceError
from harness.model.manifest import Product
from harness.model.stimulus import canonical, digest
from harness.publishable import not_publishable, not_publishable_in
from harness.record.recorder import RecordedRun
from harness.scenario.compile import compile_feature
from tests.support import bundles
from tests.support.authorities import key
from tests.support.bundles import files
from tests.support.foreign import files_of, lay

PROMPT = " ".join(f"{first}{second}ing" for first in "abcdefgh" for second in "klmnopqr")
"""Sixty-four words that nobody has written before."""
REQUEST = json.dumps({"messages": [{"role": "system", "content": PROMPT}]}).encode()
FEATURE = 'Feature: F\n  Scenario: One\n    Given the model answers "A"\n    When the prompt "Go." is run\n'


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt is one of a release that was recorded before."""
    monkeypatch.setattr(prompt_text, "known", lambda: prompt_text.digests(PROMPT.encode()))


def synthetic(name: str, content: bytes) -> bytes:
    """The same session, as a made one would say it."""
    identity = json.loads(content.splitlines()[0])["session_id"]
    assert identity.encode() in content, name
    return content.replace(identity.encode(), f"synthetic-{identity}".encode())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("session.jsonl", b'{"session_id":"synthetic-1"}'),
        ("session.jsonl", b'{"session_id" : "synthetic-1"}'),
        ("local-agent.live.jsonl", b'{"line":"{\\"session_id\\":\\"synthetic-1\\"}"}'),
        ("local-agent.live.jsonl", b'{"line":"{\\"x\\":\\"{\\\\\\"session_id\\\\\\":\\\\\\"synthetic-1\\\\\\"}\\"}"}'),
        ("children/synthetic-1.jsonl", b"{}"),
    ],
)
def test_a_synthetic_session_is_recognized_wherever_its_id_stands(name: str, content: bytes) -> None:
    (hit,) = not_publishable([(name, content)])
    assert hit == f"{name}: a synthetic session, which can never be an original run"


@pytest.mark.parametrize("content", [b'{"text":"a synthetic-looking word"}', b'{"session_id":"1-synthetic-"}', b""])
def test_the_word_alone_makes_nothing_synthetic(content: bytes) -> None:
    assert not_publishable([("session.jsonl", content)]) == ()


def import_into(folder: Path, captures: Path) -> str:
    outcome = import_captures(captures, Provenance(product=product("0.104.0")), out=folder)
    assert outcome.imported == ()
    assert not folder.exists() or files(folder) == {}
    (refused,) = outcome.refused
    assert refused.exit_code == 4
    return refused.reason


def made_session(captures: Path) -> None:
    for name, content in files_of("mixed-script").items():
        if name.endswith(".jsonl"):
            identity = json.loads(files_of("mixed-script")["session.jsonl"].splitlines()[0])["session_id"]
            (captures / name).write_bytes(content.replace(identity.encode(), f"synthetic-{identity}".encode()))


def with_prompt(captures: Path) -> None:
    session = captures / "session.jsonl"
    lines = session.read_bytes().splitlines()
    record = json.loads(lines[0])
    record["payload"] = {**record.get("payload", {}), "note": PROMPT}
    session.write_bytes(b"\n".join([json.dumps(record).encode(), *lines[1:]]) + b"\n")


def with_marker(captures: Path) -> None:
    (captures / "SYNTHETIC.txt").write_text("made")


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("change", "says"), [(made_session, "synthetic"), (with_prompt, "prompt text"), (with_marker, "synthetic")]
)
def test_an_import_is_refused_and_leaves_nothing(change: Callable[[Path], None], says: str, tmp_path: Path) -> None:
    captures = lay(tmp_path / "captures" / "mixed-script")
    change(captures)
    reason = import_into(tmp_path / "evidence", tmp_path / "captures")
    assert says in reason
    assert "akingly" not in reason
    assert PROMPT[:20] not in reason


def test_a_folder_that_is_called_synthetic_is_refused(tmp_path: Path) -> None:
    lay(tmp_path / "captures" / "synthetic-1")
    assert "synthetic" in import_into(tmp_path / "evidence", tmp_path / "captures")


def recorded(members: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, out: Path) -> Path:
    """Record one scenario; what the product did is made up."""
    (scenario,) = compile_feature(FEATURE, name="f.feature")

    def record(stimulus: object, *, watch: Callable[[bytes], None], observation: str, **_: object) -> RecordedRun:
        watch(REQUEST)
        assert stimulus == scenario.stimulus
        return RecordedRun(
            observation=observation,
            scenario=scenario.id,
            classes=(),
            release="0.104.0",
            driver="local-agent",
            stimulus_sha256=digest(scenario.stimulus),
            products=(Product(version="0.104.0", sha256="0" * 64),),
            recorded_at="2026-11-30T12:00:00Z",
            workspace="/srv/run",
            session="session.jsonl",
            children=(),
            captures=(),
            members={"stimulus.json": canonical(scenario.stimulus), **members},
        )

    monkeypatch.setattr(recording, "record", record)
    task = recording.Task(
        scenario=scenario, driver="local-agent", product=Path("p"), release="0.104.0", root=Path("r"), out=out
    )
    recording.record_task(task)
    return task.folder


def test_a_recording_without_any_of_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = recorded({"session.jsonl": b'{"session_id":"s"}\n'}, monkeypatch, tmp_path)
    assert not_publishable_in(read_bundle(folder)) == ()


@pytest.mark.parametrize(
    ("session", "says"),
    [
        (b'{"session_id":"synthetic-1"}\n', "synthetic"),
        (json.dumps({"session_id": "s", "text": PROMPT}).encode() + b"\n", "prompt text"),
        (b'{"session_id":"s","text":"-----BEGIN PRIVATE KEY-----"}\n', "private key"),
    ],
)
def test_a_recording_is_refused_by_what_the_product_sent_whatever_its_release(
    session: bytes, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EvidenceError, match=says):
        recorded({"session.jsonl": session}, monkeypatch, tmp_path)
    assert files(tmp_path) == {}


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("session", "says"),
    [
        (b'{"session_id":"synthetic-1"}\n', "synthetic"),
        (json.dumps({"session_id": "s", "text": PROMPT}).encode() + b"\n", "prompt text"),
    ],
)
def test_an_authority_cannot_sign_it(
    session: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bundle verifies: it was made by somebody who does not use this harness."""
    folder = tmp_path / "evidence" / "0.104.0" / "reads-notes.local-agent"
    manifest = bundles.manifest(scenario="")
    write_bundle(folder, manifest, {**bundles.MEMBERS, "session.jsonl": session})
    pem = tmp_path / "k.pem"
    pem.write_bytes(
        key("ada").private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    assert run(["authorize", str(folder), "--key", str(pem), "--reason", "r", "--yes"]) == 4
    printed = capsys.readouterr()
    assert says in printed.err
    assert PROMPT[:20] not in printed.err
    assert not (tmp_path / "evidence" / "authorizations").exists()


def test_every_bundled_recording_may_be_published() -> None:
    evidence = Path(__file__).parents[2] / "evidence" / "0.104.0"
    for folder in sorted(evidence.iterdir())[:6]:
        assert not_publishable_in(read_bundle(folder)) == (), folder.name
