"""Findings that probably have one cause: same rule, label, kind, and the same shape of expected and observed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import msgspec

from harness.model.verdict import Finding, FindingKind
from harness.model.words import plural
from harness.report.text import one_line, shortened
from harness.report.views import Overview
from harness.spec.facts import FACTS, FactType
from harness.spec.requirements import REQUIREMENTS

KIND_WORDS = {
    FindingKind.VALUE: ("value", "A surface states another value than the reference."),
    FindingKind.EXPECTATION: (
        "expectation",
        "The reference states another value than the scenario's author worked out from the rules.",
    ),
    FindingKind.DERIVATION: ("derivation", "The host's report and the nested records disagree."),
    FindingKind.SURFACES: ("surfaces", "Two surfaces disagree where no reference can decide."),
    FindingKind.CARD: ("card", "A card is missing, extra, of another kind, or contradicts itself."),
    FindingKind.RULE: ("rule", "A source breaks a rule of its own: order, bounds, spelling or a partition."),
    FindingKind.UNREADABLE: ("unreadable", "Something is printed that cannot be read as the fact."),
}
"""One word and one sentence for every kind of finding."""

_ENTRIES = {entry.label: entry for entry in FACTS}
_OF_THE_PAGE = frozenset(entry.id for entry in REQUIREMENTS)
"""Rules of card-facts.md; the judgement has rows for others beside them."""
_TITLE_VALUE = 60
_STATE = re.compile(r"\([a-z ]{1,40}\)")
_TIMES = re.compile(r"( \([0-9]+ times, the first is shown\)|, and on [0-9]+ more cards?)$")
"""Where one rule is broken often, the finding says how often; that makes no other cause."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of one probable cause. `id` is stable over runs; `title` says expected and observed in one line."""

    id: str
    requirement: str
    rule: str
    section: str
    label: str
    kind: FindingKind
    title: str
    findings: tuple[Finding, ...]
    observations: tuple[str, ...]
    surfaces: tuple[str, ...]
    open: int

    @property
    def waived(self) -> int:
        return len(self.findings) - self.open

    @property
    def reach(self) -> str:
        """``5 findings in 3 observations on 2 sources``."""
        return (
            f"{plural(len(self.findings), 'finding')} in {plural(len(self.observations), 'observation')}"
            f" on {plural(len(self.surfaces), 'source')}"
        )


def shape(label: str, text: str, kind: FindingKind = FindingKind.VALUE) -> str:
    """What kind of value a text is, so that two findings with other numbers can still have one cause.

    States in parentheses, booleans and members of the label's enumeration stand for themselves, and the harness's own
    short words do with every number as ``N``; the rest is ``a count`` or ``a text``.
    """
    if _STATE.fullmatch(text):
        return text
    entry = _ENTRIES.get(label)
    if text in ("true", "false") or (entry is not None and text in entry.members):
        return text
    counts = entry is None or entry.type in (FactType.COUNT, FactType.MILLISECONDS)
    if counts and text.isascii() and text.isdigit():
        return "a count"
    own_words = kind not in (FindingKind.VALUE, FindingKind.EXPECTATION, FindingKind.DERIVATION)
    plain = re.sub(r"[0-9]+", "N", _TIMES.sub("", text))
    return plain if own_words and len(plain) <= _TITLE_VALUE and plain.isprintable() else "a text"


def relation(expected: str, observed: str) -> str:
    """``more`` or ``less`` when two different counts are held against each other, else ""."""
    if not all(text.isascii() and text.isdigit() and len(text) < 20 for text in (expected, observed)):
        return ""
    if int(expected) == int(observed):
        return ""
    return "more" if int(observed) > int(expected) else "less"


def groups(overview: Overview) -> tuple[Group, ...]:
    """All findings, grouped: unwaived ones first, then rules of the fact page before others, then the widest reach."""
    found: dict[tuple[str, ...], list[Finding]] = {}
    for finding in overview.findings:
        expected, observed = (shape(finding.label, text, finding.kind) for text in (finding.expected, finding.observed))
        related = relation(finding.expected, finding.observed) if expected == observed == "a count" else ""
        key = (finding.requirement, finding.label, finding.kind.value, expected, observed, related)
        found.setdefault(key, []).append(finding)
    made = [_group(key, members, overview) for key, members in found.items()]

    def order(group: Group) -> tuple[bool, bool, int, int, str, str]:
        beside = group.requirement not in _OF_THE_PAGE
        return group.open == 0, beside, -len(group.observations), -len(group.findings), group.title, group.id

    return tuple(sorted(made, key=order))


def _group(key: tuple[str, ...], members: list[Finding], overview: Overview) -> Group:
    requirement, label, _, expected, observed, related = key
    row = overview.requirements.get(requirement)
    pairs = Counter((finding.expected, finding.observed) for finding in members)
    if related and len(pairs) > 1:
        says = f"{related} than expected"
    elif len(pairs) == 1 or "a text" in (expected, observed):
        # The commonest case stands for all; ties go to the first in order, so that the title is always the same.
        example = max(pairs, key=lambda pair: pairs[pair])
        expected, observed = (shortened(text, _TITLE_VALUE) or "an empty text" for text in example)
        says = f"{observed} where {expected} is expected{', and alike' if len(pairs) > 1 else ''}"
    else:
        says = f"{observed} where {expected} is expected"
    return Group(
        id=hashlib.sha256("\0".join(key).encode("utf-8", "backslashreplace")).hexdigest()[:10],
        requirement=requirement,
        rule=row.text if row else overview.rules.get(requirement, ""),
        section=row.section if row else "",
        label=label,
        kind=members[0].kind,
        title=f"{one_line(label or requirement)}: {says}",
        findings=tuple(members),
        observations=tuple(sorted({finding.observation for finding in members})),
        surfaces=tuple(sorted({finding.surface for finding in members})),
        open=sum(finding.waived_by is None for finding in members),
    )
