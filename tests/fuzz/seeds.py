"""Writes the inputs that fuzzing begins with: ``python -m tests.fuzz.seeds``. All are made, none comes from a product.

They are named ``valid-…`` and every reader takes its own; what else lies in a corpus once broke a reader.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path

from harness import selfcheck_file, stability_file
from harness.authorize import attestation
from harness.bundle.layout import CHECKSUM
from harness.model.stability import STABILITY_SCHEMA, Stability
from harness.model.stimulus import canonical
from harness.model.verdict import Acceptance, Release, Verdict
from harness.sweep.state import State
from tests.fuzz.containers import pack
from tests.fuzz.engine import CORPUS
from tests.support import bundles, runs, selfchecks, stabilities, sweeps, wire_frames
from tests.support import mission_control as screens
from tests.support.authorities import AT, entry, payload, pem, policy_text, signed

Seed = tuple[str, str, bytes]
"""Target, name and content."""

SCRIPT = runs.Script(
    calls=(runs.Did("read", True), runs.Did("read", False), runs.Did("write", None, ("out.txt",), ("careful",))),
    success=True,
)
BATCH = runs.Batch(
    tasks=(
        runs.Task("success", (runs.Did("write", True, ("a",)),), ((5, 2, 1),), "general"),
        runs.Task("failure"),
        runs.Task("cancelled", (runs.Did("bash", None),), (None,)),
    )
)
SCENARIO = """@recovered-failures.handled
Feature: Recovery
  Background:
    Given the workspace file "a.txt" holds
      \"\"\"
      alpha
      \"\"\"

  Scenario: Handled failure
    Given the model runs a script meant to "Fall back"
      \"\"\"
      return {success: tools.call("read", {intent: "Read", paths: ["a.txt"]}).success};
      \"\"\"
    And the model answers "Done."
    When the prompt "Read it." is run
    Then the facts of the script are
      | label                | value          |
      | Script outcome       | success        |
      | Elapsed milliseconds | <milliseconds> |
"""
PAGE = """# Garden facts
Beds are counted once. Seeds are not; packets are.

