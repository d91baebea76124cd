"""Patterns that stand for values which only the run can know. Each still has to be spelled as its type says."""

from __future__ import annotations

import re
from enum import StrEnum


class Pattern(StrEnum):
    COUNT = "<count>"
    MILLISECONDS = "<milliseconds>"
    TEXT = "<text>"
    AT_LEAST = "<at least N>"


_AT_LEAST = re.compile(r"<at least (0|[1-9][0-9]*)>")
_COUNT = re.compile(r"0|[1-9][0-9]*")


def is_lower_bound(pattern: str) -> bool:
    """Whether `pattern` is an ``<at least N>``."""
    return _AT_LEAST.fullmatch(pattern) is not None


def matches(pattern: str, text: str) -> bool:
    """Whether a known value's text is of the pattern."""
    if bound := _AT_LEAST.fullmatch(pattern):
        return bool(_COUNT.fullmatch(text)) and int(text) >= int(bound[1])
    if pattern in (Pattern.COUNT, Pattern.MILLISECONDS):
        return bool(_COUNT.fullmatch(text))
    return pattern == Pattern.TEXT and text != ""
