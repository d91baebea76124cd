"""A scenario while its steps are being read: replies per lane, turns, expectations, and where each card will stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from harness.model.errors import UsageError
from harness.model.facts import CardKind
from harness.model.stimulus import MAIN_LANE, Interruption, Moment, Reply, Stimulus, ToolCall, Turn, Usage
from harness.scenario.expected import ExpectedCard, ExpectedFact, parse_expected
from harness.spec.facts import fact

CODE_MODE_TOOL = "code_mode"
BATCH_TOOL = "subagents"


class Block(NamedTuple):
    """What may stand under a step: a doc string (None for none) and a table (header row first, [] for none), whose rows
    stand on these lines of the feature file."""

    text: str | None = None
    table: list[list[str]] = []  # noqa: RUF012 # never changed
    lines: list[int] = []  # noqa: RUF012 # never changed


def _intents(reply: Reply) -> list[str]:
    """Intents of the tasks that a reply's batches declare."""
    return [
        task["intent"]
        for call in reply.calls
        if call.name == BATCH_TOOL and isinstance(tasks := call.arguments.get("tasks"), list)
        for task in tasks
        if isinstance(task, dict) and isinstance(task.get("intent"), str)
    ]


@dataclass(kw_only=True)
class Draft:
    """Mutable only while one scenario is compiled. `where` and `block` are of the step being read."""

    where: str
    line: int = 0
    block: Block = field(default_factory=Block)
    files: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    lanes: dict[str, list[Reply]] = field(default_factory=dict)
    lane_turns: dict[str, list[int]] = field(default_factory=dict)
    lane_places: dict[str, str] = field(default_factory=dict)
    turn_places: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    usage: Usage | None = field(default_factory=Usage)
    terminal: tuple[int, int] = Stimulus().terminal
    session: bool = True
    recorded_by: str = ""
    finish_order: tuple[int, ...] = ()
    expected: dict[str, ExpectedCard] = field(default_factory=dict)
    varying: list[str] = field(default_factory=list)
    over_every_run: bool = False

    def reply(self, lane: str, reply: Reply) -> None:
        """Append a reply to a lane; the usage that the scenario declared so far is put on it."""
        if reply.status == 200:
            reply = msgspec.structs.replace(reply, usage=self.usage)
        self.lanes.setdefault(lane, []).append(reply)
        self.lane_turns.setdefault(lane, []).append(len(self.turns) + 1)
        self.lane_places[lane] = self.where

    def set_setting(self, dotted: str, value: object) -> None:
        """Set one member of the product's settings by its dotted name."""
        target = self.settings
        *parents, last = dotted.split(".")
        for name in parents:
            target = target.setdefault(name, {})
        target[last] = value

    def run_turn(self, prompt: str, interruption: Interruption | None = None) -> None:
        self.turns.append(Turn(prompt=prompt, interruption=interruption))
        self.turn_places.append(self.where)

    def _root_calls(self, turn: int) -> list[ToolCall]:
        replies = zip(self.lanes.get(MAIN_LANE, []), self.lane_turns.get(MAIN_LANE, []), strict=True)
        return [call for reply, at in replies if at == turn for call in reply.calls]

    def _root_card(self, tool: str, turn: int | None, nth: int) -> tuple[str, ToolCall]:
        turns = range(1, len(self.turns) + 1) if turn is None else (turn,)
        found = [
            (f"turn{at}/call{index}", call)
            for at in turns
            for index, call in enumerate(self._root_calls(at), start=1)
            if call.name == tool
        ]
        if nth == 0 and len(found) != 1:
            raise UsageError(
                f"the scenario has {len(found)} {tool} calls here, not one", where=self.where, hint="say which turn"
            )
        if nth > len(found):
            raise UsageError(f"the scenario has only {len(found)} {tool} calls here", where=self.where)
        return found[max(nth - 1, 0)]

    def script(self, turn: int | None = None, nth: int = 0) -> str:
        """Path of the only (`nth` 0) or the `nth` Code Mode script of a turn, or of the whole run."""
        return self._root_card(CODE_MODE_TOOL, turn, nth)[0]

    def batch(self, turn: int | None = None, nth: int = 0) -> str:
        return self._root_card(BATCH_TOOL, turn, nth)[0]

    def task(self, number: int, turn: int | None = None, nth: int = 0) -> str:
        path, call = self._root_card(BATCH_TOOL, turn, nth)
        declared = len(call.arguments.get("tasks", []))
        if not 1 <= number <= declared:
            raise UsageError(f"the batch declares {declared} tasks, there is no task {number}", where=self.where)
        return f"{path}/task{number}"

    def script_of_task(self, number: int) -> str:
        path = self.task(number)
        _, call = self._root_card(BATCH_TOOL, None, 0)
        lane = call.arguments["tasks"][number - 1]["intent"]
        calls = [inner for reply in self.lanes.get(lane, []) for inner in reply.calls]
        places = [index for index, inner in enumerate(calls, start=1) if inner.name == CODE_MODE_TOOL]
        if len(places) != 1:
            raise UsageError(f"task {number} runs {len(places)} scripts, not one", where=self.where)
        return f"{path}/call{places[0]}"

    def expect(self, path: str, kind: CardKind, table: list[list[str]]) -> None:
        """Add a table with the columns label and value; repeated labels count up their ordinal."""
        if not table or table[0] != ["label", "value"]:
            raise UsageError("the table needs a header row | label | value |", where=self.where)
        if not table[1:]:
            raise UsageError("the table states no fact", where=self.where)
        earlier = self.expected.get(path)
        facts = list(earlier.facts) if earlier else []
        lines = self.block.lines if len(self.block.lines) == len(table) else [self.line] * len(table)
        for (label, text), line in zip(table[1:], lines[1:], strict=True):
            value = parse_expected(text, kind, label, where=self.where)
            ordinal = sum(1 for stated in facts if stated.label == label)
            entry = fact(kind, label)
            rows = (entry.bound or ordinal + 1) if entry.repeated else 1
            if ordinal >= rows:
                raise UsageError(f"{label} stands {ordinal + 1} times, a card has at most {rows}", where=self.where)
            facts.append(ExpectedFact(label=label, ordinal=ordinal, value=value, line=line))
        self.expected[path] = ExpectedCard(path=path, kind=kind, facts=tuple(facts))

    def tasks(self) -> tuple[str, ...]:
        """Intents of all tasks that batches have declared so far, in the order of declaration.

        Raises UsageError when there is none: a step about each task would do nothing.
        """
        found = self._declared()
        if not found:
            raise UsageError("no batch has declared a task yet", where=self.where)
        return found

    def _declared(self) -> tuple[str, ...]:
        replies = [reply for lane in self.lanes.values() for reply in lane]
        return tuple(dict.fromkeys(intent for reply in replies for intent in _intents(reply)))

    def settle(self) -> None:
        """Refuse what no run would ever reach: call it when all steps are read.

        Raises UsageError for replies to a task that no batch declares, replies after the last prompt, and a wait for
        requests of an unknown task.
        """
        tasks = set(self._declared())
        if MAIN_LANE in tasks:
            raise UsageError(f"a task cannot be meant to {MAIN_LANE!r}, that is the session's agent", where=self.where)
        for lane, where in self.lane_places.items():
            if lane != MAIN_LANE and lane not in tasks:
                raise UsageError(f"no batch declares a task {lane!r}", where=where)
            if self.lane_turns[lane][-1] > len(self.turns):
                raise UsageError("the reply comes after the last prompt, nothing asks for it", where=where)
        for turn, where in zip(self.turns, self.turn_places, strict=True):
            moment = turn.interruption
            if moment and moment.moment is Moment.MODEL_ASKED and moment.subject not in {MAIN_LANE, *tasks}:
                raise UsageError(f"no batch declares a task {moment.subject!r}", where=where)

    def stimulus(self) -> Stimulus:
        return Stimulus(
            files=self.files,
            settings=self.settings,
            environment=self.environment,
            lanes={lane: tuple(replies) for lane, replies in self.lanes.items()},
            turns=tuple(self.turns),
            terminal=self.terminal,
            session=self.session,
            recorded_by=self.recorded_by,
        )
