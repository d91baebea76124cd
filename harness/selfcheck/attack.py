"""The mutants of one bundle: which sorts of them it offers, and the judgement of those that are asked for.

Any process may be asked for any bundle. It examines a bundle when it is first asked for it, and keeps it, so that
several pieces of one bundle's work can be done by several processes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import msgspec

from harness.bundle import read_bundle
from harness.collector import uncollected
from harness.model.selfcheck import Survivor
from harness.scenario.compile import Scenario
from harness.selfcheck.authority import authority_mutants
from harness.selfcheck.classes import BY_ID
from harness.selfcheck.judging import judged
from harness.selfcheck.members import member_mutants
from harness.selfcheck.mutant import Baseline, Mutant, Signal
from harness.selfcheck.records import record_mutants
from harness.selfcheck.screen_facts import screen_facts
from harness.selfcheck.subject import Subject
from harness.selfcheck.wire_cards import wire_cards
from harness.selfcheck.wire_facts import wire_facts
from harness.selfcheck.wire_order import wire_order

Sort = tuple[str, ...]
GENERATORS: tuple[Callable[[Subject, Baseline], Iterator[Mutant]], ...] = (
    wire_facts,
    wire_cards,
    wire_order,
    screen_facts,
    record_mutants,
    member_mutants,
    authority_mutants,
)


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle to mutate. `rank` says how soon it is chosen among bundles that offer mutants of one sort. `shares`:
    mutants of sorts that another bundle gives are also tried on it."""

    folder: Path
    scenario: Scenario | None
    release: str
    observation: str
    rank: int
    shares: bool = False


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A sort of mutants that a bundle offers, and whether nothing can notice it there."""

    sort: Sort
    equivalent: bool


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One judged mutant. `signal` is what noticed it, "" when nothing did; `equivalent` why nothing can."""

    class_: str
    kind: str
    requirement: str
    where: str
    card: str
    label: str
    card_kind: str
    signal: str
    equivalent: str

    @property
    def caught(self) -> bool:
        """Whether it was noticed in a way that its class takes for one, and should be."""
        one = BY_ID[self.class_]
        return not one.harmless and self.signal in one.caught

    @property
    def alone(self) -> bool:
        """Whether it counts as equivalent: declared so before it was judged, and rightly not noticed."""
        return bool(self.equivalent) and not (self.signal if BY_ID[self.class_].harmless else self.caught)

    @property
    def survived(self) -> bool:
        return not self.caught and not self.alone

    def survivor(self, target: Target) -> Survivor:
        harmless = BY_ID[self.class_].harmless
        if harmless:
            why = f"noticed ({self.signal.replace('_', ' ')}), though {self.equivalent}"
        elif self.signal:
            why = f"only noticed as {self.signal.replace('_', ' ')}"
        else:
            why = "not noticed"
        return Survivor(
            class_=self.class_,
            kind=self.kind,
            requirement=self.requirement,
            release=target.release,
            observation=target.observation,
            where=self.where,
            card=self.card,
            label=self.label,
            why=why,
        )


class Attack:
    """One bundle under attack. No mutant leaves its process: another one makes the same anew, known by its sort."""

    def __init__(self, target: Target) -> None:
        bundle = read_bundle(target.folder)
        self._subject = Subject(bundle, target.scenario)
        self._baseline = Baseline(self._subject.baseline)
        self._mutants: dict[Sort, Mutant] = {}
        for generate in GENERATORS:
            for mutant in generate(self._subject, self._baseline):
                held = self._mutants.get(mutant.sort)
                if held is None or (held.equivalent and not mutant.equivalent):
                    self._mutants[mutant.sort] = mutant

    def offers(self) -> tuple[Offer, ...]:
        return tuple(Offer(sort=sort, equivalent=bool(one.equivalent)) for sort, one in self._mutants.items())

    def judge(self, sorts: Collection[Sort]) -> tuple[Result, ...]:
        """Judge the mutants of these sorts. Results come in the order in which the mutants were made."""
        chosen = [mutant for sort, mutant in self._mutants.items() if sort in sorts]
        signals = {mutant.sort: signal for mutant, signal in judged(self._subject, self._baseline, chosen)}
        return tuple(_result(mutant, signals[mutant.sort]) for mutant in chosen)


def _result(mutant: Mutant, signal: Signal | None) -> Result:
    return Result(
        class_=mutant.class_,
        kind=mutant.kind,
        requirement=mutant.requirement,
        where=mutant.where,
        card=mutant.card,
        label=mutant.label,
        card_kind=mutant.card_kind,
        signal=signal.value if signal is not None else "",
        equivalent=mutant.equivalent,
    )


_attacks: dict[str, Attack] = {}
"""The bundles that this process has examined: examining one again takes as long as judging ten mutants."""


def prepare(target: Target) -> tuple[Offer, ...]:
    """Examine a bundle and say which sorts of mutants it offers."""
    with uncollected():
        return _attack(target).offers()


def _attack(target: Target) -> Attack:
    key = str(target.folder)
    if key not in _attacks:
        _attacks[key] = Attack(target)
    return _attacks[key]


def forget() -> None:
    """Let go of all bundles that this process has examined."""
    _attacks.clear()


def carry_out(target: Target, sorts: tuple[Sort, ...]) -> tuple[Result, ...]:
    """Judge the chosen mutants of a bundle, which is examined first if another process has prepared it."""
    with uncollected():
        return _attack(target).judge(frozenset(sorts))
