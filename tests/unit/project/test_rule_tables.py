"""The rules as tables: every label has one in each derivation, and says which requirement it implements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.model.facts import CardKind
from harness.project import batch, script_nested, script_report, task_nested, task_report, usage
from harness.spec.facts import facts_of
from harness.spec.requirements import requirement

TABLES: list[tuple[str, CardKind, Mapping[str, Callable[[Any], Any]]]] = [
    ("script report", CardKind.CODE_MODE, script_report.RULES),
    ("script nested", CardKind.CODE_MODE, script_nested.RULES),
    ("batch report", CardKind.SUBAGENT_BATCH, batch.REPORT_RULES),
    ("batch nested", CardKind.SUBAGENT_BATCH, batch.NESTED_RULES),
    ("task report", CardKind.TASK, task_report.RULES | usage.RULES),
    ("task nested", CardKind.TASK, task_nested.RULES | usage.RULES),
]


@pytest.mark.parametrize(("kind", "table"), [pytest.param(kind, table, id=name) for name, kind, table in TABLES])
def test_no_label_of_the_catalogue_is_without_a_rule(kind: CardKind, table: Mapping[str, Any]) -> None:
    assert set(table) == set(facts_of(kind))


@pytest.mark.parametrize(
    ("kind", "label", "rule"),
    [
        pytest.param(kind, label, rule, id=f"{name}: {label}")
        for name, kind, table in TABLES
        for label, rule in table.items()
    ],
)
def test_no_rule_hides_which_requirement_it_implements(kind: CardKind, label: str, rule: Callable[[Any], Any]) -> None:
    opening = re.match(r"``([a-z][a-z0-9.-]*)``: \S", rule.__doc__ or "")
    assert opening, f"{rule.__name__} does not open with a requirement"
    named = requirement(opening[1])
    assert kind in named.cards
    assert label in named.labels
