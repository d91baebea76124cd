"""What a step is given - a table, JSON, numbers, paths - read and checked before anything acts on it.

Every function raises UsageError, with the step's file and line, for input that cannot be meant.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from harness.model.errors import UsageError
from harness.model.stimulus import canonical
from harness.scenario.draft import Draft


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no finite number")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_constant(digits)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands twice in one object")
    return members


def json_value(draft: Draft, text: str) -> Any:
    """JSON as RFC 8259 has it, but for line breaks in strings: in a table cell Gherkin has already made them."""
    try:
        value = json.loads(
            text, strict=False, parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_members
        )
        canonical(value)  # a lone surrogate has no canonical form
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}", where=draft.where) from error
    return value


def json_object(draft: Draft, text: str) -> dict[str, Any]:
    """The arguments of a call."""
    value = json_value(draft, text)
    if not isinstance(value, dict):
        raise UsageError("the arguments of a call are a JSON object", where=draft.where)
    return value


def rows(draft: Draft, *columns: str, required: int) -> list[dict[str, str]]:
    """Table rows by column name; the first `required` of `columns` must be there, the others may."""
    header, *lines = draft.block.table or [[]]
    if not set(columns[:required]) <= set(header) <= set(columns) or len(set(header)) < len(header):
        raise UsageError(f"the table's columns are {', '.join(columns)}, each once", where=draft.where)
    if not lines:
        raise UsageError("the table has no rows", where=draft.where)
    return [dict(zip(header, line, strict=True)) for line in lines]


def number(draft: Draft, what: str, value: int, least: int, most: int | None = None) -> int:
    """`value`, which must be within its limits, inclusive."""
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"between {least} and {most}"
        raise UsageError(f"{what} must be {limits}, not {value}", where=draft.where)
    return value


def inside(draft: Draft, path: str) -> str:
    """`path`, which must stay in the workspace."""
    if path.startswith("/") or ".." in path.split("/"):
        raise UsageError(f"{path!r} is no path inside the workspace", where=draft.where)
    return path
