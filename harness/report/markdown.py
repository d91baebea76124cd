"""`report.md` and the step summary: the judgement for a pull request, in GitHub-flavoured Markdown.

Tables shrink, with a note of how many rows were left out, until the text fits its limit; the verdict, its reasons and
the way to check it always stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.model.facts import SURFACES
from harness.model.verdict import RequirementStatus, Verdict
from harness.model.words import plural
from harness.report import stability
from harness.report.groups import KIND_WORDS, Group, groups
from harness.report.issue import issue
from harness.report.markup import code, entities, fenced, inert, prose, table
from harness.report.selfcheck import alone, rate_of, sentence
from harness.report.text import shortened
from harness.report.views import MEANING, ClassCell, Outcome, Overview, words

COMMENT_BYTES = 65_000
"""A pull request's comment holds 65,536 characters (GitHub)."""

STEP_SUMMARY_BYTES = 1_048_576
"""One step's summary holds 1 MiB (GitHub Actions)."""

_FEW_ROWS, _MANY_ROWS = 60, 2_000
_SENTENCE = 400
_GLYPH = {
    Verdict.ACCEPTED: "✅",
    Verdict.REJECTED: "❌",
    Verdict.INSUFFICIENT: "⚠️",
    Verdict.TAMPERED: "⛔",
}
_OUTCOME_GLYPH = {Outcome.AGREES: "✅", Outcome.DISAGREES: "❌", Outcome.WAIVED: "🔖", Outcome.UNSETTLED: "⚪"}
_STATUS_GLYPH = {
    RequirementStatus.MET: "✅",
    RequirementStatus.DISAGREES: "❌",
    RequirementStatus.NOT_OBSERVED: "⚪",
    RequirementStatus.NOT_REACHABLE: "🚫",
}


def report_md(overview: Overview) -> bytes:
    """The file's bytes; it fits into one comment of a pull request."""
    return _fitting(overview, COMMENT_BYTES, _FEW_ROWS, issues=0)


def step_summary(overview: Overview) -> bytes:
    """Markdown for ``$GITHUB_STEP_SUMMARY``: the same with more rows and the issue texts, at most 1 MiB."""
    return _fitting(overview, STEP_SUMMARY_BYTES, _MANY_ROWS, issues=20)


def _fitting(overview: Overview, limit: int, rows: int, issues: int) -> bytes:
    while True:
        text = _render(overview, rows, issues).encode("utf-8")
        if len(text) <= limit:
            return text
        if not rows:
            # Only reasons of absurd length are left; a cut inside a character is dropped with it.
            note = "\n\n… cut: the text was longer than its limit\n".encode()
            return text[: limit - len(note)].decode("utf-8", "ignore").encode() + note
        rows, issues = rows // 2, issues // 2


def _render(overview: Overview, rows: int, issues: int) -> str:
    found = groups(overview)
    parts = [
        *_head(overview),
        *_why(overview, max(rows, 5)),
        *_missing(overview, rows),
        *_classes(overview),
        *_findings(overview, found, rows),
        *_issues(overview, found[:issues]),
        *_requirements(overview, rows),
        *_selfcheck(overview, rows),
        *_stability(overview, rows),
        *_check(overview),
    ]
    return "\n\n".join(parts) + "\n"


