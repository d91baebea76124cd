"""The proof that the harness can fail, in every report: a survivor that a reader does not see protects nobody."""

from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from harness.model.selfcheck import SelfcheckState
from harness.model.verdict import Acceptance, Verdict
from harness.report import render_all
from harness.report.selfcheck import kill_rate, rate_of, reasons, sentence
from harness.report.verdict_json import schema
from tests.support import selfchecks
from tests.support.acceptances import HOSTILE, accepted_of, observed

BLIND = SelfcheckState(result=selfchecks.with_survivors(2))


def judged(state: SelfcheckState) -> Acceptance:
    acceptance = accepted_of((observed("handled"),), Verdict.INSUFFICIENT)
    return msgspec.structs.replace(acceptance, selfcheck=state)


@pytest.mark.parametrize(
    ("caught", "survivors", "says"),
    [(4, 0, "100 %"), (3_999, 1, "99.9 %"), (1_999_999, 1, "99.9 %"), (0, 5, "0 %"), (1, 2, "33.3 %")],
)
def test_a_kill_rate_is_never_rounded_up(caught: int, survivors: int, says: str) -> None:
    assert kill_rate(caught, survivors) == says


def test_no_mutant_at_all_is_no_rate() -> None:
    assert kill_rate(0, 0) == "nothing to catch"
    assert "no proof" in sentence(SelfcheckState())


def test_a_harmless_class_has_no_rate_unless_one_of_it_was_noticed() -> None:
    row = msgspec.structs.replace(selfchecks.FACT_VALUES, harmless=True)
    assert rate_of(row) == "left alone"
    assert rate_of(msgspec.structs.replace(row, survivors=1, caught=0)) == "0 %"


def test_the_same_reason_in_two_classes_is_told_once() -> None:
    row = selfchecks.FACT_VALUES
    twice = msgspec.structs.replace(selfchecks.result(), classes=(row, msgspec.structs.replace(row, id="fact-null")))
    assert reasons(twice) == (("nothing to hold it against", 2),)


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_numbers_survivors_and_faults_stand_in_the_reports(name: str) -> None:
    text = render_all(judged(BLIND))[name].decode()
    for part in (
        "Proof that the harness can fail",
        "kill rate 66.6",
        "fact-value",
        "code-mode.total-calls",
        "survived",
    ):
        assert part in text
    stale = render_all(judged(SelfcheckState(result=selfchecks.result(), fault="made with other judging code")))[name]
    assert "made with other judging code" in stale.decode()
    none = render_all(judged(SelfcheckState(fault="no selfcheck was made")))[name].decode()
    assert "no selfcheck was made" in none
    assert "There is no proof" in none


@pytest.mark.parametrize("state", [BLIND, SelfcheckState(), SelfcheckState(result=selfchecks.result(), fault="stale")])
def test_verdict_json_has_them_in_its_schema(state: SelfcheckState) -> None:
    value = json.loads(render_all(judged(state))["verdict.json"])
    jsonschema.Draft202012Validator(json.loads(schema())).validate(value)
    selfcheck = value["selfcheck"]
    assert selfcheck["fault"] == state.fault
    assert len(selfcheck["survivors"]) == (len(state.result.survivors) if state.result else 0)
    assert selfcheck["mutants"] == (state.result.mutants if state.result else 0)
    if state is BLIND:
        assert selfcheck["survivors"][0]["requirement"] == "code-mode.total-calls"
        assert selfcheck["classes"][0]["equivalent"] == 1


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_survivor_with_hostile_text_is_only_text(hostile: str) -> None:
    found = msgspec.structs.replace(selfchecks.survivor(hostile), label=hostile, why=hostile)
    result = msgspec.structs.replace(selfchecks.with_survivors(1), survivors=(found,))
    files = render_all(judged(SelfcheckState(result=result, fault=hostile)))
    assert "<script>alert" not in files["report.html"].decode()
    assert json.loads(files["verdict.json"])["selfcheck"]["survivors"]
