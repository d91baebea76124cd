"""`harness import`: bundles of captures that somebody else made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import output, places
from harness.model.errors import UsageError


def import_command(
    captures: Annotated[Path, typer.Argument(help="A folder of captures, or a folder of such folders.")],
    product_version: Annotated[str, typer.Option(help="Release that the captures are of.")],
    product_sha256: Annotated[
        str, typer.Option(help="sha256 of its binary; without it no run can be authorized.")
    ] = "",
    recorded_by: Annotated[
        str, typer.Option(help="Older release that drove the runs, when another reopened them.")
    ] = "",
    recorded_by_sha256: Annotated[str, typer.Option(help="sha256 of the older release's binary.")] = "",
    release: Annotated[str, typer.Option(help="Release under test. Default: --product-version.")] = "",
    driver: Annotated[str, typer.Option(help="Surface that drove, where no live capture tells.")] = "",
    out: Annotated[Path | None, typer.Option(help="Evidence folder. Default: evidence/")] = None,
    replace: Annotated[bool, typer.Option(help="Replace imports that are already there.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object: imported, refused, notes.")] = False,
) -> int:
    """Make bundles of captures that somebody else made, and say in each that its recorder was foreign.

    A folder of captures holds local-agent.live.jsonl, local-agent.reopen.jsonl, mission-control.live.cast,
    mission-control.reopen.cast, session.jsonl and children/*.jsonl, as many of them as there are. Facts are judged by
    the saved session alone, because no scenario says what was to be expected.

    Exit code 2 or 4 when a folder gave no bundle; the others are imported.

    Example: harness import ../shared/samples/0.104.0 --product-version 0.104.0 --out /tmp/evidence
    """
    from harness.importing import Provenance, import_captures, product  # noqa: PLC0415 # help does not need it

    if recorded_by_sha256 and not recorded_by:
        raise UsageError("--recorded-by-sha256 stands without --recorded-by")
    provenance = Provenance(
        product=product(product_version, product_sha256),
        recorded_by=product(recorded_by, recorded_by_sha256) if recorded_by else None,
        release=release,
        driver=driver,
    )
    with output.progress("importing", None) as bar:

        def step(name: str) -> None:
            if bar is not None:
                bar.update(bar.task_ids[0], description=f"importing {output.plain(name)}", advance=1)

        outcome = import_captures(
            captures, provenance, out=out or places.default_folder("evidence"), replace=replace, progress=step
        )
    if json_:
        said = {
            "imported": [
                {
                    "folder": item.folder,
                    "bundle": item.bundle,
                    "release": item.manifest.release,
                    "observation": item.manifest.observation,
                    "driver": item.manifest.driver,
                    "captures": [capture.column for capture in item.manifest.captures],
                    "notes": item.notes,
                }
                for item in outcome.imported
            ],
            "refused": outcome.refused,
            "notes": outcome.notes,
        }
        output.emit(said)
        return outcome.exit_code
    for item in outcome.imported:
        read = ", ".join(capture.column.value for capture in item.manifest.captures)
        output.note(f"imported {item.bundle} ({read})")
        for note in item.notes:
            output.note(f"  {note}")
    for line in outcome.notes:
        output.note(f"note: {line}")
    for item_ in outcome.refused:
        output.say(f"no bundle: {item_.folder}: {item_.reason}")
    whole = len(outcome.imported) + len(outcome.refused)
    output.say(f"{len(outcome.imported)} of {whole} folders imported")
    return outcome.exit_code
