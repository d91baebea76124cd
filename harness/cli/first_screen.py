"""What `harness accept` says first: what was judged, the verdict, why, and what to do next, on one screen.

A terminal of 24 lines and 80 columns is enough for all of it. What does not fit is counted, never dropped silently:
the report and ``--verbose`` have it.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from harness.cli.output import VERDICT_STYLES, plain
from harness.cli.trust import what_to_do, why_missing
from harness.model.verdict import Acceptance, Authorization, Verdict
from harness.model.words import plural
from harness.report.groups import Group, groups
from harness.report.views import MEANING, Overview

MARGIN = 2
"""Lines of a screen that are not ours: the command that was typed, and the prompt after it."""
UNLIMITED = 10_000
_REASON_LINES = 5
_LEAST_CAUSES, _CAUSES = 2, 8


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """Columns and lines. Where nothing is limited (a pipe, ``--verbose``) both are `UNLIMITED`; `causes` are then the
    most that are listed."""

    width: int
    height: int
    causes: int = UNLIMITED


PIPE = Screen(width=UNLIMITED, height=UNLIMITED, causes=_CAUSES)


def first_screen(
    acceptance: Acceptance,
    screen: Screen,
    *,
    reports: Path | None,
    evidence: Path | None,
    missing_policy: Path | None = None,
) -> list[Text]:
    """The lines, none of them wider than the screen, and not more than fit beside `MARGIN`.

    `reports` is where the reports were written; `evidence` the folder that was named on the command line, None for the
    default, so that the next commands can be copied as they are; `missing_policy` where a trust policy should lie, when
    signatures count for nothing without.
    """
    overview = Overview(acceptance)
    causes = groups(overview)
    top = [
        *_judged(acceptance),
        Text.assemble("Verdict: ", (acceptance.verdict.value.upper(), VERDICT_STYLES[acceptance.verdict])),
        *(Text(line, style="dim") for line in _wrapped(MEANING[acceptance.verdict], screen.width)),
        *_why([*([why_missing(missing_policy)] if missing_policy else []), *acceptance.reasons], screen),
        _compared(overview),
    ]
    after = _next(acceptance, causes, reports, evidence, missing_policy)
    if screen.height != UNLIMITED or screen.causes != UNLIMITED:
        after.append(("harness accept --verbose" + _option(evidence), "each class and surface, and every cause"))
    bottom = [Text(), Text("Next", style="bold"), *_steps(after, screen.width)]
    room = screen.height - MARGIN - len(top) - len(bottom) - 2
    shown = causes[: max(min(room, screen.causes), _LEAST_CAUSES)]
    lines = [*top, *_causes(overview, causes, shown), *bottom]
    return [_fitted(line, screen.width) for line in lines]


def _judged(acceptance: Acceptance) -> Iterator[Text]:
    release = acceptance.release
    digest = f"binary sha256 {release.sha256[0][:16]}…" if release.sha256 else "no binary named"
    more = f" and {len(release.sha256) - 1} more" if len(release.sha256) > 1 else ""
    yield Text.assemble("Judged:  ", (plain(f"{release.name} {release.version}"), "bold"), f", {digest}{more}")
    yield Text(f"         over {plural(len(acceptance.observations), 'original run')}, as of {acceptance.at}")


def _why(reasons: Sequence[str], screen: Screen) -> Iterator[Text]:
    """The judge's reasons in `_REASON_LINES` lines, unless the screen is endless: whole where they all fit, else one
    line each, and what is still left out is counted on the last one."""
    whole = [_wrapped(plain(reason), screen.width, first="- ", rest="  ") for reason in reasons]
    if screen.height == UNLIMITED or sum(map(len, whole)) <= _REASON_LINES:
        yield from (Text(line) for lines in whole for line in lines)
        return
    kept = len(reasons) if len(reasons) <= _REASON_LINES else _REASON_LINES - 1
    yield from (Text(f"- {plain(reason)}") for reason in reasons[:kept])
    if kept < len(reasons):
        yield Text(f"- … {plural(len(reasons) - kept, 'more reason')}, in the report and with --verbose")


def _compared(overview: Overview) -> Text:
    total = overview.totals
    return Text.assemble(
        f"Compared: {total.agree:,} facts agree, ",
        (f"{total.disagree:,} disagree", "bold red" if total.disagree else ""),
        f", {total.not_comparable:,} cannot be compared",
    )


def _causes(overview: Overview, causes: Sequence[Group], shown: Sequence[Group]) -> Iterator[Text]:
    """Probable causes in the order of the report, one line each."""
    if not causes:
        return
    yield Text()
    rest = f"the first {len(shown)}, " if len(shown) < len(causes) else ""
    heading = f"{plural(len(overview.findings), 'finding')} of {plural(len(causes), 'probable cause')}"
    heading = f"{heading}; {rest}each with its count:"
    yield Text(heading, style="bold")
    for cause in shown:
        waived = " (waived)" if not cause.open else ""
        yield Text.assemble(
            (cause.findings[0].id, "cyan"), f" {len(cause.findings):>4}  ", plain(f"{cause.title}{waived}")
        )


def _option(evidence: Path | None) -> str:
    return f" --evidence {shlex.quote(str(evidence))}" if evidence is not None else ""


def _next(
    acceptance: Acceptance,
    causes: Sequence[Group],
    reports: Path | None,
    evidence: Path | None,
    missing_policy: Path | None,
) -> list[tuple[str, str]]:
    """What to do next, mostly commands, each with what it is for."""
    steps: list[tuple[str, str]] = []
    if acceptance.damaged:
        folder = shlex.quote(str(evidence)) if evidence is not None else "evidence"
        steps.append((f"harness verify {folder}", "what is damaged, bundle by bundle"))
    if reports is not None:
        steps.append((str(reports / "report.html"), "open it in a browser: every fact side by side"))
    if causes:
        steps.append(
            (f"harness show {causes[0].findings[0].id}{_option(evidence)}", "the place that the first one points at")
        )
    if missing_policy is not None:
        steps.append(what_to_do(missing_policy))
    elif acceptance.verdict is Verdict.INSUFFICIENT:
        unsigned = any(item.authorization is not Authorization.AUTHORIZED for item in acceptance.observations)
        steps.append(
            ("harness authorize --help", "how a release authority signs the runs")
            if unsigned
            else ("harness record --help", "how missing runs are recorded")
        )
    return steps


def _steps(steps: Sequence[tuple[str, str]], width: int) -> Iterator[Text]:
    """What to do and what it is for, in one column each where they fit."""
    longest = max((cell_len(plain(command)) for command, _ in steps), default=0)
    for command, purpose in steps:
        line = f"  {plain(command)}"
        if 2 + longest + 2 + len(purpose) <= width:
            line = f"{line}{' ' * (longest - cell_len(plain(command)))}  {purpose}"
        yield Text(line)


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    if width >= UNLIMITED:
        return [first + text]
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest) or [first]


def _fitted(line: Text, width: int) -> Text:
    """The line, cut with an ellipsis where it would be wider than the screen."""
    if cell_len(line.plain) <= width:
        return line
    kept = len(set_cell_size(line.plain, width - 1).rstrip())
    return Text.assemble(line[:kept], "…")
