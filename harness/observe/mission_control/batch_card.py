"""A batch card on the transcript: its title, its tasks' chips and the panel of the selected task as readings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.model.facts import CardKind
from harness.model.values import NotComparable, Reason, known, not_displayed
from harness.observe.mission_control.cards import MARKS, Card, boxed, split
from harness.observe.mission_control.script_card import INTENT, NOT_KNOWN
from harness.observe.mission_control.seen import Seen, count, printed
from harness.observe.mission_control.text import Joined, Text
from harness.spec.facts import facts_of

FACTS = facts_of(CardKind.SUBAGENT_BATCH)
TASK_FACTS = facts_of(CardKind.TASK)
_SETTLED = re.compile(r"(\d+)/(\d+) settled")
_FAILED = re.compile(r"FAIL(\d+)")
_RUNNING = re.compile(r"RUN(\d+)")
_CHIP = re.compile(rf"\[(?P<id>\S+)(?: (?P<name>.*?))?? (?P<mark>[{MARKS}])\](?= |$)")
_PANEL = re.compile(rf"(?P<mark>[{MARKS}]) (?P<id>\S+)(?: · (?P<rest>.*))?")
_USAGE = re.compile(r"Tks (?P<input>\S+?)\(in\)\| (?P<output>\S+?)\(out\)")
_NUMBERED = re.compile(r"g([1-9][0-9]?)")
"""The host's own ids count a batch's tasks."""
_OUTCOMES = {"✓": "success", "✗": "failure", "⊘": "cancelled", "●": "running"}
_REASONING = re.compile(r"(?P<model>.+)\((?:default|none|off|minimal|low|medium|high|xhigh|max)\)")
"""A model line ends with the chosen reasoning effort while the run is live."""
_LINE_STARTS = re.compile(rf"\[|[{MARKS}] |\+\d+ more")


class Roster(NamedTuple):
    """What a batch card shows: readings of the batch, and of tasks by 1-based number. `panel`: the task whose panel
    is open, None when none is."""

    batch: list[Seen]
    tasks: dict[int, list[Seen]]
    panel: int | None


def starts_line(row: str) -> bool:
    """Whether a row of a card's body begins a line of its own."""
    return bool(_LINE_STARTS.match(row)) or any(row.startswith(f"{label} • ") for label in FACTS)


def card_facts(card: Card) -> Roster:
    """Every reading of the card."""
    batch = list(_title(card))
    chips: list[tuple[Text, re.Match[str]]] = []
    panel: tuple[Text, re.Match[str]] | None = None
    for line in card.lines:
        string = line.text.string
        if label := next((label for label in FACTS if string.startswith(f"{label} • ")), None):
            value = Joined(line.text.cut(len(label) + 3), line.doubt)
            batch.append(Seen(label, printed(FACTS[label], value, NOT_KNOWN), "row", value.text))
        elif panel is None and string.startswith("["):
            chips += [(line.text, match) for match in _chips(string)]
        elif panel is None and (match := _PANEL.fullmatch(string)):
            panel = line.text, match
    numbers = _numbers([match["id"] for _, match in chips])
    tasks = {number: list(_chip(text, match)) for number, (text, match) in zip(numbers, chips, strict=True)}
    if panel is None:
        return Roster(batch, tasks, None)
    text, match = panel
    number = next((number for number, (_, chip) in zip(numbers, chips, strict=True) if chip["id"] == match["id"]), None)
    if number is None and (numbered := _NUMBERED.fullmatch(match["id"])):
        number = int(numbered[1])  # the card has no room for this task's chip
    if number is None:
        return Roster(batch, tasks, None)
    own = next((chip for chip, told in zip(chips, numbers, strict=True) if told == number), None)
    tasks[number] = tasks.get(number, []) + list(_panel(card, text, match, own))
    return Roster(batch, tasks, number)


def _numbers(ids: Sequence[str]) -> Sequence[int]:
    """Which task each chip is of, from 1. The host's own ids say it: live, chips stand in the order in which tasks
    started. Other ids say nothing, and the chips are then taken to stand in the order of the declaration."""
    found = [int(match[1]) for id_ in ids if (match := _NUMBERED.fullmatch(id_))]
    return found if len(set(found)) == len(ids) else range(1, len(ids) + 1)


def _title(card: Card) -> Iterator[Seen]:
    for figure in card.title.figures:
        if match := _SETTLED.fullmatch(figure.string):
            yield Seen("Tasks total", known(match[2]), "title", figure.group(match, 2))
        elif match := _FAILED.fullmatch(figure.string):
            yield Seen("Tasks failed", known(match[1]), "title", figure.group(match, 1))
        elif match := _RUNNING.fullmatch(figure.string):
            yield Seen("Tasks running", known(match[1]), "title", figure.group(match, 1))


def _chips(string: str) -> Iterator[re.Match[str]]:
    """Chips from the row's start on; what follows something that is no chip is not one either."""
    at = 0
    while match := _CHIP.match(string, at):
        yield match
        at = match.end() + 1


def _chip(text: Text, match: re.Match[str]) -> Iterator[Seen]:
    outcome = _OUTCOMES.get(match["mark"])
    value = known(outcome) if outcome else not_displayed(f"the mark {match['mark']} names no outcome")
    yield Seen("Task outcome", value, "chip", text.group(match, "mark"))


def _panel(card: Card, text: Text, match: re.Match[str], chip: tuple[Text, re.Match[str]] | None) -> Iterator[Seen]:
    """The selected task: mark, selection line, intent and usage."""
    yield from _chip(text, match)
    parts = split(text.group(match, "rest"), " · ") if match["rest"] is not None else []
    model = parts.pop() if parts and "/" in parts[-1].string else None
    if len(parts) == 1:
        profile = Joined(parts[0], "")
        yield Seen("Task profile", printed(TASK_FACTS["Task profile"], profile, ""), "line", parts[0])
    if model is not None:
        yield from _model(model)
    # A chip's name is the agent or, without one, the profile: only where no profile is shown it must be the agent.
    if not parts and chip is not None and chip[1]["name"] is not None:
        name = chip[0].group(chip[1], "name")
        yield Seen("Task agent", printed(TASK_FACTS["Task agent"], Joined(name, ""), ""), "chip", name)
    intents = 0
    for box in card.boxes:
        if not box.rows or box.rows[0].spots[0].row < text.spots[0].row:
            continue
        joined = boxed(box)
        if not box.title.string and joined.text.string.startswith(INTENT) and not intents:
            value = Joined(joined.text.cut(len(INTENT)), joined.doubt)
            intents += 1
            yield Seen("Task intent", printed(TASK_FACTS["Task intent"], value, ""), "line", value.text)
        elif usage := _USAGE.match(box.title.string):
            for label, group in (("Usage effective input tokens", "input"), ("Usage output tokens", "output")):
                yield Seen(label, count(usage[group]), "line", box.title.group(usage, group))


def _model(text: Text) -> Iterator[Seen]:
    at = text.string.index("/")
    provider, model = text.cut(0, at), text.cut(at + 1)
    yield Seen("Task provider", printed(TASK_FACTS["Task provider"], Joined(provider, ""), ""), "line", provider)
    if match := _REASONING.fullmatch(model.string):
        model = model.group(match, "model")
    if model.string.endswith(")"):
        reason = "the model's name cannot be told from what stands in brackets after it"
        yield Seen("Task model", NotComparable(reason=Reason.UNREADABLE, detail=reason), "line", model)
    else:
        yield Seen("Task model", printed(TASK_FACTS["Task model"], Joined(model, ""), ""), "line", model)
