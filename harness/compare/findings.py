"""Findings: stable ids, and the command that shows the place."""

from __future__ import annotations

import hashlib

from harness.model.facts import Problem
from harness.model.verdict import Finding, FindingKind


def finding(
    problem: Problem, *, kind: FindingKind, observation: str, surface: str, ordinal: int = 0, detail: str = ""
) -> Finding:
    """`problem` as a finding of one observation and surface.

    The id depends on what disagrees where, not on the values, so that it survives a new recording. `detail` tells
    apart findings that share everything else (the n-th broken frame).
    """
    identity = (kind, problem.requirement, observation, surface, problem.card, problem.label, str(ordinal), detail)
    number = "F-" + hashlib.sha256("\0".join(identity).encode()).hexdigest()[:10]
    return Finding(
        id=number,
        kind=kind,
        requirement=problem.requirement,
        observation=observation,
        surface=surface,
        card=problem.card,
        label=problem.label,
        ordinal=ordinal,
        expected=problem.expected,
        observed=problem.observed,
        place=problem.place,
        command=f"harness show {number}",
    )
