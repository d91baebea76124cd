"""`harness trends`: one offline page of what changed over all releases in an evidence folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import output, places
from harness.model.errors import EvidenceError
from harness.model.history import History

PAGE = "trends.html"
SCHEMA = 1


def trends_command(
    evidence: Annotated[Path | None, typer.Option(help="Evidence folder. Default: the bundled evidence.")] = None,
    features: Annotated[Path | None, typer.Option(help="Folder of scenarios. Default: the bundled features.")] = None,
    reports: Annotated[Path | None, typer.Option(help="Where trends.html is written. Default: reports/")] = None,
    at: Annotated[str | None, typer.Option(help="Judge as of this time (RFC 3339). Default: now.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the whole history as one JSON object, too.")] = False,
) -> int:
    """Write a page of what appeared, vanished and changed display over all releases with evidence.

    Each release is judged and held against the one before it, as `harness diff` does for two. Exit code 0 whatever
    changed, 2 when no release has evidence, 4 when some is damaged, which is left out and said.

    Example: harness trends --reports /tmp/report
    """
    from harness.acceptance import releases  # noqa: PLC0415 # help and errors of usage do not need it
    from harness.cli.diff import judged  # noqa: PLC0415
    from harness.compare.history import history  # noqa: PLC0415
    from harness.report.trends import trends_html  # noqa: PLC0415

    folder, scenarios = evidence or places.default_folder("evidence"), features or places.default_folder("features")
    moment = places.parse_time(at)
    made = history([judged(folder, scenarios, release, moment) for release in releases(folder)])
    path = (reports or places.default_folder("reports")) / PAGE
    places.write_file(path, trends_html(made))
    if json_:
        output.emit({"schema": SCHEMA, "history": made})
    else:
        _print(made, path)
    return EvidenceError.exit_code if any(item.damaged for item in made.releases) else 0


def _print(made: History, path: Path) -> None:
    for item in made.releases:
        output.note(
            f"{item.version}: {item.verdict.value}, {item.observations} original runs, {item.findings} findings"
            + (f", {len(item.damaged)} damaged and left out" if item.damaged else "")
        )
    for step in made.steps:
        kinds = ", ".join(f"{count} {kind}" for kind, count in step.kinds.items()) or "none"
        output.say(
            f"{step.before} to {step.after}: {step.changed} facts changed ({kinds}); "
            f"{len(step.appeared)} findings appeared, {len(step.resolved)} resolved"
        )
    if not made.steps:
        output.say("There is one release only, and nothing to hold it against.")
    output.note(f"Next: open {path} in a browser")
