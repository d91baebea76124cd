"""What holds for the facts of any run: partitions, omitted counts, nulls that stay null, order that does not matter."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.errors import DecodeError
from harness.model.facts import CardFacts, CardKind, ColumnFacts
from harness.model.values import State, Value
from harness.project import Projection, project
from harness.project.execution import COUNTS
from harness.spec.facts import fact, spelling_error
from tests.support import runs
from tests.support.sessions import facts, load, names, run

PATH = "turn1/call1"
LABELS = {
    "inner_calls": "Total calls",
    "successful": "Successful calls",
    "recoverable_failures": "Failed calls",
    "unknown_outcomes": "Unknown calls",
    "running_calls": "Running calls",
    "elapsed_ms": "Elapsed milliseconds",
    "warning_count": "Warnings",
    "changed_path_count": "Changed paths",
}
any_run = runs.scripts.map(runs.saved_script) | runs.batches.map(runs.saved_batch)


def plain(cards: tuple[CardFacts, ...]) -> list[Any]:
    """Cards without their places, which move with the records."""
    return [(card.path, [(f.label, f.ordinal, f.value, f.via) for f in card.facts]) for card in cards]


def columns(projection: Projection) -> list[Any]:
    return [plain(projection.report.cards), plain(projection.nested.cards), plain(projection.reference)]


@settings(deadline=None, max_examples=25)
@given(any_run)
def test_every_value_is_spelled_as_its_type_demands_and_null_only_where_it_may_be(saved: runs.Saved) -> None:
    projection = run(saved.session, *saved.children)
    for card in projection.reference:
        for reading in card.facts:
            entry = fact(card.kind, reading.label)
            assert reading.ordinal == 0 or (entry.repeated and entry.bound and reading.ordinal < entry.bound)
            if isinstance(reading.value, Value):
                assert reading.value.state in (State.KNOWN, State.NULL)
                assert reading.value.text is None or spelling_error(entry, reading.value.text) is None
                assert entry.nullable or reading.value.state is State.KNOWN, reading.label


@settings(deadline=None, max_examples=25)
@given(runs.batches)
def test_the_five_counts_add_up_to_the_total_or_are_all_null(batch: runs.Batch) -> None:
    saved = runs.saved_batch(batch)
    found = facts(run(saved.session, *saved.children).reference, PATH)
    parts = [found[f"Tasks {word}"] for word in ("done", "failed", "running", "unknown", "cancelled")]
    if batch.saved:
        assert sum(int(part or "no") for part in parts) == int(found["Tasks total"] or "no") == len(batch.tasks)
        assert found["Tasks running"] == "0"
    else:
        assert {*parts, found["Tasks total"]} == {None}


def rows(column: ColumnFacts, path: str, label: str) -> int:
    return sum(1 for card in column.cards if card.path == path for f in card.facts if f.label == label)


@settings(deadline=None, max_examples=25)
@given(any_run)
def test_an_omitted_count_is_the_total_less_the_rows(saved: runs.Saved) -> None:
    projection = run(saved.session, *saved.children)
    pairs = {
        CardKind.CODE_MODE: [
            ("Warnings", "Warnings omitted", "Warning"),
            ("Changed paths", "Changed paths omitted", "Changed path"),
        ],
        CardKind.TASK: [("Task activity count", "Task activity omitted", "Task activity")],
    }
    for column in (projection.report, projection.nested):
        for card in column.cards:
            found = facts(column, card.path)
            for total, omitted, label in pairs.get(card.kind, []):
                if str(found[total]).isdigit():
                    assert int(found[total] or "") - int(found[omitted] or "no") == rows(column, card.path, label)
                else:
                    assert found[omitted] == found[total]


@settings(deadline=None, max_examples=25)
@given(runs.reported_scripts, st.sets(st.sampled_from(COUNTS), min_size=1), st.booleans())
def test_a_count_that_was_not_recorded_is_null_and_never_zero(
    script: runs.Script, gone: set[str], explicit: bool
) -> None:
    saved = runs.saved_script(script)
    report = saved.session.records[-1]["payload"]["result"]["metadata"]["code_mode_execution"]
    for member in gone:
        if explicit:
            report[member] = None
        else:
            del report[member]
    projection = run(saved.session)
    found = facts(projection.reference, PATH)
    for member, label in LABELS.items():
        assert (found[label] is None) == (member in gone), label
    if {"warning_count"} <= gone:
        assert found["Warnings omitted"] is None
    if {"recoverable_failures", "unknown_outcomes", "warning_count"} <= gone:
        assert found["Completed with warnings"] is None


@settings(deadline=None, max_examples=25)
@given(runs.batches, st.randoms(use_true_random=False))
def test_the_order_of_records_of_different_tasks_does_not_matter(batch: runs.Batch, random: Any) -> None:
    saved = runs.saved_batch(batch)
    before = columns(run(saved.session, *saved.children))
    start, end = saved.loose
    queues: dict[str, list[dict[str, Any]]] = {}
    for record in saved.session.records[start:end]:
        payload = record["payload"]
        # announcements are free; the snapshots of one task keep their order
        queues.setdefault(payload.get("id") or payload["session_id"], []).append(record)
    shuffled: list[dict[str, Any]] = []
    while queues:
        key = random.choice(sorted(queues))
        shuffled.append(queues[key].pop(0))
        queues = {name: queue for name, queue in queues.items() if queue}
    saved.session.records[start:end] = shuffled
    random.shuffle(saved.children)
    assert columns(run(saved.session, *saved.children)) == before


@settings(deadline=None, max_examples=25)
@given(any_run, any_run)
def test_a_further_turn_changes_no_fact_of_an_earlier_one(first: runs.Saved, second: runs.Saved) -> None:
    before = run(first.session, *first.children)
    for record in second.session.records:
        first.session.add(record["event_type"], record["payload"])
    mine = {child.session_id for child in first.children}
    others = [child for child in second.children if child.session_id not in mine]
    after = run(first.session, *first.children, *others)
    earlier = {card.path for card in before.nested.cards if card.kind is CardKind.CODE_MODE}
    for column_before, column_after in ((before.report, after.report), (before.nested, after.nested)):
        for card in column_before.cards:
            if card.path in earlier:
                assert plain((card,)) == plain(tuple(c for c in column_after.cards if c.path == card.path))
    assert {card.path for card in before.reference} <= {card.path for card in after.reference}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def projected_or_refused(session: bytes, children: dict[str, bytes]) -> Projection | None:
    """The projection, or None when the session is refused with its name; any other error is a failure."""
    try:
        return project(session, children, file="s.jsonl")
    except DecodeError as error:
        if "s.jsonl" not in str(error):
            raise
        return None


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.extend(places(inner, (*path, key)))
    return found


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(names()), st.data())
def test_no_damage_to_a_real_session_is_more_than_a_problem(name: str, data: st.DataObject) -> None:
    session, children = load(name)
    lines = session.splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    if data.draw(st.booleans()):
        record = json.loads(lines[number])
        path = data.draw(st.sampled_from([p for p in places(record) if p]))
        target = record
        for key in path[:-1]:
            target = target[key]
        if data.draw(st.booleans()):
            target[path[-1]] = data.draw(json_values)
        else:
            del target[path[-1]]
        lines[number] = json.dumps(record).encode()
    else:
        cut = data.draw(st.integers(0, len(lines[number])))
        lines[number] = lines[number][:cut] + data.draw(st.binary(max_size=3))
    projection = projected_or_refused(b"\n".join(lines) + b"\n", children)
    if projection is None:
        return
    assert [card.path for card in projection.report.cards] == [card.path for card in projection.nested.cards]
    assert all(problem.requirement and problem.expected for problem in projection.problems)


@settings(deadline=None, max_examples=25)
@given(st.binary(max_size=200))
def test_bytes_that_are_no_session_are_refused_by_name(data: bytes) -> None:
    projection = projected_or_refused(data, {"k": data})
    assert projection is None or projection.reference == ()
