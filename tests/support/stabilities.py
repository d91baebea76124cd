"""Runs recorded again: alike, and with something that varied."""

from __future__ import annotations

from harness.model.stability import Repeated, StabilityState, Variation
from tests.support.columns import RELEASE


def varied(label: str = "Total calls", *, observation: str = "handled.local-agent") -> Variation:
    return Variation(
        what="fact",
        observation=observation,
        surface="local-agent-live",
        card="turn1/call1",
        label=label,
        ordinal=0,
        detail="",
        values=("3 (agree)", "4 (disagree)"),
    )


def repeated(*variations: Variation) -> Repeated:
    return Repeated(
        release=RELEASE,
        recordings=2,
        manifests={"handled.local-agent": ("a" * 64, "b" * 64)},
        compared=88,
        not_compared=8,
        variations=variations,
    )


STEADY = StabilityState(repeated=repeated())
"""What a judgement knows when every run came out alike twice."""
