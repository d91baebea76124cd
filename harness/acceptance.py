"""The main job: verify, project, observe, compare and judge one release over one evidence folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from harness import __version__, selfcheck_file, stability_file
from harness.authorize.decide import Decision, decide
from harness.bundle import Bundle, read_bundle
from harness.compare import Compared
from harness.compare.rules import SAVED_EQUALS_LIVE, SAVED_EQUALS_LIVE_TEXT
from harness.compare.waivers import apply_waivers
from harness.evidence_folder import Trust, misplaced, read_trust
from harness.examine_all import Screens, Work, examine_all, workers
from harness.judge import OtherRule, judge
from harness.model.errors import EvidenceError, UsageError
from harness.model.manifest import UNKNOWN_SHA256, Manifest
from harness.model.verdict import (
    Acceptance,
    CaptureRow,
    Damage,
    Finding,
    Observation,
    Release,
)
from harness.records import rules as record_rules
from harness.report.inputs import TimelineEvent
from harness.scenario.compile import Scenario, compile_feature
from harness.spec.classes import served
from harness.wire import rules as wire_rules

PRODUCT_NAME = "magi-code"

OTHER_RULES: tuple[OtherRule, ...] = (
    *(OtherRule(id=rule.id, section="Wire rules", text=rule.text) for rule in wire_rules.RULES),
    OtherRule(id=SAVED_EQUALS_LIVE, section="Wire rules", text=SAVED_EQUALS_LIVE_TEXT),
    *(OtherRule(id=id_, section="Saved records", text=text) for id_, text in record_rules.RULES.items()),
)
"""Rules beside the requirement catalogue that findings can name: each has a row of its own in the report."""

RULE_TEXTS = {rule.id: rule.text for rule in OTHER_RULES}
"""Their texts, for reports."""

Progress = Callable[[str], None]


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement together with the bundles it was made of and what happened in them, by observation id."""

    acceptance: Acceptance
    bundles: dict[str, Bundle]
    trust: Trust
    evidence: Path
    timelines: dict[str, tuple[TimelineEvent, ...]]
    screens: dict[str, Screens]
    """Those that findings cite, by observation."""


def load_scenarios(folder: Path) -> tuple[Scenario, ...]:
    """All scenarios of the ``.feature`` files in `folder`, in file order.

    Raises UsageError for a folder without features, a file that is not one, or two scenarios of one name.
    """
    files = sorted(folder.glob("*.feature"))
    if not files:
        raise UsageError("there are no .feature files", where=str(folder), hint="name the folder with --features")
    scenarios: list[Scenario] = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"is not UTF-8: {error}", where=str(file)) from error
        scenarios.extend(compile_feature(text, name=file.name))
    names: dict[str, str] = {}
    for scenario in scenarios:
        if scenario.slug in names:
            raise UsageError(f"{scenario.id} and {names[scenario.slug]} name the same observations", where=str(folder))
        names[scenario.slug] = scenario.id
        served(scenario.tags)
    return tuple(scenarios)


def version_key(version: str) -> tuple[tuple[int, str], ...]:
    """Sort key of release versions: numbers by value, anything else by spelling."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in version.split("."))


def releases(evidence: Path) -> tuple[str, ...]:
    """Releases that have a folder with bundles in `evidence`, oldest first.

    Raises UsageError when there is no evidence at all.
    """
    if not evidence.is_dir():
        raise UsageError("there is no such evidence folder", where=str(evidence), hint="name it with --evidence")
    found = [path.name for path in evidence.iterdir() if path.is_dir() and path.name[:1].isdecimal()]
    if not found:
        raise UsageError(
            "no release has evidence here", where=str(evidence), hint="record some: harness record --product VERSION"
        )
    return tuple(sorted(found, key=version_key))


def bundle_folders(evidence: Path, release: str) -> tuple[Path, ...]:
    """Every bundle folder of one release, by name; hidden names are unfinished recordings and are not bundles."""
    folder = evidence / release
    if not folder.is_dir():
        known = ", ".join(releases(evidence))
        raise UsageError(f"there is no evidence of release {release}", where=str(evidence), hint=f"there is {known}")
    return tuple(sorted(path for path in folder.iterdir() if not path.name.startswith(".")))


def read_all(folders: Iterable[Path]) -> tuple[list[Bundle], list[Damage]]:
    """Read every bundle; those that do not verify are returned with all their reasons."""
    bundles: list[Bundle] = []
    damaged: list[Damage] = []
    for folder in folders:
        try:
            bundle = read_bundle(folder)
        except EvidenceError as error:
            damaged.append(Damage(bundle=folder.name, reasons=error.reasons))
            continue
        if reason := misplaced(folder, bundle.manifest):
            damaged.append(Damage(bundle=folder.name, reasons=(reason,)))
        else:
            bundles.append(bundle)
    return bundles, damaged


def is_stale(manifest: Manifest, scenario: Scenario | None) -> bool:
    """Whether the bundle's scenario has changed since the recording, or is gone. Imports have none to be stale by."""
    return bool(manifest.scenario) and (scenario is None or scenario.stimulus_sha256 != manifest.stimulus_sha256)


