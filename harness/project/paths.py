"""Which paths the results of some calls changed, as far as the records say it completely."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from harness.project.stated import over
from harness.records import Call

TRACKED_PATH_BYTES: Final = 512
"""Longest path that is kept whole (observations.md, class ``overflow``)."""


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """What nested results say about tracked paths. `distinct` in the order of their first change, None when some
    result does not name all of its paths; `limited`: some path is longer than a tracked path may be."""

    distinct: tuple[str, ...] | None
    limited: bool


def paths_of(calls: Iterable[Call]) -> Paths:
    """The tracked paths of the results of some calls. A path over 512 bytes is kept shortened by the host."""
    distinct: dict[str, None] = {}
    complete = True
    for call in calls:
        if call.ending is None:
            continue
        named = call.ending.value.changed_paths
        effects = call.ending.value.execution_effects
        if named is None or (effects is not None and effects.changed_path_count != len(named)):
            complete = False
        distinct.update(dict.fromkeys(named or ()))
    return Paths(
        distinct=tuple(distinct) if complete else None,
        limited=not complete or any(over(path, TRACKED_PATH_BYTES) for path in distinct),
    )
