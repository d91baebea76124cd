"""Numbers of things in words, as reasons and reports say them."""

from __future__ import annotations


def plural(count: int, noun: str, many: str = "") -> str:
    """``1 finding``, ``2 findings``, ``1,200 findings``."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
