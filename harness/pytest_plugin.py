"""Lets pytest-bdd run the scenarios with the harness's own vocabulary, and holds their tables against the evidence.

A scenario's Given and When steps build its stimulus again; its Then steps look up the bundled original runs of that
scenario. What disagrees must stand in ``known_disagreements.toml`` beside the features, with owner, reason and expiry;
a listed disagreement that is gone is a failure too.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_bdd import step as bdd_step
from pytest_bdd.parser import Feature, Scenario
from pytest_bdd.parsers import StepParser

from harness.acceptance import accept, releases
from harness.cli.places import default_folder, parse_time
from harness.model.errors import UsageError
from harness.model.facts import SURFACES, Column
from harness.model.stimulus import digest
from harness.model.verdict import Acceptance, Agreement, Observation
from harness.scenario.compile import find_step
from harness.scenario.draft import Block, Draft
from harness.scenario.vocabulary import STEPS, Step

_HELD = (Column.REPORT, Column.NESTED, *SURFACES)


class KnownDisagreement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One disagreement of the product that its owners know: which observations, card, label and columns."""

    observations: tuple[str, ...]
    card: str
    label: str
    columns: tuple[Column, ...]
    reason: str
    owner: str
    expires: str


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    known: tuple[KnownDisagreement, ...] = ()


def decode_known(text: str, *, where: str) -> tuple[KnownDisagreement, ...]:
    """The disagreements in a TOML file of ``[[known]]`` tables. Raises UsageError for unknown or missing members."""
    try:
        return msgspec.convert(tomllib.loads(text), _File).known
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is no list of known disagreements: {error}", where=where) from error


Seen = tuple[str, str, str, Column]
"""Bundle, card, label and column of one disagreement."""

_SCENARIO = pytest.StashKey[str]()
_SETTLE = pytest.StashKey[tuple[set[Seen], set[Seen]]]()


class _Parser(StepParser):
    """One step of the vocabulary as pytest-bdd looks for it, chosen exactly as the compiler chooses."""

    def __init__(self, entry: Step) -> None:
        super().__init__(entry.pattern)
        self.entry = entry

    def parse_arguments(self, name: str) -> dict[str, Any]:
        found = find_step(self.entry.keyword, name)
        return {"arguments": found[1]} if found else {}

    def is_matching(self, name: str) -> bool:
        found = find_step(self.entry.keyword, name)
        return found is not None and found[0] is self.entry


def _runner(entry: Step) -> Callable[..., None]:
    def run(  # noqa: PLR0917 # pytest-bdd fills the parameters by name
        draft: Draft,
        bundled: dict[str, tuple[Observation, ...]],
        disagreements: set[Seen],
        arguments: dict[str, Any],
        acceptances: tuple[Acceptance, ...],
        request: pytest.FixtureRequest,
        docstring: str | None = None,
        datatable: list[list[str]] | None = None,
    ) -> None:
        draft.block = Block(text=docstring, table=[list(row) for row in datatable or []])
        before = dict(draft.expected)
        entry.act(draft, **arguments)
        for path, card in draft.expected.items():
            if before.get(path) is not card:
                _hold(draft, path, bundled, disagreements, request)
        if draft.over_every_run:
            for acceptance in acceptances:
                _hold_agreement(acceptance)

    run.__signature__ = inspect.signature(run)  # type: ignore[attr-defined] # pytest-bdd reads it
    return run


def _hold_agreement(acceptance: Acceptance) -> None:
    """Facts that both reopened surfaces of a run show were held against each other, and no difference is silent."""
    told = {(found.observation, found.card, found.label) for found in acceptance.findings}
    for observation in acceptance.observations:
        both = [
            (row, row.cells[Column.LOCAL_AGENT_REOPEN], row.cells[Column.MISSION_CONTROL_REOPEN])
            for row in observation.rows
        ]
        shown = [
            (row, ours, theirs)
            for row, ours, theirs in both
            if Agreement.NOT_COMPARABLE not in (ours.agreement, theirs.agreement)
        ]
        captured = {capture.column for capture in observation.captures}
        if {Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN} <= captured:
            assert shown, f"nothing of {observation.bundle} was compared on both surfaces"
        for row, ours, theirs in shown:
            if ours.agreement is not theirs.agreement:
                key = (observation.id, row.card, row.label)
                assert key in told, f"{observation.bundle}: the surfaces differ in {row.label} of {row.card}, untold"