## Beds
| Label | Meaning |
| --- | --- |
| `Rows` | Planted rows; null before planting. |
"""
KNOWN = """[[known]]
observations = ["0.104.0/a.local-agent"]
card = "turn1/call1"
label = "Running calls"
columns = ["local-agent-reopen"]
reason = "why"
owner = "who"
expires = "2027-05-31T00:00:00Z"
"""
WAIVERS = """schema = 1
[[waiver]]
id = "W-1"
requirement = "code-mode.script-outcome"
observation = "a.local-agent"
label = "Script outcome"
release = "0.104.0"
owner = "who"
reason = "why"
issue = "where"
expires = "2027-01-31T00:00:00Z"
"""
TERMINAL = (
    "\x1b[?1049h\x1b[2J\x1b[1;1H\x1b[1;31mCode Mode\x1b[0m • 漢字 e\u0301 ❤\ufe0f\r\n\x1b[3;4r\x1b[2L\x1b[4hab\x1b[4l"
    "\x1b[2;3H\x1b[38;2;1;2;3mx\x1b[48;5;7my\x1b[m\x1b]0;title\x07\x1b[?25l\x1b[6n\x1b[?1049l┌ tree ─┐"
)


def _saved(saved: runs.Saved) -> dict[str, bytes]:
    return {
        "session.jsonl": saved.session.bytes(),
        **{child.session_id: child.bytes() for child in saved.children},
    }


def _bundle_members() -> dict[str, bytes]:
    files = _saved(runs.saved_batch(BATCH))
    session = files.pop("session.jsonl")
    return {
        "session.jsonl": session,
        **{f"children/{name}.jsonl": content for name, content in files.items()},
        "local-agent.live.jsonl": wire_frames.batch_run().encode(),
        "local-agent.reopen.jsonl": wire_frames.history().encode(),
        "mission-control.reopen.cast": _cast(),
        "workspace.after.json": LISTING,
        "workspace.reopened.json": LISTING,
        "model.jsonl": LOG,
    }


_REQUEST = {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": [{"text": "Do it."}]}]}
LISTING = b'[{"path":"a.txt","size":6,"sha256":"' + b"0" * 64 + b'"}]'
LOG = b'{"at":1790000000.5,"lane":"main","fault":""}\n'
METADATA = '{"code_mode_execution":{"inner_calls":3,"successful":2,"warnings":["é"],"changed_path_count":null}}'


def _cast() -> bytes:
    card = screens.title("Code Mode • 3 calls • 13 ms")
    shown = screens.transcript([card, *screens.box(["⚠ Script completed · 2 succeeded · 1 failed"])], height=8)
    detail = screens.window(
        ["Tool • code_mode • c", "Status: SUCCESS", "▾ Metadata / Params"], screens.wrap(METADATA, 40)
    )
    cast = screens.cast(("card", shown), ("detail turn1/call1", detail), columns=80, rows=24)
    header, _, rest = cast.partition(b"\n")
    return json.dumps({**json.loads(header), "timestamp": 1790000000}).encode() + b"\n" + rest


def _archives() -> Iterable[Seed]:
    saved = _saved(runs.saved_batch(BATCH))
    files = {
        b"sessions/root-session.jsonl": saved.pop("session.jsonl"),
        **{f"sessions/subagents/{name}.jsonl".encode(): content for name, content in saved.items()},
    }
    with tempfile.TemporaryDirectory() as name:
        for kind, make in sweeps.KINDS.items():
            path = make(Path(name) / kind, files)
            if path.is_file():
                yield "sweep-archive", f"valid-{kind}", path.read_bytes()
        state = Path(name) / "state"
        with State(state, None, resume=False):
            pass
        with sqlite3.connect(state) as store:
            store.execute("PRAGMA journal_mode = DELETE")
        yield "sweep-state", "valid-empty", state.read_bytes()
    yield "sweep-folder", "valid-batch", pack({name.decode(): content for name, content in files.items()})
    yield "sweep-folder", "valid-packed", pack({"s.jsonl.gz": gzip.compress(files[b"sessions/root-session.jsonl"])})


def _bundle_folder() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "bundle"
        bundles.write(folder)
        return pack({name: content for name, content in bundles.files(folder).items() if name != CHECKSUM})


def _frames(capture: bytes) -> list[bytes]:
    return [json.loads(line)["line"].encode() for line in capture.splitlines()]


def _verdict() -> bytes:
    acceptance = Acceptance(
        verdict=Verdict.REJECTED,
        release=Release(name="magi-code", version="0.104.0", sha256=("a" * 64,)),
        at=AT,
        harness="0.1.0",
        reasons=("because",),
        observations=(),
        findings=(),
        missing=(),
        damaged=(),
        requirements=(),
    )
    inputs = attestation.Inputs(
        manifests={"0.104.0/a": "1" * 64}, authorizations={}, features={"f": "4" * 64}, policy="5" * 64, waivers=""
    )
    return attestation.verdict_statement(acceptance, inputs, "b" * 64)


def seeds() -> Iterable[Seed]:
    """Every input."""
    live, saved = wire_frames.batch_run().encode(), wire_frames.history().encode()
    yield "capture", "valid-live", live
    yield "capture", "valid-saved", saved
    frames = _frames(live)
    yield "request", "valid-initialize", frames[0]
    for number, frame in enumerate(
        sorted({json.loads(frame).get("event") or "answer": frame for frame in frames}.items())
    ):
        yield "frame", f"valid-{number}-{frame[0]}", frame[1]
    card = wire_frames.batch_run().cards("b")[-1]
    yield "card", "valid-batch", wire_frames.compact(card).encode()
    yield "session", "valid-script", runs.saved_script(SCRIPT).session.bytes()
    yield "session", "valid-batch", runs.saved_batch(BATCH).session.bytes()
    yield "projection", "valid-script", pack(_saved(runs.saved_script(SCRIPT)))
    yield "projection", "valid-batch", pack(_saved(runs.saved_batch(BATCH)))
    yield "manifest", "valid-small", canonical(bundles.manifest()) + b"\n"
    yield "bundle", "valid-batch", pack(_bundle_members())
    yield "bundle-folder", "valid-small", _bundle_folder()
    yield "workspace-listing", "valid-one", LISTING
    yield "model-log", "valid-one", LOG
    yield "cast", "valid-card", _cast()
    yield "mission-control", "valid-card", _cast()
    yield "terminal", "valid-sequences", TERMINAL.encode()
    yield "screen-json", "valid-metadata", METADATA.encode()
    yield "screen-json", "valid-cut", METADATA[:60].encode()
    yield "feature", "valid-scenario", SCENARIO.encode()
    for name, text in (("number", "3"), ("null", "null"), ("pattern", "<at least 2>"), ("text", '"<workspace>/a"')):
        yield "expected", f"valid-{name}", text.encode()
    yield "time", "valid-date", b"2026-11-30"
    yield "time", "valid-moment", b"2026-11-30T12:00:00+05:30"
    yield "facts-page", "valid-page", PAGE.encode()
    yield "known-disagreements", "valid-one", KNOWN.encode()
    yield "waivers", "valid-one", WAIVERS.encode()
    yield "policy", "valid-two", policy_text(entry("ann"), entry("bob", role="recorder")).encode()
    yield "keys", "valid-public", pem("ann").encode()
    yield "envelope", "valid-signed", signed("ann")
    yield "statement", "valid-one", payload()
    yield "verdict-statement", "valid-rejected", _verdict()
    yield "selfcheck-result", "valid-one", selfcheck_file.encode(selfchecks.with_survivors())
    yield "stability-record", "valid-one", stability_file.encode(_stability())
    yield "verdict-json", "valid-one", b'{"findings":[{"id":"F-0","observation":"a.local-agent"}]}'
    yield "prompt-text", "valid-request", json.dumps(_REQUEST).encode()
    yield "import-folder", "valid-run", pack({f"run/{name}": content for name, content in _importable().items()})
    yield from _archives()
    yield "model-request", "valid-parts", json.dumps(_REQUEST).encode()


def _stability() -> Stability:
    return Stability(schema=STABILITY_SCHEMA, harness="0.1.0", releases=(stabilities.repeated(),))


def _importable() -> dict[str, bytes]:
    live = wire_frames.batch_run().encode()
    files = _saved(runs.saved_batch(BATCH))
    session = files.pop("session.jsonl")
    return {
        "session.jsonl": session,
        **{f"children/{name}.jsonl": content for name, content in files.items()},
        "local-agent.live.jsonl": live.replace(wire_frames.SESSION.encode(), b"root-session"),
        "mission-control.reopen.cast": _cast(),
    }


def main() -> None:
    """Write all of them."""
    for target, name, content in seeds():
        path = CORPUS / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
