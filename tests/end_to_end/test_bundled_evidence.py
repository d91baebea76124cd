"""What a clone holds: evidence that verifies and covers the classes, and the reports that the main job renders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.acceptance import RULE_TEXTS, Accepted, accept, bundle_folders, load_scenarios, read_all
from harness.model.facts import SURFACES
from harness.model.values import State, Value
from harness.proofs import Proofs
from harness.report import render_all
from harness.selfcheck.classes import CLASSES as CLASSES_OF_MUTANTS
from harness.spec.classes import CLASSES, RUNS, served

ROOT = Path(__file__).parents[2]
EVIDENCE, FEATURES, REPORTS = ROOT / "evidence", ROOT / "features", ROOT / "reports"
CANDIDATE = "0.104.0"
WITH_FACT_ROWS = "0.100.0"
MUTANTS = 2_000
"""So many at least must have been caught."""
SIZE_LIMIT = 40_000_000
"""Bytes of all evidence in git."""


@pytest.fixture(scope="module")
def rendered() -> tuple[Accepted, dict[str, bytes]]:
    """The main job once more, as of the time that the committed report says."""
    verdict = json.loads((REPORTS / "verdict.json").read_text(encoding="utf-8"))
    accepted = accept(evidence=EVIDENCE, features=FEATURES, release=verdict["release"]["version"], at=verdict["at"])
    proofs = Proofs(accepted.bundles)
    return accepted, render_all(
        accepted.acceptance,
        excerpts=proofs.excerpt,
        pictures=proofs.picture,
        timelines=proofs.timeline,
        rules=RULE_TEXTS,
    )


@pytest.mark.parametrize("name", ["verdict.json", "report.md", "report.html", "junit.xml", "ctrf.json"])
def test_a_report_that_the_main_job_would_not_render_now_is_noticed(
    name: str, rendered: tuple[Accepted, dict[str, bytes]]
) -> None:
    assert (REPORTS / name).read_bytes() == rendered[1][name], "run `uv run harness accept` and commit reports/"


def test_the_bundled_verdict_is_of_the_candidate_and_not_better_than_its_evidence(
    rendered: tuple[Accepted, dict[str, bytes]],
) -> None:
    acceptance = rendered[0].acceptance
    assert acceptance.release.version == CANDIDATE
    assert not acceptance.damaged
    assert acceptance.verdict == "insufficient", "no release authority has signed anything yet"
    assert {item.authorization for item in acceptance.observations} == {"unauthorized"}


@pytest.mark.parametrize("release", [CANDIDATE, WITH_FACT_ROWS])
def test_every_bundle_verifies_and_is_current(release: str) -> None:
    scenarios = {scenario.id: scenario for scenario in load_scenarios(FEATURES)}
    bundles, damaged = read_all(bundle_folders(EVIDENCE, release))
    assert damaged == []
    assert bundles
    for bundle in bundles:
        scenario = scenarios[bundle.manifest.scenario]
        assert bundle.manifest.stimulus_sha256 == scenario.stimulus_sha256, bundle.folder


def test_no_run_that_a_class_needs_is_missing_for_the_candidate() -> None:
    scenarios = {scenario.id: scenario for scenario in load_scenarios(FEATURES)}
    bundles, _ = read_all(bundle_folders(EVIDENCE, CANDIDATE))
    columns: dict[str, set[str]] = {}
    for bundle in bundles:
        for name in served(scenarios[bundle.manifest.scenario].tags).runs:
            columns.setdefault(name, set()).update(capture.column for capture in bundle.manifest.captures)
    for run in RUNS.values():
        assert set(run.columns) <= columns.get(run.id, set()), f"{run.id} lacks a surface"


def test_five_classes_are_observed_where_mission_control_prints_fact_rows() -> None:
    bundles, _ = read_all(bundle_folders(EVIDENCE, WITH_FACT_ROWS))
    observed = {name for bundle in bundles for name in bundle.manifest.classes}
    assert len(observed - {"agreement"}) >= 5
    assert observed <= {entry.id for entry in CLASSES}


def test_the_bundled_selfcheck_is_of_these_runs_and_this_code_and_nothing_got_through(
    rendered: tuple[Accepted, dict[str, bytes]],
) -> None:
    state = rendered[0].acceptance.selfcheck
    assert state.fault == ""
    assert state.result is not None
    assert state.result.survivors == ()
    assert state.result.caught >= MUTANTS
    assert {row.id for row in state.result.classes} == {entry.id for entry in CLASSES_OF_MUTANTS}
    assert {item.release for item in state.result.measured} == {CANDIDATE, WITH_FACT_ROWS}


def test_every_fact_that_a_surface_shows_somewhere_in_the_evidence_is_attacked_there(
    rendered: tuple[Accepted, dict[str, bytes]],
) -> None:
    result = rendered[0].acceptance.selfcheck.result
    assert result is not None
    attacked = {(item.card, item.label, item.column) for item in result.attacked}
    shown = {
        (row.kind.value, row.label, column.value)
        for item in rendered[0].acceptance.observations
        for row in item.rows
        for column in SURFACES
        for reading in row.cells[column].readings
        if isinstance(reading.value, Value) and reading.value.state in (State.KNOWN, State.NULL)
    }
    assert len(shown) > 150
    assert sorted(shown - attacked) == []


def test_evidence_stays_small_enough_for_git() -> None:
    assert sum(path.stat().st_size for path in EVIDENCE.rglob("*") if path.is_file()) < SIZE_LIMIT
