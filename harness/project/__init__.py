"""The reference projector: typed records in, the facts that every card must show out, derived in two ways.

Written from card-facts.md alone. It reads no card, runs nothing and looks at no file: the same bytes give the same
facts. `project` is its one door.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from harness.model.errors import DecodeError
from harness.model.facts import CardFacts, ColumnFacts, Place, Problem
from harness.project.columns import project_nested, project_report
from harness.project.nodes import BatchNode
from harness.project.reference import reference
from harness.project.tree import TreeBuilder
from harness.records import Session, read_session
from harness.records.rules import RULES

__all__ = ["Projection", "project", "project_nested", "project_report", "reference"]


class Projection(msgspec.Struct, frozen=True, kw_only=True):
    """The reference of one saved run.

    `report` and `nested` are the two derivations, `reference` what counts of them, each card in transcript order.
    `problems` are those of both columns: of the reports, then of the records. `contexts` are the contexts that tasks
    were given, by card path: they are no facts, and no card may show them.
    """

    report: ColumnFacts
    nested: ColumnFacts
    reference: tuple[CardFacts, ...]
    problems: tuple[Problem, ...]
    contexts: dict[str, str] = {}


def project(
    session: bytes, children: Mapping[str, bytes], *, file: str, child_files: Mapping[str, str] | None = None
) -> Projection:
    """Project one saved session and the child sessions that belong to it, by session id (the file's stem).

    `file` and `child_files` name the bundle members in places; a child without a name there is ``<id>.jsonl``. Raises
    DecodeError when nothing of the session itself can be read; an unreadable child is a problem and counts as missing.
    """
    root = read_session(session, file=file)
    names = child_files or {}
    read: dict[str, Session] = {}
    problems: list[Problem] = []
    for id_ in sorted(children):
        name = names.get(id_, f"{id_}.jsonl")
        try:
            child = read_session(children[id_], file=name)
        except DecodeError as error:
            problems.append(_unusable(name, error.message))
            continue
        if child.session_id == id_:
            read[id_] = child
        else:
            problems.append(_unusable(name, f"its records name session {child.session_id!r}"))
    tree = TreeBuilder(root, read)
    tree.problems[:0] = problems
    report, nested = project_report(tree), project_nested(tree)
    return Projection(
        report=report,
        nested=nested,
        reference=reference(report, nested),
        problems=(*report.problems, *nested.problems),
        contexts=dict(_contexts(tree)),
    )


def _contexts(tree: TreeBuilder) -> Iterator[tuple[str, str]]:
    for node in tree.nodes:
        for task in node.tasks if isinstance(node, BatchNode) else ():
            context = node.call.arguments["tasks"][task.index].get("context")
            if isinstance(context, str) and context.strip():
                yield task.path, context.strip()


def _unusable(file: str, observed: str) -> Problem:
    rule = "records.child-file"
    return Problem(requirement=rule, card="", label="", expected=RULES[rule], observed=observed, place=Place(file=file))
