"""The requirement catalogue by itself: an id, label or check that means nothing would break traceability silently."""

from __future__ import annotations

import pytest

from harness.model.errors import HarnessError
from harness.model.facts import CardKind
from harness.model.values import ABSENT, NULL, NotComparable, Reason, known
from harness.spec.facts import FACTS, FactType
from harness.spec.requirements import (
    NOT_REACHABLE,
    REQUIREMENTS,
    RULES,
    WHEN_NULL,
    CheckKind,
    for_label,
    for_rule,
    load,
    not_reachable,
    requirement,
)

DIGEST = "0" * 64
FILE = f"""
[sections]
code-mode = "Code Mode"
[rules]
bound = "the bound holds"
[[requirement]]
id = "code-mode.rollback"
text = "Nothing is taken back."
cards = ["code_mode"]
labels = ["Rollback"]
check = "facts"
when = ["false"]
digest = "{DIGEST}"
[[requirement]]
id = "code-mode.warning-rows"
text = "Two rows."
cards = ["code_mode"]
every = ["milliseconds"]
check = "rule:bound"
digest = "{DIGEST}"
[[not_reachable]]
requirement = "code-mode.rollback"
release = "1.0"
reason = "because"
"""


def test_ids_are_unique_and_every_id_that_the_fact_catalogue_names_exists() -> None:
    ids = [entry.id for entry in REQUIREMENTS]
    assert len(set(ids)) == len(ids)
    assert {fact.requirement for fact in FACTS} <= set(ids)
    for fact in FACTS:
        entry = requirement(fact.requirement)
        assert fact.card in entry.cards, fact.label
        assert fact.label in entry.labels, fact.label
        assert entry in for_label(fact.card, fact.label)


def test_the_first_rule_of_a_row_governs_exactly_the_labels_whose_facts_name_it() -> None:
    for entry in REQUIREMENTS:
        facts = [fact for fact in FACTS if fact.requirement == entry.row]
        if entry.row:
            assert set(entry.labels) == {fact.label for fact in facts}, entry.id
            assert set(entry.cards) == {fact.card for fact in facts}, entry.id


def test_every_label_has_a_requirement_that_is_not_only_about_reading_it() -> None:
    for fact in FACTS:
        held = [entry for entry in for_label(fact.card, fact.label) if not entry.id.startswith("general.")]
        assert any(entry.kind in (CheckKind.FACTS, CheckKind.RULE) for entry in held), fact.label


def test_only_excluded_requirements_have_a_reason_and_it_is_a_sentence() -> None:
    excluded = [entry for entry in REQUIREMENTS if entry.kind is CheckKind.EXCLUDED]
    assert excluded
    assert all(entry.reason.endswith(".") and len(entry.reason.split()) > 5 for entry in excluded)
    assert not any(entry.reason for entry in REQUIREMENTS if entry not in excluded)
    for entry in excluded:  # a reason that hands the rule to another requirement names one that is held
        for word in entry.reason.replace(",", " ").split():
            name = word.rstrip(".")
            if "." in name:
                assert requirement(name).kind is not CheckKind.EXCLUDED, entry.id


def test_every_rule_is_described_and_finds_its_requirements() -> None:
    assert {entry.rule for entry in REQUIREMENTS if entry.kind is CheckKind.RULE} == set(RULES)
    assert all(for_rule(name) for name in RULES)
    with pytest.raises(KeyError):
        for_rule("no-such-rule")


def test_labels_of_a_type_are_all_labels_of_that_type() -> None:
    spelled = requirement("general.count-spelling").labels
    assert set(spelled) == {f.label for f in FACTS if f.type in (FactType.COUNT, FactType.MILLISECONDS)}
    assert {"Total calls", "Tasks done", "Usage output tokens", "Elapsed milliseconds"} <= set(spelled)
    assert not {"Rollback", "Task intent", "Script outcome"} & set(spelled)


def test_the_same_label_on_two_kinds_of_card_has_its_own_requirements_on_each() -> None:
    script = {entry.id for entry in for_label(CardKind.CODE_MODE, "Child references omitted")}
    batch = {entry.id for entry in for_label(CardKind.SUBAGENT_BATCH, "Child references omitted")}
    assert {"code-mode.child-references-omitted", "code-mode.child-references-omitted.null"} <= script
    assert "batch.child-references-omitted" in batch
    assert not any(id_.startswith("code-mode.") for id_ in batch)
    assert not any(id_.startswith("batch.") for id_ in script)
    assert for_label(CardKind.TASK, "Child references omitted") == ()