def _head(overview: Overview) -> list[str]:
    acceptance = overview.acceptance
    release = acceptance.release
    totals = overview.totals
    verdict = acceptance.verdict.value.capitalize()
    authorities = [
        f"{words(item.authorization)}{': ' if item.detail else ''}{code(item.detail) if item.detail else ''}"
        f" ({_runs(item.observations)})"
        for item in overview.authorities()
    ]
    rows = [
        ("Release", f"{code(release.name)} {code(release.version)}"),
        ("Binary sha256", "<br>".join(code(digest) for digest in sorted(release.sha256)) or "none named"),
        ("Judged at", f"{code(acceptance.at)} by harness {code(acceptance.harness)}"),
        ("Authority", "<br>".join(authorities) or "no observation"),
        (
            "Comparisons",
            f"{totals.agree:,} agree, {totals.disagree:,} disagree, {totals.not_comparable:,} not comparable",
        ),
        (
            "Check it",
            f"{code(overview.again)} over the same evidence gives the same, byte for byte",
        ),
        (
            "Findings",
            f"{len(overview.open):,} open, {len(overview.waived):,} waived, in {_runs(len(overview.observations))}",
        ),
    ]
    return [
        f"# {_GLYPH[acceptance.verdict]} {verdict}: {inert(f'{release.name} {release.version}')}",
        MEANING[acceptance.verdict],
        table(("Judgement", "&nbsp;"), rows),
    ]


def _runs(number: int) -> str:
    return plural(number, "observation")


def _why(overview: Overview, rows: int) -> list[str]:
    reasons = overview.acceptance.reasons
    lines = [f"- {inert(shortened(reason, _SENTENCE))}" for reason in reasons[:rows]]
    if len(reasons) > rows:
        lines.append(f"- … {plural(len(reasons) - rows, 'more reason')}")
    return ["## Reasons", "\n".join(lines) or "No reason was given."]


def _missing(overview: Overview, rows: int) -> list[str]:
    parts = []
    if overview.missing:
        cells = [
            (code(item.class_) if item.class_ else "all", inert(shortened(item.reason, _SENTENCE)))
            for item in overview.missing
        ]
        parts += ["## What is missing", *_bounded(("Class", "Reason"), cells, rows)]
    if overview.damaged:
        cells = [
            (code(item.bundle), "<br>".join(inert(shortened(reason, _SENTENCE)) for reason in item.reasons))
            for item in overview.damaged
        ]
        parts += ["## Damaged evidence", *_bounded(("Bundle", "What is wrong"), cells, rows)]
    if overview.unread:
        cells = [(code(item.name), inert(shortened(item.reason, _SENTENCE))) for item in overview.unread]
        parts += [
            "## Authorizations that cannot be read",
            *_bounded(("File", "Why it counts for nothing"), cells, rows),
        ]
    return parts


def _classes(overview: Overview) -> list[str]:
    several = len(overview.releases()) > 1
    heads = (
        "Class",
        *(("Release",) if several else ()),
        "Runs that count",
        *(column.value.replace("-", " ") for column in SURFACES),
    )
    rows = [
        (
            code(row.name),
            *((code(row.release),) if several else ()),
            f"{row.counted} of {row.runs}",
            *(_class_cell(row.cells[column]) for column in SURFACES),
        )
        for row in overview.classes()
    ]
    return ["## Classes and surfaces", table(heads, rows) if rows else "No class was observed."]


def _class_cell(cell: ClassCell) -> str:
    if not cell.runs:
        return "⚪ no run"
    count = cell.count
    numbers = f"{count.agree:,} agree"
    numbers += f", {count.disagree:,} disagree" if count.disagree else ""
    return f"{_OUTCOME_GLYPH[cell.outcome]} {cell.outcome.value}: {numbers}"


def _findings(overview: Overview, found: tuple[Group, ...], rows: int) -> list[str]:
    if not found:
        return ["## Findings", "Nothing disagrees."]
    cells = [
        (
            "❌ open" if group.open else "🔖 waived",
            code(group.requirement),
            f"{inert(group.title)} ({KIND_WORDS[group.kind][0]})",
            group.reach,
            code(overview.command(group.findings[0].command)),
        )
        for group in found
    ]
    intro = f"{plural(len(overview.findings), 'finding')} of {plural(len(found), 'probable cause')}."
    return ["## Findings", intro, *_bounded(("State", "Rule", "What", "Reach", "Shown by"), cells, rows)]