def _hold(
    draft: Draft,
    path: str,
    bundled: dict[str, tuple[Observation, ...]],
    disagreements: set[Seen],
    request: pytest.FixtureRequest,
) -> None:
    """Every stated fact of one card was compared in every bundled run of this scenario, and what differs is known."""
    observations = bundled.get(_scenario_id(request), ())
    if not observations:
        pytest.skip("no original run of this scenario is bundled")
    stimulus = digest(draft.stimulus())
    labels = {(fact.label, fact.ordinal) for fact in draft.expected[path].facts}
    for observation in observations:
        assert not observation.stale, f"{observation.bundle} was recorded with another stimulus than {stimulus}"
        rows = {(row.label, row.ordinal): row for row in observation.rows if row.card == path}
        missing = labels - rows.keys()
        assert not missing, f"{observation.bundle} has no row for {sorted(missing)} of {path}"
        compared = 0
        for key in sorted(labels):
            for column in _HELD:
                agreement = rows[key].cells[column].agreement
                compared += agreement is not Agreement.NOT_COMPARABLE
                if agreement is Agreement.DISAGREE:
                    disagreements.add((observation.bundle, path, key[0], column))
        assert compared, f"nothing stated about {path} could be compared in {observation.bundle}"


def _scenario_id(request: pytest.FixtureRequest) -> str:
    name: str = request.node.stash[_SCENARIO]
    return name


for _entry in STEPS:
    bdd_step(_Parser(_entry), type_=_entry.keyword, stacklevel=1)(_runner(_entry))  # type: ignore[arg-type] # a literal


@pytest.fixture(scope="session")
def acceptances() -> tuple[Acceptance, ...]:
    """The bundled evidence, judged once a session, release by release."""
    evidence, features = default_folder("evidence"), default_folder("features")
    at = parse_time(None)
    return tuple(
        accept(evidence=evidence, features=features, release=release, at=at).acceptance
        for release in releases(evidence)
    )


@pytest.fixture(scope="session")
def bundled(acceptances: tuple[Acceptance, ...]) -> dict[str, tuple[Observation, ...]]:
    """Scenario id to its bundled original runs of every release."""
    found: dict[str, tuple[Observation, ...]] = {}
    for acceptance in acceptances:
        for observation in acceptance.observations:
            found[observation.scenario] = (*found.get(observation.scenario, ()), observation)
    return found


@pytest.fixture(scope="session")
def known_disagreements() -> tuple[KnownDisagreement, ...]:
    """What ``known_disagreements.toml`` lists. Expired entries fail."""
    path = default_folder("features") / "known_disagreements.toml"
    known = decode_known(path.read_text(encoding="utf-8"), where=path.name) if path.exists() else ()
    today = parse_time(None)
    expired = [entry for entry in known if entry.expires <= today]
    assert not expired, f"{len(expired)} known disagreements are expired, the first is {expired[0]}"
    return known


@pytest.fixture
def draft(request: pytest.FixtureRequest) -> Draft:
    """The scenario being read."""
    return Draft(where=_scenario_id(request))


@pytest.fixture
def disagreements(
    request: pytest.FixtureRequest,
    bundled: dict[str, tuple[Observation, ...]],
    known_disagreements: tuple[KnownDisagreement, ...],
) -> set[Seen]:
    """Everything in which the product disagrees with this scenario; `pytest_bdd_after_scenario` settles it."""
    seen: set[Seen] = set()
    bundles = {observation.bundle for observation in bundled.get(_scenario_id(request), ())}
    expected = {
        (bundle, entry.card, entry.label, column)
        for entry in known_disagreements
        for bundle in entry.observations
        if bundle in bundles
        for column in entry.columns
    }
    request.node.stash[_SETTLE] = (seen, expected)
    return seen


def pytest_bdd_apply_tag(tag: str) -> bool:
    """Tags name classes, runs and drivers; none of them is a pytest mark."""
    return bool(tag)


def pytest_bdd_before_scenario(request: pytest.FixtureRequest, feature: Feature, scenario: Scenario) -> None:
    """Steps have to know whose they are."""
    request.node.stash[_SCENARIO] = f"{Path(feature.filename).name}::{scenario.name}"


def pytest_bdd_after_scenario(request: pytest.FixtureRequest) -> None:
    """Unknown disagreements and known ones that are gone fail; known ones make the test an expected failure."""
    if _SETTLE not in request.node.stash:
        return
    seen, expected = request.node.stash[_SETTLE]
    new, gone = sorted(seen - expected), sorted(expected - seen)
    if new or gone:
        pytest.fail(
            "\n".join(
                [
                    *(f"the product disagrees, and nobody has listed it: {' '.join(item)}" for item in new),
                    *(f"listed as a known disagreement, but it agrees: {' '.join(item)}" for item in gone),
                ]
            ),
            pytrace=False,
        )
    if seen:
        pytest.xfail(f"{len(seen)} known disagreements of the product")
