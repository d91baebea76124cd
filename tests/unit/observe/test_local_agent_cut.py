"""A capture that ends in the middle of a line is not whole, whatever was finished before."""

from __future__ import annotations

from harness.observe.local_agent import live, reopen
from tests.support.wire_frames import history, script_run


def test_a_live_capture_cut_after_its_run_is_incomplete_but_read() -> None:
    whole = script_run().shutdown().encode()
    cut = whole[:-10]

    one, other = live(whole, file="f", complete=True), live(cut, file="f", complete=True)

    assert (one.complete, other.complete) == (True, False)
    assert other.cards == one.cards


def test_a_history_cut_before_its_last_page_is_incomplete() -> None:
    lines = history().encode().splitlines(keepends=True)
    cut = b"".join(lines[:-4]) + lines[-4][:50]

    column = reopen(cut, file="f", complete=True)

    assert column.complete is False
    assert [one.path for one in column.cards] == ["turn1/call1"]
