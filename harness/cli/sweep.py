"""`harness sweep` and `harness synthetic`: whole archives of saved sessions, and archives made to try that on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from harness.cli import output
from harness.model.errors import HarnessError

if TYPE_CHECKING:
    from harness.model.verdict import Finding
    from harness.sweep.rows import Counts, Row, Summary
    from harness.sweep.sweeping import Progress as Step

DISAGREES, NOTHING = 1, 3
"""Exit codes: something was found; there was nothing to look at, which can never pass."""
_SHOWN_FINDINGS = 12
_LINE_SECONDS = 15.0
"""How often progress is told where no bar can be drawn."""


@contextmanager
def _progress() -> Iterator[Callable[[Step], None]]:
    """Tells on standard error how far a sweep is, how fast it goes and how long it will take."""
    if output.loudness() is output.Loudness.QUIET:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        yield _lines()
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("listing", total=None, rate="")

        def step(at: Step) -> None:
            if at.total is None and not at.done:
                return
            speed = bar.tasks[0].speed
            bar.update(
                task,
                total=at.total,
                completed=at.done,
                description=f"sweeping, {at.findings} findings" + (f", {at.known} known before" if at.known else ""),
                rate=f"{speed:.0f}/s" if speed else "",
            )

        yield step


def _lines() -> Callable[[Step], None]:
    begun = told = time.monotonic()

    def step(at: Step) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told < _LINE_SECONDS or not at.done:
            return
        told = now
        rate = at.done / (now - begun)
        left = f" of {at.total}, {(at.total - at.done) / rate / 60:.1f} min left" if at.total else ""
        print(f"sweep: {at.done}{left}, {rate:.0f} a second, {at.findings} findings", file=sys.stderr, flush=True)

    return step


def _print(summary: Summary, first: list[Finding], out: Path | None) -> None:
    product = f", reopened by {summary.product.version}" if summary.product else ""
    output.say(f"{summary.sessions} sessions in {', '.join(summary.archives)}{product}")
    if summary.synthetic:
        output.say(f"  {summary.synthetic} of them are synthetic: they show what the harness can do, and nothing else")
    output.say(f"  read {summary.read}, unreadable {summary.unreadable}, faults of the harness {summary.faults}")
    output.note(f"  {summary.cards} cards, {summary.children} child sessions, {summary.bytes} bytes")
    if summary.orphans:
        output.note(f"  {summary.orphans} child sessions belong to no session here")
    rows: list[tuple[str, Counts]] = [("host's report against nested records", summary.derivations)]
    if summary.product:
        output.say(f"  reopened {summary.reopened}, could not be reopened {summary.reopening_failed}")
        rows.append(("saved cards against the reference", summary.surface))
    if output.loudness() is output.Loudness.QUIET:
        output.say(f"  {summary.findings} findings in {summary.sessions_with_findings} sessions")
        return
    output.say("")
    table = [[name, str(n.agree), str(n.disagree), str(n.not_comparable)] for name, n in rows]
    output.show_table("", ["facts", "agree", "disagree", "not comparable"], table)
    if summary.findings:
        output.say("")
        title = f"{summary.findings} findings in {summary.sessions_with_findings} sessions"
        counts = [[*name.split(" ", 1), str(count)] for name, count in summary.by_requirement.items()]
        output.show_table(title, ["surface", "rule", "findings"], counts)
        output.say("")
        for found in first:
            what = found.label or found.requirement
            where = f"{found.observation} {found.card}".rstrip()
            output.say(f"{found.id} {where}: {what}: expected {found.expected}, observed {found.observed}")
            output.detail(f"  at {found.place}")
        if len(first) < summary.findings:
            output.say(f"and {summary.findings - len(first)} more" + ("" if out else ", which --out FILE would keep"))
        output.say(f"Next: {first[0].command}   looks at that session alone")
    if out is not None:
        output.say(f"Every session and finding: {out}")


def sweep_command(
    archives: Annotated[
        list[Path], typer.Argument(help="Folders, tars (also .gz, .zst, .xz, .bz2) or zips of sessions.")
    ],
    product: Annotated[str, typer.Option(help="Also reopen every session with this binary or release.")] = "",
    scheduler: Annotated[str, typer.Option(help="Work on the Dask cluster of this scheduler, tcp://HOST:PORT.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the table here: .parquet, .duckdb or .jsonl.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what a sweep into the same --out found.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=0, max=256, help="Processes. Default: one a core; 1 uses this one.")] = 0,
    only: Annotated[str, typer.Option(help="Only sessions whose archive and path contain this.")] = "",
    json_: Annotated[
        bool, typer.Option("--json", help="One JSON object a session, and a last one with the summary.")
    ] = False,
) -> int:
    """Check agreement over whole archives of saved sessions.

    Each session is projected both ways and the host's report held against its nested records; with --product a copy of
    it is reopened on the local agent and every saved card held against the reference. Archives are never changed. A bad
    session is a finding and stops nothing. Child sessions are found below subagents/ or children/ beside the session.

    Exit code: 0 nothing disagrees, 1 something was found, 3 there was no session.

    Example: harness sweep ~/.magi-code/sessions --product 0.104.0 --out sweep.parquet
    """
    from harness.sweep.reopen import candidate  # noqa: PLC0415 # help and errors of usage do not need it
    from harness.sweep.sweeping import Plan, sweep  # noqa: PLC0415
    from harness.sweep.table import Table, json_line  # noqa: PLC0415

    plan = Plan(
        archives=tuple(archives),
        candidate=candidate(_program(product)) if product else None,
        scheduler=scheduler,
        jobs=jobs,
        only=only,
        state=None if out is None else out.with_name(f"{out.name}.state"),
        resume=resume,
    )
    first: list[Finding] = []
    stream = sys.stdout
    with ExitStack() as closing:
        table = closing.enter_context(Table(out)) if out is not None else None
        watch = closing.enter_context(_progress())

        def emit(row: Row) -> None:
            if table is not None:
                table.add(row)
            if json_:
                stream.write(json_line(row).decode())
            if len(first) < _SHOWN_FINDINGS:
                first.extend(row.findings[: _SHOWN_FINDINGS - len(first)])

        summary = sweep(plan, emit, watch)
        if table is not None:
            table.finish(summary)
    if json_:
        stream.write(json_line(summary).decode())
    else:
        _print(summary, first, out)
    if summary.faults:
        return HarnessError.exit_code
    return NOTHING if not summary.sessions else DISAGREES if summary.findings else 0


def _program(product: str) -> Path:
    from harness.record import products  # noqa: PLC0415

    return products.locate(product)


def synthetic_command(
    out: Annotated[Path, typer.Argument(help="The new archive: .tar, .tar.gz, .tar.zst, .zip, else a folder.")],
    recordings: Annotated[
        list[Path], typer.Option("--from", help="Folders or archives of real sessions; give it several times.")
    ],
    sessions: Annotated[int, typer.Option(min=1, help="How many sessions to make.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The same recordings, number and seed make the same archive.")] = 0,
    json_: Annotated[
        bool, typer.Option("--json", help="One JSON object: archive, sessions, recordings, seed.")
    ] = False,
) -> int:
    """Make an archive of any size from real recordings, to try sweeps on. It is marked as synthetic, and no evidence.

    Example: harness synthetic /tmp/many.tar --from tests/data/sessions --sessions 100000
    """
    from harness.sweep import synthetic  # noqa: PLC0415

    found = synthetic.recordings(recordings)
    with output.progress("making", sessions) as bar:

        def step(done: int) -> None:
            if bar is not None:
                bar.update(bar.task_ids[0], completed=done)

        synthetic.write(out, found, sessions=sessions, seed=seed, progress=step)
    if json_:
        output.emit({"archive": str(out), "sessions": sessions, "recordings": len(found), "seed": seed})
        return 0
    size = synthetic.unpacked_bytes(found, sessions)
    output.say(f"{sessions} synthetic sessions of {len(found)} recordings in {out}, {size / 1e6:,.1f} MB unpacked")
    return 0
