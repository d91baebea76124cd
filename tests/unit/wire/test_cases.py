"""What a capture gave cases of: a wire rule that nothing in it is about must not be counted as kept."""

from __future__ import annotations

import pytest

from harness.wire.cases import CASES, Cases, Counted
from harness.wire.reading import read_capture
from harness.wire.rules import RULES
from tests.support.wire_frames import (
    SCRIPT_VALUES,
    Wire,
    below,
    card,
    children,
    entry,
    omitted,
    progress,
    results,
    row,
    rows,
    running,
    saved,
    text,
)


def _cases(wire: Wire) -> dict[str, int]:
    cases = Cases()
    return cases.of(read_capture(wire.encode(), cases.take))


def test_every_wire_rule_says_what_is_counted_for_it() -> None:
    assert set(CASES) == {rule.id for rule in RULES}
    assert set(CASES.values()) == set(Counted.__slots__)


def test_an_empty_capture_is_a_case_of_nothing() -> None:
    assert _cases(Wire()) == {}


def test_a_conversation_without_a_run_is_a_case_of_frames_requests_and_responses_only() -> None:
    found = _cases(Wire().initialize().create().shutdown())
    frames = ("frame-bytes", "frame-json", "json-depth", "envelope", "seq", "one-instance", "request", "response")
    assert found == {f"wire.{name}": 3 for name in frames} | {"wire.descriptor": 1}


def test_a_run_is_counted_by_its_events_snapshots_and_cards() -> None:
    wire = Wire().initialize().create().start()
    child = card("c", **below("s"))
    wire.activity("s", name="code_mode")
    wire.card(running(card("s", "code_mode")))
    wire.show(child)
    wire.activity("s", "completed", name="code_mode")
    blocks = [rows(SCRIPT_VALUES), text("hello"), children(child, total=2), progress(1, 2)]
    told = [omitted("children", count=1)]
    detail = {"availability": "truncated", "reason": "size_limit"}
    wire.card(card("s", "code_mode", revision=1, blocks=blocks, omissions=told, detail=detail))
    wire.finish().shutdown()

    found = _cases(wire)

    assert found["wire.frame-bytes"] == 4 + 10  # four responses; input, four activities, four snapshots, the end
    assert found["wire.unknown-event"] == found["wire.exact-members"] == found["wire.schema"] == 10
    assert found["wire.id-grammar"] == 4
    assert found["wire.card-bytes"] == found["wire.revision"] == found["wire.origin"] == 4
    assert found["wire.facts-stay"] == 2
    assert "wire.finished-stays" not in found  # no snapshot follows a finished one
    assert found["wire.block-size"] == found["wire.text-bytes"] == 4
    assert found["wire.progress"] == found["wire.children-total"] == found["wire.children-omitted"] == 1
    assert found["wire.omission-subjects"] == 1
    assert "wire.core-bytes" not in found
    assert found["wire.fact-label"] == found["wire.fact-outcome"] == len(SCRIPT_VALUES)
    assert found["wire.fact-spelling"] == len(SCRIPT_VALUES) - 1  # one of them is null
    assert found["wire.fact-repeated"] == 1
    assert "wire.fact-rows" not in found
    assert found["wire.parent-known"] == found["wire.hierarchy"] == found["wire.task-scope"] == 1
    assert found["wire.children-known"] == 1
    assert found["wire.final-snapshot"] == 2
    assert found["wire.run-terminal"] == found["wire.run-budget"] == found["wire.admission"] == 1
    assert "wire.page-bytes" not in found


def test_a_run_that_does_not_end_is_no_case_of_its_end() -> None:
    wire = Wire().initialize().create().start()
    wire.show(card("c"))
    found = _cases(wire)
    assert "wire.final-snapshot" not in found
    assert "wire.run-terminal" not in found
    assert found["wire.input-first"] == 1


def test_a_snapshot_after_a_finished_one_is_a_case_of_what_stays() -> None:
    wire = Wire().initialize().create().start()
    wire.show(card("c"))
    wire.card(card("c", revision=2))
    assert _cases(wire.finish())["wire.finished-stays"] == 1


def test_a_history_is_counted_by_pages_entries_and_cards() -> None:
    wire = Wire().initialize().open()
    script = card(
        "s", "code_mode", blocks=[rows(SCRIPT_VALUES), results(row("Changed path", "a"), row("Warning", "w"))]
    )
    wire.page([entry("u"), saved(script)], next_cursor="1")
    wire.page([saved(card("r")), entry("x", "activity", tool_card=None)], cursor="1")
    found = _cases(wire.shutdown())
    assert found["wire.page-bytes"] == found["wire.page-chain"] == 2
    assert found["wire.entry-parts"] == 4
    assert found["wire.attachment"] == 3
    assert found["wire.saved-card"] == found["wire.card-bytes"] == 2
    assert found["wire.fact-rows"] == 1
    assert found["wire.fact-bytes"] == 1  # the warning: paths are bounded by their rows, the intent by nothing here
    assert "wire.page-repeat" not in found


def test_a_page_that_is_asked_for_again_is_a_case_of_repetition() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u")])
    wire.page([entry("u")])
    found = _cases(wire.shutdown())
    assert found["wire.page-repeat"] == 1
    assert found["wire.page-bytes"] == 1


@pytest.mark.parametrize(("subjects", "cores"), [(("title", "blocks"), 1), (("blocks",), 0), (("title",), 0)])
def test_only_a_card_without_title_and_blocks_is_a_core(subjects: tuple[str, ...], cores: int) -> None:
    wire = Wire().initialize().open()
    detail = {"availability": "truncated", "reason": "size_limit"}
    wire.page([entry("u"), saved(card("r", omissions=[omitted(one) for one in subjects], detail=detail))])
    assert _cases(wire).get("wire.core-bytes", 0) == cores


def test_pages_asked_for_again_and_histories_add_up() -> None:
    wire = Wire().initialize().open()
    for _ in range(3):
        wire.page([entry("u"), saved(card("r"))])
    wire.open("saved-2")
    wire.page([entry("u"), saved(card("r")), saved(card("q"))], revision="saved-2")
    found = _cases(wire.shutdown())
    assert found["wire.page-repeat"] == 2
    assert found["wire.attachment"] == found["wire.saved-card"] == 3
    assert found["wire.page-bytes"] == 2
    assert found["wire.entry-parts"] == 5


@pytest.mark.parametrize("member", ["tool_name", "resource_path", "working_directory"])
def test_a_card_with_one_text_in_its_metadata_is_one_case_of_their_bound(member: str) -> None:
    wire = Wire().initialize().open()
    named = card("r")
    named["metadata"][member] = "x"
    wire.page([entry("u"), saved(named), saved(card("q"))])
    assert _cases(wire.shutdown())["wire.metadata-bytes"] == 1
