"""A paste-ready issue text for one group of findings: what was done, which rule, what was seen, one command."""

from __future__ import annotations

import msgspec

from harness.model.verdict import Finding, Observation
from harness.model.words import plural
from harness.report.groups import KIND_WORDS, Group
from harness.report.markup import code, entities, fenced, inert, prose, table
from harness.report.text import cut, cut_note
from harness.report.views import Overview

ROWS_SHOWN = 8
GHERKIN_SHOWN = 4_000


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """`title` is one plain line, `body` GitHub-flavoured Markdown."""

    title: str
    body: str


def issue(group: Group, overview: Overview) -> Issue:
    """The issue text of a group. It needs nothing but the judgement, so that every format can offer the same."""
    first = group.findings[0]
    runs = [item for item in overview.observations if item.id in group.observations]
    parts = [
        inert(f"{KIND_WORDS[group.kind][1]} {group.reach}."),
        "### What was done",
        _what_was_done(runs, first),
        "### Expected",
        _expected(group, first),
        "### Seen",
        _seen(group),
        "### How to see it",
        fenced(overview.command(first.command), "sh"),
        "### Product and evidence",
        _product(runs, overview),
    ]
    return Issue(title=group.title, body="\n\n".join(parts) + "\n")


def _what_was_done(runs: list[Observation], first: Finding) -> str:
    lines = [
        f"- {code(item.id)}: {code(item.scenario) if item.scenario else 'a run without a scenario'}, "
        f"driven by {code(item.driver)}"
        for item in runs[:ROWS_SHOWN]
    ]
    if len(runs) > ROWS_SHOWN:
        lines.append(f"- and {plural(len(runs) - ROWS_SHOWN, 'further observation')}")
    gherkin = next((item.gherkin for item in runs if item.id == first.observation and item.gherkin), "")
    if not gherkin:
        return "\n".join(lines)
    shown, left_out = cut(gherkin, GHERKIN_SHOWN)
    note = f"\n{cut_note(left_out)}" if left_out else ""
    return "\n".join(lines) + f"\n\n{fenced(shown + note, 'gherkin')}"


def _expected(group: Group, first: Finding) -> str:
    section = f" ({entities(group.section)})" if group.section else ""
    rule = f": {prose(group.rule)}" if group.rule else ""
    value = f"\n\n{code(first.label)} is {code(first.expected)}." if first.label else f"\n\n{code(first.expected)}"
    return f"Rule {code(group.requirement)}{section}{rule}{value}"


def _seen(group: Group) -> str:
    rows = [
        (
            code(finding.observation),
            code(finding.surface),
            code(finding.card),
            code(finding.expected),
            code(finding.observed),
            code(str(finding.place)) if finding.place else "no place",
        )
        for finding in group.findings[:ROWS_SHOWN]
    ]
    text = table(("Observation", "Source", "Card", "Expected", "Observed", "Place"), rows)
    left_out = len(group.findings) - ROWS_SHOWN
    return f"{text}\n\nand {plural(left_out, 'further finding')}" if left_out > 0 else text


def _product(runs: list[Observation], overview: Overview) -> str:
    products = sorted({(product.version, product.sha256) for item in runs for product in item.products})
    lines = [f"- {code(version)}, binary sha256 {code(digest or 'not known')}" for version, digest in products]
    lines += [f"- evidence {code(item.bundle)}, manifest sha256 {code(item.manifest_sha256)}" for item in runs[:3]]
    return "\n".join(
        [*lines, f"- judged {code(overview.acceptance.at)} by harness {code(overview.acceptance.harness)}"]
    )
