"""Text that hides, reorders or breaks must be seen as what it is."""

from __future__ import annotations

import pytest

from harness.model.words import plural
from harness.report.text import block, cut, one_line, prose_html, shortened, visible, visible_html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred\x00\x7f", "«ESC»[31mred«NUL»«DEL»"),
        ("a\u202eb\u2066", "a«U+202E»b«U+2066»"),
        ("a\u200bb\u00ad\ufeff", "a«U+200B»b«U+00AD»«U+FEFF»"),
        ("a\u00a0b\u2028", "a«U+00A0»b«U+2028»"),
        ("\ue0b0\ud800\U000e0041", "«U+E0B0»«U+D800»«U+E0041»"),
        ("\u3164x\u2800", "«U+3164»x«U+2800»"),
        (" a b  ", "«SP»a b«SP»«SP»"),
        ("a\nb", "a«LF»\nb"),
        ("\u0085\u009b", "«U+0085»«U+009B»"),
    ],
)
def test_characters_that_would_not_be_seen_are_named(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_an_emoji_sequence_stays_whole_but_a_stray_joiner_is_shown() -> None:
    assert visible("👩\u200d💻") == "👩\u200d💻"
    assert visible("🏳️\u200d🌈") == "🏳️\u200d🌈"
    assert visible("a\u200db\u200d") == "a«U+200D»b«U+200D»"


def test_stacked_marks_cannot_grow_out_of_their_row() -> None:
    assert visible("Z" + "\u0301" * 3 + "a") == "Z" + "\u0301" * 3 + "a"
    assert visible("Z" + "\u0301" * 9 + "a") == "Z" + "\u0301" * 3 + "«6 more marks»a"
    assert visible("Z" + "\u0301" * 4) == "Z" + "\u0301" * 3 + "«1 more marks»"


def test_line_breaks_are_layout_in_a_block_and_symbols_on_one_line() -> None:
    assert block("  {\n\t1\x07\n}") == "  {\n\t1«BEL»\n}"
    assert one_line("a\nb\tc") == "a«LF»b«TAB»c"
    assert "\n" not in one_line("\n\r\n\x0b\x0c\u2028")


def test_markup_is_escaped_and_foreign_text_isolated() -> None:
    assert visible_html("<b>&\"'") == "&lt;b&gt;&amp;&#34;&#39;"
    assert visible_html("日本") == "<bdi>日本</bdi>"
    assert visible_html("x\u202e") == "<bdi>x<i class=c>«U+202E»</i></bdi>"
    assert visible_html("\x1b<") == "<i class=c>«ESC»</i>&lt;"


def test_a_cut_is_never_silent() -> None:
    assert cut("abcdef", 4) == ("abcd", 2)
    assert shortened("x" * 1_500, 300) == "x" * 300 + " … 1,200 more characters"
    assert shortened("abc", 3) == "abc"


def test_backticks_in_a_rule_become_code_only_in_pairs() -> None:
    assert prose_html("All `Warning` rows < 3") == "All <code>Warning</code> rows &lt; 3"
    assert prose_html("one ` only") == "one ` only"


def test_plurals() -> None:
    assert plural(1, "finding") == "1 finding"
    assert plural(1_200, "finding") == "1,200 findings"
    assert plural(2, "differs", "differ") == "2 differ"
