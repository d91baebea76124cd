"""Evidence text made safe to look at: every character that could hide, reorder or break a page becomes visible.

The mapping is for readers only; machine-readable members keep the exact text (see `harness.report.verdict_json`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from markupsafe import Markup, escape

COMBINING_RUN = 3
"""Combining marks shown on one base character; further ones are counted, so that no text grows out of its row."""

_C0_NAMES = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
)
"""Names of the control characters; their pictures (U+2400 and on) are missing from too many fonts."""
_JOINER = "\u200d"
_EMOJI_PARTS = ("\ufe0f", "\u20e3")
_HIDDEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and symbols that print as nothing (Hangul fillers, blank Braille)."""
_HIDING = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
"""General categories without a glyph of their own: controls, formats, unassigned, private, surrogates, spaces."""
_KEEP = frozenset("\n\t")


def _point(character: str) -> str:
    return f"«U+{ord(character):04X}»"


def _is_emoji(character: str) -> bool:
    return unicodedata.category(character) == "So" or 0x1F3FB <= ord(character) <= 0x1F3FF


def _joins_emoji(text: str, at: int) -> bool:
    """Whether a zero-width joiner at `at` stands between two parts of one emoji, where it hides nothing."""
    if text[at] != _JOINER or not 0 < at < len(text) - 1:
        return False
    return _is_emoji(text[at + 1]) and (_is_emoji(text[at - 1]) or text[at - 1] in _EMOJI_PARTS)


def _symbol(text: str, at: int) -> str | None:
    """What stands for the character at `at`, or None when it is shown as it is."""
    character = text[at]
    code = ord(character)
    if code < 0x20:
        return f"«{_C0_NAMES.split()[code]}»"
    if code <= 0x7F:
        return "«DEL»" if code == 0x7F else None
    hides = character in _HIDDEN_LETTERS or unicodedata.category(character) in _HIDING
    return _point(character) if hides and not _joins_emoji(text, at) else None


def _stacks(text: str) -> dict[int, str]:
    """Positions of combining marks past `COMBINING_RUN` on one character: "" for each, a count for the last."""
    found: dict[int, str] = {}
    if text.isascii():
        return found
    run = 0
    for at, character in enumerate(text):
        marks = character not in _EMOJI_PARTS and unicodedata.category(character) in ("Mn", "Me")
        run = run + 1 if marks else 0
        if run > COMBINING_RUN:
            found[at] = f"«{run - COMBINING_RUN} more marks»"
            if run > COMBINING_RUN + 1:
                found[at - 1] = ""
    return found


@cache
def _is_odd(character: str) -> bool:
    """Whether the character may need a symbol somewhere, alone or on another one."""
    return _symbol(character, 0) is not None or unicodedata.category(character) in ("Mn", "Me")


def _is_plain(text: str, *, layout: bool) -> bool:
    """Whether nothing in the text needs a symbol. Texts have few different characters, so that this is quick."""
    if text.isascii() and text.isprintable():
        return layout or not (text.startswith(" ") or text.endswith(" "))
    odd = {character for character in set(text) if _is_odd(character)}
    return not odd - _KEEP if layout else not odd and text == text.strip(" ")


def _pieces(text: str, *, layout: bool) -> Iterator[tuple[bool, str]]:
    """Yields (is a stand-in symbol, text) over the whole text; `layout` as in `block`."""
    if _is_plain(text, layout=layout):
        yield False, text
        return
    first, last = (0, len(text)) if layout else (len(text) - len(text.lstrip(" ")), len(text.rstrip(" ")))
    stacks = _stacks(text)
    quiet = {character for character in set(text) if character != " " and not _is_odd(character)}
    quiet |= _KEEP if layout else set()
    start = 0
    for at, character in enumerate(text):
        if character in quiet:
            continue
        outer = character == " " and not first <= at < last
        symbol = "«SP»" if outer else stacks[at] if at in stacks else _symbol(text, at)
        if symbol is None:
            continue
        if start < at:
            yield False, text[start:at]
        if symbol:
            yield True, symbol
        if character in _KEEP:
            yield False, character
        start = at + 1
    if start < len(text):
        yield False, text[start:]


@lru_cache(maxsize=32_768)
def visible(text: str) -> str:
    """The text with a visible symbol for every character that would not be seen, on one or several lines.

    C0 controls become their names (``«ESC»``), a line feed keeps its line break after the symbol; format characters,
    odd spaces, private and unassigned characters become ``«U+202E»``; leading and trailing spaces ``«SP»``; combining
    marks past `COMBINING_RUN` on one character are counted. The result is legal XML 1.0 text.
    """
    return "".join(piece for _, piece in _pieces(text, layout=False))


def one_line(text: str) -> str:
    """`visible`, on a single line: line breaks and tabs are only symbols."""
    return re.sub(r"[\n\t]", "", visible(text))


def block(text: str) -> str:
    """`visible` for text whose line breaks, tabs and outer spaces are its layout: these stay as they are."""
    return "".join(piece for _, piece in _pieces(text, layout=True))


@lru_cache(maxsize=32_768)
def _html(text: str, *, layout: bool) -> Markup:
    if _is_plain(text, layout=layout):
        inner = escape(text)
    else:
        parts = (
            Markup("<i class=c>{}</i>").format(piece) if sign else escape(piece)
            for sign, piece in _pieces(text, layout=layout)
        )
        inner = Markup("").join(parts)
    return inner if text.isascii() else Markup("<bdi>{}</bdi>").format(inner)


@lru_cache(maxsize=8192)
def visible_html(text: str) -> Markup:
    """`visible` as HTML: stand-in symbols are marked ``<i class=c>``, and text that is not ASCII is isolated in
    ``<bdi>`` so that its direction cannot reorder what stands around it."""
    return _html(text, layout=False)


def block_html(text: str) -> Markup:
    """`block` as HTML, marked and isolated like `visible_html`."""
    return _html(text, layout=True)


def prose_html(text: str) -> Markup:
    """A sentence as HTML, with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return visible_html(text)
    # Spaces at the edges of a part are inside the sentence.
    shown = [block_html(part) for part in parts]
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(shown))


def cut(text: str, limit: int) -> tuple[str, int]:
    """The first `limit` characters and how many were left out."""
    return text[:limit], max(0, len(text) - limit)


def cut_note(left_out: int) -> str:
    """The words that stand where text was cut."""
    return f"… {left_out:,} more characters"


def shortened(text: str, limit: int) -> str:
    """`one_line` of at most `limit` characters of evidence, with a visible note of what was cut."""
    head, left_out = cut(text, limit)
    return f"{one_line(head)} {cut_note(left_out)}" if left_out else one_line(head)
