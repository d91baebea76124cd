"""The selfcheck must itself be able to fail: a harness that was made blind has survivors, and its verdict shows it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from harness.acceptance import accept, load_scenarios
from harness.compare import cells, columns
from harness.compare.run import Run
from harness.model.facts import CardKind, Column
from harness.model.selfcheck import Measured
from harness.model.verdict import Agreement, Cell, Verdict
from harness.selfcheck import attack, members, screen_facts, wire_facts
from harness.selfcheck.attack import Attack, Result, Target
from harness.selfcheck.mutant import Baseline, Mutant
from harness.selfcheck.running import Judged, summed
from harness.selfcheck.subject import Subject
from harness.selfcheck_file import FILE, code_digest, encode, feature_digests

ROOT = Path(__file__).parents[3]
FEATURES = ROOT / "features"
NAME = "handled-failure.local-agent"
BUNDLE = ROOT / "evidence" / "0.104.0" / NAME
LABEL = "Warnings"
Generator = Callable[[Subject, Baseline], Iterator[Mutant]]


@pytest.fixture(scope="module")
def target() -> Target:
    scenario = next(item for item in load_scenarios(FEATURES) if item.slug == "handled-failure")
    return Target(folder=BUNDLE, scenario=scenario, release="0.104.0", observation=NAME, rank=0)


def results(target: Target, monkeypatch: pytest.MonkeyPatch, *, where: Column, classes: str) -> tuple[Result, ...]:
    """The mutants of one label in some classes on one surface, judged by the harness as it now is."""

    def only(generate: Generator) -> Generator:
        return lambda subject, baseline: (
            mutant
            for mutant in generate(subject, baseline)
            if mutant.label == LABEL and mutant.where == where and mutant.class_.startswith(classes)
        )

    generators = [wire_facts.wire_facts, screen_facts.screen_facts]
    monkeypatch.setattr(attack, "GENERATORS", tuple(only(generate) for generate in generators))
    made = Attack(target)
    return made.judge({offer.sort for offer in made.offers()})


@pytest.mark.parametrize(
    ("where", "classes"), [(Column.LOCAL_AGENT_REOPEN, "fact-"), (Column.MISSION_CONTROL_REOPEN, "screen-")]
)
def test_a_harness_that_sees_catches_every_mutant_of_a_fact(
    where: Column, classes: str, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = results(target, monkeypatch, where=where, classes=classes)
    assert len(judged) >= 5
    assert all(result.caught for result in judged)


def test_a_surface_that_always_agrees_leaves_survivors_and_an_insufficient_verdict(
    target: Target, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    original = cells.compare_card

    def blind(
        run: Run, column: Column, path: str, *, kind: CardKind, truths: dict[cells.Key, cells.Truth]
    ) -> Mapping[cells.Key, Cell]:
        if column is not Column.LOCAL_AGENT_REOPEN:
            return original(run, column, path, kind=kind, truths=truths)
        return {key: Cell(readings=(), agreement=Agreement.AGREE) for key in truths}

    monkeypatch.setattr(columns, "compare_card", blind)
    judged = results(target, monkeypatch, where=Column.LOCAL_AGENT_REOPEN, classes="fact-value")
    survived = [result for result in judged if result.survived]
    assert survived
    assert {result.signal for result in survived} <= {"", "reading_lost", "comparison_lost"}

    evidence = tmp_path / "evidence"
    shutil.copytree(BUNDLE, evidence / "0.104.0" / NAME)
    monkeypatch.undo()
    accepted = accept(evidence=evidence, features=FEATURES, release="0.104.0", at="2026-11-30T00:00:00Z", jobs=1)
    observation = accepted.acceptance.observations[0]
    measured = Measured(release="0.104.0", manifests={NAME: observation.manifest_sha256}, mutated=(NAME,))
    found = summed(
        [Judged(target, judged)], measured=(measured,), code=code_digest(), features=feature_digests(FEATURES)
    )
    assert len(found.survivors) == len(survived)
    (evidence / FILE).write_bytes(encode(found))
    again = accept(evidence=evidence, features=FEATURES, release="0.104.0", at="2026-11-30T00:00:00Z", jobs=1)
    assert again.acceptance.verdict is Verdict.INSUFFICIENT
    assert any(f"did not notice {len(survived)} mutants" in reason for reason in again.acceptance.reasons)


def test_a_reader_that_never_refuses_a_seal_leaves_survivors(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack, "GENERATORS", (members.member_mutants,))
    monkeypatch.setattr(members, "verified", lambda _: None)
    made = Attack(target)
    sorts = {offer.sort for offer in made.offers() if offer.sort[0] == "integrity"}
    judged = made.judge(sorts)
    assert len(judged) > 50
    assert all(result.survived for result in judged)


def test_colours_and_titles_that_are_noticed_are_survivors_too(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
        for mutant in wire_facts.wire_facts(subject, baseline):
            if mutant.kind == "one more" and mutant.label == LABEL:
                yield mutant._replace(class_="no-fact", equivalent="it is said to be no fact")

    monkeypatch.setattr(attack, "GENERATORS", (told,))
    made = Attack(target)
    judged = made.judge({offer.sort for offer in made.offers()})
    assert judged
    assert all(result.survived for result in judged)
    assert "noticed" in judged[0].survivor(target).why


def test_what_is_caught_is_counted_once_and_adds_up(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = results(target, monkeypatch, where=Column.LOCAL_AGENT_REOPEN, classes="fact-")
    found = summed([Judged(target, judged)], measured=(), code="", features={})
    assert found.mutants == len(judged) == found.caught + found.equivalent + len(found.survivors)
    assert {row.id for row in found.classes} <= {"fact-value", "fact-null", "fact-spelling", "fact-row"}
    assert found.attacked[0].label == LABEL
    assert found.survivors == ()
