"""`harness verify` and `harness compare`: looking at bundles without judging a release."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from harness.cli import output, places
from harness.cli.trust import missing_policy, warn_of_missing_policy
from harness.evidence_folder import AUTHORIZATIONS, POLICY, misplaced
from harness.model.errors import EvidenceError, UsageError
from harness.model.facts import Column
from harness.model.verdict import FactRow

if TYPE_CHECKING:
    from harness.compare import Compared
    from harness.model.manifest import Manifest

_INSUFFICIENT = 3


def _evidence_of(named: list[Path]) -> Path | None:
    """The evidence folder that the first folder named is or lies in: its policy and authorizations count for it.

    One with authorizations and no policy is one, too: those of other evidence say nothing of its runs.
    """
    for path in named[:1]:
        for folder in (path, path.parent, path.parent.parent):
            if (folder / POLICY).exists() or (folder / AUTHORIZATIONS).is_dir():
                return folder
    return None


def _folders(arguments: list[Path] | None) -> list[Path]:
    """The bundle folders named, or found one or two levels below the folders named, or all bundled evidence."""
    from harness.bundle.layout import MANIFEST  # noqa: PLC0415 # help and errors of usage do not need it

    found: list[Path] = []
    for path in map(places.existing, arguments or [places.default_folder("evidence")]):
        if not path.is_dir():
            raise UsageError("is no bundle: a bundle is a folder", where=str(path), hint="name its folder")
        if (path / MANIFEST).exists():
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
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Bundles, evidence folders, or one verdict statement (.dsse.json).")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Public key of whoever made the verdict statement.")] = None,
    evidence: Annotated[Path | None, typer.Option(help="Evidence folder whose trust policy counts.")] = None,
    at: Annotated[str | None, typer.Option(help="As of this time (RFC 3339). Default: now.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object a bundle.")] = False,
) -> int:
    """Check integrity, authorization and staleness of bundles, or a verdict statement; touches nothing.

    The trust policy and authorizations are those of --evidence, else of the evidence folder that the first bundle lies
    in, else the bundled ones. An authorization that cannot be read is listed as unread: it counts for nothing, and
    damages no bundle.

    Exit code: 0 all authorized and current, 3 anything that is not, 4 damage.

    Example: harness verify evidence/0.104.0
    """
    from harness.acceptance import PRODUCT_NAME, is_stale, load_scenarios  # noqa: PLC0415
    from harness.authorize.decide import decide  # noqa: PLC0415
    from harness.bundle import read_bundle  # noqa: PLC0415
    from harness.cli import attest  # noqa: PLC0415
    from harness.evidence_folder import read_trust  # noqa: PLC0415

    base = evidence or _evidence_of(folders or []) or places.default_folder("evidence")
    features = places.default_folder("features")
    if folders and any(attest.is_statement(path) for path in folders):
        path = folders[0]
        status, found = attest.verify_attestation(path, key=key, evidence=base, features=features)
        return attest.print_attestation(path, status, found, as_json=json_)
    scenarios = {scenario.id: scenario for scenario in load_scenarios(features)}
    trust = read_trust(base)
    moment = places.parse_time(at)
    results: list[dict[str, Any]] = [
        {"bundle": item.name, "status": "unread", "reasons": [item.reason]} for item in trust.unread
    ]
    for folder in _folders(folders or [base]):
        try:
            bundle = read_bundle(folder)
        except EvidenceError as error:
            results.append({"bundle": str(folder), "status": "damaged", "reasons": error.reasons})
            continue
        manifest = bundle.manifest
        if reason := misplaced(folder, manifest):
            results.append({"bundle": str(folder), "status": "damaged", "reasons": [reason]})
            continue
        decision = decide(manifest, bundle.manifest_sha256, trust.claims, trust.policy, product=PRODUCT_NAME, at=moment)
        scenario = scenarios.get(manifest.scenario)
        stale = is_stale(manifest, scenario)
        reasons = ["its scenario changed after the recording"] if stale else []
        status = "stale" if stale else decision.status.value
        results.append({"bundle": str(folder), "status": status, "reasons": [*reasons, decision.detail]})
    if not results:
        raise UsageError("there is no bundle to verify", hint="name a bundle or an evidence folder")
    policy = missing_policy(base, trust)
    if json_:
        for result in results:
            output.emit(result)
    else:
        _print_results(results, advise=policy is None)
    if policy is not None:
        warn_of_missing_policy(policy)
    states = {result["status"] for result in results}
    if "damaged" in states:
        return EvidenceError.exit_code
    return 0 if states == {"authorized"} else _INSUFFICIENT


def _print_results(results: list[dict[str, Any]], *, advise: bool) -> None:
    """All of them, those that are not authorized when quiet; how many there are of each, and what to do about them."""
    quiet = output.loudness() is output.Loudness.QUIET
    rows = [
        [Path(str(result["bundle"])).name, result["status"], "; ".join(result["reasons"])]
        for result in results
        if not quiet or result["status"] != "authorized"
    ]
    if rows:
        output.show_table("", ["bundle", "status", "reasons"], rows)
    counts = Counter(result["status"] for result in results)
    output.note(", ".join(f"{number} {status.replace('_', ' ')}" for status, number in counts.items()))
    if counts["damaged"]:
        output.note("Next: git status and git log tell what changed; a damaged bundle is recorded anew")
    elif advise and counts.keys() - {"authorized"}:
        output.note("Next: harness authorize --help   how a release authority signs runs")


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

    A row is a fact, a column a source of it: what the scenario's author expects, what the saved session says (the
    host's report; the nested records), and what each surface published, live and reopened.

    Example: harness compare evidence/0.104.0/handled-failure.local-agent
    """
    from harness.acceptance import is_stale, load_scenarios  # noqa: PLC0415
    from harness.bundle import read_bundle  # noqa: PLC0415
    from harness.examine import examine  # noqa: PLC0415
    from harness.model.words import plural  # noqa: PLC0415

    verified = read_bundle(places.one_bundle(bundle))
    scenarios = {scenario.id: scenario for scenario in load_scenarios(places.default_folder("features"))}
    scenario = scenarios.get(verified.manifest.scenario)
    compared = examine(verified, scenario).compared
    if json_:
        output.emit({"rows": compared.rows, "findings": compared.findings})
        return 1 if compared.findings else 0
    _print_cards(compared)
    for column, reason in compared.unavailable.items():
        output.note(f"{column.value}: not comparable, {reason.detail}")
    if is_stale(verified.manifest, scenario):
        output.note("stale: its scenario has changed since the recording, or is gone, and so may have what is expected")
    output.say(f"{plural(len(compared.findings), 'finding')}, {plural(len(compared.cards), 'card')} compared")
    for found in compared.findings:
        subject = " ".join(part for part in (found.card, found.label) if part)
        output.say(
            f"  {found.id} {found.requirement}: {subject} on {found.surface}: "
            f"expected {found.expected}, observed {found.observed}"
        )
        output.detail(f"    at {found.place or 'no single place: the card is not there'}")
    options = _options(bundle, verified.manifest)
    if compared.findings and options is not None:
        output.note(f"Next: harness show {compared.findings[0].id}{options}   the place of the first one")
    return 1 if compared.findings else 0


