"""The two derivations of one run, each as a column of cards in transcript order."""

from __future__ import annotations

from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Fact, Place, Problem
from harness.project import batch, script_nested, script_report, task_nested, task_report, usage
from harness.project.cases import missing_reports, record_cases, report_cases
from harness.project.execution import read_execution
from harness.project.nodes import BatchNode, Node, ScriptNode
from harness.project.paths import paths_of
from harness.project.stated import facts_from
from harness.project.telemetry import read_telemetry
from harness.project.tree import TreeBuilder
from harness.spec import bounds
from harness.spec.facts import facts_of


def _card(kind: CardKind, path: str, facts: tuple[Fact, ...], children: tuple[str, ...] | None, at: Place) -> CardFacts:
    order = {label: number for number, label in enumerate(facts_of(kind))}
    facts = tuple(sorted(facts, key=lambda fact: (order[fact.label], fact.ordinal)))
    return CardFacts(path=path, kind=kind, facts=facts, children=children, place=at)


def _script_card(node: ScriptNode, facts: tuple[Fact, ...]) -> CardFacts:
    """Which of more than 32 calls an unreduced card refers to is not in the rules: then no children are named."""
    paths = tuple(f"{node.path}/call{inner.number}" for inner in node.call.inner)
    children = paths if len(paths) <= bounds.CHILDREN_PER_BLOCK else None
    return _card(CardKind.CODE_MODE, node.path, facts, children, node.scope.place(node.call.record))


def _batch_card(node: BatchNode, facts: tuple[Fact, ...]) -> CardFacts:
    children = tuple(task.path for task in node.tasks)
    return _card(CardKind.SUBAGENT_BATCH, node.path, facts, children, node.scope.place(node.call.record))


def _report_cards(node: Node, problems: list[Problem]) -> list[CardFacts]:
    if isinstance(node, ScriptNode):
        execution, found = read_execution(node)
        problems.extend(found)
        script = script_report.ReportedScript(node=node, report=execution)
        return [_script_card(node, facts_from(script_report.RULES, script))]
    telemetry, found = read_telemetry(node)
    problems.extend(found)
    if telemetry and any(task.outcome == "running" for task in telemetry.tasks):
        problems.append(
            Problem(
                requirement="batch.terminal-unfinished",
                card=node.path,
                label="Tasks running",
                expected="no task runs in a final report",
                observed="a task whose outcome is running",
                place=node.scope.place(node.call.ending.record) if node.call.ending else None,
            )
        )
    evidence = batch.Batch(node=node, report=telemetry)
    cards = [_batch_card(node, facts_from(batch.REPORT_RULES, evidence))]
    for task in node.tasks:
        reported = task_report.reported_task(evidence, task)
        facts = facts_from(task_report.RULES, reported) + facts_from(usage.RULES, task_report.usage(reported))
        cards.append(_card(CardKind.TASK, task.path, facts, None, node.scope.place(node.call.record)))
    return cards


def _nested_cards(node: Node) -> list[CardFacts]:
    if isinstance(node, ScriptNode):
        reported = read_execution(node)[0] is not None
        script = script_nested.NestedScript(node=node, reported=reported, paths=paths_of(node.call.inner))
        return [_script_card(node, facts_from(script_nested.RULES, script))]
    evidence = batch.Batch(node=node, report=read_telemetry(node)[0])
    cards = [_batch_card(node, facts_from(batch.NESTED_RULES, evidence))]
    for task in node.tasks:
        nested = task_nested.nested_task(evidence, task)
        facts = facts_from(task_nested.RULES, nested) + facts_from(usage.RULES, task_nested.usage(nested))
        cards.append(_card(CardKind.TASK, task.path, facts, None, node.scope.place(node.call.record)))
    return cards


def project_report(tree: TreeBuilder) -> ColumnFacts:
    """What the host's stored reports say. Its problems are clauses that a report itself breaks."""
    problems: list[Problem] = []
    cards = [card for node in tree.nodes for card in _report_cards(node, problems)]
    problems.extend(missing_reports(tree))
    return ColumnFacts(column=Column.REPORT, cards=tuple(cards), problems=tuple(problems), cases=report_cases(tree))


def project_nested(tree: TreeBuilder) -> ColumnFacts:
    """What nested records, child sessions and usage snapshots say. Its problems are those of the records."""
    cards = [card for node in tree.nodes for card in _nested_cards(node)]
    return ColumnFacts(
        column=Column.NESTED, cards=tuple(cards), problems=tuple(tree.problems), cases=record_cases(tree)
    )
