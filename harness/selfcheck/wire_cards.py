"""Mutants of cards on the local agent beside their fact rows: members, omissions, bounds, parents, children, origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from harness.examine import Examined
from harness.model.facts import CardFacts, CardKind, Column
from harness.model.values import Value
from harness.selfcheck.frames import Frames, Tree, at
from harness.selfcheck.mutant import Baseline, Mutant
from harness.selfcheck.subject import Subject
from harness.selfcheck.wire_facts import LOCAL_AGENT
from harness.spec import bounds

OUTCOMES = ("success", "failure", "cancelled", "interrupted", "unknown")
CHANGES = ("not_applicable", "none", "applied", "partial", "unknown")
_REASONS = ("redacted", "missing_source", "not_recorded", "unsupported_source", "budget_limit", "size_limit")
_SUBJECTS = ("title", "metadata", "blocks", "rows", "text", "diff_lines", "children", "progress", "ancestry", "updates")
_SAVED = "wire.saved-equals-live"
_NO_ID = "00000000-0000-4000-8000-000000000000"
_TITLE = "only the run knows it: titles are prose, and no card is told by one"
_ONE_SIDE = "the run was not captured live on the local agent, so that the saved card has no live one to equal"

Edit = Callable[[Tree], None]


class Try(NamedTuple):
    """One way to change a card."""

    class_: str
    kind: str
    requirement: str
    edit: Edit
    equivalent: str = ""


def wire_cards(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
    """Mutants of the last snapshot of every governed card, and of every saved one."""
    both = _shown_by_both(subject, baseline)
    differing = {(found.card, found.requirement) for found in baseline.examined.compared.findings}
    for column in LOCAL_AGENT:
        capture = subject.captures.get(column)
        if capture is None or not _there(baseline, column):
            continue
        frames = Frames(subject.raw[capture.file])
        whole = all(baseline.examined.columns[name].complete for name in LOCAL_AGENT if name in subject.captures)
        for card in baseline.examined.columns[column].cards:
            if card.place is None or card.place.line is None:
                continue
            line, pointer = card.place.line, card.place.pointer or ""
            tree = at(frames.tree(line), pointer)
            if (card.path, _SAVED) in differing:
                continue  # it does not equal its other side anyway, and a change might mend it
            for tried in _tries(card, tree, column, paired=card.path in both and whole):
                if (card.path, tried.requirement) in differing:
                    continue  # what is wrong already is not seen to be wrong once more
                yield Mutant(
                    class_=tried.class_,
                    kind=tried.kind,
                    requirement=tried.requirement,
                    where=column.value,
                    card=card.path,
                    card_kind=card.kind.value,
                    equivalent=tried.equivalent,
                    examine=partial(_examine, subject, capture.file, frames, (line, pointer), tried.edit),
                )


def _shown_by_both(subject: Subject, baseline: Baseline) -> frozenset[str]:
    """Paths of the cards that the local agent shows finished, live and reopened."""
    shown = [
        {card.path for card in baseline.examined.columns[column].cards if card.outcome is not None}
        if column in subject.captures
        else set()
        for column in LOCAL_AGENT
    ]
    return frozenset(shown[0] & shown[1])


def _there(baseline: Baseline, column: Column) -> bool:
    facts = baseline.examined.columns.get(column)
    return facts is not None and bool(facts.cards)


def _examine(subject: Subject, file: str, frames: Frames, place: tuple[int, str], edit: Edit) -> Examined:
    line, pointer = place
    return subject.with_members({file: frames.edited(line, lambda tree: edit(at(tree, pointer)))})


def _tries(card: CardFacts, tree: Tree, column: Column, *, paired: bool) -> Iterator[Try]:
    yield from _members(card, tree, column, paired=paired)
    yield from _shape(tree)
    yield from _omissions(tree, paired=paired)
    yield from _bounds(card, tree)
    yield from _parents(tree, column)
    yield from _children(tree)
    yield from _prose(tree)


def _set(member: str, value: object, card: Tree) -> None:
    card[member] = value


def _set_in(first: str, second: str, value: object, card: Tree) -> None:
    card[first][second] = value


def _members(card: CardFacts, tree: Tree, column: Column, *, paired: bool) -> Iterator[Try]:
    for word in (*OUTCOMES, None):
        if word == tree["outcome"]:
            continue
        held = paired or word is None or _states_outcome(card)
        rule = "wire.outcome-state" if word is None else "general.row-outcome-inert" if held and not paired else _SAVED
        edit = partial(_set, "outcome", word)
        yield Try("card-member", f"outcome {word or 'null'}", rule, edit, "" if held else _ONE_SIDE)
    for word in CHANGES:
        if word != tree["changes"]:
            edit = partial(_set, "changes", word)
            yield Try("card-member", f"changes {word}", _SAVED, edit, "" if paired else _ONE_SIDE)
    yield Try("state", "running", "wire.outcome-state", partial(_set, "state", "running"))
    rule = "wire.final-snapshot" if column is Column.LOCAL_AGENT_LIVE else "wire.saved-card"
    yield Try("state", "running without an outcome", rule, _still_running)
    other = "saved" if tree["origin"] == "live" else "live"
    yield Try("origin", other, "wire.origin", partial(_set, "origin", other))
    yield Try("card-member", "schema version 2", "wire.schema-version", partial(_set, "schema_version", 2))
    yield Try("card-member", "another tool's card", "general.surface-agreement", partial(_set, "tool_kind", "other"))
    detail = tree["detail"]
    reason = "size_limit" if detail["reason"] is None else None
    yield Try("card-member", "detail reason", "wire.detail-reason", partial(_set_in, "detail", "reason", reason))
    if tree["omissions"]:
        edit = partial(_set, "detail", {"availability": "complete", "reason": None})
        yield Try("card-member", "complete although it omits", "wire.detail-reason", edit)
    if column is Column.LOCAL_AGENT_REOPEN:
        yield Try("revision", "saved with a revision", "wire.saved-card", partial(_set, "revision", 1))


def _without(member: str, card: Tree) -> None:
    del card[member]


def _omission_lost(index: int, card: Tree) -> None:
    del card["omissions"][index]


def _omission_twice(index: int, card: Tree) -> None:
    card["omissions"].append(dict(card["omissions"][index]))


def _states_outcome(card: CardFacts) -> bool:
    """Whether a fact of the card says how it ended, so that its own outcome must say the same."""
    return any(
        fact.label in ("Script outcome", "Task outcome")
        and isinstance(fact.value, Value)
        and fact.value.text is not None
        for fact in card.facts
    )


def _still_running(card: Tree) -> None:
    card["state"], card["outcome"] = "running", None


def _shape(tree: Tree) -> Iterator[Try]:
    for member in tree:
        yield Try("card-shape", f"without {member}", "wire.schema", partial(_without, member))
    yield Try("card-shape", "one member more", "wire.exact-members", partial(_set, "note", "more"))
    for member, value in (("title", 1), ("revision", "0"), ("blocks", None), ("outcome", "done"), ("changes", "some")):
        yield Try("card-shape", f"{member} mistyped", "wire.schema", partial(_set, member, value))


def _omissions(tree: Tree, *, paired: bool) -> Iterator[Try]:
    """Omissions are held against the other snapshot of the card, and against its own detail and children."""
    reason = "" if paired else _ONE_SIDE
    for index, item in enumerate(tree["omissions"]):
        subject = item["subject"]
        count = item["omitted_count"]

        def change(card: Tree, at_: int = index, **members: object) -> None:
            card["omissions"][at_].update(members)

        named = f" of {subject}"
        yield Try("omission", f"one more{named}", _SAVED, partial(change, omitted_count=(count or 0) + 1), reason)
        if count is not None:
            yield Try("omission", f"count null{named}", _SAVED, partial(change, omitted_count=None), reason)
        other = next(word for word in _REASONS if word != item["reason"] and _REASONS.index(word) != 1)
        yield Try("omission", f"another reason{named}", "wire.detail-reason", partial(change, reason=other))
        taken = {one["subject"] for one in tree["omissions"]}
        free = next(word for word in _SUBJECTS if word not in taken)
        yield Try("omission", f"another subject{named}", _SAVED, partial(change, subject=free), reason)
        yield Try("omission", f"dropped{named}", _SAVED, partial(_omission_lost, index), reason)
        yield Try(
            "omission",
            f"twice{named}",
            "wire.omission-subjects",
            partial(_omission_twice, index),
        )
    if not tree["omissions"]:
        made = {"omitted_count": 1, "reason": "size_limit", "subject": "rows"}
        yield Try("omission", "made up", "wire.detail-reason", lambda card: card["omissions"].append(made))


def _bounds(card: CardFacts, tree: Tree) -> Iterator[Try]:
    long = "x" * (bounds.STRING_BYTES + 1)
    yield Try("bound", "title of 257 bytes", "wire.title-bytes", partial(_set, "title", "x" * (bounds.TITLE_BYTES + 1)))
    for member in ("tool_name", "resource_path", "working_directory"):
        edit = partial(_set_in, "metadata", member, "x" * (bounds.METADATA_BYTES + 1))
        yield Try("bound", f"{member} of 513 bytes", "wire.metadata-bytes", edit)
    text = {"format": "plain", "language": None, "text": "x", "type": "text"}
    yield Try("bound", "17 blocks", "wire.blocks", partial(_padded, "", text, bounds.BLOCKS_PER_CARD + 1))
    yield Try("bound", "a card of 16,385 bytes", "wire.card-bytes", _heavy)
    preview = {**text, "text": "x" * (bounds.PREVIEW_BYTES + 1)}
    yield Try("bound", "preview of 4,097 bytes", "wire.text-bytes", lambda card: card["blocks"].append(preview))
    progress = {"completed": 2, "label": "work", "total": 1, "type": "progress", "unit": "items"}
    yield Try("bound", "2 of 1 done", "wire.progress", lambda card: card["blocks"].append(progress))
    results = next((index for index, block in enumerate(tree["blocks"]) if block["type"] == "results"), None)
    if results is None:
        return
    row = {"label": "Note", "outcome": "unknown", "value": "x"}
    yield Try(
        "bound", "33 rows", "wire.block-size", partial(_padded, f"/{results}/rows", row, bounds.ROWS_PER_BLOCK + 1)
    )
    yield Try("bound", "a value of 1,025 bytes", "wire.text-bytes", partial(_row_value, results, 0, long))
    for label, most, size in _PREVIEWS[card.kind]:
        row = {"label": label, "outcome": "unknown", "value": "read: success"}
        more = partial(_more_rows, results, row, most + 1)
        yield Try("bound", f"{most + 1} rows {label}", "wire.fact-rows", more)
        if size:
            longer = {**row, "value": "x" * (size + 1)}
            long_row = partial(_more_rows, results, longer, 1)
            yield Try("bound", f"{label} of {size + 1} bytes", "wire.fact-bytes", long_row)
    for label in _BOUNDED if card.kind is CardKind.TASK else ():
        edit = partial(_long_text, label)
        if any(row["label"] == label for block in tree["blocks"] for row in block.get("rows") or ()):
            yield Try("bound", f"{label} of 241 bytes", "task.text-bounds", edit)


_BOUNDED = ("Task intent", "Task profile", "Task agent", "Task provider", "Task model")
_PREVIEWS: dict[CardKind, tuple[tuple[str, int, int], ...]] = {
    CardKind.CODE_MODE: (
        ("Warning", bounds.WARNING_ROWS_DISPLAYED, bounds.WARNING_BYTES),
        ("Changed path", bounds.PATH_ROWS_DISPLAYED, 0),
    ),
    CardKind.SUBAGENT_BATCH: (),
    CardKind.TASK: (("Task activity", bounds.TASK_ACTIVITY_ENTRIES, bounds.TASK_TEXT_BYTES),),
}


def _padded(pointer: str, item: Tree, count: int, card: Tree) -> None:
    items = at(card["blocks"], pointer)
    items.extend([dict(item)] * (count - len(items)))


def _more_rows(block: int, row: Tree, count: int, card: Tree) -> None:
    rows = card["blocks"][block]["rows"]
    rows[:] = [one for one in rows if one["label"] != row["label"]] + [dict(row)] * count


def _row_value(block: int, index: int, value: str, card: Tree) -> None:
    card["blocks"][block]["rows"][index]["value"] = value


def _long_text(label: str, card: Tree) -> None:
    for block in card["blocks"]:
        for row in block.get("rows") or ():
            if row["label"] == label:
                row["value"] = "x" * (bounds.TASK_TEXT_BYTES + 1)


def _heavy(card: Tree) -> None:
    text = {"format": "plain", "language": None, "text": "x" * bounds.PREVIEW_BYTES, "type": "text"}
    card["blocks"].extend([dict(text) for _ in range(4)])


def _parents(tree: Tree, column: Column) -> Iterator[Try]:
    order = "wire.parent-known"
    yield Try("parent", "an unknown parent", order, partial(_parent, "available", _NO_ID))
    yield Try(
        "parent", "its own parent", "wire.hierarchy", lambda card: _parent("available", card["activity_id"], card)
    )
    yield Try("parent", "available without an id", "wire.parent-state", partial(_parent, "available", None))
    if tree["parent_state"] != "root":
        yield Try("parent", "a root with a parent's id", "wire.parent-state", partial(_set, "parent_state", "root"))
        yield Try("parent", "a root", "general.navigation-ids", partial(_parent, "root", None))
        yield Try("parent", "missing", "general.navigation-ids", partial(_parent, "missing", None))
    else:
        edit = partial(_set, "parent_activity_id", _NO_ID)
        yield Try("parent", "a root with a parent's id", "wire.parent-state", edit)
        yield Try("parent", "missing", "general.navigation-ids", partial(_parent, "missing", None))
    yield Try("parent", "another card id", "wire.card-identity", partial(_set, "card_id", _NO_ID))
    yield Try("parent", "another activity id", "wire.card-identity", partial(_set, "activity_id", _NO_ID))
    yield Try("parent", "an id that is no id", "wire.card-identity", partial(_set, "card_id", "not an id"))
    if tree["task_id"] == tree["activity_id"]:
        yield Try("parent", "a task of another id", "wire.task-scope", partial(_set, "task_id", _NO_ID))
        yield Try("parent", "a task that says it is none", "general.navigation-ids", partial(_set, "task_id", None))
    if column is Column.LOCAL_AGENT_LIVE and tree["tool_kind"] == "subagent" and tree["task_id"] is None:
        yield Try("parent", "a batch that says it is a task", "general.navigation-ids", _as_task)


def _as_task(card: Tree) -> None:
    card["task_id"] = card["activity_id"]


def _parent(state: str, identity: str | None, card: Tree) -> None:
    card["parent_state"], card["parent_activity_id"] = state, identity


def _children(tree: Tree) -> Iterator[Try]:
    index = next((index for index, block in enumerate(tree["blocks"]) if block["type"] == "children"), None)
    if index is None:
        return
    block = tree["blocks"][index]
    if not block["children"]:
        return

    def change(edit: Callable[[Any], object], card: Tree) -> None:
        edit(card["blocks"][index])

    def on(kind: str, requirement: str, edit: Callable[[Any], object], equivalent: str = "") -> Try:
        return Try("child", kind, requirement, partial(change, edit), equivalent)

    def first(member: str, value: object) -> Callable[[Any], object]:
        return lambda block: block["children"][0].update({member: value})

    yield on("dropped", "wire.children-omitted", lambda block: block["children"].pop())
    yield on("twice", "wire.children-total", lambda block: block["children"].append(dict(block["children"][0])))
    yield on("of another id", "wire.children-known", first("activity_id", _NO_ID))
    yield on("running with an outcome", "wire.outcome-state", first("state", "running"))
    yield on("finished without an outcome", "wire.outcome-state", first("outcome", None))
    yield on("mistyped outcome", "wire.schema", first("outcome", "done"))
    if block["total"] is not None:
        shown = len(block["children"])
        yield on("one in total more", "wire.children-omitted", lambda block: block.update(total=block["total"] + 1))
        yield on("a total below the shown", "wire.children-total", lambda block: block.update(total=shown - 1))
    child = block["children"][0]
    padded = [dict(child) for _ in range(bounds.CHILDREN_PER_BLOCK + 1)]
    yield Try("bound", "33 children", "wire.block-size", partial(change, lambda block: block.update(children=padded)))
    long = "x" * (bounds.TITLE_BYTES + 1)
    yield Try("bound", "a child's title of 257 bytes", "wire.title-bytes", partial(change, first("title", long)))


def _prose(tree: Tree) -> Iterator[Try]:
    """Texts that are no fact: nobody may be told by them."""
    yield Try("no-fact", "another title", "general.exact-labels", partial(_set, "title", "Reworded"), _TITLE)
    for index, block in enumerate(tree["blocks"]):
        if block["type"] == "text":
            why = "prose of a preview: facts are rows, never report prose"

            def reword(card: Tree, at_: int = index) -> None:
                card["blocks"][at_]["text"] = "Reworded"

            yield Try("no-fact", "another preview text", "general.exact-labels", reword, why)
            return
