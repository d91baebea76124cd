"""One reading against the reference, in three outcomes, and a whole card against its reference by deepdiff."""

from __future__ import annotations

from collections.abc import Mapping

from harness.model.values import NotComparable, Reading, Reason, State, Value


def comparable(reading: Reading) -> NotComparable | None:
    """Why `reading` cannot be held against anything, or None when it can (known, null or absent)."""
    if isinstance(reading, NotComparable):
        return reading
    if reading.state is State.NOT_DISPLAYED:
        return NotComparable(reason=Reason.NOT_DISPLAYED, detail=reading.reason)
    if reading.state is State.UNREADABLE:
        return NotComparable(reason=Reason.UNREADABLE, detail=reading.reason)
    return None


def plain(values: Mapping[str, Value]) -> dict[str, str | None]:
    """Values as deepdiff sees them: text for known, None for null, no entry for absent."""
    return {key: value.text for key, value in values.items() if value.state is not State.ABSENT}


def differing(reference: Mapping[str, Value], observed: Mapping[str, Value]) -> set[str]:
    """Keys whose values differ. Both mappings have the same keys and hold comparable values only."""
    left, right = plain(reference), plain(observed)
    if left == right:
        return set()
    from deepdiff import DeepDiff  # noqa: PLC0415 # slow to import, and most cards agree

    difference = DeepDiff(left, right, view="tree", threshold_to_diff_deeper=0, ignore_private_variables=False)
    found: set[str] = set()
    for changes in difference.values():
        found.update(str(change.path(output_format="list")[0]) for change in changes)
    return found
