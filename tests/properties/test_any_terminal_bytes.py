"""The emulator must take any bytes: a capture is evidence of a program that may misbehave."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.terminal import Screen

_PIECES = st.one_of(
    st.text(max_size=6),
    st.builds(
        lambda prefix, numbers, middle, final: f"\x1b[{prefix}{';'.join(numbers)}{middle}{final}",
        st.sampled_from(["", "?", ">", "<", "="]),
        st.lists(st.one_of(st.integers(0, 12_000).map(str), st.sampled_from(["", "38:2::1:2:3", "4:3"])), max_size=5),
        st.sampled_from(["", " ", "!", "$"]),
        st.characters(min_codepoint=0x40, max_codepoint=0x7E),
    ),
    st.sampled_from(
        ["\x1b", "\x1b(", "\x1b]0;t", "\x07", "\x9b", "\x1bM", "\x1bD", "\x1b7", "\x1b8", "\r\n", "漢", "\u0301"]
    ),
)


@settings(max_examples=200, deadline=None)
@given(pieces=st.lists(_PIECES, max_size=30), cuts=st.lists(st.integers(0, 200), max_size=4))
def test_any_bytes_show_on_a_screen_of_the_same_size_however_they_are_cut(pieces: list[str], cuts: list[int]) -> None:
    data = "".join(pieces).encode("utf-8", "replace")
    whole = Screen(9, 4)
    whole.feed(data)
    parts = Screen(9, 4)
    at = 0
    for cut in sorted({min(cut, len(data)) for cut in cuts}):
        parts.feed(data[at:cut])
        at = cut
    parts.feed(data[at:])
    snapshot = whole.snapshot()
    assert [len(row) for row in snapshot.cells] == [9, 9, 9, 9]
    assert parts.rows() == whole.rows()
    for row in snapshot.cells:
        for left, right in itertools.pairwise(row):
            assert left.data != "" or right.data != "", "no half of a wide glyph without its other half"
