"""verdict.json keeps its promise to scripts: members, exact values, stable bytes."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest

from harness.model.verdict import Acceptance, Damage, Verdict
from harness.report import render_all
from harness.report.verdict_json import VerdictJson, schema, verdict_json
from harness.report.views import Overview
from tests.support.acceptances import AT, DIGEST, HOSTILE, accepted_of, finding, observed, rejected

PROMISED = {"schema", "verdict", "release", "at", "observations", "findings", "missing", "requirements"}


def written(acceptance: Acceptance) -> dict[str, Any]:
    value = json.loads(verdict_json(Overview(acceptance)))
    assert isinstance(value, dict)
    return value


def test_the_promised_members_are_there_with_their_values() -> None:
    value = written(rejected())
    assert value.keys() >= PROMISED
    assert (value["schema"], value["verdict"], value["exit_code"], value["at"]) == (1, "rejected", 1, AT)
    assert value["release"] == {"name": "magi-code", "version": "0.104.0", "sha256": [DIGEST]}
    observation = next(item for item in value["observations"] if item["id"] == "cancelled")
    assert observation.keys() >= {"id", "classes", "release", "driver", "authorization", "stale", "surfaces"}
    assert observation["classes"] == ["agreement", "cancellation"]
    assert observation["authorization"] == "authorized"
    assert observation["stale"] is False
    assert observation["surfaces"]["local-agent-live"] == {"agree": 23, "disagree": 1, "not_comparable": 0}
    assert observation["surfaces"]["mission-control-live"] == {"agree": 0, "disagree": 0, "not_comparable": 24}
    assert value["missing"][0] == {
        "class": "overflow",
        "reason": "overflow.paths-tracked: no original run of this release",
    }
    assert {item["status"] for item in value["requirements"]} == {"met", "disagrees", "not_observed", "not_reachable"}


def test_a_finding_names_everything_and_says_null_where_nothing_applies() -> None:
    value = written(rejected())
    waived = next(item for item in value["findings"] if item["waived_by"] is not None)
    assert waived["waived_by"] == "W-2026-01"
    assert waived["place"] == {
        "file": "local-agent-live.jsonl.gz",
        "line": 20,
        "offset": 1240,
        "pointer": "/data/card/blocks/0/rows/14/value",
        "marker": None,
        "row": None,
        "columns": None,
    }
    screen = next(item for item in value["findings"] if item["surface"] == "mission-control-reopen")
    assert screen["waived_by"] is None
    assert (screen["place"]["line"], screen["place"]["columns"]) == (None, [8, 40])
    assert any(item["place"] is None for item in value["findings"])


def test_the_schema_file_describes_it_and_the_types_read_it_back() -> None:
    acceptance = msgspec.structs.replace(rejected(), damaged=(Damage(bundle="b", reasons=("size",)),))
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))
    jsonschema.Draft202012Validator(json.loads(schema())).validate(written(acceptance))
    typed = msgspec.json.decode(verdict_json(Overview(acceptance)), type=VerdictJson)
    assert len(typed.findings) == len(acceptance.findings)


@pytest.mark.parametrize("spoil", ["verdict", "observations", "schema"])
def test_the_schema_refuses_what_lacks_a_member(spoil: str) -> None:
    value = written(rejected())
    del value[spoil]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json.loads(schema())).validate(value)


def test_order_of_the_judgement_does_not_change_a_byte() -> None:
    one = rejected()
    other = msgspec.structs.replace(
        one,
        observations=one.observations[::-1],
        findings=one.findings[::-1],
        missing=one.missing[::-1],
        requirements=one.requirements[::-1],
    )
    assert verdict_json(Overview(one)) == verdict_json(Overview(other))
    assert verdict_json(Overview(one)).endswith(b"}\n")
    assert verdict_json(Overview(one)).startswith(b'{\n  "schema": 1,\n')


def test_values_are_exact_however_hostile() -> None:
    for text in HOSTILE.values():
        value = written(accepted_of((observed("a", extra=(finding("a", observed=text),)),)))
        assert value["findings"][0]["observed"] == text


def test_a_lone_surrogate_does_not_end_the_report() -> None:
    acceptance = accepted_of((observed("a", extra=(finding("a", observed="x\ud800y"),)),))
    assert written(acceptance)["findings"][0]["observed"] == "x\ufffdy"
    assert set(render_all(acceptance)) == {"report.html", "report.md", "verdict.json", "junit.xml", "ctrf.json"}


@pytest.mark.parametrize(
    ("verdict", "code"),
    [(Verdict.ACCEPTED, 0), (Verdict.REJECTED, 1), (Verdict.INSUFFICIENT, 3), (Verdict.TAMPERED, 4)],
)
def test_the_exit_code_is_that_of_the_command(verdict: Verdict, code: int) -> None:
    assert written(accepted_of((), verdict))["exit_code"] == code
