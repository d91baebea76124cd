"""report.md and the step summary: read well, stay within GitHub's limits, and interpret no evidence."""

from __future__ import annotations

import re

import msgspec
import pytest
from markdown_it import MarkdownIt

from harness.model.verdict import Missing, Verdict
from harness.report import github_step_summary
from harness.report.markdown import COMMENT_BYTES, STEP_SUMMARY_BYTES, report_md
from harness.report.markup import code, fenced, inert, prose
from harness.report.views import Overview
from tests.support.acceptances import AT, DIGEST, HOSTILE, accepted_of, finding, observed, rejected


def text_of(acceptance: object = None) -> str:
    return report_md(Overview(acceptance or rejected())).decode()  # type: ignore[arg-type] # an Acceptance


def html_of(markdown: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(markdown))


def rows_of(html: str, heading: str) -> list[list[str]]:
    """Cells of the body rows of the first table after a heading."""
    part = html[html.index(f"<h2>{heading}</h2>") :]
    body = part[part.index("<tbody>") : part.index("</tbody>")]
    return [re.findall(r"<td>(.*?)</td>", row) for row in body.split("</tr>")[:-1]]


def test_verdict_release_digest_time_and_authority_come_first() -> None:
    text = text_of()
    head = text[: text.index("## Reasons")]
    assert head.startswith("# ❌ Rejected: magi-code 0.104.0\n")
    for part in (DIGEST, AT, "6 observations", "release-authority (sha256:ab12cd34)", "29 open, 1 waived"):
        assert part in head


def test_class_table_has_a_row_for_each_class_and_a_word_beside_each_sign() -> None:
    rows = rows_of(html_of(text_of()), "Classes and surfaces")
    assert [re.sub("<.*?>", "", row[0]) for row in rows] == [
        "mixed-outcomes",
        "overflow",
        "recovered-failures",
        "cancellation",
        "concurrency",
        "out-of-order",
        "legacy",
        "agreement",
    ]
    assert rows[0][2] == "✅ agrees: 136 agree"
    assert rows[3][1:] == [
        "2 of 2",
        "❌ disagrees: 23 agree, 1 disagree",
        "❌ disagrees: 46 agree, 2 disagree",
        "⚪ no run",
        "❌ disagrees: 6 agree, 2 disagree",
    ]


def test_waived_findings_are_in_the_table_of_an_accepted_release() -> None:
    acceptance = accepted_of((observed("a", extra=(finding("a", waived_by="W-7"),)),), Verdict.ACCEPTED)
    rows = rows_of(html_of(text_of(acceptance)), "Findings")
    assert [row[0] for row in rows] == ["🔖 waived"]
    assert text_of(acceptance).startswith("# ✅ Accepted")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_evidence_is_shown_and_never_interpreted(name: str) -> None:
    hostile = HOSTILE[name]
    acceptance = msgspec.structs.replace(
        accepted_of((observed(hostile, extra=(finding(hostile, label=hostile, expected=hostile, observed="x"),)),)),
        reasons=(hostile,),
        missing=(Missing(class_=hostile, reason=hostile),),
    )
    text = text_of(acceptance)
    html = html_of(text)
    assert "@someone" not in text
    assert not re.search(r"<(script|img|b|a|em|del|h1)\b(?! )", html.replace("<h1>❌", ""))
    assert {len(row) for row in rows_of(html, "Findings")} == {5}
    assert {len(row) for row in rows_of(html, "What is missing")} == {2}


def test_evidence_in_code_comes_back_as_it_was() -> None:
    shown = html_of(code("| `a` *b* <c> [d](e) @f #1 \\| ~g~ $h$ http://i www.j _k_ l_m"))
    assert shown == ("<p><code>| `a` *b* &lt;c&gt; [d](e) @f #1 \\| ~g~ $h$ http://i www.j _k_ l_m</code></p>\n")


def test_mentions_and_references_are_broken_outside_code() -> None:
    assert inert("@team #12") == "&#64;<!-- -->team &#35;<!-- -->12"
    assert prose("the `Warning` rows of @x") == "the <code>Warning</code> rows of &#64;<!-- -->x"
    assert prose("odd ` tick") == "odd &#96; tick"


def test_a_fence_is_longer_than_any_run_of_backticks_in_it() -> None:
    assert fenced("a ````` b\n```", "sh") == "``````sh\na ````` b\n```\n``````"
    assert fenced("x\x1b") == "```\nx«ESC»\n```"


def test_a_report_of_very_many_findings_still_fits_a_comment_and_says_what_it_leaves_out() -> None:
    labels = [f"{'label ' * 20}{number}" for number in range(3_000)]
    extra = tuple(finding("a", label=label, requirement=label) for label in labels)
    acceptance = accepted_of((observed("a", extra=extra),), reasons=tuple(labels))
    data = report_md(Overview(acceptance))
    assert len(data) <= COMMENT_BYTES
    text = data.decode()
    assert "# ❌ Rejected" in text
    assert "## How to check" in text
    assert re.search(r"… [\d,]+ more rows in `report.html`", text)
    assert re.search(r"… [\d,]+ more reasons", text)


def test_the_step_summary_has_the_issue_texts_and_stays_within_a_mebibyte() -> None:
    text = github_step_summary(rejected())
    assert text.count("<details><summary>Issue text: ") == 20
    reasons = tuple("r" * 400 + str(number) for number in range(20_000))
    extra = tuple(finding("a", label=f"{number} " * 50, requirement=f"r{number}") for number in range(4_000))
    big = github_step_summary(accepted_of((observed("a", extra=extra),), reasons=reasons))
    assert len(big.encode()) <= STEP_SUMMARY_BYTES
    assert "## How to check" in big


def test_how_to_check_names_the_release_the_time_and_a_finding() -> None:
    text = text_of()
    assert f"harness accept --release 0.104.0 --at {AT}" in text
    assert rejected().findings[0].command.split()[:2] == ["harness", "show"]
    assert re.search(r"^harness show [0-9a-f]{12}$", text, re.MULTILINE)


def test_nothing_to_report_reads_as_such() -> None:
    text = text_of(accepted_of((), Verdict.INSUFFICIENT, reasons=()))
    assert "Nothing disagrees." in text
    assert "No class was observed." in text
    assert "No reason was given." in text
