"""Holds columns of facts against each other: rows, cards and findings come out, nothing is judged here."""

from harness.compare.columns import Compared, compare

__all__ = ["Compared", "compare"]
