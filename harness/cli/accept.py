"""`harness accept`: the main job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli import output, places
from harness.cli.trust import missing_policy, warn_of_missing_policy
from harness.model.errors import UsageError
from harness.model.facts import SURFACES, Column
from harness.model.verdict import Acceptance, Observation, Verdict

if TYPE_CHECKING:
    from rich.console import Console

EXIT_CODES = {Verdict.ACCEPTED: 0, Verdict.REJECTED: 1, Verdict.INSUFFICIENT: 3, Verdict.TAMPERED: 4}
_SURFACE_WORDS = ("local agent live", "reopened", "Mission Control live", "reopened")
"""In the order of `SURFACES`."""


def _tally(observations: Sequence[Observation], column: Column) -> Text:
    """Comparisons of one surface over some runs: agree, disagree, not comparable."""
    counts = [observation.surfaces[column] for observation in observations]
    agree, differ = sum(item.agree for item in counts), sum(item.disagree for item in counts)
    if not agree + differ:
        return Text("nothing", style="dim")
    rest = sum(item.not_comparable for item in counts)
    return Text.assemble(f"{agree}/", (str(differ), "bold red" if differ else ""), f"/{rest}")


def _classes(acceptance: Acceptance) -> None:
    """One line a class: how many original runs, and what was compared on each surface."""
    from harness.spec.classes import CLASSES  # noqa: PLC0415

    missing = {item.class_ for item in acceptance.missing}
    rows: list[list[str | Text]] = []
    for entry in CLASSES:
        runs = [observation for observation in acceptance.observations if entry.id in observation.classes]
        state = Text("missing", style="yellow") if entry.id in missing else Text("covered", style="green")
        rows.append([entry.id, state, str(len(runs)), *(_tally(runs, column) for column in SURFACES)])
    output.show_table("Facts that agree/disagree/cannot be compared", ["class", "", "runs", *_SURFACE_WORDS], rows)


def print_verdict(
    acceptance: Acceptance,
    reports: Path | None,
    evidence: Path | None,
    console: Console,
    *,
    missing_policy: Path | None = None,
) -> None:
    """The first screen; before it everything else when verbose, and the verdict alone when quiet.

    `missing_policy`: where a trust policy should lie, when there are signatures that count for nothing without.
    """
    from harness.cli.first_screen import PIPE, UNLIMITED, Screen, first_screen  # noqa: PLC0415

    release = acceptance.release
    if output.loudness() is output.Loudness.QUIET:
        output.say(f"{release.name} {release.version}: {acceptance.verdict.value}")
        if missing_policy is not None:
            warn_of_missing_policy(missing_policy)
        return
    screen = Screen(width=console.width, height=console.height) if console.is_terminal else PIPE
    if output.loudness() is output.Loudness.VERBOSE:
        _classes(acceptance)
        gaps = [[item.class_ or "evidence", item.reason] for item in acceptance.missing]
        if gaps:
            output.say("")
            output.show_table("Missing", ["class", "why"], gaps)
        screen = Screen(width=console.width if console.is_terminal else UNLIMITED, height=UNLIMITED)
        output.say("")
    for line in first_screen(acceptance, screen, reports=reports, evidence=evidence, missing_policy=missing_policy):
        console.print(line, soft_wrap=True)


def _check_targets(reports: Path) -> None:
    """Raises UsageError when a report or the step summary could not be written, before anything is judged."""
    for path in reports.iterdir() if reports.is_dir() else ():
        if path.is_dir() and path.suffix in (".html", ".md", ".json", ".xml"):
            raise UsageError("a report of that name cannot replace a folder", where=str(path), hint="move it away")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary and not (Path(summary).is_file() or Path(summary).parent.is_dir()):
        raise UsageError("the step summary cannot be written there", where=summary, hint="see GITHUB_STEP_SUMMARY")


def accept_command(
    evidence: Annotated[Path | None, typer.Option(help="Evidence folder. Default: the bundled evidence.")] = None,
    features: Annotated[Path | None, typer.Option(help="Folder of scenarios. Default: the bundled features.")] = None,
    release: Annotated[str, typer.Option(help="Release to judge. Default: the newest with evidence.")] = "",
    reports: Annotated[Path | None, typer.Option(help="Where the reports are written. Default: reports/")] = None,
    at: Annotated[str | None, typer.Option(help="Judge as of this time (RFC 3339). Default: now.")] = None,
    attest: Annotated[Path | None, typer.Option(help="Private key: also sign the verdict.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print verdict.json instead of the summary.")] = False,
) -> int:
    """Judge a release over its evidence and write the reports.

    Exit code: 0 accepted, 1 rejected, 3 insufficient evidence, 4 damaged or tampered evidence.

    Example: harness accept --release 0.104.0 --reports /tmp/report
    """
    from harness import workers  # noqa: PLC0415

    workers.prepare()  # they import while this process does

    from harness.acceptance import RULE_TEXTS, accept  # noqa: PLC0415 # help and errors of usage do not need it
    from harness.collector import uncollected  # noqa: PLC0415
    from harness.proofs import Proofs  # noqa: PLC0415
    from harness.report import github_step_summary, render_all  # noqa: PLC0415

    moment = places.parse_time(at)
    scenarios = features or places.default_folder("features")
    target = reports or places.default_folder("reports")
    _check_targets(target)
    called = places.in_reports(evidence)
    with uncollected(), output.progress("judging", None) as bar:

        def step(name: str) -> None:
            if bar is not None:
                bar.update(bar.task_ids[0], description=f"judging {output.plain(name)}", advance=1)

        accepted = accept(
            evidence=evidence or places.default_folder("evidence"),
            features=scenarios,
            release=release,
            at=moment,
            progress=step,
        )
        proofs = Proofs(accepted.bundles, accepted.cited)
        files = render_all(
            accepted.acceptance,
            excerpts=proofs.excerpt,
            pictures=proofs.picture,
            timelines=proofs.timeline,
            rules=RULE_TEXTS,
            evidence=called,
        )
    if attest is not None:
        from harness.cli.attest import attest as attested  # noqa: PLC0415

        files |= attested(accepted, files, key=attest, features=scenarios)
    for name, content in files.items():
        places.write_file(target / name, content)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(github_step_summary(accepted.acceptance, rules=RULE_TEXTS, evidence=called))
    console = output.console()
    policy = missing_policy(accepted.evidence, accepted.trust)
    if json_:
        console.file.write(files["verdict.json"].decode())
        if policy is not None:
            warn_of_missing_policy(policy)
    else:
        print_verdict(accepted.acceptance, target, evidence, console, missing_policy=policy)
    return EXIT_CODES[accepted.acceptance.verdict]
