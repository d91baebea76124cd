"""junit.xml and ctrf.json: neither can look green, or red, against the verdict."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest
from junitparser import JUnitXml

from harness.model.facts import SURFACES
from harness.model.values import known
from harness.model.verdict import Acceptance, Damage, Missing, Verdict
from harness.report.ctrf import ctrf_json
from harness.report.junit import junit_xml
from harness.report.views import Overview
from tests.support.acceptances import HOSTILE, accepted_of, finding, observed, rejected

SCHEMA = json.loads((Path(__file__).parents[2] / "data" / "ctrf" / "ctrf.schema.json").read_text())
LIVE = SURFACES[0]
WRONG = {("turn1/call1", "Script outcome", LIVE): known("failure")}


def cases(acceptance: Acceptance) -> dict[str, str]:
    """Test case name to the tag of its result, "passed" for none."""
    root = ElementTree.fromstring(junit_xml(Overview(acceptance)))  # noqa: S314 - our own bytes
    return {
        case.attrib["name"]: next(
            (child.tag for child in case if child.tag not in ("system-out", "system-err")), "passed"
        )
        for case in root.iter("testcase")
    }


def results_of(acceptance: Acceptance) -> list[dict[str, Any]]:
    value = json.loads(ctrf_json(Overview(acceptance)))
    jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(value)
    found = value["results"]["tests"]
    assert isinstance(found, list)
    return found


def clean(verdict: Verdict = Verdict.ACCEPTED) -> Acceptance:
    """Authorized, nothing disagrees, every requirement met."""
    acceptance = accepted_of((observed("a"),), verdict)
    met = tuple(row for row in acceptance.requirements if row.status.value == "met")
    return msgspec.structs.replace(acceptance, requirements=met)


def test_one_case_for_each_surface_of_each_observation_and_each_requirement() -> None:
    acceptance = rejected()
    found = cases(acceptance)
    assert len(found) == 1 + 2 + 4 * len(acceptance.observations) + len(acceptance.requirements)
    assert {f"cancelled on {column.value}" for column in SURFACES} <= found.keys()
    assert any(name.startswith("code-mode.rollback: ") for name in found)


def test_an_accepted_release_has_no_failing_case() -> None:
    assert set(cases(clean()).values()) == {"passed"}
    assert {test["status"] for test in results_of(clean())} == {"passed"}


def test_an_insufficient_release_is_red_even_when_every_comparison_agrees() -> None:
    acceptance = msgspec.structs.replace(
        clean(Verdict.INSUFFICIENT), missing=(Missing(class_="legacy", reason="legacy.code-mode: no run"),)
    )
    found = cases(acceptance)
    assert found["magi-code 0.104.0 is accepted"] == "error"
    assert found["legacy is there: legacy.code-mode: no run"] == "error"
    assert Counter(test["status"] for test in results_of(acceptance))["failed"] == 2


def test_no_evidence_at_all_is_red() -> None:
    nothing = msgspec.structs.replace(clean(Verdict.INSUFFICIENT), observations=(), requirements=())
    assert set(cases(nothing).values()) == {"error"}
    assert [test["status"] for test in results_of(nothing)] == ["failed"]


def test_a_disagreement_fails_where_it_was_seen_and_in_its_requirement() -> None:
    acceptance = accepted_of((observed("a", overrides=WRONG),))
    found = cases(acceptance)
    assert found["a on local-agent-live"] == "failure"
    assert found["a on local-agent-reopen"] == "passed"
    assert [state for name, state in found.items() if name.startswith("code-mode.script-outcome: ")] == ["failure"]
    failed = next(test for test in results_of(acceptance) if test["name"] == "a on local-agent-live")
    assert failed["status"] == "failed"
    assert failed["message"] == "1 unwaived finding: turn1/call1 Script outcome is failure, expected running"
    assert "local-agent-live.jsonl.gz, line 20, byte 400" in failed["trace"]
    assert acceptance.findings[0].command in failed["trace"]
    assert failed["filePath"] == "mixed_outcomes.feature"


def test_a_disagreement_in_evidence_that_does_not_count_fails_nothing_but_says_so() -> None:
    acceptance = accepted_of((observed("a", overrides=WRONG, stale=True),), Verdict.INSUFFICIENT)
    assert cases(acceptance)["a on local-agent-live"] == "skipped"
    test = next(test for test in results_of(acceptance) if test["name"] == "a on local-agent-live")
    assert test["status"] == "skipped"
    assert test["message"].startswith("disagrees, but does not decide (stale")


def test_waived_is_neither_passed_nor_failed() -> None:
    acceptance = accepted_of((observed("a", extra=(finding("a", waived_by="W-7"),)),), Verdict.ACCEPTED)
    assert cases(acceptance)["a on local-agent-live"] == "skipped"
    test = next(test for test in results_of(acceptance) if test["name"] == "a on local-agent-live")
    assert (test["status"], test["rawStatus"], test["message"]) == ("other", "waived", "waived by W-7")
    assert "(waived by W-7)" in test["trace"]


def test_damaged_evidence_fails_by_name() -> None:
    acceptance = msgspec.structs.replace(
        clean(Verdict.TAMPERED),
        damaged=(Damage(bundle="evidence/x", reasons=("sha256 of a.gz differs", "extra file")),),
    )
    assert cases(acceptance)["evidence/x verifies"] == "failure"
    assert cases(acceptance)["magi-code 0.104.0 is accepted"] == "failure"


def test_counts_in_the_summaries_are_those_of_the_cases() -> None:
    acceptance = rejected()
    found = Counter(cases(acceptance).values())
    suites = list(JUnitXml.fromstring(junit_xml(Overview(acceptance))))
    assert sum(suite.tests for suite in suites) == sum(found.values())
    assert sum(suite.failures for suite in suites) == found["failure"]
    assert sum(suite.errors for suite in suites) == found["error"]
    assert sum(suite.skipped for suite in suites) == found["skipped"]
    summary = json.loads(ctrf_json(Overview(acceptance)))["results"]["summary"]
    assert summary["tests"] == sum(found.values())
    assert summary["failed"] == found["failure"] + found["error"]
    assert summary["passed"] == found["passed"]
    assert summary["start"] == 1_796_040_000_000  # 2026-11-30T12:00:00Z


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_evidence_leaves_both_well_formed(name: str) -> None:
    text = HOSTILE[name] + "\x00\x0b\ufffe\ud800"
    acceptance = accepted_of((observed(text, extra=(finding(text, label=text, expected=text, observed=text),)),))
    assert "failure" in cases(acceptance).values()
    results_of(acceptance)


def test_the_same_judgement_is_the_same_report() -> None:
    assert junit_xml(Overview(rejected())) == junit_xml(Overview(rejected()))
    one, other = (json.loads(ctrf_json(Overview(rejected()))) for _ in range(2))
    assert one == other
    assert one["reportId"] != json.loads(ctrf_json(Overview(clean())))["reportId"]
