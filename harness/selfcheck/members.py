"""Mutants of what a bundle holds beside captures and records: listings, the model's log, the stimulus, the sealing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from harness.acceptance import is_stale
from harness.bundle import layout
from harness.bundle.verified import Contents, verified
from harness.examine import Examined
from harness.model.errors import EvidenceError
from harness.model.facts import Column
from harness.model.manifest import Manifest
from harness.model.stimulus import Stimulus, canonical, digest
from harness.scenario.compile import Scenario
from harness.selfcheck.mutant import Baseline, Mutant, Signal
from harness.selfcheck.subject import Subject
from harness.whole_run import BEGUN, FOUND, LEFT, MODEL_LOG

_NO_DIGEST = "0" * 64
_REOPENED = "acceptance.no-replay"
_REOPENINGS = frozenset((Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN))


def member_mutants(subject: Subject, _baseline: Baseline) -> Iterator[Mutant]:
    """Mutants of every member that is no capture and no saved session; the baseline has no say in them."""
    yield from _listings(subject)
    yield from _log(subject)
    yield from _stimulus(subject)
    yield from _integrity(subject)


def _examine(subject: Subject, member: str, content: bytes) -> Examined:
    return subject.with_members({member: content})


# The workspace and the model


def _listings(subject: Subject) -> Iterator[Mutant]:
    for member in (BEGUN, LEFT, FOUND):
        if not {BEGUN, LEFT, FOUND} <= subject.raw.keys():
            return
        rule = "acceptance.no-substitute" if member == BEGUN else _REOPENED
        files: list[dict[str, Any]] = msgspec.json.decode(subject.raw[member])

        def mutant(kind: str, changed: object, member: str = member, rule: str = rule) -> Mutant:
            content = changed if isinstance(changed, bytes) else msgspec.json.encode(changed)
            examine = partial(_examine, subject, member, content)
            return Mutant("workspace", kind, rule, member, examine=examine)

        made = {"path": "made-up.txt", "size": 1, "sha256": _NO_DIGEST}
        yield mutant("a file more", [*files, made])
        yield mutant("no listing", b"{}")
        yield mutant("cut short", subject.raw[member][:-1])
        if files:
            first = files[0]
            yield mutant("a file lost", files[1:])
            yield mutant("other content", [{**first, "sha256": _NO_DIGEST}, *files[1:]])
            yield mutant("another size", [{**first, "size": first["size"] + 1}, *files[1:]])
            yield mutant("another path", [{**first, "path": f"{first['path']}x"}, *files[1:]])
            yield mutant("a size as text", [{**first, "size": str(first["size"])}, *files[1:]])


def _log(subject: Subject) -> Iterator[Mutant]:
    """A reopening that asks the model, where there was one."""
    if MODEL_LOG not in subject.raw or not _REOPENINGS.intersection(subject.captures):
        return
    lines = subject.raw[MODEL_LOG].splitlines(keepends=True)
    trees: list[dict[str, Any]] = [msgspec.json.decode(line) for line in lines]
    asked = next((index for index, tree in enumerate(trees) if tree.get("lane")), None)
    if asked is None:
        return

    def mutant(kind: str, content: bytes) -> Mutant:
        examine = partial(_examine, subject, MODEL_LOG, content)
        return Mutant("reopening", kind, _REOPENED, MODEL_LOG, examine=examine)

    late = msgspec.json.encode({**trees[asked], "at": trees[-1]["at"] + 3600}) + b"\n"
    yield mutant("a request after it began", b"".join([*lines, late]))
    moved = [msgspec.json.encode({**tree, "at": tree["at"] + 3600}) + b"\n" for tree in trees]
    yield mutant("all requests after it began", b"".join(moved))
    stray = {**trees[asked], "at": trees[-1]["at"] + 3600, "lane": "", "fault": "nobody asks that"}
    yield mutant("a request of nobody", b"".join([*lines, msgspec.json.encode(stray) + b"\n"]))
    yield mutant("no log", b"not a log\n")
    yield mutant("without times", msgspec.json.encode({"lane": "main"}) + b"\n")


# The stimulus


def _stimulus(subject: Subject) -> Iterator[Mutant]:
    """Everything that a stimulus can say differently: the bundle is then no evidence for the scenario."""
    scenario = subject.scenario
    if scenario is None or not subject.manifest.scenario:
        return
    plain: dict[str, Any] = msgspec.json.decode(subject.raw[layout.STIMULUS])
    for kind, edit in _EDITS:
        changed = msgspec.json.decode(subject.raw[layout.STIMULUS])
        with contextlib.suppress(LookupError, StopIteration):  # there is no such thing to change
            edit(changed)
        if changed == plain:
            continue
        sha256 = digest(msgspec.convert(changed, Stimulus))
        sealed = msgspec.structs.replace(subject.manifest, stimulus_sha256=sha256)
        edited = msgspec.structs.replace(scenario, stimulus_sha256=sha256)
        for way, manifest, of in (("run", sealed, scenario), ("scenario", subject.manifest, edited)):
            probe = partial(_stale, manifest, of)
            yield Mutant("stimulus", f"{kind} in the {way}", "acceptance.no-substitute", layout.STIMULUS, probe=probe)
    gone = partial(_stale, subject.manifest, None)
    yield Mutant("stimulus", "no such scenario", "acceptance.no-substitute", layout.STIMULUS, probe=gone)


def _stale(manifest: Manifest, scenario: Scenario | None) -> Signal | None:
    return Signal.STALE if is_stale(manifest, scenario) else None


def _first_lane(stimulus: Any) -> list[Any]:
    lanes: list[list[Any]] = list(stimulus["lanes"].values())
    return lanes[0] if lanes else [{}]


def _reply(**members: object) -> Callable[[Any], None]:
    return lambda stimulus: _first_lane(stimulus)[-1].update(members)


def _turn(**members: object) -> Callable[[Any], None]:
    return lambda stimulus: stimulus["turns"][0].update(members)


_EDITS: tuple[tuple[str, Callable[[Any], None]], ...] = (
    ("another prompt", _turn(prompt="Something else.")),
    ("another answer", _reply(text="Something else.")),
    ("a delay", _reply(delay_ms=4321)),
    ("another status", _reply(status=503)),
    ("other usage", _reply(usage={"prompt": 1, "completion": 2, "cached": 3})),
    ("no usage", _reply(usage=None)),
    ("a call more", _reply(calls=[{"name": "read", "arguments": {}}])),
    ("a reply lost", lambda stimulus: _first_lane(stimulus).pop() and None),
    ("a lane lost", lambda stimulus: stimulus["lanes"].pop(next(iter(stimulus["lanes"]))) and None),
    ("a lane more", lambda stimulus: stimulus["lanes"].update({"TASK-Z": [{"text": "x"}]})),
    ("a file more", lambda stimulus: stimulus["files"].update({"made-up.txt": "x"})),
    ("no files", lambda stimulus: stimulus.update(files={})),
    ("a setting", lambda stimulus: stimulus["settings"].update({"capabilities": {"x": True}})),
    ("a variable", lambda stimulus: stimulus["environment"].update({"X": "1"})),
    ("another terminal", lambda stimulus: stimulus.update(terminal=[80, 24])),
    ("no session", lambda stimulus: stimulus.update(session=not stimulus["session"])),
    ("a turn more", lambda stimulus: stimulus["turns"].append({"prompt": "More."})),
    ("cancelled", _turn(interruption={"action": "cancel", "moment": "file_exists", "subject": "x"})),
    ("not interrupted", _turn(interruption=None)),
    ("recorded by another release", lambda stimulus: stimulus.update(recorded_by="0.1.0")),
    ("reopened by another release", lambda stimulus: stimulus.update(reopened_by="0.1.0")),
)


# The sealing


def _integrity(subject: Subject) -> Iterator[Mutant]:
    """Bytes of a sealed bundle changed without sealing it anew."""
    manifest = canonical(subject.manifest) + b"\n"
    files = {**subject.bundle.stored, layout.MANIFEST: manifest, layout.CHECKSUM: layout.checksum(manifest)}
    rule = "acceptance.no-substitute"

    def mutant(kind: str, changed: dict[str, bytes], where: str) -> Mutant:
        return Mutant("integrity", kind, rule, where, probe=partial(_damaged, changed))

    for name, content in files.items():
        where = name.partition("/")[0]
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        yield mutant("a bit", files | {name: flipped}, where)
        yield mutant("cut by a byte", files | {name: content[:-1]}, where)
        yield mutant("grown by a byte", files | {name: content + b"\n"}, where)
        yield mutant("empty", files | {name: b""}, where)
        lost = {other: bytes_ for other, bytes_ in files.items() if other != name}
        yield mutant("lost", lost, where)
        yield mutant("renamed", lost | {f"x-{name.replace('/', '-')}": content}, where)
        if name.endswith(".gz"):
            packed = layout.compress(subject.raw[name][:-1])
            yield mutant("packed anew", files | {name: packed}, where)
    yield mutant("a file more", files | {"made-up.json": b"{}"}, "made-up.json")
    names = sorted(subject.bundle.stored)
    one, two = names[0], names[1]
    yield mutant("two exchanged", files | {one: files[two], two: files[one]}, one)
    plain: dict[str, Any] = msgspec.json.decode(manifest)
    for member in plain:
        changed = _other(plain, member)
        resealed = canonical(changed) + b"\n"
        kind = f"{member} in the manifest"
        yield mutant(kind, files | {layout.MANIFEST: resealed}, layout.MANIFEST)
    for kind, text in (
        ("blanks", manifest.replace(b'":', b'": ', 1)),
        ("a member more", manifest.replace(b"{", b'{"note":1,', 1)),
        ("a member twice", manifest.replace(b"{", b'{"schema":1,', 1)),
        ("schema 2", manifest.replace(b'"schema":1', b'"schema":2', 1)),
    ):
        sealed = {layout.MANIFEST: text, layout.CHECKSUM: layout.checksum(text)}
        yield mutant(f"{kind}, sealed", files | sealed, layout.MANIFEST)


def _other(plain: dict[str, Any], member: str) -> dict[str, Any]:
    """The manifest with one member changed."""
    value = plain[member]
    match value:
        case str():
            return {**plain, member: f"{value}x"}
        case int():
            return {**plain, member: value + 1}
        case list():
            return {**plain, member: value[:-1] if value else ["x"]}
        case _:
            return {**plain, member: {}}


def _damaged(files: dict[str, bytes]) -> Signal | None:
    try:
        verified(Contents(where="mutant", files=files))
    except EvidenceError:
        return Signal.DAMAGED
    return None
