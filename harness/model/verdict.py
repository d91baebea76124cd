"""What was compared, what was found and what was judged: the one model that every report format is rendered from."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from harness.model.facts import CardKind, Column, Fact, Omission, Place
from harness.model.manifest import Product, Recorder
from harness.model.selfcheck import SelfcheckState
from harness.model.stability import StabilityState
from harness.model.values import NotComparable, Reading


class Agreement(StrEnum):
    """The result of holding two readings against each other. There is no boolean for it."""

    AGREE = "agree"
    DISAGREE = "disagree"
    NOT_COMPARABLE = "not_comparable"


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One column's word on one fact, held against the reference.

    `readings` are all places where the column shows the fact (a surface may show it on the card and in the detail).
    `agreement` is disagree when any reading disagrees, agree when any agrees and none disagrees, else not comparable
    with `reason`.
    """

    readings: tuple[Fact, ...]
    agreement: Agreement
    reason: NotComparable | None = None


class FactRow(msgspec.Struct, frozen=True, kw_only=True):
    """One fact of one card over all columns.

    `reference` is what the others are held against; `source` says where it comes from: ``expected`` (the scenario's
    author), or how the reference projection derived it (``report``, ``nested``, ``child``, ``call``, ``rule``).
    """

    card: str
    kind: CardKind
    label: str
    ordinal: int
    requirement: str
    reference: Reading
    cells: dict[Column, Cell]
    source: str = ""


class FindingKind(StrEnum):
    VALUE = "value"
    """A surface or derivation states another value than the reference."""
    EXPECTATION = "expectation"
    """The reference states another value than the scenario's author worked out from the rules."""
    DERIVATION = "derivation"
    """The host's report and the nested records disagree."""
    SURFACES = "surfaces"
    """Two surfaces disagree where no reference can decide."""
    CARD = "card"
    """A card is missing, extra, of another kind, or its own members disagree."""
    RULE = "rule"
    """A source breaks a rule of its own (wire order, bounds, spelling, partition)."""
    UNREADABLE = "unreadable"
    """A surface prints something that cannot be read as the fact."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One disagreement, with the place that shows it.

    `id` is stable: a digest of requirement, observation, surface, card, label, ordinal and kind. `surface` is a
    column's value. `waived_by` is the waiver's id, or None when nobody waived it. `command` shows the place.
    """

    id: str
    kind: FindingKind
    requirement: str
    observation: str
    surface: str
    card: str
    label: str
    ordinal: int
    expected: str
    observed: str
    place: Place | None
    command: str
    waived_by: str | None = None


class Authorization(StrEnum):
    """Whether somebody else's act makes the bundle count; every refusal is a reason of its own (evidence.md)."""

    AUTHORIZED = "authorized"
    UNAUTHORIZED = "unauthorized"
    """No envelope names this bundle: recorded, not authorized."""
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    REVOKED = "revoked"
    UNKNOWN_KEY = "unknown_key"
    WRONG_ROLE = "wrong_role"
    SELF_AUTHORIZED = "self_authorized"
    WRONG_SCOPE = "wrong_scope"
    """Signed for another product digest, class or release."""
    BELOW_THRESHOLD = "below_threshold"


class SurfaceCount(msgspec.Struct, frozen=True, kw_only=True):
    agree: int
    disagree: int
    not_comparable: int


class CardRow(msgspec.Struct, frozen=True, kw_only=True):
    """One card over all columns: which columns show it, with title, outcome, changes and omissions there."""

    path: str
    kind: CardKind
    title: str
    shown: dict[Column, str]
    """Column to ``shown``, ``missing``, ``not_captured`` or ``cut``."""
    outcomes: dict[Column, str]
    changes: dict[Column, str]
    omissions: dict[Column, tuple[Omission, ...]]


class CaptureRow(msgspec.Struct, frozen=True, kw_only=True):
    column: Column
    file: str
    version: str
    complete: bool
    note: str
    size: int


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle, judged. `gherkin` is the scenario's text, `gherkin_lines` which line of the feature file each of its
    lines is, 0 for none; `surfaces` counts comparisons with the reference.

    `cases` counts, by rule id, the things of this run that were held against a structural rule: frames, cards, rows,
    files. A rule without a case here was not observed in this run, whatever else the run shows.
    """

    id: str
    bundle: str
    classes: tuple[str, ...]
    release: str
    driver: str
    scenario: str
    gherkin: str
    authorization: Authorization
    authorization_detail: str
    stale: bool
    recorded_at: str
    recorder: Recorder
    products: tuple[Product, ...]
    manifest_sha256: str
    captures: tuple[CaptureRow, ...]
    cards: tuple[CardRow, ...]
    rows: tuple[FactRow, ...]
    surfaces: dict[Column, SurfaceCount]
    unavailable: dict[Column, NotComparable]
    findings: tuple[str, ...]
    """Ids of this observation's findings."""
    cases: dict[str, int] = {}
    gherkin_lines: tuple[int, ...] = ()


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """Something required that is not there: `class` in the JSON form."""

    class_: str = msgspec.field(name="class")
    reason: str = ""


class RequirementStatus(StrEnum):
    MET = "met"
    DISAGREES = "disagrees"
    NOT_OBSERVED = "not_observed"
    NOT_REACHABLE = "not_reachable"


class RequirementRow(msgspec.Struct, frozen=True, kw_only=True):
    """One normative sentence: `text` is the rule in our words; counts are of comparisons over all observations.

    `findings`: ids of the findings that speak against it, its own and those of other rules that say the same.
    """

    id: str
    section: str
    text: str
    scenarios: tuple[str, ...]
    observations: tuple[str, ...]
    status: RequirementStatus
    reason: str
    agree: int
    disagree: int
    not_comparable: int
    findings: tuple[str, ...] = ()


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle that does not verify: where, and what is wrong."""

    bundle: str
    reasons: tuple[str, ...]


class UnreadAuthorization(msgspec.Struct, frozen=True, kw_only=True):
    """A file among the authorizations that nobody can read as one, and why. It counts for nothing, as an unknown key's
    signature does; it cannot make a bundle look damaged, because no bundle's bytes depend on it."""

    name: str
    reason: str


class Verdict(StrEnum):
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INSUFFICIENT = "insufficient"
    TAMPERED = "tampered"


class Release(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: str
    sha256: tuple[str, ...]


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """The whole judgement of one release: everything that any report format says. `at` is RFC 3339 UTC."""

    verdict: Verdict
    release: Release
    at: str
    harness: str
    reasons: tuple[str, ...]
    observations: tuple[Observation, ...]
    findings: tuple[Finding, ...]
    missing: tuple[Missing, ...]
    damaged: tuple[Damage, ...]
    requirements: tuple[RequirementRow, ...]
    unread: tuple[UnreadAuthorization, ...] = ()
    selfcheck: SelfcheckState = SelfcheckState()
    stability: StabilityState = StabilityState()
