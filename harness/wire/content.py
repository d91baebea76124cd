"""What one snapshot of a card must be by itself: its bounds, and members that agree with each other.

Every check works on the real bytes or on values decoded from them, and hands what it finds to `report`; nothing here
stops at the first breach.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET

from harness.spec import bounds
from harness.wire.checking import Report, over
from harness.wire.factrows import check_rows
from harness.wire.shapes import (
    LOSS_REASONS,
    Block,
    Card,
    Children,
    Command,
    Diff,
    DiffLine,
    Progress,
    Resources,
    Results,
    Rowless,
    Text,
)

SUMMARY_BYTES = 256
HINT_BYTES = 64
"""``local-agent-tool-cards.md``: protection summary; language and signal."""
_SURELY_SHORT = bounds.TITLE_BYTES // 4
"""Characters. A text that is no longer is within every bound but that of hints, however many bytes each takes."""

_OUTSIDE = {"complete": False, "none": False, "truncated": True, "unavailable": True}
_PRIORITY = {reason: place for place, reason in enumerate(LOSS_REASONS)}


def check_card(card: Card, size: int, report: Report) -> None:
    """Everything about one snapshot; `size` is the number of bytes of the card as it was sent."""
    if size > bounds.CARD_BYTES:
        report("wire.card-bytes", "", "", f"at most {bounds.CARD_BYTES} bytes", f"{size} bytes")
    if size > bounds.CORE_BYTES and _is_core(card):
        report("wire.core-bytes", "", "", f"at most {bounds.CORE_BYTES} bytes", f"a core of {size} bytes")
    if card.card_id != card.activity_id:
        report("wire.card-identity", "card_id", "/card_id", card.activity_id, card.card_id)
    if (card.state == "running") is not (card.outcome is None):
        report("wire.outcome-state", "", "/outcome", "null while running, else a word", f"{card.state}, {card.outcome}")
    if (card.parent_state == "root" and card.parent_activity_id is not None) or (
        card.parent_state == "available" and card.parent_activity_id is None
    ):
        expected = "no id for root, an id for available"
        report("wire.parent-state", "", "/parent_state", expected, f"{card.parent_state}, {card.parent_activity_id}")
    _check_losses(card, report)
    if len(card.title) > _SURELY_SHORT:
        _check_text(report, card.title, bounds.TITLE_BYTES, "/title", rule="wire.title-bytes")
    _check_metadata(card, report)
    if len(card.blocks) > bounds.BLOCKS_PER_CARD:
        report("wire.blocks", "", "/blocks", f"at most {bounds.BLOCKS_PER_CARD} blocks", f"{len(card.blocks)} blocks")
    for index, block in enumerate(card.blocks):
        if isinstance(block, Rowless) and block.rows is not UNSET:
            report("wire.exact-members", _STRAY[type(block)], f"/blocks/{index}/rows", "no such member", "a member")
        _CHECKS[type(block)](block, f"/blocks/{index}", report)
        if type(block) is Children and block.total is not None and block.total > len(block.children):
            _check_children_omitted(card, block.total - len(block.children), f"/blocks/{index}", report)
    check_rows(card, report)


def _is_core(card: Card) -> bool:
    """Whether this looks like a card reduced to its core: title and blocks omitted for want of room, no metadata."""
    subjects = {item.subject: item.reason for item in card.omissions}
    metadata = card.metadata
    return (
        subjects.get("blocks") in ("size_limit", "budget_limit")
        and "title" in subjects
        and metadata.tool_name is metadata.resource_path is metadata.working_directory is None
    )


def _check_losses(card: Card, report: Report) -> None:
    detail = card.detail
    if _OUTSIDE[detail.availability] is (detail.reason is None):
        expected = "a reason for truncated and unavailable, else null"
        report("wire.detail-reason", "reason", "/detail", expected, f"{detail.availability}, {detail.reason}")
    if not card.omissions:
        return
    if len({item.subject for item in card.omissions}) != len(card.omissions):
        subjects = ", ".join(item.subject for item in card.omissions)
        report("wire.omission-subjects", "", "/omissions", "one omission for each subject", subjects)
    first = min((item.reason for item in card.omissions), key=_PRIORITY.__getitem__)
    if not _OUTSIDE[detail.availability] or detail.reason != first:
        seen = f"{detail.availability}, {detail.reason}"
        report("wire.detail-reason", "omissions", "/detail", f"truncated or unavailable, {first}", seen)


def _check_metadata(card: Card, report: Report) -> None:
    metadata = card.metadata
    path, name, folder = metadata.resource_path, metadata.tool_name, metadata.working_directory
    summary = metadata.public_protection.summary
    for text in (path, name, folder, summary):
        if text is not None and len(text) > _SURELY_SHORT:
            break
    else:
        return
    for member, text, bound in (
        ("resource_path", path, bounds.METADATA_BYTES),
        ("tool_name", name, bounds.METADATA_BYTES),
        ("working_directory", folder, bounds.METADATA_BYTES),
        ("public_protection/summary", summary, SUMMARY_BYTES),
    ):
        _check_text(report, text, bound, f"/metadata/{member}", rule="wire.metadata-bytes")


def _check_text(
    report: Report, text: str | None, bound: int, pointer: str, *, rule: str = "wire.text-bytes", label: str = ""
) -> None:
    """`label` is the last step of the pointer when none is given."""
    if text is not None and (size := over(text, bound)) is not None:
        report(rule, label or pointer.rpartition("/")[2], pointer, f"at most {bound} bytes", f"{size} bytes")


def _too_many(report: Report, count: int, bound: int, pointer: str) -> None:
    what = pointer.rpartition("/")[2]
    report("wire.block-size", what, pointer, f"at most {bound} {what}", f"{count} {what}")


def _check_results(block: Results, at: str, report: Report) -> None:
    if len(block.rows) > bounds.ROWS_PER_BLOCK:
        _too_many(report, len(block.rows), bounds.ROWS_PER_BLOCK, f"{at}/rows")


def _check_resources(block: Resources, at: str, report: Report) -> None:
    if len(block.rows) > bounds.ROWS_PER_BLOCK:
        _too_many(report, len(block.rows), bounds.ROWS_PER_BLOCK, f"{at}/rows")
    for index, row in enumerate(block.rows):
        if len(row.label) > _SURELY_SHORT or (row.location is not None and len(row.location) > _SURELY_SHORT):
            _check_text(report, row.label, bounds.STRING_BYTES, f"{at}/rows/{index}/label")
            _check_text(report, row.location, bounds.STRING_BYTES, f"{at}/rows/{index}/location")


def _check_text_block(block: Text, at: str, report: Report) -> None:
    if len(block.text) > _SURELY_SHORT:
        _check_text(report, block.text, bounds.PREVIEW_BYTES, f"{at}/text")
    if block.language is not None:
        _check_text(report, block.language, HINT_BYTES, f"{at}/language")


def _check_command(block: Command, at: str, report: Report) -> None:
    _check_text(report, block.command, bounds.PREVIEW_BYTES, f"{at}/command")
    _check_text(report, block.working_directory, bounds.METADATA_BYTES, f"{at}/working_directory")
    _check_text(report, block.signal, HINT_BYTES, f"{at}/signal")


def _check_diff(block: Diff, at: str, report: Report) -> None:
    _check_text(report, block.old_path, bounds.METADATA_BYTES, f"{at}/old_path")
    _check_text(report, block.new_path, bounds.METADATA_BYTES, f"{at}/new_path")
    if len(block.lines) > bounds.DIFF_LINES_PER_BLOCK:
        _too_many(report, len(block.lines), bounds.DIFF_LINES_PER_BLOCK, f"{at}/lines")
    for index, line in enumerate(block.lines):
        _check_text(report, line.text, bounds.STRING_BYTES, f"{at}/lines/{index}/text", label="lines.text")
        if not _numbers_fit(line):
            seen = f"{line.kind} with old {line.old_line}, new {line.new_line}"
            report("wire.diff-lines", line.kind, f"{at}/lines/{index}", "only the numbers of its kind", seen)


def _numbers_fit(line: DiffLine) -> bool:
    match line.kind:
        case "context":
            return True
        case "added":
            return line.old_line is None
        case "removed":
            return line.new_line is None
        case _:
            return line.old_line is line.new_line is None


def _check_child_rows(block: Children, at: str, report: Report) -> None:
    shown = len(block.children)
    if shown > bounds.CHILDREN_PER_BLOCK:
        _too_many(report, shown, bounds.CHILDREN_PER_BLOCK, f"{at}/children")
    if block.total is not None and block.total < shown:
        report("wire.children-total", "", f"{at}/total", f"at least {shown}", str(block.total))
    unsure = [
        index
        for index, child in enumerate(block.children)
        if len(child.title) > _SURELY_SHORT or (child.state == "running") is not (child.outcome is None)
    ]
    for index in unsure:
        child, here = block.children[index], f"{at}/children/{index}"
        _check_text(report, child.title, bounds.TITLE_BYTES, f"{here}/title", rule="wire.title-bytes", label="child")
        if (child.state == "running") is not (child.outcome is None):
            seen = f"{child.state}, {child.outcome}"
            report("wire.outcome-state", "child", f"{here}/outcome", "null while running, else a word", seen)


def _check_children_omitted(card: Card, missing: int, pointer: str, report: Report) -> None:
    told = next((item for item in card.omissions if item.subject == "children"), None)
    if told is None or told.omitted_count not in (None, missing):
        seen = "not omitted" if told is None else f"{told.omitted_count} omitted"
        report("wire.children-omitted", "", pointer, f"{missing} children omitted, or null", seen)


def _check_progress(block: Progress, at: str, report: Report) -> None:
    if len(block.label) > _SURELY_SHORT:
        _check_text(report, block.label, bounds.STRING_BYTES, f"{at}/label")
    if block.completed is not None and block.total is not None and block.completed > block.total:
        report("wire.progress", "", f"{at}/completed", f"at most {block.total}", str(block.completed))


_CHECKS: dict[type[Block], Callable[..., None]] = {
    Results: _check_results,
    Resources: _check_resources,
    Text: _check_text_block,
    Command: _check_command,
    Diff: _check_diff,
    Children: _check_child_rows,
    Progress: _check_progress,
}
_STRAY: dict[type[Block], str] = {
    Text: "text.rows",
    Command: "command.rows",
    Diff: "diff.rows",
    Children: "children.rows",
    Progress: "progress.rows",
}
"""Labels of the breach, made once: releases break this rule in nearly every snapshot."""
