"""Cutting the normative page: a rule that is lost, glued to another or cut in two would be held by nothing."""

from __future__ import annotations

import hashlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.errors import DecodeError
from harness.spec.page import copied_run, digest, normalize, sentences, units

PAGE = """\
# Garden facts
Beds are counted once. Seeds
are not; packets are.

## Beds
| Label | Meaning |
| --- | --- |
| `Rows` | Planted rows; null before planting. |
| `Width`, `Depth` | `a\\|b. C` in centimetres. Never in inches! |
After the table. - no list
- One item. Second rule
  of the item.

## Tools
No spade → nothing dug.
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("  \n\t ", ()),
        ("One rule without a mark", ("One rule without a mark",)),
        ("First. Second! Third? Fourth.", ("First.", "Second!", "Third?", "Fourth.")),
        ("A rule; null otherwise.", ("A rule;", "null otherwise.")),
        ("Wrapped\n  over   lines. Next.", ("Wrapped over lines.", "Next.")),
        ("See `a. B; c` and `d`. `e` follows.", ("See `a. B; c` and `d`.", "`e` follows.")),
        ("Outcome `x:\"y\"`; rest.", ("Outcome `x:\"y\"`;", "rest.")),
        ("The [page](other-page.md) says. Then 1.5 more.", ("The [page](other-page.md) says.", "Then 1.5 more.")),
        ("Use marks, e.g. Dots, in it. Done.", ("Use marks, e.g. Dots, in it.", "Done.")),
        ("Approx. 3 of them. No. 4 too. The answer is no. Then stop.",
         ("Approx. 3 of them.", "No. 4 too.", "The answer is no.", "Then stop.")),
        ("A stop. lower case goes on.", ("A stop. lower case goes on.",)),
        ("Aside (one. Two; three) stays. Next.", ("Aside (one. Two; three) stays.", "Next.")),
        ('He said "stop." Then left.', ('He said "stop."', "Then left.")),
        ("Nothing there → all null. Cause: effect and a/b.", ("Nothing there → all null.", "Cause: effect and a/b.")),
        ("A stray ) is a word. Next.", ("A stray ) is a word.", "Next.")),
    ],
)  # fmt: skip
def test_a_text_is_cut_where_its_rules_end_and_nowhere_else(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("text", ["An `open tick. Next.", "An (open aside. Next."])
def test_a_text_whose_cuts_would_be_guesses_is_refused(text: str) -> None:
    with pytest.raises(DecodeError, match="never closed"):
        sentences(text)


@given(st.text(alphabet=string.ascii_letters + " .;!?→\n\"'", max_size=80))
def test_cutting_loses_and_invents_nothing(text: str) -> None:
    parts = sentences(text)
    assert " ".join(parts) == normalize(text)
    assert all(part == normalize(part) and part for part in parts)


def test_the_page_becomes_units_in_order_with_section_labels_and_line() -> None:
    assert [(unit.section, unit.labels, unit.sentence, unit.line) for unit in units(PAGE)] == [
        ("Garden facts", (), "Beds are counted once.", 2),
        ("Garden facts", (), "Seeds are not;", 2),
        ("Garden facts", (), "packets are.", 2),
        ("Beds", ("Rows",), "Planted rows;", 8),
        ("Beds", ("Rows",), "null before planting.", 8),
        ("Beds", ("Width", "Depth"), "`a|b. C` in centimetres.", 9),
        ("Beds", ("Width", "Depth"), "Never in inches!", 9),
        ("Beds", (), "After the table.", 10),
        ("Beds", (), "- no list", 10),
        ("Beds", (), "One item.", 11),
        ("Beds", (), "Second rule of the item.", 11),
        ("Tools", (), "No spade → nothing dug.", 15),
    ]


def test_a_digest_ignores_how_the_page_is_wrapped_and_nothing_else() -> None:
    plain = hashlib.sha256(b"No spade \xe2\x86\x92 nothing dug.").hexdigest()
    assert digest("  No spade →\n  nothing dug. ") == plain
    assert units(PAGE)[-1].digest == plain
    assert digest("No spade → nothing dug") != plain
    assert digest("no spade → nothing dug.") != plain


@pytest.mark.parametrize(
    ("page", "line", "words"),
    [
        ("# T\n```\ncode\n```\n", 2, "construct"),
        ("# T\n\n> quoted\n", 3, "construct"),
        ("# T\n| Label | Meaning | More |\n| --- | --- | --- |\n", 2, "two cells"),
        ("# T\n| Name | Meaning |\n| --- | --- |\n", 2, "columns Label and Meaning"),
        ("# T\n| Label | Meaning |\n| --- | --- |\n| Rows | Planted. |\n", 4, "no backticked label"),
        ("# T\n| Label | Meaning |\n| --- | --- |\n| `Rows` | |\n", 4, "says nothing"),
        ("# T\n| Label | Meaning |\n| --- | --- |\n| `Rows` | Planted. \n", 4, "two cells"),
        ("# T\n| Label | Meaning |\n| --- | --- |\n| `Rows` | An (open one. |\n", 4, "never closed"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(page: str, line: int, words: str) -> None:
    with pytest.raises(DecodeError, match=words) as caught:
        units(page)
    assert caught.value.where == f"line {line}"
    assert caught.value.exit_code == 4


def test_a_copied_run_of_words_is_found_behind_other_marks_and_not_below_its_length() -> None:
    page = "Seeds are not counted; packets of the shop are."
    assert copied_run("The seeds are `not` counted: packets, they say.", page) is None  # five words
    assert copied_run("All seeds are not-counted. Packets of it.", page) == "seeds are not counted packets of"
    assert copied_run("packets of the shop are counted", page) is None
    assert copied_run("seeds are not", page, length=3) == "seeds are not"