def _issues(overview: Overview, found: tuple[Group, ...]) -> list[str]:
    parts = []
    for group in found:
        text = issue(group, overview)
        parts.append(f"<details><summary>Issue text: {inert(text.title)}</summary>\n\n{text.body}\n</details>")
    return parts


def _requirements(overview: Overview, rows: int) -> list[str]:
    statuses = overview.statuses()
    totals = ", ".join(f"{_STATUS_GLYPH[status]} {number:,} {words(status)}" for status, number in statuses.items())
    unmet = [
        (
            f"{_STATUS_GLYPH[row.status]} {words(row.status)}",
            code(row.id),
            prose(shortened(row.text, _SENTENCE)),
            str(len(row.observations)),
            inert(shortened(row.reason, _SENTENCE)) or "&nbsp;",
        )
        for row in overview.acceptance.requirements
        if row.status is not RequirementStatus.MET
    ]
    parts = ["## Requirements", totals]
    if unmet:
        inner = "\n\n".join(_bounded(("Status", "Rule", "Text", "Observations", "Reason"), unmet, rows))
        summary = plural(len(unmet), "requirement") + " not met"
        parts.append(f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>")
    return parts


def _selfcheck(overview: Overview, rows: int) -> list[str]:
    state = overview.acceptance.selfcheck
    parts = ["## Proof that the harness can fail", inert(sentence(state))]
    if state.fault:
        parts.append(f"⚠️ {inert(shortened(state.fault, _SENTENCE))}")
    result = state.result
    if result is None:
        return parts
    if result.survivors:
        cells = [
            (code(item.class_), inert(item.kind), code(item.requirement), inert(f"{item.observation} {item.where}"))
            for item in result.survivors
        ]
        parts += _bounded(("Survivor", "How", "Rule", "Where"), cells, rows)
    matrix = [
        (
            code(row.id),
            inert(row.text),
            f"{row.mutants:,}",
            f"{row.caught:,}",
            f"{alone(row):,}",
            f"{row.survivors:,}",
            rate_of(row),
        )
        for row in result.classes
    ]
    heads = ("Class", "What is changed", "Mutants", "Caught", "Nothing to notice", "Survived", "Kill rate")
    inner = "\n\n".join(_bounded(heads, matrix, rows))
    parts.append(f"<details><summary>Kill matrix</summary>\n\n{inner}\n\n</details>")
    return parts


def _stability(overview: Overview, rows: int) -> list[str]:
    state = overview.acceptance.stability
    parts = ["## The same runs, recorded again", inert(stability.sentence(state))]
    if state.fault:
        parts.append(f"⚠️ {inert(shortened(state.fault, _SENTENCE))}")
    varied = state.repeated.variations if state.repeated else ()
    if varied:
        cells = [
            (
                inert(stability.subject(item)),
                inert(stability.place(item)),
                inert(", then ".join(shortened(value or "no such run", _SENTENCE) for value in item.values)),
                "no" if item in state.undeclared else "yes",
            )
            for item in varied
        ]
        parts += _bounded(("What varied", "Where", "Each recording", "Declared"), cells, rows)
    return parts


def _check(overview: Overview) -> list[str]:
    acceptance = overview.acceptance
    version, at = (entities(text) for text in (acceptance.release.version, acceptance.at))
    commands = [
        "harness verify",
        f"harness accept --release {acceptance.release.version} --at {acceptance.at}",
        overview.open[0].command if overview.open else "harness show FINDING",
    ]
    return [
        "## How to check",
        f"The verdict on {version} at {at} follows from the evidence alone, offline, byte for byte.",
        "`report.html` shows every fact with its proof.",
        fenced("\n".join(map(overview.command, commands)), "sh"),
        *([f"{code(overview.evidence)} {overview.stands_for}."] if overview.stands_for else []),
    ]


def _bounded(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], most: int) -> list[str]:
    parts = [table(heads, rows[:most])] if most else []
    if len(rows) > most:
        parts.append(f"… {plural(len(rows) - most, 'more row')} in `report.html`")
    return parts
