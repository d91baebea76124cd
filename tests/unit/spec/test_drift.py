"""The catalogue against the page, and proof that a page which moved on is noticed, exactly where it did.

The page itself is not part of the project. It comes from the environment variable CARD_FACTS_PAGE, or from a folder
``shared`` beside the repository; without either the tests that need it are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from harness.spec.drift import Drift, DriftKind, drift
from harness.spec.facts import FACTS
from harness.spec.page import digest, units
from harness.spec.requirements import REQUIREMENTS, Requirement, requirement

MINI = """\
# Garden facts
Every bed has a sign. Signs are wooden; none is painted.
## Code Mode
| Label | Meaning |
| --- | --- |
| `Total calls` | All visits to a bed. |
| `Rollback` | Digging is final; nothing grows back. |
| `Warnings` | Bees that were met. |
The gate is closed at night.
"""


def entry(id_: str, text: str, original: str, *labels: str, section: str = "Code Mode") -> Requirement:
    return Requirement(
        id=id_,
        section=section,
        text=text,
        cards=(),
        labels=labels,
        check="facts",
        when=(),
        reason="",
        digest=digest(original),
    )


MINI_CATALOGUE = (
    entry("general.sign", "No bed goes without one.", "Every bed has a sign.", section="Garden facts"),
    entry("general.wood", "They are made of wood.", "Signs are wooden;", section="Garden facts"),
    entry("general.paint", "And keep its colour.", "none is painted.", section="Garden facts"),
    entry("code-mode.total-calls", "How often someone came.", "All visits to a bed.", "Total calls"),
    entry("code-mode.rollback", "What was dug stays dug.", "Digging is final;", "Rollback"),
    entry("code-mode.rollback.growth", "Roots do not return.", "nothing grows back.", "Rollback"),
    entry("code-mode.warnings", "Number of insects.", "Bees that were met.", "Warnings"),
    # governs a label although it is prose: it must be matched as prose
    entry("code-mode.gate", "Visitors leave in time.", "The gate is closed at night.", "Total calls"),
)


def told(changes: tuple[Drift, ...]) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(change.kind.value, change.requirement, change.labels, change.sentence) for change in changes]


def test_a_page_and_its_catalogue_do_not_differ() -> None:
    assert drift(MINI, MINI_CATALOGUE) == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "Bees that were met.",
            "Wasps that were met.",
            [("changed", "code-mode.warnings", ("Warnings",), "Wasps that were met.")],
        ),
        (
            "nothing grows back.",
            "little grows back.",
            [("changed", "code-mode.rollback.growth", ("Rollback",), "little grows back.")],
        ),
        (
            "The gate is closed at night.",
            "The gate is closed at night. So is the shed.",
            [("added", "", (), "So is the shed.")],
        ),
        (
            "| `Rollback` |",
            "| `Failed calls` | Visits in vain. |\n| `Rollback` |",
            [("added", "", ("Failed calls",), "Visits in vain.")],
        ),
        (
            "| `Warnings` | Bees that were met. |",
            "| `Failed calls` | Visits in vain. |\n| `Warnings` | Wasps that were met. |",
            [
                ("added", "", ("Failed calls",), "Visits in vain."),
                ("changed", "code-mode.warnings", ("Warnings",), "Wasps that were met."),
            ],
        ),
        (
            "| `Total calls` | All visits to a bed. |\n",
            "",
            [("removed", "code-mode.total-calls", ("Total calls",), "")],
        ),
        (
            "| `Rollback` | Digging is final; nothing grows back. |\n",
            "",
            [
                ("removed", "code-mode.rollback", ("Rollback",), ""),
                ("removed", "code-mode.rollback.growth", ("Rollback",), ""),
            ],
        ),
        (
            "`Warnings`",
            "`Insects`",  # a renamed label is another label, whatever its row says
            [
                ("added", "", ("Insects",), "Bees that were met."),
                ("removed", "code-mode.warnings", ("Warnings",), ""),
            ],
        ),
        (
            "`Warnings`",
            "`Warnings`, `Alarms`",
            [
                ("added", "", ("Warnings", "Alarms"), "Bees that were met."),
                ("removed", "code-mode.warnings", ("Warnings",), ""),
            ],
        ),
        (
            "# Garden facts",
            "# Park facts",
            [
                ("section", "general.sign", (), "Every bed has a sign."),
                ("section", "general.wood", (), "Signs are wooden;"),
                ("section", "general.paint", (), "none is painted."),
            ],
        ),
        (
            "Every bed has a sign. Signs are wooden; none is painted.",
            "Signs are wooden; none is painted. Every bed has a sign.",
            [("moved", "general.sign", (), "Every bed has a sign.")],
        ),
        (
            "The gate is closed at night.",
            "The gate is closed. At night, visitors leave in time. Nowhere else do roots not return.",
            [
                ("changed", "code-mode.gate", (), "The gate is closed."),
                ("added", "", (), "At night, visitors leave in time."),
                ("added", "", (), "Nowhere else do roots not return."),
            ],
        ),
    ],
)
def test_a_page_that_moved_on_is_told_exactly(
    old: str, new: str, expected: list[tuple[str, str, tuple[str, ...], str]]
) -> None:
    assert MINI.count(old) == 1
    assert told(drift(MINI.replace(old, new), MINI_CATALOGUE)) == expected


def test_a_text_that_repeats_the_page_is_told_as_copied() -> None:
    copied = msgspec.structs.replace(MINI_CATALOGUE[0], text="Signs are wooden, none is painted red.")
    changes = drift(MINI, (copied, *MINI_CATALOGUE[1:]))
    assert told(changes) == [("copied", "general.sign", (), "signs are wooden none is painted")]


def test_an_entry_that_stands_twice_in_the_catalogue_holds_one_sentence_only() -> None:
    changes = drift(MINI, (*MINI_CATALOGUE, MINI_CATALOGUE[-1]))
    assert told(changes) == [("removed", "code-mode.gate", (), "")]


def the_page() -> str:
    given = os.environ.get("CARD_FACTS_PAGE")
    path = Path(given) if given else Path(__file__).parents[4] / "shared" / "spec" / "card-facts.md"
    if not given and not path.is_file():
        pytest.skip("the normative page is not here: name it in CARD_FACTS_PAGE")
    return path.read_text(encoding="utf-8")


@pytest.fixture
def page() -> str:
    return the_page()


def test_every_sentence_of_the_real_page_has_one_entry_in_order_and_in_other_words(page: str) -> None:
    assert drift(page) == ()
    found = units(page)
    assert len(found) == len(REQUIREMENTS)  # said apart from the alignment: nothing twice, nothing left over
    assert [unit.digest for unit in found] == [one.digest for one in REQUIREMENTS]
    assert [unit.section for unit in found] == [one.section for one in REQUIREMENTS]


def test_the_labels_of_the_real_page_are_those_of_the_fact_catalogue(page: str) -> None:
    on_page = {(unit.section, label) for unit in units(page) for label in unit.labels}
    catalogued = {(requirement(fact.requirement).section, fact.label) for fact in FACTS if not fact.repeated}
    assert on_page == catalogued
    for fact in FACTS:  # preview rows have no row of their own, but the prose must name them
        assert f"`{fact.label}`" in page


def test_the_first_rule_of_each_row_of_the_real_page_has_the_id_that_its_facts_name(page: str) -> None:
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for unit, one in zip(units(page), REQUIREMENTS, strict=True):
        if not unit.labels:
            assert one.row == "", one.id
            continue
        first = (unit.section, unit.labels) not in seen
        seen.add((unit.section, unit.labels))
        assert (one.id == one.row) is first, one.id
        assert one.labels == unit.labels


def original(page: str, id_: str) -> str:
    """The sentence of the page that the requirement holds, which stands there once."""
    sentence = next(unit.sentence for unit in units(page) if unit.digest == requirement(id_).digest)
    assert page.count(sentence) == 1
    return sentence


@pytest.mark.parametrize("id_", ["batch.tasks-cancelled", "code-mode.duplicate-parents", "acceptance.no-substitute"])
def test_a_sentence_that_changed_on_the_real_page_is_told_with_its_entry(page: str, id_: str) -> None:
    sentence = original(page, id_)
    changes = drift(page.replace(sentence, f"Seldom: {sentence}"))
    assert [(change.kind, change.requirement) for change in changes] == [(DriftKind.CHANGED, id_)]
    assert changes[0].sentence == f"Seldom: {sentence}"


def test_a_sentence_that_left_the_real_page_is_told_with_its_entry(page: str) -> None:
    id_ = "code-mode.missing-stays-null"
    changes = drift(page.replace(original(page, id_), ""))
    assert [(change.kind, change.requirement) for change in changes] == [(DriftKind.REMOVED, id_)]


def test_a_new_row_on_the_real_page_is_told_with_its_label(page: str) -> None:
    changes = drift(page.replace("| `Rollback` |", "| `Bees` | Those that came by. |\n| `Rollback` |"))
    assert told(changes) == [("added", "", ("Bees",), "Those that came by.")]


def test_a_row_that_left_the_real_page_is_told_with_each_of_its_rules(page: str) -> None:
    rows = [line for line in page.splitlines(keepends=True) if line.startswith("| `Child references complete` |")]
    assert len(rows) == 2  # the first is that of Code Mode, with a null rule that the next row repeats word for word
    changes = drift(page.replace(rows[0], ""))
    assert [(change.kind, change.requirement) for change in changes] == [
        (DriftKind.REMOVED, "code-mode.child-references-complete"),
        (DriftKind.REMOVED, "code-mode.child-references-complete.null"),
    ]
