"""The main job: verify, project, observe, compare and judge one release over one evidence folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from harness import __version__, selfcheck_file, stability_file
from harness.authorize.decide import Decision, decide
from harness.bundle import Bundle, read_bundle
from harness.compare import Compared
from harness.compare.rules import SAVED_EQUALS_LIVE, SAVED_EQUALS_LIVE_TEXT
from harness.compare.waivers import apply_waivers
from harness.evidence_folder import Trust, read_placed, read_trust
from harness.examine_all import Looked, examine_all
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
from harness.proofs import Cited
from harness.records import rules as record_rules
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


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle that was verified: where it lies, and the manifest that it is bound to."""

    folder: Path
    manifest: Manifest
    sha256: str
    """Of the manifest, in hex."""


class Bundles(Mapping[str, Bundle]):
    """Verified bundles by observation id, each read when it is first asked for: nearly none is needed after a verdict.

    Raises EvidenceError for a bundle that is no longer the one that was verified.
    """

    def __init__(self, verified: Mapping[str, Verified]) -> None:
        self._verified = verified
        self._read: dict[str, Bundle] = {}

    def __getitem__(self, observation: str) -> Bundle:
        known = self._verified[observation]
        if observation not in self._read:
            bundle = read_bundle(known.folder)
            if bundle.manifest_sha256 != known.sha256:
                raise EvidenceError(
                    "is not the bundle that was judged: another took its place", where=str(known.folder)
                )
            self._read[observation] = bundle
        return self._read[observation]

    def __iter__(self) -> Iterator[str]:
        return iter(self._verified)

    def __len__(self) -> int:
        return len(self._verified)


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement together with the bundles it was made of and what is cited of them, by observation id."""

    acceptance: Acceptance
    verified: dict[str, Verified]
    trust: Trust
    evidence: Path
    cited: dict[str, Cited]

    @property
    def bundles(self) -> Bundles:
        """The bundles themselves."""
        return Bundles(self.verified)


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
        found = read_placed(folder)
        if isinstance(found, Damage):
            damaged.append(found)
        else:
            bundles.append(found)
    return bundles, damaged


def is_stale(manifest: Manifest, scenario: Scenario | None) -> bool:
    """Whether the bundle's scenario has changed since the recording, or is gone. Imports have none to be stale by."""
    return bool(manifest.scenario) and (scenario is None or scenario.stimulus_sha256 != manifest.stimulus_sha256)


def observation_of(looked: Looked, compared: Compared, scenario: Scenario | None, decision: Decision) -> Observation:
    """The judged value of one bundle."""
    manifest = looked.manifest
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
        manifest_sha256=looked.manifest_sha256,
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
    folders = bundle_folders(evidence, release)
    trust = read_trust(evidence)
    observations: list[Observation] = []
    findings: list[Finding] = []
    damaged: list[Damage] = []
    verified: dict[str, Verified] = {}
    cited: dict[str, Cited] = {}
    runs: dict[str, Sequence[str]] = {}
    for folder, looked in zip(folders, examine_all(folders, scenarios, jobs=jobs), strict=True):
        progress(folder.name)
        if isinstance(looked, Damage):
            damaged.append(looked)
            continue
        manifest = looked.manifest
        verified[manifest.observation] = Verified(folder=folder, manifest=manifest, sha256=looked.manifest_sha256)
        if isinstance(looked.compared, str):
            damaged.append(Damage(bundle=manifest.observation, reasons=(looked.compared,)))
            continue
        scenario = scenarios.get(manifest.scenario)
        decision = decide(manifest, looked.manifest_sha256, trust.claims, trust.policy, product=PRODUCT_NAME, at=at)
        observations.append(observation_of(looked, looked.compared, scenario, decision))
        findings.extend(looked.compared.findings)
        cited[manifest.observation] = looked.cited
        runs[manifest.observation] = served(scenario.tags).runs if scenario else ()
    waived = apply_waivers(findings, trust.waivers, release=release, at=at)
    digests = sorted(
        {
            product.sha256
            for bundle in verified.values()
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
            manifests={name: bundle.sha256 for name, bundle in verified.items()},
            features=features,
        ),
        stability=stability_file.read_state(
            evidence,
            release=release,
            manifests={name: bundle.sha256 for name, bundle in verified.items() if bundle.manifest.scenario},
            varying={
                scenario.observation(bundle.manifest.driver): scenario.varying
                for bundle in verified.values()
                if (scenario := scenarios.get(bundle.manifest.scenario)) is not None
            },
        ),
        others=OTHER_RULES,
        faults=waived.faults,
        unread=trust.unread,
        unrecorded=_unrecorded(scenarios.values(), release, folders),
    )
    return Accepted(
        acceptance=acceptance,
        verified=verified,
        trust=trust,
        evidence=evidence,
        cited=cited,
    )
