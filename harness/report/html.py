"""`report.html`: one file that opens from a disk, loads nothing, and runs nothing but its own small script.

Templates are rendered with autoescaping and strict undefined names; a content security policy with the script's
digest makes sure that even markup which slipped through could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup

from harness.model.facts import SURFACES, Column
from harness.model.words import plural
from harness.report import stability
from harness.report.groups import KIND_WORDS as FINDING_WORDS
from harness.report.inputs import Excerpts, Pictures, Timelines
from harness.report.page import COLUMN_WORDS, KIND_WORDS, Page
from harness.report.selfcheck import alone, rate_of, reasons, sentence
from harness.report.text import block_html, one_line, prose_html, visible_html
from harness.report.views import MEANING, Overview, counts, words

VERDICT_GLYPHS = {"accepted": "✓", "rejected": "✗", "insufficient": "◑", "tampered": "‼"}
OUTCOME_GLYPHS = {"agrees": "✓", "disagrees": "✗", "waived": "⚑", "unsettled": "◌"}
STATUS_GLYPHS = {"met": "✓", "disagrees": "✗", "not_observed": "◌", "not_reachable": "⊗"}


def report_html(overview: Overview, *, excerpts: Excerpts, pictures: Pictures, timelines: Timelines) -> bytes:
    """The page's bytes, UTF-8."""
    page = Page(overview, excerpts, pictures, timelines)
    script = asset("report.js")
    text = (
        environment()
        .get_template("report.html.j2")
        .render(
            page=page,
            acceptance=overview.acceptance,
            overview=overview,
            style=asset("report.css"),
            script=script,
            script_digest=script_digest(script),
        )
    )
    # Only text that is not Unicode scalar values could fail here, and `visible_html` leaves none of it.
    return text.encode("utf-8", "replace")


def script_digest(script: str) -> str:
    """What a content security policy calls a script by: base64 of its sha256."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def asset(name: str) -> Markup:
    """A style sheet or script of ours, to stand in a page as it is."""
    text = resources.files("harness.report").joinpath("templates", name).read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - our own file, no evidence in it


@cache
def environment() -> jinja2.Environment:
    """The templates, with everything that texts of evidence have to pass before they stand on a page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("harness.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        visible=visible_html, block=block_html, prose=prose_html, plain=one_line, words=words, plural=plural
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.globals.update(
        meaning=MEANING,
        verdict_glyphs=VERDICT_GLYPHS,
        outcome_glyphs=OUTCOME_GLYPHS,
        status_glyphs=STATUS_GLYPHS,
        finding_words=FINDING_WORDS,
        kind_words=KIND_WORDS,
        column_words=COLUMN_WORDS,
        counts=counts,
        columns=tuple(Column),
        surfaces=SURFACES,
        selfcheck_sentence=sentence,
        stability=stability,
        selfcheck_alone=alone,
        selfcheck_rate=rate_of,
        selfcheck_reasons=reasons,
    )
    return environment
