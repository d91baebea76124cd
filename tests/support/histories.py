"""Releases to make trends of: small ones to be counted by hand, and one with hostile evidence of every kind."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.compare.difference import Side
from harness.compare.history import Judged, history
from harness.model.history import History
from harness.model.values import not_displayed
from harness.model.verdict import (
    Acceptance,
    Agreement,
    Cell,
    Damage,
    Observation,
    Release,
    Verdict,
)
from tests.support.acceptances import HOSTILE, rejected
from tests.support.columns import LA_LIVE

AT = "2026-11-30T12:00:00Z"
HIDDEN = not_displayed("hidden since 0.101.0")


def judged(side: Side, verdict: Verdict = Verdict.INSUFFICIENT, *, damaged: tuple[Damage, ...] = ()) -> Judged:
    """A release whose judgement is of exactly the observations and findings of `side`."""
    acceptance = Acceptance(
        verdict=verdict,
        release=Release(name="magi-code", version=side.release, sha256=(f"{len(side.release):064x}",)),
        at=AT,
        harness="0.1.0",
        reasons=(),
        observations=side.observations,
        findings=side.findings,
        missing=(),
        damaged=damaged,
        requirements=(),
    )
    return Judged(acceptance=acceptance, side=side)


def history_of(*sides: Side) -> History:
    return history([judged(side) for side in sides])


def _of(acceptance: Acceptance, release: str) -> Judged:
    named = msgspec.structs.replace(
        acceptance,
        release=msgspec.structs.replace(acceptance.release, version=release),
        observations=tuple(msgspec.structs.replace(item, release=release) for item in acceptance.observations),
    )
    return Judged(
        acceptance=named, side=Side(release=release, observations=named.observations, findings=named.findings)
    )


def _without_live(observation: Observation) -> Observation:
    """The run as a release shows it whose local agent hides every fact of live cards."""
    hidden = Cell(readings=(), agreement=Agreement.NOT_COMPARABLE)
    rows = tuple(
        msgspec.structs.replace(
            row,
            cells={
                **row.cells,
                LA_LIVE: msgspec.structs.replace(
                    hidden,
                    readings=tuple(msgspec.structs.replace(fact, value=HIDDEN) for fact in row.cells[LA_LIVE].readings),
                ),
            },
        )
        for row in observation.rows
    )
    return msgspec.structs.replace(observation, rows=rows)


def hostile() -> History:
    """Three releases. The first hides what the second shows live, hostile texts included; the third has no finding any
    more, one run less and a damaged bundle, all of them named as badly as can be."""
    whole = rejected()
    first = msgspec.structs.replace(
        whole, observations=tuple(map(_without_live, whole.observations)), findings=whole.findings[:3]
    )
    damage = (Damage(bundle=HOSTILE["script"], reasons=(HOSTILE["closing"], HOSTILE["ansi"])),)
    last = msgspec.structs.replace(whole, observations=whole.observations[1:], findings=(), damaged=damage)
    return history([_of(first, "0.100.0"), _of(whole, "0.104.0"), _of(last, HOSTILE["script"])])


def long(releases: int) -> History:
    """Many releases, each of which shows what the one before hid, or the other way round."""
    whole = rejected()
    hidden = msgspec.structs.replace(whole, observations=tuple(map(_without_live, whole.observations)))
    pair: Sequence[Acceptance] = (whole, hidden)
    return history([_of(pair[number % 2], f"0.{number}.0") for number in range(releases)])
