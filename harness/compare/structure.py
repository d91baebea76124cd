"""Structural rules of single cards: what must hold of a card's own members and rows, whatever their values are.

Each function is one rule of the requirement catalogue (``[rules]`` in requirements.toml) and opens with the ids that
it tries. Bounds and spelling on the wire are checked where the bytes are read; here is counted what they were tried
on, and checked what only a card as a whole, or its neighbours, can show.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from harness.compare.relative import says_omitted
from harness.compare.run import LOCAL_AGENT, MISSION_CONTROL
from harness.compare.tried import Tried, broken, kept
from harness.model.facts import SURFACES, CardFacts, CardKind, Column, ColumnFacts, Fact
from harness.model.values import NULL, Reading, State, Value, known
from harness.spec import bounds
from harness.spec.facts import FactType, fact, facts_of, spelling_error
from harness.spec.requirements import Requirement, requirement

LIVE = (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE)
REOPENED = (Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN)
_SPELLED = {
    FactType.COUNT: "general.count-spelling",
    FactType.MILLISECONDS: "general.count-spelling",
    FactType.BOOLEAN: "general.boolean-spelling",
}
_OUTCOME = {CardKind.CODE_MODE: "Script outcome", CardKind.TASK: "Task outcome"}
_RUNNING = ("Script outcome", "Task outcome", "Running calls", "Tasks running")
STATUSES = tuple(word for word in fact(CardKind.TASK, "Task outcome").members if word != "running")
"""A call that has ended has one of the words with which a task ends."""
_ACTIVITY = re.compile(rf"\S+: (?:{'|'.join(STATUSES)})")
_TASK = re.compile(r"(?P<batch>.+)/task(?P<number>\d+)")
_IDENTITY = re.compile(r"(?P<scope>.*/|)g(?P<number>\d+)")
_PREVIEWS = {"Warning": "code-mode.warning-rows", "Changed path": "code-mode.path-bounds"}
_CORE = requirement("acceptance.core-survives")
_PREVIEWED = requirement("code-mode.previews-cost-no-counts")
_PARTS = ("Tasks total", "Tasks done", "Tasks failed", "Tasks running", "Tasks unknown", "Tasks cancelled")


def _says(reading: Reading) -> bool:
    return isinstance(reading, Value) and reading.state in (State.KNOWN, State.NULL)


def _first(card: CardFacts, label: str) -> Fact | None:
    """The first reading of a label that says something."""
    return next((item for item in card.facts if item.label == label and _says(item.value)), None)


def _text(reading: Reading) -> str | None:
    return reading.text if isinstance(reading, Value) else None


def _number(card: CardFacts, label: str) -> int:
    """The count that a card says, 0 when it says none."""
    found = _first(card, label)
    text = _text(found.value) if found is not None else None
    return int(text) if text is not None and text.isascii() and text.isdecimal() else 0


def try_rows(card: CardFacts, column: Column) -> Iterator[Tried]:
    """``general.row-members``, ``general.exact-labels``, ``general.count-spelling``, ``general.boolean-spelling``.

    What is spelled wrongly on the wire is found where the bytes are read; what is printed so, here.
    """
    entries = facts_of(card.kind)
    for item in card.facts:
        entry, text = entries.get(item.label), _text(item.value)
        spelled = _SPELLED.get(entry.type) if entry is not None and text is not None else None
        if column in LOCAL_AGENT:
            yield from kept("general.row-members")
            yield from kept("general.exact-labels")
            if spelled:
                yield from kept(spelled)
        elif spelled and entry is not None and text is not None and (fault := spelling_error(entry, text)):
            problem = broken(spelled, card, item, f"a value spelled as {entry.type.value}", fault)
            yield Tried(spelled, problem, item.ordinal, f"spelling {item.via}")


def try_outcome(card: CardFacts, column: Column) -> Iterator[Tried]:
    """``general.row-outcome-inert``: a card ended as its script or task did; null says nothing of the card."""
    stated = _first(card, _OUTCOME[card.kind]) if card.kind in _OUTCOME and column in LOCAL_AGENT else None
    if stated is None or stated.value == NULL:
        return
    word = _text(stated.value)
    wanted = None if word == "running" else word
    if card.outcome == wanted:
        yield from kept("general.row-outcome-inert")
        return
    expected = f"a card with outcome {wanted or 'null'}, as its {stated.label}"
    problem = broken("general.row-outcome-inert", card, None, expected, f"outcome {card.outcome or 'null'}")
    yield Tried("general.row-outcome-inert", problem)


def try_replay(card: CardFacts, column: Column, *, unfinished: bool) -> Iterator[Tried]:
    """``code-mode.no-running-replay``: nothing runs on a reopened card. A case of it is a tool that had not ended."""
    if column not in REOPENED:
        return
    rule = "code-mode.no-running-replay"
    running = [item for item in card.facts if item.label in _RUNNING and _runs(_text(item.value))]
    for item in running:
        problem = broken(rule, card, item, "nothing runs on a reopened card", str(item.value))
        yield Tried(rule, problem, item.ordinal, item.via)
    if column is Column.LOCAL_AGENT_REOPEN and card.outcome is None:
        problem = broken(rule, card, None, "a reopened card that has ended", "a running card")
        yield Tried(rule, problem)
    elif not running and unfinished:
        yield from kept(rule)


def _runs(text: str | None) -> bool:
    """Whether an outcome says running, or a count of what runs says some."""
    return text == "running" or (text is not None and text.isdecimal() and int(text) > 0)


def try_activity(card: CardFacts) -> Iterator[Tried]:
    """``task.activity-rows``: a tool name and how the call ended, on every surface that prints them."""
    for item in card.facts:
        text = _text(item.value)
        if item.label != "Task activity" or text is None:
            continue
        if _ACTIVITY.fullmatch(text):
            yield from kept("task.activity-rows")
        else:
            expected = f"a tool name and one of {', '.join(STATUSES)}"
            problem = broken("task.activity-rows", card, item, expected, repr(text[:200]))
            yield Tried("task.activity-rows", problem, item.ordinal, item.via)


def try_bounds(card: CardFacts, column: Column) -> Iterator[Tried]:
    """``code-mode.warning-rows``, ``code-mode.path-bounds``, ``code-mode.warning-storage``, ``task.text-bounds``,
    ``task.activity-bound``: what is shown stays within its bounds. The wire holds the local agent to its own."""
    shown = Counter(item.label for item in card.facts if item.via == "row" and _text(item.value) is not None)
    for label, rule in _PREVIEWS.items():
        if shown[label] and column in LOCAL_AGENT:
            yield from kept(rule)
    if shown["Task activity"] and column in LOCAL_AGENT:
        yield from kept("task.activity-bound")
    paths = _first(card, "Changed paths") if card.kind is CardKind.CODE_MODE else None
    if paths is not None and (tracked := _number(card, "Changed paths")):
        problem = broken(
            "code-mode.path-bounds", card, paths, f"at most {bounds.PATHS_TRACKED} tracked paths", str(tracked)
        )
        yield Tried("code-mode.path-bounds", problem if tracked > bounds.PATHS_TRACKED else None)
    entries = facts_of(card.kind)
    for item in card.facts:
        entry, text = entries.get(item.label), _text(item.value)
        if entry is None or text is None or entry.type is not FactType.TEXT:
            continue
        most, rule = bounds.TASK_TEXT_BYTES, "task.text-bounds"
        if item.label == "Warning":
            most, rule = bounds.WARNING_BYTES, "code-mode.warning-storage"
        elif card.kind is not CardKind.TASK or item.label == "Task execution identity":
            continue
        size = len(text.encode())
        long = size > most and column in MISSION_CONTROL
        problem = broken(rule, card, item, f"at most {most} bytes", f"{size} bytes")
        yield Tried(rule, problem if long else None, item.ordinal, item.via)


def try_core(card: CardFacts, column: Column) -> Iterator[Tried]:
    """``acceptance.core-survives``, ``code-mode.previews-cost-no-counts``, ``acceptance.optional-explicit``.

    A card that says it left something out has its core all the same; one that dropped previews has every total and
    marker; one that lacks optional rows says so, and lacks no others.
    """
    if column not in LOCAL_AGENT:
        return
    there = {item.label for item in card.facts}
    single = [entry for entry in facts_of(card.kind).values() if not entry.repeated]
    core = [entry.label for entry in single if entry.core and entry.label not in there]
    optional = [entry.label for entry in single if not entry.core and entry.label not in there]
    if core or any(says_omitted(card, subject) for subject in ("rows", "blocks", "children")):
        yield _try_lost(card, _CORE, core, "every core row")
    if _number(card, "Warnings omitted") or _number(card, "Changed paths omitted"):
        yield _try_lost(card, _PREVIEWED, core, "every total and safety marker")
    more = [label for label in core if label not in {*_CORE.labels, *_PREVIEWED.labels}]
    if optional or more:
        told = says_omitted(card, "rows", at_least=len(optional)) or says_omitted(card, "blocks")
        lost = more or ([] if told else optional)
        expected = "all rows but optional ones" if more else f"omissions that name {len(optional)} rows"
        problem = broken("acceptance.optional-explicit", card, None, expected, f"no row {', '.join(lost)}")
        yield Tried("acceptance.optional-explicit", problem if lost else None)


def _try_lost(card: CardFacts, rule: Requirement, missing: Iterable[str], expected: str) -> Tried:
    """A card against a rule that names the rows which must be there."""
    lost = [label for label in missing if label in rule.labels]
    problem = broken(rule.id, card, None, expected, f"no row {', '.join(lost)}")
    return Tried(rule.id, problem if lost else None)


def try_partition(card: CardFacts, *, ended: bool) -> Iterator[Tried]:
    """``batch.partition``, ``batch.terminal-unfinished``: where the counts are; `card_problems` says what breaks."""
    if card.kind is not CardKind.SUBAGENT_BATCH:
        return
    if all(_first(card, label) for label in _PARTS):
        yield from kept("batch.partition")
    running = _first(card, "Tasks running")
    if ended and running is not None and running.value != NULL:
        yield from kept("batch.terminal-unfinished")


def try_binding(column: Column, cards: Mapping[str, CardFacts], recorded: Mapping[str, CardFacts]) -> Iterator[Tried]:
    """``task.live-binding``, ``batch.early-details``: every task has the identity of its own batch and number, and the
    intent that was declared for it and not that of another task."""
    scopes: dict[tuple[str, str], Counter[str]] = {}
    named: list[tuple[CardFacts, Fact, str, int, re.Match[str]]] = []
    for card in cards.values():
        at = _TASK.fullmatch(card.path) if card.kind is CardKind.TASK else None
        if at is None:
            continue
        for item in card.facts:
            found = _IDENTITY.fullmatch(_text(item.value) or "") if item.label == "Task execution identity" else None
            if found is not None:
                scopes.setdefault((at["batch"], item.via), Counter())[found["scope"]] += 1
                named.append((card, item, at["batch"], int(at["number"]), found))
        yield from _try_intent(recorded, card, at["batch"])
    rule = "task.live-binding" if column in LIVE else "batch.early-details"
    for card, item, batch, number, found in named:
        ((scope, _),) = scopes[batch, item.via].most_common(1)
        problem = broken(rule, card, item, f"{scope}g{number}", str(item.value))
        wrong = found["scope"] != scope or int(found["number"]) != number
        yield Tried(rule, problem if wrong else None, item.ordinal, f"binding {item.via}")


def _try_intent(recorded: Mapping[str, CardFacts], card: CardFacts, batch: str) -> Iterator[Tried]:
    declared = {
        path: said.value
        for path, other in recorded.items()
        if path.rpartition("/task")[0] == batch and (said := _first(other, "Task intent")) is not None
    }
    own, shown = declared.get(card.path), _first(card, "Task intent")
    if own is None or shown is None or len(declared) == 1:
        return
    others = [path for path, intent in declared.items() if intent == shown.value and path != card.path]
    problem = broken("batch.early-details", card, shown, str(own), f"{shown.value}, the intent of {', '.join(others)}")
    yield Tried("batch.early-details", problem if others and shown.value != own else None, shown.ordinal, "binding")


def _unfinished(recorded: CardFacts | None) -> bool:
    """Whether the records say that this tool never ended: a script that was interrupted, a task without an outcome."""
    stated = _first(recorded, _OUTCOME[recorded.kind]) if recorded is not None and recorded.kind in _OUTCOME else None
    return stated is not None and stated.value in (known("interrupted"), NULL)


def try_cards(columns: Mapping[Column, ColumnFacts], reference: Iterable[CardFacts]) -> Iterator[tuple[Column, Tried]]:
    """Every structural rule on every card of every surface. `reference` is what the saved records say."""
    recorded = {card.path: card for card in reference}
    for column in SURFACES:
        if column not in columns:
            continue
        cards = {card.path: card for card in columns[column].cards}
        for card in cards.values():
            ended = column not in LIVE or columns[column].complete
            for tried in (
                *try_rows(card, column),
                *try_outcome(card, column),
                *try_replay(card, column, unfinished=_unfinished(recorded.get(card.path))),
                *try_activity(card),
                *try_bounds(card, column),
                *try_core(card, column),
                *try_partition(card, ended=ended),
            ):
                yield column, tried
        for tried in try_binding(column, cards, recorded):
            yield column, tried
