"""The requirement catalogue: every rule of card-facts.md, in page order and our own words, and how it is held.

The data are in ``requirements.toml`` beside this module and are read and checked once, when the module is imported;
import it where it is needed. `harness.spec.drift` holds the catalogue against the page.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from importlib.resources import files

import msgspec

from harness.model.errors import HarnessError
from harness.model.facts import CardKind
from harness.model.values import Reading, State, Value
from harness.spec.facts import FACTS, FactSpec, FactType, facts_of, spelling_error

WHEN_NULL = "(null)"
"""In `Requirement.when`: the reference says null."""
WHEN_KNOWN = "(known)"
"""In `Requirement.when`: the reference says any known value."""


class CheckKind(StrEnum):
    """How a requirement is held."""

    FACTS = "facts"
    """Values of its labels are compared; `Requirement.evidenced_by` says which comparisons count."""
    RULE = "rule"
    """A structural check named `Requirement.rule` and described in `RULES`; it reports a Problem with this id."""
    PROCESS = "process"
    """How acceptance is done: bundles, authorization, coverage of classes."""
    EXCLUDED = "excluded"
    """Nothing that a run shows could contradict it; `Requirement.reason` says why."""


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """One rule: a sentence of the page, or one of the clauses that semicolons separate in it.

    `id`: ``<section>.<slug>``, with ``.<point>`` for the later rules of a label's row. `section`: the page's heading.
    `text`: the rule in our words. `cards`, `labels`: what it governs; both empty for rules about the process, and
    `labels` also where no single fact is governed. `check`: ``facts``, ``rule:<name>``, ``process`` or ``excluded``.
    `when` (facts only): the reference values with which a comparison says something about this rule, as exact texts,
    `WHEN_NULL` or `WHEN_KNOWN`; empty means every comparison. `reason`: why it is excluded, else "". `digest`: hex
    sha256 of the normalized original sentence (`harness.spec.page.digest`).

    A finding that names a requirement belongs to it, whatever its `check` is.
    """

    id: str
    section: str
    text: str
    cards: tuple[CardKind, ...]
    labels: tuple[str, ...]
    check: str
    when: tuple[str, ...]
    reason: str
    digest: str

    @property
    def kind(self) -> CheckKind:
        return CheckKind(self.check.partition(":")[0])

    @property
    def rule(self) -> str:
        """The rule's name, or "" when the requirement is held in another way."""
        return self.check.partition(":")[2]

    @property
    def row(self) -> str:
        """Id of the first rule of the label row that it belongs to, or "" when it is prose."""
        base = ".".join(self.id.split(".")[:2])
        return base if base in _ROW_IDS else ""

    def evidenced_by(self, reference: Reading) -> bool:
        """Whether a comparison with this reference says something about the rule. False unless held by facts.

        A reference that is no value (`NotComparable`), or neither known nor null, is evidence of nothing.
        """
        if self.kind is not CheckKind.FACTS or not isinstance(reference, Value):
            return False
        match reference.state:
            case State.KNOWN:
                return not self.when or WHEN_KNOWN in self.when or reference.text in self.when
            case State.NULL:
                return not self.when or WHEN_NULL in self.when
            case _:
                return False


