"""How a check of one card says what it found, and how it measures texts."""

from __future__ import annotations

from typing import Protocol


class Report(Protocol):
    """Takes a broken rule: its id, a label that tells it apart in its card, the pointer from the card's root, what the
    rule expects and what is there."""

    def __call__(self, rule: str, label: str, pointer: str, expected: str, observed: str) -> None: ...


def over(text: str, bound: int) -> int | None:
    """Its size in UTF-8 bytes when that is more than `bound`, else None."""
    if len(text) * 4 <= bound or (text.isascii() and len(text) <= bound):
        return None
    size = len(text.encode())
    return size if size > bound else None
