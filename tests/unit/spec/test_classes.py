"""The observation classes: a run that is forgotten here would let a release pass without it."""

from __future__ import annotations

import pytest

from harness.model.errors import UsageError
from harness.model.facts import SURFACES, Column
from harness.spec.classes import CLASS_IDS, CLASSES, RUNS, Extent, observation_class, served


def test_the_eight_classes_of_observations_md_stand_in_its_order_with_all_their_runs() -> None:
    assert {entry.id: len(entry.runs) for entry in CLASSES} == {
        "mixed-outcomes": 2,  # script; batch
        "overflow": 8,  # warnings; paths past 3, past 50, at 1,000; long path; references; activities; multi-byte text
        "recovered-failures": 3,
        "cancellation": 6,  # in a call; between; batch; killed in a call; killed in a batch; a further turn
        "concurrency": 3,
        "out-of-order": 3,
        "legacy": 3,
        "agreement": 28,  # every run above
    }
    assert len(CLASS_IDS) == 8
    assert len(RUNS) == 28
    assert all(run.text and run.id == id_ for id_, run in RUNS.items())


def test_a_run_stands_below_its_own_class_and_agreement_below_none() -> None:
    for entry in CLASSES[:-1]:
        assert entry.text
        assert all(run.id.startswith(f"{entry.id}.") for run in entry.runs)
    assert not any(id_.startswith("agreement.") for id_ in RUNS)
    assert observation_class("agreement").runs == tuple(RUNS.values())
    with pytest.raises(KeyError):
        observation_class("weather")


def test_only_legacy_needs_no_live_reading_and_only_kills_may_cut_one() -> None:
    reopened = (Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN)
    cut = {id_ for id_, run in RUNS.items() if run.live_may_be_cut}
    assert cut == {
        "cancellation.killed-in-call",
        "cancellation.killed-in-batch",
        "cancellation.turn-after-interruption",
    }
    for id_, run in RUNS.items():
        assert run.columns == (reopened if id_.startswith("legacy.") else SURFACES), id_
        assert (run.extent is Extent.REOPEN) == id_.startswith("legacy.")


def test_tags_give_runs_their_classes_and_agreement_in_catalogue_order() -> None:
    found = served(["@slow", "@overflow.long-path", "@mixed-outcomes.script", "@mixed-outcomes"])
    assert found.classes == ("mixed-outcomes", "overflow", "agreement")
    assert found.runs == ("mixed-outcomes.script", "overflow.long-path")
    assert served(["legacy.code-mode"]).classes == ("legacy", "agreement")


def test_a_scenario_without_a_run_serves_nothing() -> None:
    for tags in ([], ["@slow", "@weather.rain"]):
        found = served(tags)
        assert (found.classes, found.runs) == ((), ())


@pytest.mark.parametrize(
    ("tags", "name"),
    [
        (["@overflow.long-paths"], "overflow.long-paths"),
        (["@agreement.script", "@mixed-outcomes.script"], "agreement.script"),
        (["@overflow."], "overflow."),
        (["@overflow"], "overflow"),
        (["@agreement"], "agreement"),
        (["@legacy", "@overflow.warnings"], "legacy"),
    ],
)
def test_a_tag_that_would_cover_nothing_is_refused(tags: list[str], name: str) -> None:
    with pytest.raises(UsageError) as caught:
        served(tags)
    assert name in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == 2