def _print_cards(compared: Compared) -> None:
    """Every fact, a table a card, and how to read them; nothing when quiet."""
    if output.loudness() is output.Loudness.QUIET:
        return
    columns = [column for column in Column if column not in compared.unavailable]
    # Heads of words can be broken where a narrow screen wants them to be; in a pipe they are names, as in JSON.
    screen = output.console().is_terminal
    heads = [column.value.replace("-", " ") if screen else column.value for column in columns]
    for card in compared.cards:
        rows: list[list[str | Text]] = [
            [row.label + (f" [{row.ordinal + 1}]" if row.ordinal else ""), *(_cell(row, column) for column in columns)]
            for row in compared.rows
            if row.card == card.path
        ]
        title = f"{card.path}: {card.kind.value} {output.plain(card.title)}"
        output.show_table(title, ["fact", *heads], rows)
        output.say("")
    output.note("expected: by the scenario's author   report, nested: from the saved session")
    output.note("= agrees   ≠ differs   · cannot be compared   | several readings of one surface")


def _options(folder: Path, manifest: Manifest) -> str | None:
    """With which options `harness show` finds what was found here; None for a bundle that stands in no evidence."""
    from harness.acceptance import releases  # noqa: PLC0415

    evidence = folder.resolve().parent.parent
    if misplaced(folder, manifest) or folder.resolve().parent.name != manifest.release:
        return None
    here = evidence == places.default_folder("evidence").resolve()
    newest = releases(evidence)[-1] == manifest.release
    where = "" if here else f" --evidence {shlex.quote(places.shown(evidence))}"
    return where + ("" if newest else f" --release {manifest.release}")
