"""A finding by its id: in the run that the last report names, or else by judging the release anew."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.acceptance import accept, load_scenarios, releases
from harness.bundle import Bundle, read_bundle
from harness.cli import output, places
from harness.examine import examine
from harness.model.errors import HarnessError, UsageError
from harness.model.verdict import Finding


class _Reported(msgspec.Struct):
    id: str
    observation: str


class _Report(msgspec.Struct):
    """What is looked for in a verdict.json."""

    findings: tuple[_Reported, ...]


def finding_of(id_: str, *, evidence: Path, features: Path, release: str) -> tuple[Finding, Bundle]:
    """The finding and the bundle that shows it. Raises UsageError when this evidence has no such finding."""
    return _reported(id_, evidence, features, release) or _searched(id_, evidence, features, release)


def _reported(id_: str, evidence: Path, features: Path, release: str) -> tuple[Finding, Bundle] | None:
    """The finding, when it is in the run in which the last report saw it: one bundle is read instead of all.

    The report is a hint and no more: what is shown is derived from the bundle, and None says that it did not help.
    """
    try:
        report = msgspec.json.decode((places.default_folder("reports") / "verdict.json").read_bytes(), type=_Report)
        name = next(item.observation for item in report.findings if item.id == id_)
        bundle = read_bundle(evidence / (release or releases(evidence)[-1]) / Path(name).name)
        scenarios = {scenario.id: scenario for scenario in load_scenarios(features)}
        findings = examine(bundle, scenarios.get(bundle.manifest.scenario)).compared.findings
    except (OSError, msgspec.MsgspecError, RecursionError, StopIteration, HarnessError):
        return None
    return next(((item, bundle) for item in findings if item.id == id_), None)


def _searched(id_: str, evidence: Path, features: Path, release: str) -> tuple[Finding, Bundle]:
    """The finding in the release named, or in the newest one that has it: a report may be of an older release."""
    seen = 0
    with output.progress("looking through all runs", None) as bar:

        def step(_name: str) -> None:
            if bar is not None:
                bar.advance(bar.task_ids[0])

        for name in (release,) if release else reversed(releases(evidence)):
            accepted = accept(
                evidence=evidence, features=features, release=name, at=places.parse_time(None), progress=step
            )
            findings = accepted.acceptance.findings
            found = next((item for item in findings if item.id == id_), None)
            if found is not None:
                return found, accepted.bundles[found.observation]
            seen += len(findings)
    raise UsageError(
        f"there is no finding {id_!r} in this evidence",
        hint=f"`harness accept --verbose` lists the causes of the {seen} there are",
    )