def test_a_comparison_is_evidence_only_for_the_rule_that_it_shows() -> None:
    zero = requirement("code-mode.running-calls")
    null = requirement("code-mode.running-calls.null-without-report")
    assert (zero.evidenced_by(known(0)), null.evidenced_by(known(0))) == (True, False)
    assert (zero.evidenced_by(NULL), null.evidenced_by(NULL)) == (False, True)
    elapsed = requirement("code-mode.elapsed-milliseconds")
    assert elapsed.evidenced_by(known(13))
    assert not elapsed.evidenced_by(NULL)
    outcome = requirement("code-mode.script-outcome")  # no condition: every comparable reference counts
    assert outcome.evidenced_by(known("failure"))
    assert outcome.evidenced_by(NULL)
    for entry in (zero, null, outcome):
        assert not entry.evidenced_by(ABSENT)
        assert not entry.evidenced_by(NotComparable(reason=Reason.NOT_RECORDED))
    assert not requirement("batch.partition").evidenced_by(known(1))  # a rule is shown by its check alone
    assert not requirement("code-mode.rollback").evidenced_by(known("true"))


def test_duplicate_parents_cannot_be_reached_on_any_release_that_refuses_them() -> None:
    for release in ("0.104.0", "0.100.0", "0.96.6"):
        found = not_reachable("code-mode.duplicate-parents", release)
        assert found is not None
        assert found.reason
        assert [(entry.requirement, entry.release) for entry in NOT_REACHABLE].count((found.requirement, release)) == 1
    assert not_reachable("code-mode.duplicate-parents", "9.9.9") is None
    assert not_reachable("code-mode.rollback", "0.104.0") is None


def test_a_sound_file_loads_with_types_expanded_and_sections_resolved() -> None:
    catalogue = load(FILE)
    first, second = catalogue.requirements
    assert (first.section, first.when, first.row, first.rule) == ("Code Mode", ("false",), "code-mode.rollback", "")
    assert (second.labels, second.kind, second.rule) == (("Elapsed milliseconds",), CheckKind.RULE, "bound")
    assert second.row == ""  # preview rows have no row on the page
    assert catalogue.not_reachable[0].reason == "because"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("code-mode.warning-rows", "code-mode.rollback", "the id is taken"),
        ("code-mode.warning-rows", "garden.warning-rows", "no section"),
        ("code-mode.warning-rows", "code-mode.Warning", "not written as"),
        ('"rule:bound"', '"rule:limit"', "no rule 'limit'"),
        ('"rule:bound"', '"rule:"', "is none"),
        ('"rule:bound"', '"maybe"', "is none"),
        ('"rule:bound"', '"process"', "nothing is held by it"),
        ('"rule:bound"', '"excluded"', "has a reason"),
        ('"rule:bound"', '"rule:bound"\nreason = "why"', "has a reason"),
        ('"rule:bound"', '"rule:bound"\nwhen = ["(null)"]', "when belongs"),
        ('["Rollback"]', '["Rollbacks"]', "no label Rollbacks"),
        ('["Rollback"]', '["Tasks done"]', "no label Tasks done"),
        ('["Rollback"]', '["Rollback"]\nevery = ["count"]', "exclude each other"),
        ('labels = ["Rollback"]', "", "labels are governed"),
        ('["false"]', '["no"]', "can be no"),
        ('["false"]', f'["{WHEN_NULL}"]', "can be"),  # this fact is never null
        (f'"{DIGEST}"', '"abc"', "hex sha256"),
        ('"Two rows."', '""', "says nothing"),
        ('cards = ["code_mode"]', 'cards = ["garden"]', "garden"),
        ('text = "Two rows."', "", "text"),
        ('text = "Two rows."', 'text = "Two rows."\ncolour = "red"', "colour"),
        ('requirement = "code-mode.rollback"', 'requirement = "code-mode.rolling"', "no requirement"),
        ('"because"', '""', "has no reason"),
        ("[rules]", "[rules", "line"),
    ],
)
def test_a_file_that_breaks_its_own_rules_is_refused_as_our_fault(old: str, new: str, message: str) -> None:
    assert old in FILE
    with pytest.raises(HarnessError) as caught:
        load(FILE.replace(old, new), where="some.toml")
    assert message in caught.value.message
    assert caught.value.where.startswith("some.toml")
    assert caught.value.exit_code == 70
