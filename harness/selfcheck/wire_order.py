"""Mutants of frames on the local agent: their envelopes, their order, the pages of a history, and what is no fact."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from harness.examine import Examined
from harness.model.facts import Column
from harness.selfcheck.frames import Edit, Frames, Tree, encoded
from harness.selfcheck.mutant import Baseline, Mutant
from harness.selfcheck.subject import Subject
from harness.selfcheck.wire_facts import LOCAL_AGENT
from harness.spec import bounds
from harness.wire.order import DESCRIPTOR, EXTENSION

_NO_ID = "00000000-0000-4000-8000-000000000000"
_TIME = "when a frame was read is no fact"
_RENAMED = "ids are new at every reopening: cards are told by where they stand"
_NO_FOOTER = "a foreign capture has no footer that tells whether the product left in order"
_SUPERSEDED = "cards are whole snapshots: a later one replaces this one, and delivery of each is best effort"


class _Capture(NamedTuple):
    subject: Subject
    column: Column
    file: str
    frames: Frames

    def mutant(
        self, class_: str, kind: str, requirement: str, capture: Callable[[], bytes], equivalent: str = ""
    ) -> Mutant:
        """`capture` makes the changed bytes, which is put off: most mutants of most bundles are never asked for."""
        return Mutant(
            class_=class_,
            kind=kind,
            requirement=requirement,
            where=self.column.value,
            equivalent=equivalent,
            examine=partial(self._examine, capture),
        )

    def edited(self, class_: str, kind: str, requirement: str, place: tuple[int, Edit], equivalent: str = "") -> Mutant:
        return self.mutant(class_, kind, requirement, partial(self.frames.edited, *place), equivalent)

    def replaced(self, changed: Mapping[int, Sequence[bytes]]) -> Callable[[], bytes]:
        return partial(self.frames.replaced, changed)

    def _examine(self, capture: Callable[[], bytes]) -> Examined:
        return self.subject.with_members({self.file: capture()})


def wire_order(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
    """Mutants of both captures of the local agent, as captures."""
    for column in LOCAL_AGENT:
        capture = subject.captures.get(column)
        facts = baseline.examined.columns.get(column)
        if capture is None or facts is None or not facts.cards or not facts.complete:
            continue
        taken = _Capture(subject, column, capture.file, Frames(subject.raw[capture.file]))
        yield from _envelopes(taken)
        yield from _descriptor(taken)
        yield from _no_facts(taken)
        if column is Column.LOCAL_AGENT_LIVE:
            yield from _order(taken)
        else:
            yield from _history(taken)


def _events(frames: Frames, event: str) -> list[int]:
    """The lines of one kind of event; answers may name it, too."""
    mark = f'"event":"{event}"'
    return [n for n in frames.numbers() if mark in frames.text(n) and '"type":"event"' in frames.text(n)]


def _first(frames: Frames, event: str) -> int | None:
    return next(iter(_events(frames, event)), None)


def _cards(frames: Frames) -> list[int]:
    """The lines of snapshots that can be read as such."""
    return [number for number in _events(frames, "tool.card") if _is_snapshot(frames.tree(number))]


def _is_snapshot(tree: Tree) -> bool:
    data = tree.get("data")
    card = data.get("card") if isinstance(data, dict) else None
    return isinstance(card, dict) and {"revision", "state", "tool_kind", "activity_id"} <= card.keys()


def _envelopes(taken: _Capture) -> Iterator[Mutant]:
    frames = taken.frames
    numbers = frames.numbers()
    first, last = numbers[0], numbers[-1]
    target = _first(frames, "tool.card") or numbers[min(2, len(numbers) - 1)]

    def edited(kind: str, requirement: str, member: str, value: object, number: int = target) -> Mutant:
        return taken.edited("frame", kind, requirement, (number, lambda tree: tree.update({member: value})))

    yield edited("another protocol", "wire.envelope", "protocol", "other.protocol")
    yield edited("version 2", "wire.envelope", "version", 2)
    yield edited("another type", "wire.envelope", "type", "reply")
    if "data" in frames.tree(target):
        more = (target, lambda tree: tree["data"].update(note="more"))
        yield taken.edited("frame", "a member more", "wire.exact-members", more)
    yield edited("another instance", "wire.one-instance", "instance_id", _NO_ID)
    yield edited("seq repeated", "wire.seq", "seq", frames.tree(numbers[numbers.index(target) - 1]).get("seq", 1))
    yield edited("seq going back", "wire.seq", "seq", 1, last)
    yield edited("seq not from 1", "wire.seq", "seq", 2, first)
    yield edited("an answer to nothing", "wire.response", "id", "r999", first)
    text = frames.text(target)
    for kind, requirement, changed in (
        ("a member twice", "wire.frame-json", '{"version":1,' + text[1:]),
        ("cut in the middle", "wire.frame-json", text[: len(text) // 2]),
        ("65,537 bytes", "wire.frame-bytes", text[:-1] + " " * (bounds.FRAME_BYTES - len(text.encode())) + "}"),
        ("no object", "wire.frame-json", f"[{text}]"),
        ("NaN", "wire.frame-json", text.replace('"seq":', '"note":NaN,"seq":', 1)),
        ("too deep", "wire.json-depth", text[:-1] + ',"note":' + "[" * 40 + "]" * 40 + "}"),
    ):
        yield taken.mutant("frame", kind, requirement, partial(frames.retexted, target, changed))
    raw = frames.line(target, text.replace('"type":"', '"note":"\ud800","type":"', 1))
    yield taken.mutant("frame", "no UTF-8", "wire.frame-json", taken.replaced({target: [raw]}))
    line = frames.lines[target - 1]
    for kind, bad in (
        ("another direction", line.replace(b'"from_product"', b'"sideways"', 1)),
        ("no JSON", line[:40] + b"\n"),
        ("a member of the line twice", line.replace(b'{"at":', b'{"at": 1, "at":', 1)),
    ):
        yield taken.mutant("capture-line", kind, "acceptance.no-substitute", taken.replaced({target: [bad]}))
    requests = frames.numbers("to_product")
    if len(requests) < 2:
        return
    yield taken.edited("frame", "a request of version 2", "wire.request", (requests[0], lambda t: t.update(version=2)))
    unsent = taken.replaced({requests[1]: []})
    yield taken.mutant("frame", "an unsent request", "wire.response", unsent)


def _descriptor(taken: _Capture) -> Iterator[Mutant]:
    number = taken.frames.numbers()[0]

    def change(name: str, tree: Tree) -> None:
        value = tree["result"]["extensions"][EXTENSION][name]
        tree["result"]["extensions"][EXTENSION][name] = value + 1 if isinstance(value, int) else f"{value}.x"

    for name in DESCRIPTOR:
        if name in taken.frames.tree(number).get("result", {}).get("extensions", {}).get(EXTENSION, {}):
            yield taken.edited("bound", f"advertised {name}", "wire.descriptor", (number, partial(change, name)))
    gone = (number, lambda tree: tree["result"]["capabilities"].remove(EXTENSION))
    yield taken.edited("frame", "cards not agreed on", "general.surface-agreement", gone)


def _order(taken: _Capture) -> Iterator[Mutant]:
    frames = taken.frames
    cards = _cards(frames)
    trees = {number: frames.tree(number) for number in cards}
    by_card: dict[str, list[int]] = {}
    for number, tree in trees.items():
        by_card.setdefault(tree["data"]["activity_id"], []).append(number)
    for numbers in by_card.values():
        kind = trees[numbers[-1]]["data"]["card"]["tool_kind"]
        yield from _succession(taken, kind, numbers)

    def without(kind: str, requirement: str, number: int | None, equivalent: str = "") -> Iterator[Mutant]:
        if number is not None:
            yield taken.mutant("order", kind, requirement, taken.replaced({number: []}), equivalent)

    yield from without("no input.persisted", "wire.input-first", _first(frames, "input.persisted"))
    yield from without("no start of an activity", "wire.activity-first", _first(frames, "activity"))
    told = "" if frames.numbers("footer") else _NO_FOOTER
    yield from without("no end of the run", "wire.run-terminal", _first(frames, "run.finished"), told)
    started = next((number for number in frames.numbers() if '"accepted":true' in frames.text(number)), None)
    yield from without("no answer to turn.start", "wire.admission", started)
    finished, persisted = _first(frames, "run.finished"), _first(frames, "input.persisted")
    if finished is not None:
        twice = taken.replaced({finished: [frames.lines[finished - 1]] * 2})
        yield taken.mutant("order", "the run ends twice", "wire.run-terminal", twice)
        early = taken.replaced({cards[0]: [frames.lines[finished - 1], frames.lines[cards[0] - 1]], finished: []})
        yield taken.mutant("order", "the run ends early", "wire.run-terminal", early)
        named = (finished, lambda tree: tree.update(event="run.over"))
        yield taken.edited("order", "an unknown event", "wire.unknown-event", named)
    if persisted is not None:
        twice = taken.replaced({persisted: [frames.lines[persisted - 1]] * 2})
        yield taken.mutant("order", "the input twice", "wire.input-first", twice)
    for event, edit in (
        ("message.reconcile", {"part": 3}),
        ("activity", {"state": "paused"}),
        ("activity", {"activity_id": "not an id"}),
    ):
        place = _first(frames, event)
        if place is not None:
            kind = f"{next(iter(edit))} of {event}"
            change = (place, lambda tree, edit=edit: tree["data"].update(edit))
            yield taken.edited("order", kind, "wire.message-parts" if "part" in edit else "wire.schema", change)


def _succession(taken: _Capture, tool: str, numbers: list[int]) -> Iterator[Mutant]:
    """Snapshots of one card, one after another."""
    frames = taken.frames
    lines = [frames.lines[number - 1] for number in numbers]

    def mutant(class_: str, kind: str, requirement: str, capture: Callable[[], bytes], equivalent: str = "") -> Mutant:
        return taken.mutant(class_, kind, requirement, capture, equivalent)._replace(card_kind=tool)

    def edited(class_: str, kind: str, requirement: str, number: int, edit: Edit) -> Mutant:
        return taken.edited(class_, kind, requirement, (number, edit))._replace(card_kind=tool)

    def card(**members: object) -> Edit:
        return lambda tree: tree["data"]["card"].update(members)

    first, last = numbers[0], numbers[-1]
    yield edited("revision", "not from 0", "wire.revision", first, card(revision=1))
    yield edited("order", "part 1", "wire.single-part", last, lambda tree: tree["data"].update(part=1))
    yield edited(
        "order", "not the last part", "wire.single-part", last, lambda tree: tree["data"].update(last_part=False)
    )
    if len(numbers) < 2:
        return
    yield mutant("order", "no final snapshot", "wire.final-snapshot", taken.replaced({last: []}))
    swapped = taken.replaced({numbers[-2]: [lines[-1]], last: [lines[-2]]})
    yield mutant("order", "two snapshots exchanged", "wire.seq", swapped)
    yield mutant("order", "a snapshot twice", "wire.seq", taken.replaced({last: [lines[-1]] * 2}))
    before = frames.tree(numbers[-2])["data"]["card"]["revision"]
    yield edited("revision", "going back", "wire.revision", last, card(revision=before - 1 if before else 0))
    yield edited("revision", "of other content", "wire.revision", last, card(revision=before))
    if len(numbers) > 2:
        same = {"revision": frames.tree(numbers[0])["data"]["card"]["revision"]}
        yield edited("revision", "one for two contents", "wire.revision", numbers[1], card(**same))
    ended = [n for n in numbers if frames.tree(n)["data"]["card"]["state"] == "finished"]
    if len(ended) > 1:
        running = card(state="running", outcome=None)
        yield edited("state", "running after it was finished", "wire.finished-stays", ended[-1], running)
        edit = card(changes="none")
        if frames.tree(ended[0])["data"]["card"]["changes"] in ("applied", "partial"):
            yield edited("order", "changes forgotten", "wire.facts-stay", ended[-1], edit)
    if tool == "code_mode" and len(numbers) > 3:
        gone = taken.replaced({numbers[2]: []})
        yield mutant("no-fact", "a snapshot in between lost", "wire.revision", gone, _SUPERSEDED)


def _history(taken: _Capture) -> Iterator[Mutant]:
    frames = taken.frames
    number = next((one for one in frames.numbers() if '"entries":' in frames.text(one)), None)
    if number is None:
        return
    entries = frames.tree(number)["result"]["entries"]
    index = next((place for place, entry in enumerate(entries) if _is_governed(entry.get("tool_card"))), None)
    if index is None:
        return

    def entry(kind: str, requirement: str, place: int, **members: object) -> Mutant:
        edit = (number, lambda tree: tree["result"]["entries"][place].update(members))
        return taken.edited("history", kind, requirement, edit)

    def page(kind: str, requirement: str, edit: Edit) -> Mutant:
        return taken.edited("history", kind, requirement, (number, lambda tree: edit(tree["result"])))

    yield entry("an id of its own", "wire.saved-card", index, message_id=_NO_ID)
    yield entry("part 1 first", "wire.entry-parts", index, part=1)
    yield entry("no last part", "wire.entry-parts", index, last_part=False)
    yield entry("null for a card", "general.surface-agreement", index, tool_card=None)
    card = entries[index]["tool_card"]
    yield entry("a card on a user's entry", "wire.attachment", 0, tool_card=card)
    again = frames.twins(number)[1:]
    if again:
        once = partial(frames.edited_once, again[0], lambda tree: tree["result"]["entries"].pop(index) and None)
        yield taken.mutant("history", "another page when asked again", "wire.page-repeat", once)
    yield page("an entry lost", "general.surface-agreement", lambda result: result["entries"].pop(index) and None)
    yield page(
        "no card on an activity", "wire.attachment", lambda result: result["entries"][index].pop("tool_card") and None
    )
    yield page(
        "an entry twice", "wire.entry-parts", lambda result: result["entries"].insert(index, result["entries"][index])
    )
    yield page("another session", "wire.page-chain", lambda result: result.update(session_id=_NO_ID))
    yield page("another revision", "wire.page-chain", lambda result: result.update(revision=_NO_ID))
    yield page("complete with more", "wire.page-chain", lambda result: result.update(next_cursor="1", complete=True))
    many = {"kind": "assistant", "last_part": True, "part": 0, "partial": False, "text": "x"}
    filling = [{**many, "message_id": f"filling-{count}"} for count in range(101)]
    yield page("101 entries", "wire.page-entries", lambda result: result["entries"].extend(filling))
    wordy = {**many, "message_id": "wordy", "text": "x" * bounds.HISTORY_PAGE_BYTES}
    yield page("32,769 bytes", "wire.page-bytes", lambda result: result["entries"].append(wordy))
    yield page("turns exchanged", "general.surface-agreement", lambda result: result["entries"].reverse())
    yield page("entries missing", "wire.schema", lambda result: result.pop("entries") and None)


def _is_governed(card: object) -> bool:
    """Whether a saved card is one that states facts; any other may be null, since it need not be mapped."""
    return isinstance(card, dict) and card.get("tool_kind") in ("code_mode", "subagent")


def _no_facts(taken: _Capture) -> Iterator[Mutant]:
    frames = taken.frames
    number = frames.numbers()[-1]
    plain = json.loads(frames.lines[number - 1])
    plain["at"] += 0.001
    later = taken.replaced({number: [json.dumps(plain).encode() + b"\n"]})
    yield taken.mutant("no-fact", "read a little later", "acceptance.no-substitute", later, _TIME)
    shown = _cards(frames) or [one for one in frames.numbers() if '"tool_card":{' in frames.text(one)]
    if not shown:
        return
    target = shown[-1]
    tree = frames.tree(target)
    card = (
        tree["data"]["card"]
        if "data" in tree
        else next(entry["tool_card"] for entry in tree["result"]["entries"] if entry.get("tool_card"))
    )
    content, own = taken.subject.raw[taken.file], card["activity_id"].encode()
    renamed = partial(content.replace, own, _NO_ID.encode())
    yield taken.mutant("no-fact", "another id throughout", "general.navigation-ids", renamed, _RENAMED)
    spaced = partial(frames.retexted, target, encoded(tree).replace('":', '": ', 3))
    yield taken.mutant("no-fact", "blanks between members", "wire.frame-json", spaced, "JSON allows blanks")
