"""`verdict.json`: the machine-readable judgement, exactly as cli.md promises it and with some more members.

Values are exact, never made visible. Arrays whose order has no meaning are sorted, so that the same judgement gives
the same bytes. The shape is stated twice on purpose, here as types and in ``verdict.schema.json`` for other people's
programs; a test holds them against each other.
"""

from __future__ import annotations

from importlib import resources

import msgspec

from harness.model.facts import SURFACES, Place
from harness.model.selfcheck import SelfcheckState, Survivor
from harness.model.stability import StabilityState, Variation
from harness.model.verdict import Finding, Observation, RequirementRow
from harness.report.selfcheck import alone
from harness.report.stability import runs_again
from harness.report.views import EXIT_CODES, Overview, counts

SCHEMA = 1


class ReleaseJson(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: str
    sha256: tuple[str, ...]


class CountJson(msgspec.Struct, frozen=True, kw_only=True):
    agree: int
    disagree: int
    not_comparable: int


class UnavailableJson(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    detail: str


class ObservationJson(msgspec.Struct, frozen=True, kw_only=True):
    """One observation; beyond the promise: bundle, scenario, when, digest, why not authorized, columns without cards,
    ids of its findings."""

    id: str
    classes: tuple[str, ...]
    release: str
    driver: str
    authorization: str
    authorization_detail: str
    stale: bool
    surfaces: dict[str, CountJson]
    unavailable: dict[str, UnavailableJson]
    bundle: str
    scenario: str
    recorded_at: str
    manifest_sha256: str
    findings: tuple[str, ...]


class PlaceJson(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look: `line`, `offset` and `pointer` in line-oriented members, `marker`, `row` and `columns` on screens;
    null where a member does not apply."""

    file: str
    line: int | None
    offset: int | None
    pointer: str | None
    marker: str | None
    row: int | None
    columns: tuple[int, int] | None


class FindingJson(msgspec.Struct, frozen=True, kw_only=True):
    """One finding; `waived_by` null: nobody waived it; `place` null: there is no place, the thing is missing."""

    id: str
    requirement: str
    observation: str
    surface: str
    card: str
    label: str
    ordinal: int
    expected: str
    observed: str
    kind: str
    waived_by: str | None
    place: PlaceJson | None
    command: str


class MissingJson(msgspec.Struct, frozen=True, kw_only=True):
    class_: str = msgspec.field(name="class")
    reason: str


class DamageJson(msgspec.Struct, frozen=True, kw_only=True):
    bundle: str
    reasons: tuple[str, ...]


class UnreadJson(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    reason: str


class RequirementJson(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    section: str
    text: str
    scenarios: tuple[str, ...]
    observations: tuple[str, ...]
    status: str
    reason: str
    agree: int
    disagree: int
    not_comparable: int


class SelfcheckClassJson(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the kill matrix; `equivalent` counts the mutants that nothing should notice."""

    id: str
    text: str
    requirements: tuple[str, ...]
    mutants: int
    caught: int
    equivalent: int
    survivors: int


class SelfcheckJson(msgspec.Struct, frozen=True, kw_only=True):
    """The harness's own proof. `fault` says why it proves nothing here, "" when it does; without a result that could
    be read all numbers are 0 and `code` is ""."""

    fault: str
    code: str
    mutants: int
    caught: int
    equivalent: int
    survivors: tuple[Survivor, ...]
    classes: tuple[SelfcheckClassJson, ...]


class VariationJson(Variation, frozen=True, kw_only=True):
    """One thing that did not come out alike, and whether its scenario declares that."""

    declared: bool


class StabilityJson(msgspec.Struct, frozen=True, kw_only=True):
    """The same runs, recorded again. `fault` says why they are not known to come out alike, "" when they are."""

    fault: str
    recordings: int
    runs: int
    compared: int
    not_compared: int
    variations: tuple[VariationJson, ...]


class VerdictJson(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file. `reasons` are in the judge's order, everything else is sorted."""

    schema: int
    verdict: str
    exit_code: int
    release: ReleaseJson
    at: str
    harness: str
    reasons: tuple[str, ...]
    observations: tuple[ObservationJson, ...]
    findings: tuple[FindingJson, ...]
    missing: tuple[MissingJson, ...]
    damaged: tuple[DamageJson, ...]
    unread_authorizations: tuple[UnreadJson, ...]
    requirements: tuple[RequirementJson, ...]
    selfcheck: SelfcheckJson
    stability: StabilityJson


def verdict_json(overview: Overview) -> bytes:
    """The file's bytes: UTF-8, two spaces of indentation, one newline at the end."""
    acceptance = overview.acceptance
    value = VerdictJson(
        schema=SCHEMA,
        verdict=acceptance.verdict.value,
        exit_code=EXIT_CODES[acceptance.verdict],
        release=ReleaseJson(
            name=acceptance.release.name,
            version=acceptance.release.version,
            sha256=tuple(sorted(acceptance.release.sha256)),
        ),
        at=acceptance.at,
        harness=acceptance.harness,
        reasons=acceptance.reasons,
        observations=tuple(_observation(item) for item in overview.observations),
        findings=tuple(_finding(item) for item in overview.findings),
        missing=tuple(MissingJson(class_=item.class_, reason=item.reason) for item in overview.missing),
        damaged=tuple(DamageJson(bundle=item.bundle, reasons=item.reasons) for item in overview.damaged),
        unread_authorizations=tuple(UnreadJson(name=item.name, reason=item.reason) for item in overview.unread),
        requirements=tuple(_requirement(row) for row in sorted(acceptance.requirements, key=lambda row: row.id)),
        selfcheck=_selfcheck(acceptance.selfcheck),
        stability=_stability(acceptance.stability),
    )
    return msgspec.json.format(encoded(value), indent=2) + b"\n"


def schema() -> bytes:
    """The JSON Schema (draft 2020-12) of the file."""
    return resources.files("harness.report").joinpath("verdict.schema.json").read_bytes()


def encoded(value: object) -> bytes:
    """Compact JSON. Text that is not Unicode scalar values (a lone surrogate) is written with U+FFFD in its place,
    for a report about bad evidence must not fail on it."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_scalar(msgspec.to_builtins(value)))


def _scalar(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_scalar(key): _scalar(member) for key, member in value.items()}
        case list() | tuple():
            return [_scalar(member) for member in value]
        case _:
            return value


def _selfcheck(state: SelfcheckState) -> SelfcheckJson:
    result = state.result
    return SelfcheckJson(
        fault=state.fault,
        code=result.code if result else "",
        mutants=result.mutants if result else 0,
        caught=result.caught if result else 0,
        equivalent=result.equivalent if result else 0,
        survivors=result.survivors if result else (),
        classes=tuple(
            SelfcheckClassJson(
                id=row.id,
                text=row.text,
                requirements=row.requirements,
                mutants=row.mutants,
                caught=row.caught,
                equivalent=alone(row),
                survivors=row.survivors,
            )
            for row in (result.classes if result else ())
        ),
    )


def _stability(state: StabilityState) -> StabilityJson:
    entry = state.repeated
    return StabilityJson(
        fault=state.fault,
        recordings=entry.recordings if entry else 0,
        runs=runs_again(entry) if entry else 0,
        compared=entry.compared if entry else 0,
        not_compared=entry.not_compared if entry else 0,
        variations=tuple(
            VariationJson(**msgspec.structs.asdict(item), declared=item not in state.undeclared)
            for item in (entry.variations if entry else ())
        ),
    )


def _observation(item: Observation) -> ObservationJson:
    return ObservationJson(
        id=item.id,
        classes=tuple(sorted(item.classes)),
        release=item.release,
        driver=item.driver,
        authorization=item.authorization.value,
        authorization_detail=item.authorization_detail,
        stale=item.stale,
        surfaces={
            column.value: CountJson(agree=count.agree, disagree=count.disagree, not_comparable=count.not_comparable)
            for column in SURFACES
            for count in (counts(item, column),)
        },
        unavailable={
            column.value: UnavailableJson(reason=reason.reason.value, detail=reason.detail)
            for column, reason in sorted(item.unavailable.items())
        },
        bundle=item.bundle,
        scenario=item.scenario,
        recorded_at=item.recorded_at,
        manifest_sha256=item.manifest_sha256,
        findings=tuple(sorted(item.findings)),
    )


def _finding(item: Finding) -> FindingJson:
    return FindingJson(
        id=item.id,
        requirement=item.requirement,
        observation=item.observation,
        surface=item.surface,
        card=item.card,
        label=item.label,
        ordinal=item.ordinal,
        expected=item.expected,
        observed=item.observed,
        kind=item.kind.value,
        waived_by=item.waived_by,
        place=None if item.place is None else _place(item.place),
        command=item.command,
    )


def _place(place: Place) -> PlaceJson:
    return PlaceJson(
        file=place.file,
        line=place.line,
        offset=place.offset,
        pointer=place.pointer,
        marker=place.marker,
        row=place.row,
        columns=place.columns,
    )


def _requirement(row: RequirementRow) -> RequirementJson:
    return RequirementJson(
        id=row.id,
        section=row.section,
        text=row.text,
        scenarios=tuple(sorted(row.scenarios)),
        observations=tuple(sorted(row.observations)),
        status=row.status.value,
        reason=row.reason,
        agree=row.agree,
        disagree=row.disagree,
        not_comparable=row.not_comparable,
    )