def observation_of(bundle: Bundle, scenario: Scenario | None, compared: Compared, decision: Decision) -> Observation:
    """The judged value of one bundle."""
    manifest = bundle.manifest
    return Observation(
        id=manifest.observation,
        bundle=f"{manifest.release}/{manifest.observation}",
        classes=manifest.classes,
        release=manifest.release,
        driver=manifest.driver,
        scenario=manifest.scenario,
        gherkin=scenario.gherkin if scenario else "",
        gherkin_lines=scenario.gherkin_lines if scenario else (),
        authorization=decision.status,
        authorization_detail=decision.detail,
        stale=is_stale(manifest, scenario),
        recorded_at=manifest.recorded_at,
        recorder=manifest.recorder,
        products=manifest.products,
        manifest_sha256=bundle.manifest_sha256,
        captures=tuple(
            CaptureRow(
                column=capture.column,
                file=capture.file,
                version=capture.product.version,
                complete=capture.complete,
                note=capture.note,
                size=manifest.files[capture.file].size,
            )
            for capture in manifest.captures
        ),
        cards=compared.cards,
        rows=compared.rows,
        surfaces=compared.surfaces,
        unavailable=compared.unavailable,
        findings=tuple(found.id for found in compared.findings),
        cases=compared.cases,
    )


def _unrecorded(scenarios: Iterable[Scenario], release: str, folders: Iterable[Path]) -> tuple[str, ...]:
    """Observations that the scenarios ask for on this release and that have no folder, whatever is in it."""
    names = {folder.name for folder in folders}
    asked = [
        scenario.observation(driver)
        for scenario in scenarios
        if scenario.recorded_on(release) and not scenario.on_request
        for driver in scenario.drivers
    ]
    return tuple(name for name in asked if name not in names)


def accept(
    *,
    evidence: Path,
    features: Path,
    release: str,
    at: str,
    jobs: int = 0,
    progress: Progress = lambda _: None,
) -> Accepted:
    """Judge `release` (empty: the newest in `evidence`) as of `at` (RFC 3339 UTC), on `jobs` processes (0: one a core).

    Damaged bundles and unreadable captures become reasons of the verdict, never exceptions.
    """
    scenarios = {scenario.id: scenario for scenario in load_scenarios(features)}
    release = release or releases(evidence)[-1]
    trust = read_trust(evidence)
    folders = bundle_folders(evidence, release)
    observations: list[Observation] = []
    findings: list[Finding] = []
    runs: dict[str, Sequence[str]] = {}
    timelines: dict[str, tuple[TimelineEvent, ...]] = {}
    screens: dict[str, Screens] = {}
    with workers(jobs, len(folders)) as pool:
        bundles, damaged = read_all(folders)
        works = [
            Work(
                folder=Path(bundle.folder),
                scenario=scenarios.get(bundle.manifest.scenario),
                weight=sum(member.size for member in bundle.manifest.files.values()),
            )
            for bundle in bundles
        ]
        for bundle, work, looked in zip(bundles, works, examine_all(works, pool), strict=True):
            progress(bundle.manifest.observation)
            if isinstance(looked, str):
                damaged.append(Damage(bundle=bundle.manifest.observation, reasons=(looked,)))
                continue
            compared = looked.compared
            timelines[bundle.manifest.observation] = looked.timeline
            screens[bundle.manifest.observation] = looked.screens
            decision = decide(
                bundle.manifest, bundle.manifest_sha256, trust.claims, trust.policy, product=PRODUCT_NAME, at=at
            )
            observations.append(observation_of(bundle, work.scenario, compared, decision))
            findings.extend(compared.findings)
            runs[bundle.manifest.observation] = served(work.scenario.tags).runs if work.scenario else ()
    waived = apply_waivers(findings, trust.waivers, release=release, at=at)
    digests = sorted(
        {
            product.sha256
            for bundle in bundles
            for product in bundle.manifest.products
            if product.version == bundle.manifest.release and product.sha256 != UNKNOWN_SHA256
        }
    )
    acceptance = judge(
        release=Release(name=PRODUCT_NAME, version=release, sha256=tuple(digests)),
        at=at,
        harness=__version__,
        observations=observations,
        findings=waived.findings,
        damaged=damaged,
        runs_of=runs,
        selfcheck=selfcheck_file.read_state(
            evidence,
            release=release,
            manifests={bundle.manifest.observation: bundle.manifest_sha256 for bundle in bundles},
            features=features,
        ),
        stability=stability_file.read_state(
            evidence,
            release=release,
            manifests={
                bundle.manifest.observation: bundle.manifest_sha256 for bundle in bundles if bundle.manifest.scenario
            },
            varying={
                work.scenario.observation(bundle.manifest.driver): work.scenario.varying
                for bundle, work in zip(bundles, works, strict=True)
                if work.scenario
            },
        ),
        others=OTHER_RULES,
        faults=waived.faults,
        unread=trust.unread,
        unrecorded=_unrecorded(scenarios.values(), release, folders),
    )
    return Accepted(
        acceptance=acceptance,
        bundles={bundle.manifest.observation: bundle for bundle in bundles},
        trust=trust,
        evidence=evidence,
        timelines=timelines,
        screens=screens,
    )
