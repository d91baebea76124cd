"""Everything that any report says, rendered from one judgement: HTML, Markdown, verdict JSON, JUnit XML and CTRF.

Pure: values in, bytes out. Whoever writes the files supplies excerpts, pictures and timelines as callables
(`harness.report.inputs`), so that evidence is read only where a page shows it.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.model.verdict import Acceptance
from harness.report.ctrf import ctrf_json
from harness.report.html import report_html
from harness.report.inputs import (
    EventKind,
    Excerpt,
    Excerpts,
    Picture,
    Pictures,
    ScreenMark,
    TimelineEvent,
    Timelines,
    no_excerpt,
    no_picture,
    no_timeline,
)
from harness.report.junit import junit_xml
from harness.report.markdown import report_md, step_summary
from harness.report.verdict_json import verdict_json
from harness.report.views import ELSEWHERE, Overview

__all__ = [
    "ELSEWHERE",
    "EventKind",
    "Excerpt",
    "Picture",
    "ScreenMark",
    "TimelineEvent",
    "github_step_summary",
    "render_all",
]


def render_all(
    acceptance: Acceptance,
    *,
    pictures: Pictures = no_picture,
    excerpts: Excerpts = no_excerpt,
    timelines: Timelines = no_timeline,
    rules: Mapping[str, str] | None = None,
    evidence: str = "",
) -> dict[str, bytes]:
    """File name to contents of every report. The same arguments give the same bytes; nothing is read or written.

    `rules` gives the texts of rules that findings can name beside the requirements of the judgement, by id. `evidence`
    is what commands in the reports call the evidence folder (see `Overview`); verdict.json never depends on it.
    """
    overview = Overview(acceptance, rules, evidence)
    return {
        "report.html": report_html(overview, excerpts=excerpts, pictures=pictures, timelines=timelines),
        "report.md": report_md(overview),
        "verdict.json": verdict_json(overview),
        "junit.xml": junit_xml(overview),
        "ctrf.json": ctrf_json(overview),
    }


def github_step_summary(acceptance: Acceptance, *, rules: Mapping[str, str] | None = None, evidence: str = "") -> str:
    """Markdown for the file that ``$GITHUB_STEP_SUMMARY`` names, at most 1 MiB. `rules`, `evidence`: as for reports."""
    return step_summary(Overview(acceptance, rules, evidence)).decode("utf-8")
