"""Results of selfchecks, small enough to be read: one that proves, one with survivors, a file that fits evidence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.model.selfcheck import (
    SELFCHECK_SCHEMA,
    Attacked,
    Equivalent,
    Measured,
    MutantClass,
    Selfcheck,
    SelfcheckState,
    Survivor,
)
from harness.selfcheck_file import FILE, code_digest, encode, feature_digests

FACT_VALUES = MutantClass(
    id="fact-value",
    text="another value of a fact row",
    requirements=("code-mode.total-calls", "code-mode.warnings"),
    mutants=5,
    caught=4,
    survivors=0,
    equivalent=(Equivalent(reason="nothing to hold it against", mutants=1),),
    signals={"finding": 4},
    kinds={"changed": 5},
)


def result(*, code: str = "0" * 64, manifests: Mapping[str, str] | None = None, release: str = "0.104.0") -> Selfcheck:
    """Five mutants of one class: four caught, one that nothing should notice."""
    return Selfcheck(
        schema=SELFCHECK_SCHEMA,
        harness="0.1.0",
        code=code,
        features={},
        measured=(Measured(release=release, manifests=dict(manifests or {}), mutated=("handled.local-agent",)),),
        mutants=5,
        caught=4,
        equivalent=1,
        survivors=(),
        classes=(FACT_VALUES,),
        attacked=(Attacked(card="code_mode", label="Total calls", column="local-agent-live", mutants=4),),
    )


def survivor(kind: str = "changed") -> Survivor:
    return Survivor(
        class_="fact-value",
        kind=kind,
        requirement="code-mode.total-calls",
        release="0.104.0",
        observation="handled.local-agent",
        where="local-agent-live",
        card="turn1/call1",
        label="Total calls",
        why="not noticed",
    )


def with_survivors(number: int = 1) -> Selfcheck:
    """The same result in which some mutants got through."""
    row = msgspec.structs.replace(FACT_VALUES, mutants=5 + number, survivors=number)
    return msgspec.structs.replace(
        result(), mutants=5 + number, survivors=tuple(survivor() for _ in range(number)), classes=(row,)
    )


PROVEN = SelfcheckState(result=result())
"""What a judgement knows when the harness has shown that it can fail."""


def write(evidence: Path, features: Path, manifests: Mapping[str, str], *, release: str = "0.104.0") -> Path:
    """A result that proves something for this evidence, these scenarios and the judging code as it is."""
    made = msgspec.structs.replace(
        result(code=code_digest(), manifests=manifests, release=release), features=feature_digests(features)
    )
    path = evidence / FILE
    path.write_bytes(encode(made))
    return path