class Unreachable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A requirement that no original run of one release can show, and why."""

    requirement: str
    release: str
    reason: str


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the data file says. `rules`: name to what is held, in words."""

    requirements: tuple[Requirement, ...]
    rules: dict[str, str]
    not_reachable: tuple[Unreachable, ...]


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry as written. `every`: instead of labels, all labels of these types on its cards."""

    id: str
    text: str
    check: str
    digest: str
    cards: tuple[CardKind, ...] = ()
    labels: tuple[str, ...] = ()
    every: tuple[FactType, ...] = ()
    when: tuple[str, ...] = ()
    reason: str = ""


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sections: dict[str, str]
    requirement: tuple[_Entry, ...]
    rules: dict[str, str] = {}
    not_reachable: tuple[Unreachable, ...] = ()


_ROW_IDS = frozenset(fact.requirement for fact in FACTS if not fact.repeated)
_ID = re.compile(r"[a-z][a-z-]*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*){1,2}")
_CHECK = re.compile(r"facts|process|excluded|rule:[a-z]+(?:-[a-z]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def load(text: str, *, where: str = "requirements.toml") -> Catalogue:
    """The catalogue in a data file. Raises HarnessError, naming the entry, for anything that breaks its rules.

    The fault is always ours: the file is a part of the harness.
    """
    try:
        data = msgspec.convert(tomllib.loads(text), _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise HarnessError(str(error), where=where) from None
    requirements = tuple(_requirement(entry, data, where) for entry in data.requirement)
    ids = [entry.id for entry in requirements]
    used = {entry.rule for entry in requirements if entry.rule}
    faults = [
        *(f"{id_}: the id is taken" for id_ in sorted({id_ for id_ in ids if ids.count(id_) > 1})),
        *(f"rule {name}: nothing is held by it" for name in data.rules if name not in used),
        *(f"not_reachable: no requirement {u.requirement}" for u in data.not_reachable if u.requirement not in ids),
        *(f"not_reachable: {u.requirement} has no reason" for u in data.not_reachable if not u.reason),
    ]
    if faults:
        raise HarnessError("; ".join(faults), where=where)
    return Catalogue(requirements=requirements, rules=data.rules, not_reachable=data.not_reachable)


def _requirement(entry: _Entry, data: _File, where: str) -> Requirement:
    prefix = entry.id.partition(".")[0]
    labels = entry.labels or tuple(
        dict.fromkeys(fact.label for fact in FACTS if fact.card in entry.cards and fact.type in entry.every)
    )
    fault = _fault(entry, labels, data)
    if fault:
        raise HarnessError(fault, where=f"{where}, {entry.id}")
    return Requirement(
        id=entry.id,
        section=data.sections[prefix],
        text=entry.text,
        cards=entry.cards,
        labels=labels,
        check=entry.check,
        when=entry.when,
        reason=entry.reason,
        digest=entry.digest,
    )


def _fault(entry: _Entry, labels: tuple[str, ...], data: _File) -> str:
    """What is wrong with one entry, or ""."""
    governed = [facts_of(card)[label] for card in entry.cards for label in labels if label in facts_of(card)]
    rule = entry.check.partition(":")[2]
    unknown_labels = sorted(set(labels) - {fact.label for fact in governed})
    unknown_values = [text for text in entry.when if not any(_can_be(fact, text) for fact in governed)]
    faults = {
        "the id is not written as section.slug or section.slug.point": not _ID.fullmatch(entry.id),
        "the id begins with no section of the file": entry.id.partition(".")[0] not in data.sections,
        f"the check {entry.check!r} is none": not _CHECK.fullmatch(entry.check),
        f"no rule {rule!r} is described": bool(rule) and rule not in data.rules,
        "an excluded requirement, and only that, has a reason": (entry.check == "excluded") != bool(entry.reason),
        "labels and every exclude each other": bool(entry.labels and entry.every),
        f"its cards have no label {', '.join(unknown_labels)}": bool(unknown_labels),
        "values can only be compared where labels are governed": entry.check == "facts" and not labels,
        "when belongs to requirements held by facts": bool(entry.when) and entry.check != "facts",
        f"no governed fact can be {', '.join(unknown_values)}": bool(unknown_values),
        "the digest is no hex sha256": not _SHA256.fullmatch(entry.digest),
        "it says nothing": not entry.text,
    }
    return next((message for message, wrong in faults.items() if wrong), "")


def _can_be(fact: FactSpec, text: str) -> bool:
    if text in (WHEN_NULL, WHEN_KNOWN):
        return text == WHEN_KNOWN or fact.nullable
    return fact.type is not FactType.TEXT and spelling_error(fact, text) is None


CATALOGUE = load(files(__package__).joinpath("requirements.toml").read_text(encoding="utf-8"))
REQUIREMENTS = CATALOGUE.requirements
"""In page order."""
RULES = CATALOGUE.rules
NOT_REACHABLE = CATALOGUE.not_reachable

_BY_ID = {entry.id: entry for entry in REQUIREMENTS}


def requirement(id_: str) -> Requirement:
    """The entry of an id. Raises KeyError when there is none (wire and record rules have tables of their own)."""
    return _BY_ID[id_]


def for_label(card: CardKind, label: str) -> tuple[Requirement, ...]:
    """All requirements that govern a label of a kind of card, in page order; empty when the card has no such label."""
    if label not in facts_of(card):
        return ()
    return tuple(entry for entry in REQUIREMENTS if card in entry.cards and label in entry.labels)


def for_rule(name: str) -> tuple[Requirement, ...]:
    """All requirements that one structural check holds, in page order. Raises KeyError for a name not in `RULES`."""
    if name not in RULES:
        raise KeyError(name)
    return tuple(entry for entry in REQUIREMENTS if entry.rule == name)


def not_reachable(id_: str, release: str) -> Unreachable | None:
    """Why no original run of the release can show the requirement, or None when nothing is known against it."""
    return next((u for u in NOT_REACHABLE if u.requirement == id_ and u.release == release), None)
