"""`harness verify` and `harness compare`: looking at bundles without judging a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from harness.cli import output, places
from harness.model.errors import EvidenceError, HarnessError
from harness.model.facts import Column
from harness.model.verdict import FactRow


def _folders(arguments: list[Path] | None) -> list[Path]:
    """The bundle folders named, or found one or two levels below the folders named, or all bundled evidence."""
    found: list[Path] = []
    for path in arguments or [places.default_folder("evidence")]:
        if (path / "manifest.json").exists() or not path.is_dir():
            found.append(path)
            continue
        below = sorted(item for item in path.iterdir() if item.is_dir() and not item.name.startswith("."))
        if path.name[:1].isdecimal():
            found.extend(below)
        else:
            found.extend(
                bundle
                for release in below
                if release.name[:1].isdecimal()
                for bundle in sorted(release.iterdir())
                if not bundle.name.startswith(".")
            )
    return found


def verify_command(
    folders: Annotated[list[Path] | None, typer.Argument(help="Bundles or evidence folders.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object a bundle.")] = False,
) -> int:
    """Check integrity, authorization and staleness of bundles; touches nothing.

    Example: harness verify evidence/0.104.0
    """
    from harness.acceptance import load_scenarios  # noqa: PLC0415
    from harness.bundle import read_bundle  # noqa: PLC0415

    scenarios = {scenario.id: scenario for scenario in load_scenarios(places.default_folder("features"))}
    worst = 0
    rows: list[list[str | Text]] = []
    results: list[dict[str, object]] = []
    for folder in _folders(folders):
        try:
            bundle = read_bundle(folder)
        except EvidenceError as error:
            status, reasons = "damaged", error.reasons
            worst = EvidenceError.exit_code
        else:
            scenario = scenarios.get(bundle.manifest.scenario)
            stale = bool(bundle.manifest.scenario) and (
                scenario is None or scenario.stimulus_sha256 != bundle.manifest.stimulus_sha256
            )
            status = "stale" if stale else "unauthorized"
            reasons = ("its scenario changed after the recording",) if stale else ("recorded, not authorized",)
            worst = worst or 3
        results.append({"bundle": str(folder), "status": status, "reasons": reasons})
        rows.append([folder.name, status, "; ".join(reasons)])
    if not rows:
        raise HarnessError("there is no bundle to verify", hint="name a bundle or an evidence folder")
    console = output.console()
    if json_:
        for result in results:
            console.file.write(msgspec.json.encode(result).decode() + "\n")
    else:
        console.print(output.table("", ["bundle", "status", "reasons"], rows))
    return worst


def _cell(row: FactRow, column: Column) -> Text:
    cell = row.cells[column]
    mark, style = output.AGREEMENT_MARKS[cell.agreement]
    words = " | ".join(dict.fromkeys(str(fact.value) for fact in cell.readings)) or str(cell.reason or "")
    return Text(f"{mark} {output.plain(words)}", style=style)


def compare_command(
    bundle: Annotated[Path, typer.Argument(help="One bundle folder.")],
    json_: Annotated[bool, typer.Option("--json", help="Rows and findings as JSON.")] = False,
) -> int:
    """Show every fact of one bundle side by side. Exit code 1 when anything disagrees.

    Example: harness compare evidence/0.104.0/handled-failure.local-agent
    """
    from harness.acceptance import load_scenarios  # noqa: PLC0415
    from harness.bundle import read_bundle  # noqa: PLC0415
    from harness.examine import examine  # noqa: PLC0415

    verified = read_bundle(bundle)
    scenarios = {scenario.id: scenario for scenario in load_scenarios(places.default_folder("features"))}
    compared = examine(verified, scenarios.get(verified.manifest.scenario)).compared
    console = output.console()
    if json_:
        console.file.write(msgspec.json.encode({"rows": compared.rows, "findings": compared.findings}).decode() + "\n")
        return 1 if compared.findings else 0
    columns = [column for column in Column if column not in compared.unavailable]
    for card in compared.cards:
        rows: list[list[str | Text]] = [
            [row.label + (f" [{row.ordinal + 1}]" if row.ordinal else ""), *(_cell(row, column) for column in columns)]
            for row in compared.rows
            if row.card == card.path
        ]
        title = f"{card.path}: {card.kind.value} {output.plain(card.title)}"
        console.print(output.table(title, ["fact", *(column.value for column in columns)], rows))
        console.print()
    for column, reason in compared.unavailable.items():
        output.say(f"{column.value}: not comparable, {reason.detail}")
    output.say(f"{len(compared.findings)} findings")
    for found in compared.findings:
        console.print(
            Text(
                output.plain(
                    f"  {found.id} {found.requirement}: {found.label or found.card} on {found.surface}: "
                    f"expected {found.expected}, observed {found.observed}"
                )
            )
        )
    return 1 if compared.findings else 0
