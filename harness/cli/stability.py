"""`harness stability`: several recordings of the same runs against each other, and the file that a judgement reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from harness.cli import output, places
from harness.model.errors import EvidenceError, UsageError
from harness.model.stability import Repeated


def stability_command(
    again: Annotated[
        list[Path], typer.Argument(metavar="FOLDER", help="Evidence folders with the same runs, recorded again.")
    ],
    evidence: Annotated[Path | None, typer.Option(help="Evidence folder. Default: the bundled evidence.")] = None,
    features: Annotated[Path | None, typer.Option(help="Folder of scenarios. Default: the bundled features.")] = None,
    release: Annotated[str, typer.Option(help="Release. Default: the newest with evidence.")] = "",
    json_: Annotated[bool, typer.Option("--json", help="The whole result as one JSON object.")] = False,
) -> int:
    """Hold recordings of one release against each other, and note which facts vary.

    Writes stability.json into the evidence folder, where `harness accept` looks for it: a fact that varies and that no
    scenario declares as varying keeps a release from being accepted. Exit code 0 when everything came out alike, 3 when
    something varied, 2 when a folder has no such release, 4 when a bundle is damaged.

    Example: harness record --product 0.104.0 --out /tmp/again && harness stability /tmp/again
    """
    from harness.acceptance import releases  # noqa: PLC0415 # help and errors of usage do not need it
    from harness.cli.diff import judged  # noqa: PLC0415
    from harness.compare.stability import repeated  # noqa: PLC0415
    from harness.stability_file import FILE, encode, merged  # noqa: PLC0415

    folder = evidence or places.default_folder("evidence")
    scenarios = features or places.default_folder("features")
    if len({path.resolve() for path in (folder, *again)}) <= len(again):
        raise UsageError("a recording cannot be held against itself", where=str(again[0]))
    for path in again:
        if not path.is_dir():
            raise UsageError(
                "there is no such folder",
                where=str(path),
                hint=f"record the runs once more into one: harness record --product VERSION --out {path}",
            )
    version = release or releases(folder)[-1]
    moment = places.parse_time(None)
    first, *others = [judged(path, scenarios, version, moment) for path in (folder, *again)]
    for path, one in zip((folder, *again), (first, *others), strict=True):
        if one.acceptance.damaged:
            item = one.acceptance.damaged[0]
            raise EvidenceError(item.reasons[0], where=f"{path}/{version}/{item.bundle}")
    bare = [msgspec.structs.replace(one.side, varying={}) for one in (first, *others)]
    entry = repeated(bare[0], bare[1:])
    file = merged(folder, entry)
    if all(len(set(manifests)) == 1 for manifests in entry.manifests.values()):
        raise UsageError("holds no other recording of any run", where=str(again[0]), hint="record the runs once more")
    places.write_file(folder / FILE, encode(file))
    if json_:
        output.emit(msgspec.to_builtins(entry))
    else:
        _print(entry, folder / FILE)
    return 3 if entry.variations else 0


def _print(entry: Repeated, written: Path) -> None:
    runs = sum(len(set(manifests)) > 1 for manifests in entry.manifests.values())
    output.say(
        f"{entry.recordings} recordings of {entry.release}: {runs} of {len(entry.manifests)} runs were repeated, "
        f"{entry.compared:,} facts on surfaces compared, {len(entry.variations)} things varied"
    )
    if entry.variations and output.loudness() is not output.Loudness.QUIET:
        rows = [
            [item.what, item.observation, item.surface, item.card, item.label or item.detail, " → ".join(item.values)]
            for item in entry.variations
        ]
        output.show_table("What varied", ["what", "observation", "surface", "card", "fact", "recordings"], rows)
    output.say(f"written to {written}")
    output.note("harness accept reads it there")
