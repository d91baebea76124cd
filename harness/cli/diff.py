"""`harness diff`: what changed between two releases, as tables for people and one JSON object for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from harness.cli import output, places
from harness.model.errors import EvidenceError, UsageError
from harness.model.verdict import Finding

if TYPE_CHECKING:
    from harness.compare.difference import Difference, FactChange
    from harness.compare.history import Judged

SCHEMA = 1


def judged(evidence: Path, features: Path, release: str, at: str) -> Judged:
    """One release, judged as of `at` (RFC 3339 UTC). Raises UsageError when it has no evidence."""
    from harness.acceptance import accept, load_scenarios  # noqa: PLC0415 # help and errors of usage do not need it
    from harness.compare.difference import Side  # noqa: PLC0415
    from harness.compare.history import Judged  # noqa: PLC0415

    with output.progress(f"judging {release}", None) as bar:

        def step(name: str) -> None:
            if bar is not None:
                bar.update(bar.task_ids[0], description=f"judging {release} {output.plain(name)}", advance=1)

        accepted = accept(evidence=evidence, features=features, release=release, at=at, progress=step)
    acceptance = accepted.acceptance
    if not acceptance.observations and not acceptance.damaged:
        raise UsageError(f"there is no evidence of release {release}", where=str(evidence))
    varying = {scenario.id: scenario.varying for scenario in load_scenarios(features)}
    side = Side(
        release=release,
        observations=acceptance.observations,
        findings=acceptance.findings,
        workspaces={name: bundle.manifest.workspace for name, bundle in accepted.verified.items()},
        varying={item.id: varying.get(item.scenario, ()) for item in acceptance.observations},
    )
    return Judged(acceptance=acceptance, side=side)


def diff_command(
    before: Annotated[str, typer.Argument(help="Release, such as 0.100.0.")],
    after: Annotated[str, typer.Argument(help="Release that is held against it.")],
    evidence: Annotated[Path | None, typer.Option(help="Evidence folder. Default: the bundled evidence.")] = None,
    features: Annotated[Path | None, typer.Option(help="Folder of scenarios. Default: the bundled features.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Every single difference as one JSON object.")] = False,
) -> int:
    """Show what changed in facts and display between two releases' evidence.

    Observations are paired by id. Values that only a run can know are no difference, and where one release was not
    captured nothing is said. Exit code 0 whatever changed, 2 when a release has no evidence, 4 when some is damaged.

    Example: harness diff 0.100.0 0.104.0
    """
    from harness.compare.difference import difference  # noqa: PLC0415

    folder, scenarios = evidence or places.default_folder("evidence"), features or places.default_folder("features")
    moment = places.parse_time(None)
    old, new = (judged(folder, scenarios, release, moment) for release in (before, after))
    found = difference(old.side, new.side)
    damaged = [(one.side.release, item) for one in (old, new) for item in one.acceptance.damaged]
    if json_:
        text = {
            "schema": SCHEMA,
            **msgspec.to_builtins(found),
            "damaged": [{"release": release, **msgspec.to_builtins(item)} for release, item in damaged],
        }
        output.emit(text)
    else:
        for release, item in damaged:
            output.say(f"damaged, and left out: {release}/{item.bundle}: {item.reasons[0]}")
        _print(found)
    return EvidenceError.exit_code if damaged else 0


def _print(found: Difference) -> None:
    if output.loudness() is output.Loudness.QUIET:
        output.say(_conclusion(found))
        return
    output.say(f"From {found.before} to {found.after}: {len(found.both)} observations of both")
    for release, names in ((found.before, found.only_before), (found.after, found.only_after)):
        if names:
            output.say(f"only in {release}: {', '.join(names)}")
    _table(
        "Surfaces",
        ["observation", "surface", found.before, found.after],
        [[item.observation, item.surface.value, item.before, item.after] for item in found.surfaces],
    )
    _table(
        "Cards",
        ["observation", "card", "surface", "what", found.before, found.after],
        [
            [item.observation, item.card, item.surface.value, item.member, item.before or "-", item.after or "-"]
            for item in found.cards
        ],
    )
    _table(
        "Facts",
        ["fact", "surface", "what", found.before, found.after, "where"],
        _fact_rows(found.facts, every=output.loudness() is output.Loudness.VERBOSE),
    )
    for title, findings in (
        (f"Findings of {found.after} alone", found.findings_appeared),
        (f"Findings of {found.before} alone", found.findings_vanished),
    ):
        _table(
            title,
            ["id", "rule", "surface", "card", "fact", "expected", "observed"],
            [_finding(item) for item in findings],
        )
    output.say(_conclusion(found))


def _conclusion(found: Difference) -> str:
    rest = f"{found.not_compared} could not be" if found.not_compared else "none was left out"
    if not found.compared:
        return "Nothing could be compared."
    changed = len(found.facts)
    return f"{found.compared} facts on surfaces were compared, {rest}; {changed or 'none'} of them changed."


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        output.say("")
        output.show_table(title, columns, rows)
        output.say("")


def _fact_rows(changes: Iterable[FactChange], *, every: bool) -> list[list[str]]:
    """One row for all changes that read the same, in the order of the first of each; `every` names all places."""
    from harness.compare.history import grouped  # noqa: PLC0415

    return [
        [
            item.label,
            item.surface.value,
            ", ".join(item.kinds),
            item.before,
            item.after,
            _places(item.places, every=every),
        ]
        for item in grouped(changes)
    ]


def _places(places: Sequence[str], *, every: bool) -> str:
    named = places if every else places[:1]
    return ", ".join(named) + (f" and {len(places) - len(named)} more" if len(named) < len(places) else "")


def _finding(found: Finding) -> list[str]:
    return [
        found.id,
        found.requirement,
        found.surface,
        f"{found.observation} {found.card}",
        found.label,
        found.expected,
        found.observed,
    ]
