"""A live batch whose snapshots do not follow its tasks must be told: late, frozen, shrinking or without counts."""

from __future__ import annotations

import pytest

from harness.wire.batches import Batches
from harness.wire.breaches import Breach
from harness.wire.reading import read_capture
from tests.support.wire_frames import BATCH_VALUES, Json, Wire, below, card, rows, running

RULE = "batch.live-snapshots"


def _batch(
    revision: int, *, done: int = 0, failed: int = 0, running_: int = 0, cancelled: int = 0, total: int = 2
) -> Json:
    counts = {"done": done, "failed": failed, "running": running_, "cancelled": cancelled}
    values = {**BATCH_VALUES, "Tasks total": str(total), "Tasks unknown": str(total - sum(counts.values()))}
    values |= {f"Tasks {name}": str(count) for name, count in counts.items()}
    return running(card("b", "subagent", blocks=[rows(values)]), revision)


def _task(name: str, state: str = "running", **members: str) -> Json:
    made = card(name, "subagent", **below("b", name))
    return running(made, 0) if state == "running" else made | {"revision": 1} | members


class Run:
    """Two tasks, one after the other, each start and end followed by a snapshot of the batch; a vice at a time."""

    def __init__(self) -> None:
        self.wire = Wire().initialize().create().start()
        self.wire.activity("b", name="subagents · 2 tasks")
        self.wire.card(running(card("b", "subagent"), 0))
        self.revision = 0

    def state(self, name: str, state: str, *, outcome: str = "success") -> None:
        self.wire.activity(name, state, kind="subagent", name=f"g{name[1]} · depth 1 · Task")
        self.wire.card(_task(name, "running" if state == "started" else "finished", outcome=outcome))

    def counts(self, **counts: int) -> Json:
        self.revision += 1
        return self.wire.card(_batch(self.revision, **counts))

    def judged(self, *, finish: bool = True) -> tuple[tuple[Breach, ...], int]:
        if finish:
            self.wire.activity("b", "completed", name="subagents · 2 tasks")
            last = self.wire.cards("b")[-1]
            self.wire.card(last | {"state": "finished", "outcome": "success", "revision": last["revision"] + 1})
            self.wire.finish().shutdown()
        batches = Batches()
        return batches.judge(read_capture(self.wire.encode(), batches.take))


def _told(breaches: tuple[Breach, ...]) -> list[tuple[str, str, str, str, str, str]]:
    """Rule, activity, label, expected, observed and pointer of each breach."""
    return [
        (one.rule, one.key.activity if one.key else "", one.label, one.expected, one.observed, one.pointer)
        for one in breaches
    ]


def _good() -> Run:
    run = Run()
    run.state("t1", "started")
    run.counts(running_=1)
    run.state("t2", "started")
    run.counts(running_=2)
    run.state("t1", "completed")
    run.counts(running_=1, done=1)
    run.state("t2", "failed", outcome="failure")
    run.counts(done=1, failed=1)
    return run


def test_a_batch_that_follows_its_tasks_breaks_nothing_and_is_tried_on_each_start_and_end() -> None:
    assert _good().judged() == ((), 4)


def test_a_stale_snapshot_before_the_right_one_is_no_breach() -> None:
    run = Run()
    run.state("t1", "started")
    run.counts()
    run.counts(running_=1)
    run.state("t1", "completed")
    run.counts(running_=1)
    run.counts(done=1)
    assert run.judged() == ((), 2)


def test_a_start_that_is_published_only_after_the_end_is_told_where_the_task_started() -> None:
    run = Run()
    run.state("t1", "started")
    run.state("t1", "completed")
    run.counts(done=1)
    breaches, cases = run.judged()
    expected = "a snapshot that counts 1 started tasks before this one ends"
    assert _told(breaches) == [(RULE, "b", "started", expected, "no snapshot of the batch with counts", "/event")]
    assert cases == 2
    started = run.wire.find("activity", "t1")[0]
    lines = [frame for _, frame in run.wire.frames]
    assert breaches[0].line == 1 + next(number for number, frame in enumerate(lines) if frame is started)
    assert breaches[0].offset is not None


def test_a_task_that_stays_counted_as_running_after_its_end_is_told() -> None:
    run = Run()
    run.state("t1", "started")
    run.counts(running_=1)
    run.state("t1", "completed")
    run.counts(running_=1)
    breaches, cases = run.judged()
    seen = "1 running and 0 settled in the last of its snapshots"
    assert _told(breaches) == [(RULE, "b", "completed", "a snapshot that counts 1 ended tasks", seen, "/event")]
    assert cases == 2


def test_a_completed_task_that_is_never_counted_as_done_is_told() -> None:
    run = Run()
    run.state("t1", "started")
    run.counts(running_=1)
    run.state("t1", "completed")
    run.counts(failed=1)
    breaches, _ = run.judged()
    assert [one.label for one in breaches] == ["completed"]


@pytest.mark.parametrize("counts", [{"failed": 1}, {"cancelled": 1}, {}])
def test_a_task_that_did_not_complete_may_count_as_failed_cancelled_or_unknown(counts: dict[str, int]) -> None:
    run = Run()
    run.state("t1", "started")
    run.counts(running_=1)
    run.state("t1", "failed", outcome="unknown")
    run.counts(**counts)
    assert run.judged() == ((), 2)


def test_a_batch_without_counts_publishes_nothing() -> None:
    run = Run()
    run.state("t1", "started")
    run.state("t1", "completed")
    breaches, cases = run.judged()
    assert [one.label for one in breaches] == ["started", "completed"]
    assert cases == 2


@pytest.mark.parametrize(
    ("later", "label", "expected", "observed"),
    [
        ({"done": 0, "failed": 1}, "Tasks done", "at least 1 as before", "0"),
        ({"done": 1, "failed": 0, "cancelled": 1}, "Tasks failed", "at least 1 as before", "0"),
        ({"done": 1, "failed": 1, "total": 3}, "Tasks total", "2 as before", "3"),
    ],
)
def test_a_count_that_shrinks_or_a_total_that_changes_is_told_with_its_row(
    later: dict[str, int], label: str, expected: str, observed: str
) -> None:
    run = _good()
    run.counts(**later)
    breaches, _ = run.judged()
    place = list(BATCH_VALUES).index(label)
    assert (RULE, "b", label, expected, observed, f"/data/card/blocks/0/rows/{place}/value") in _told(breaches)


def test_what_was_due_after_the_capture_ends_is_not_missed() -> None:
    run = Run()
    run.state("t1", "started")
    run.counts(running_=1)
    run.state("t2", "started")
    assert run.judged(finish=False) == ((), 1)
    run = Run()
    run.state("t1", "started")
    run.state("t1", "completed")
    breaches, cases = run.judged(finish=False)
    assert ([one.label for one in breaches], cases) == (["started"], 1)


def test_a_task_of_no_known_batch_is_no_case() -> None:
    run = Run()
    run.wire.activity("t9", kind="subagent", name="g9 · depth 1 · Task")
    assert run.judged() == ((), 0)
