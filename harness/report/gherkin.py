"""A scenario's text line by line, told apart for reading: keywords, tags, tables and the text of arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

LINES_SHOWN = 400
_KEYWORD = re.compile(
    r"(\s*)(Feature:|Background:|Rule:|Scenario(?: Outline)?:|Examples:|Given|When|Then|And|But|\*)(.*)"
)


class GherkinLine(msgspec.Struct, frozen=True, kw_only=True):
    """`indent` and `keyword` are "" unless the line begins with a keyword; `kind` is ``step``, ``tag``, ``table``,
    ``text`` or ``note``. `number` is the line in the feature file, 0 when that is not known."""

    kind: str
    rest: str
    number: int = 0
    indent: str = ""
    keyword: str = ""


def lines(gherkin: str, numbers: Sequence[int] = ()) -> tuple[GherkinLine, ...]:
    """All lines, the last one a note when there were more than are shown. `numbers`: which of the feature file's."""
    found: list[GherkinLine] = []
    quoted = False
    for at, line in enumerate(gherkin.rstrip("\n").split("\n") if gherkin else ()):
        if len(found) == LINES_SHOWN:
            found.append(GherkinLine(kind="note", rest="… further lines"))
            break
        number = numbers[at] if at < len(numbers) else 0
        word = line.lstrip()
        fence = word.startswith(('"""', "```"))
        if fence or quoted:
            quoted = quoted != fence
            found.append(GherkinLine(kind="text", rest=line, number=number))
        elif word.startswith("|"):
            found.append(GherkinLine(kind="table", rest=line, number=number))
        elif word.startswith("@"):
            found.append(GherkinLine(kind="tag", rest=line, number=number))
        elif match := _KEYWORD.fullmatch(line):
            found.append(GherkinLine(kind="step", indent=match[1], keyword=match[2], rest=match[3], number=number))
        else:
            found.append(GherkinLine(kind="text", rest=line, number=number))
    return tuple(found)
