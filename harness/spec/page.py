"""The normative page as an ordered list of units: one rule each, so that every rule can be held by exactly one entry.

A unit is a sentence, or one of the clauses that semicolons separate in it: card-facts.md often states a rule and its
null rule as two such clauses. How a text is cut (`sentences`):

* white space of any kind and length counts as one space (`normalize`): wrapping a page differently changes nothing;
* ``.``, ``!`` and ``?`` end a unit when a space or the end of the text follows (after closing quotes or parentheses),
  unless the next word starts with a small letter or the word before is a known abbreviation (`ABBREVIATIONS`);
* ``;`` ends a unit when a space follows, whatever comes next;
* nothing ends a unit inside backticks or parentheses, and ``→``, ``:`` and ``/`` never do;
* the mark stays with its unit, so that joining the units with spaces gives the normalized text back.

Pure: text in, values out. A construct that the page does not use (code fence, quote, table of another shape) is an
error, never skipped.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from harness.model.errors import DecodeError

ABBREVIATIONS = frozenset({"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no."})
"""Words whose full stop ends no unit, in small letters. "no." only counts before a digit."""

_HEADING = re.compile(r"#{1,6}\s+(?P<text>.+?)\s*#*")
_LIST_ITEM = re.compile(r"(?:[-*+]|\d+\.)\s+(?P<text>.+)")
_TABLE_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_FOREIGN = re.compile(r"```|~~~|>|<[a-zA-Z!/]")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_LABEL = re.compile(r"`([^`]+)`")
_CLOSERS = "\"')\u201d\u2019"
_HEADER = ("label", "meaning")


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of the page.

    `section` is the heading above it, `labels` the backticked labels of its row's Label cell in order (empty for
    prose), `sentence` the normalized original text, `line` the 1-based line where its row or paragraph begins.
    """

    section: str
    labels: tuple[str, ...]
    sentence: str
    line: int

    @property
    def digest(self) -> str:
        return digest(self.sentence)


def normalize(text: str) -> str:
    """The text with every run of white space as one space, and none at the ends."""
    return " ".join(text.split())


def digest(sentence: str) -> str:
    """Hex sha256 of the normalized sentence in UTF-8."""
    return hashlib.sha256(normalize(sentence).encode()).hexdigest()


def sentences(text: str) -> tuple[str, ...]:
    """The units of one paragraph or cell, in order; empty for blank text.

    Raises DecodeError for an open backtick or parenthesis: where it is missing, every later cut would be a guess.
    """
    text = normalize(text)
    found: list[str] = []
    start = depth = 0
    quoted = False
    for at, char in enumerate(text):
        if char == "`":
            quoted = not quoted
        elif quoted:
            continue
        elif char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif depth == 0 and char in ".!?;":
            end = _end_of_unit(text, start, at)
            if end is not None:
                found.append(text[start:end])
                start = end + 1
    if quoted or depth:
        raise DecodeError(f"{'a backtick' if quoted else 'a parenthesis'} is never closed in {text[:60]!r}")
    if text[start:]:
        found.append(text[start:])
    return tuple(found)


def _end_of_unit(text: str, start: int, mark: int) -> int | None:
    """The offset behind the unit that the mark at `mark` ends, or None when it ends none."""
    end = mark + 1
    while end < len(text) and text[end] in _CLOSERS:
        end += 1
    if end == len(text):
        return end
    if text[end] != " ":
        return None
    if text[mark] == ";":
        return end
    following = text[end + 1]
    if following.islower():
        return None
    word = text[start : mark + 1].rsplit(" ", 1)[-1].lstrip("(\"'").lower()
    if text[mark] == "." and word in ABBREVIATIONS and (word != "no." or following.isdigit()):
        return None
    return end


def units(page: str) -> tuple[Unit, ...]:
    """All units of the page in order. Raises DecodeError, with the line, for anything that it cannot cut."""
    found: list[Unit] = []
    section = ""
    prose: list[str] = []
    prose_line = 0
    in_table = False

    def add(text: str, labels: tuple[str, ...], line: int) -> None:
        try:
            parts = sentences(text)
        except DecodeError as error:
            raise DecodeError(error.message, where=f"line {line}") from None
        found.extend(Unit(section=section, labels=labels, sentence=part, line=line) for part in parts)

    def close_paragraph() -> None:
        add(" ".join(prose), (), prose_line)
        prose.clear()

    for number, raw in enumerate(page.splitlines(), start=1):
        line = raw.strip()
        if not line.startswith("|"):
            in_table = False
        if _FOREIGN.match(line):
            raise DecodeError(f"the page reader does not know the construct {line[:20]!r}", where=f"line {number}")
        if line.startswith("|"):
            close_paragraph()
            if not in_table:
                _require_header(line, number)
                in_table = True
            elif not _TABLE_RULE.fullmatch(line):
                labels, meaning = _row(line, number)
                add(meaning, labels, number)
        elif heading := _HEADING.fullmatch(line):
            close_paragraph()
            section = heading["text"]
        elif not line:
            close_paragraph()
        else:
            item = _LIST_ITEM.fullmatch(line)
            if item:
                close_paragraph()
            if not prose:
                prose_line = number
            prose.append(item["text"] if item else line)
    close_paragraph()
    return tuple(found)


def _cells(line: str, number: int) -> tuple[str, str]:
    cells = [normalize(cell.replace("\\|", "|")) for cell in _CELL_EDGE.split(line)]
    if len(cells) != 4 or cells[0] or cells[3]:
        raise DecodeError("a table row has two cells, each closed by a bar", where=f"line {number}")
    return cells[1], cells[2]


def _require_header(line: str, number: int) -> None:
    cells = _cells(line, number)
    if tuple(cell.lower() for cell in cells) != _HEADER:
        raise DecodeError(f"a table of facts has the columns Label and Meaning, not {cells}", where=f"line {number}")


def _row(line: str, number: int) -> tuple[tuple[str, ...], str]:
    label_cell, meaning = _cells(line, number)
    labels = tuple(_LABEL.findall(label_cell))
    if not labels:
        raise DecodeError(f"no backticked label in {label_cell!r}", where=f"line {number}")
    if not meaning:
        raise DecodeError(f"the row of {labels[0]!r} says nothing", where=f"line {number}")
    return labels, meaning


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def copied_run(text: str, page: str, length: int = 6) -> str | None:
    """The first `length` consecutive words of `text` that stand on the page in that order, or None.

    Words are runs of letters and digits in any case, so that marks, backticks and hyphens hide no copy.
    """
    words, original = _words(text), _words(page)
    runs = {tuple(original[at : at + length]) for at in range(len(original) - length + 1)}
    for at in range(len(words) - length + 1):
        if tuple(words[at : at + length]) in runs:
            return " ".join(words[at : at + length])
    return None
