"""The proof that the harness can fail: how many mutants of evidence it was given, and which of them got through."""

from __future__ import annotations

import msgspec

SELFCHECK_SCHEMA = 1


class Equivalent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Mutants that nothing could notice by the rules, and why; so declared before they were judged."""

    reason: str
    mutants: int


class MutantClass(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the kill matrix.

    `requirements` are the rules that its mutants attack, by id. `mutants` is the sum of `caught`, of those in
    `equivalent` and of `survivors`. `signals` says by what those that were caught were noticed, `kinds` how many
    mutants of each kind there were. `harmless`: the mutants change nothing that is a fact, so that noticing one is
    the failure; those that were rightly left alone stand in `equivalent`.
    """

    id: str
    text: str
    requirements: tuple[str, ...]
    mutants: int
    caught: int
    survivors: int
    equivalent: tuple[Equivalent, ...]
    signals: dict[str, int]
    kinds: dict[str, int]
    harmless: bool = False


class Survivor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One mutant that was judged wrongly: `release`, `observation`, `where` (surface or member), `card` and `label` say
    what was changed, `kind` how, `requirement` which rule that attacks, `why` what was wrong with the judgement."""

    class_: str = msgspec.field(name="class")
    kind: str
    requirement: str
    release: str
    observation: str
    where: str
    card: str
    label: str
    why: str


class Measured(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Evidence of one release: hex sha256 of every manifest by observation, and the observations that were mutated."""

    release: str
    manifests: dict[str, str]
    mutated: tuple[str, ...]


class Attacked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often the values of one label were mutated on one surface column or derivation."""

    card: str
    label: str
    column: str
    mutants: int


class Selfcheck(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole result. `code` is the hex sha256 of everything in the harness that judges, `features` of the scenarios
    that the evidence was judged by, by file name."""

    schema: int
    harness: str
    code: str
    features: dict[str, str]
    measured: tuple[Measured, ...]
    mutants: int
    caught: int
    equivalent: int
    survivors: tuple[Survivor, ...]
    classes: tuple[MutantClass, ...]
    attacked: tuple[Attacked, ...]


class SelfcheckState(msgspec.Struct, frozen=True, kw_only=True):
    """What a judgement knows of its own proof. `result` None: there is none that could be read. `fault` says why it
    proves nothing for the evidence and the harness at hand, "" when it does."""

    result: Selfcheck | None = None
    fault: str = ""
