"""Findings of one cause stand together, and their issue text can be pasted as it is."""

from __future__ import annotations

import msgspec
from markdown_it import MarkdownIt

from harness.model.facts import SURFACES
from harness.model.verdict import FindingKind
from harness.report.groups import groups, relation, shape
from harness.report.issue import issue
from harness.report.views import Overview
from tests.support.acceptances import HOSTILE, accepted_of, finding, observed, place

LIVE, REOPEN, _, _ = SURFACES


def grouped(*findings_of: tuple[str, tuple[object, ...]]) -> Overview:
    return Overview(accepted_of(tuple(observed(name, extra=extra) for name, extra in findings_of)))  # type: ignore[arg-type] # findings


def test_shapes_keep_words_and_forget_numbers() -> None:
    assert shape("Script outcome", "failure") == "failure"
    assert shape("Warnings", "38") == "a count"
    assert shape("Rollback", "true") == "true"
    assert shape("Task intent", "38") == "a text"
    assert shape("Warnings", "(null)") == "(null)"
    assert shape("Script outcome", "bananas") == "a text"


def test_the_words_of_the_harness_keep_their_shape_whatever_their_numbers() -> None:
    rule = FindingKind.RULE
    assert shape("rows", "None (6 times, the first is shown)", rule) == shape("rows", "None", rule) == "None"
    assert shape("rows", "a member, and on 7 more cards", rule) == "a member"
    assert shape("Warnings", "12 as in its metadata", rule) == "N as in its metadata"
    assert shape("Task intent", "read 12 files") == "a text"
    assert shape("rows", "x" * 61, rule) == "a text"
    assert shape("Warnings", "(x)(y)<b>") == "a text"


def test_texts_that_differ_in_many_ways_are_titled_by_the_commonest() -> None:
    def texts(name: str, *pairs: tuple[str, str]) -> tuple[str, tuple[object, ...]]:
        requirement = "task.task-intent"
        return name, tuple(
            finding(name, label="Task intent", requirement=requirement, expected=one, observed=other)
            for one, other in pairs
        )

    overview = grouped(texts("a", ("b", "c"), ("d", "e")), texts("f", ("d", "e")))
    (group,) = groups(overview)
    assert group.title == "Task intent: e where d is expected, and alike"


def test_a_rule_beside_the_requirements_brings_its_own_text() -> None:
    acceptance = accepted_of((observed("a", extra=(finding("a", requirement="wire.order"),)),))
    overview = Overview(acceptance, {"wire.order": "Sequence numbers grow."})
    (group,) = groups(overview)
    assert group.rule == "Sequence numbers grow."
    assert "Sequence numbers grow." in issue(group, overview).body


def test_relation_of_counts() -> None:
    assert relation("5", "40") == "more"
    assert relation("40", "5") == "less"
    assert relation("5", "(null)") == ""
    assert relation("5", "05") == ""


def test_one_cause_over_runs_and_surfaces_is_one_group() -> None:
    overview = grouped(
        ("a", (finding("a"), finding("a", surface=REOPEN))),
        (
            "b",
            (
                finding("b"),
                finding("b", label="Warnings", requirement="code-mode.warnings", expected="5", observed="4"),
            ),
        ),
        ("c", (finding("c", label="Warnings", requirement="code-mode.warnings", expected="9", observed="2"),)),
        ("d", (finding("d", label="Warnings", requirement="code-mode.warnings", expected="2", observed="3"),)),
    )
    found = groups(overview)
    assert [(group.title, len(group.findings), group.observations) for group in found] == [
        ("Script outcome: failure where cancelled is expected", 3, ("a", "b")),
        ("Warnings: less than expected", 2, ("b", "c")),
        ("Warnings: 3 where 2 is expected", 1, ("d",)),
    ]
    assert found[0].reach == "3 findings in 2 observations on 2 sources"


def test_waived_findings_stay_in_their_group_and_wholly_waived_groups_come_last() -> None:
    overview = grouped(
        ("a", (finding("a", waived_by="W-1"), finding("a", kind=FindingKind.CARD, label="", observed="no card there"))),
        ("b", (finding("b", waived_by="W-1"),)),
    )
    found = groups(overview)
    assert [(group.open, group.waived) for group in found] == [(1, 0), (0, 2)]
    assert sum(len(group.findings) for group in found) == len(overview.findings)


def test_rules_of_the_fact_page_come_before_the_others() -> None:
    wire = tuple(finding(name, requirement="wire.order", label="seq", kind=FindingKind.RULE) for name in ("a", "b"))
    overview = grouped(("a", wire[:1]), ("b", (*wire[1:], finding("b"))))
    assert [group.requirement for group in groups(overview)] == ["code-mode.script-outcome", "wire.order"]
    row = msgspec.structs.replace(overview.acceptance.requirements[0], id="wire.order", section="Wire rules")
    acceptance = msgspec.structs.replace(overview.acceptance, requirements=(*overview.acceptance.requirements, row))
    judged = groups(Overview(acceptance))
    assert [group.requirement for group in judged] == ["code-mode.script-outcome", "wire.order"]
    assert judged[1].section == "Wire rules", "a row of its own makes it no rule of the page"


def test_the_id_of_a_cause_does_not_depend_on_its_runs() -> None:
    one = groups(grouped(("a", (finding("a"),))))[0]
    other = groups(grouped(("b", (finding("b", surface=REOPEN),))))[0]
    assert one.id == other.id


def test_an_issue_text_says_what_was_done_which_rule_what_was_seen_and_one_command() -> None:
    seen = finding("a", where=place(LIVE, 0, 0, "Script outcome"))
    overview = grouped(("a", (seen,)))
    text = issue(groups(overview)[0], overview)
    assert text.title == "Script outcome: failure where cancelled is expected"
    for part in (
        "mixed_outcomes.feature::a",
        "Scenario: Script with a success, a failure and a write",
        "<code>code-mode.script-outcome</code> (Code Mode)",
        "<code>Script outcome</code> is <code>cancelled</code>",
        "local-agent-live.jsonl.gz, line 20, byte 400, /data/card/blocks/0/rows/0/value",
        f"```sh\n{seen.command}\n```",
        "binary sha256",
        "manifest sha256",
    ):
        assert part in text.body, part


def test_hostile_evidence_stays_inside_its_cell_of_an_issue_text() -> None:
    for name, hostile in HOSTILE.items():
        overview = grouped(("a", (finding("a", label="Task intent", expected=hostile, observed=hostile + "!"),)))
        text = issue(groups(overview)[0], overview)
        assert "\n" not in text.title, name
        html = MarkdownIt("commonmark").enable("table").render(text.body)
        table = html[html.index("<table>") : html.index("</table>")]
        assert table.count("<td") == 6, name
        assert "@someone" not in text.body, name
        assert not {tag for tag in ("<script", "<img", "<b>", "<a ", "<em>") if tag in html}, name
