"""Saved history, page after page: the rules of paging, and the entries with their cards in transcript order.

Source: ``local-agent-protocol.md``, "Owned sessions and chat history"; ``local-agent-tool-cards.md``, "Negotiated saved
history".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from msgspec import UNSET, Raw, UnsetType

from harness.spec import bounds
from harness.wire.breaches import Breaches, Key
from harness.wire.content import check_card
from harness.wire.fold import Snapshot
from harness.wire.frames import decode_card
from harness.wire.locate import pattern
from harness.wire.relations import check_relations
from harness.wire.shapes import Natural, Shape
from harness.wire.strict import Strict, WireError

PAGE_ENTRIES = 100
"""``local-agent-protocol.md``, "Bounds and failure policy"."""


class PageParams(Shape, frozen=True, kw_only=True):
    cursor: str | None = None
    revision: str
    session_id: str


class _Entry(Shape, frozen=True, kw_only=True):
    kind: Literal["user", "assistant", "reasoning_summary", "activity", "compaction", "diagnostic"]
    last_part: bool
    message_id: str
    part: Natural
    partial: bool
    text: str
    tool_card: Raw | UnsetType = UNSET


class _Page(Shape, frozen=True, kw_only=True):
    """`next_cursor` None: the last page."""

    complete: bool
    entries: tuple[_Entry, ...]
    next_cursor: str | None
    revision: str
    session_id: str


_page = Strict(_Page, closed=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the transcript. `snapshot` is the card of an activity; None when the product attached null (it
    could not map the activity safely), when its card could not be read, and for every other kind."""

    kind: str
    message_id: str
    snapshot: Snapshot | None


@dataclass(slots=True)
class History:
    """One revision of one session, as far as it was paged. `read` is True when its last page was read; `complete` is
    what that page says of the stored projection (False after an interrupted turn)."""

    session_id: str
    revision: str
    entries: list[Entry] = field(default_factory=list)
    read: bool = False
    complete: bool = False
    cursor: str | None = None
    pages: dict[str | None, bytes] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    part: int = 0
    message_id: str = ""

    @property
    def turns(self) -> int:
        return sum(entry.kind == "user" for entry in self.entries)

    def page(self, asked: PageParams, text: bytes, breaches: Breaches) -> None:
        """Take one page. Raises WireError when it is none."""
        page = _page(text, "/result")[0]
        if len(text) > bounds.HISTORY_PAGE_BYTES:
            limit = f"at most {bounds.HISTORY_PAGE_BYTES} bytes"
            breaches.add("wire.page-bytes", limit, f"{len(text)} bytes", pointer="/result")
        if len(page.entries) > PAGE_ENTRIES:
            seen = f"{len(page.entries)} entries"
            breaches.add("wire.page-entries", f"at most {PAGE_ENTRIES} entries", seen, pointer="/result/entries")
        for member, wanted, found in (
            ("session_id", asked.session_id, page.session_id),
            ("revision", asked.revision, page.revision),
        ):
            if wanted != found:
                breaches.add("wire.page-chain", wanted, found, label=member, pointer=f"/result/{member}")
        again = asked.cursor in self.pages
        goes_back = not again and page.next_cursor in {asked.cursor, *self.pages}
        if page.next_cursor is not None and (page.complete or goes_back):
            seen = "complete with more pages" if page.complete else "the cursor of a page before"
            breaches.add(
                "wire.page-chain",
                "a new cursor, complete on the last page only",
                seen,
                label="cursor",
                pointer="/result",
            )
        if again:
            if self.pages[asked.cursor] != text:
                breaches.add("wire.page-repeat", "the page as it was", "another page", pointer="/result")
            return
        if asked.cursor != self.cursor:
            return  # the client skipped a page: what stands between is unknown, and the history stays unread
        self.pages[asked.cursor] = text
        self.cursor = page.next_cursor
        for index, entry in enumerate(page.entries):
            self._entry(entry, f"/result/entries/{index}", breaches)
        if page.next_cursor is None:
            self.read, self.complete = True, page.complete
            if self.message_id:
                breaches.add("wire.entry-parts", "a last part", "the history ends", label="last", pointer="/result")

    def _entry(self, entry: _Entry, at: str, breaches: Breaches) -> None:
        if (self.message_id or entry.message_id) != entry.message_id or entry.part != self.part:
            expected = f"part {self.part}" + (f" of {self.message_id}" if self.message_id else "")
            seen = f"part {entry.part} of {entry.message_id}"
            breaches.add("wire.entry-parts", expected, seen, label="number", pointer=f"{at}/part")
        if entry.part == 0:
            if entry.message_id in self.ids:
                breaches.add("wire.entry-parts", "a new id", "an id that stands before", label="id", pointer=at)
            self.ids.add(entry.message_id)
        self.message_id = "" if entry.last_part else entry.message_id
        self.part = 0 if entry.last_part else entry.part + 1
        attached = isinstance(entry.tool_card, Raw)
        if attached is not (entry.kind == "activity" and entry.part == 0):
            expected = "a card or null" if not attached else "no tool_card"
            seen = f"part {entry.part} of {entry.kind}"
            breaches.add("wire.attachment", expected, seen, label=entry.kind, pointer=at)
        if entry.part == 0:
            snapshot = self._card(entry, f"{at}/tool_card", breaches)
            self.entries.append(Entry(entry.kind, entry.message_id, snapshot))

    def _card(self, entry: _Entry, at: str, breaches: Breaches) -> Snapshot | None:
        if not isinstance(entry.tool_card, Raw):
            return None
        text = bytes(entry.tool_card)
        if text == b"null":
            return None
        key = Key(self.revision, entry.message_id)
        try:
            card, beyond = decode_card(text, at)
        except WireError as error:
            label = pattern(error.path.removeprefix(at))
            breaches.add(error.rule, "the agreed shape", error.message, key=key, label=label, pointer=error.path)
            return None
        report = breaches.reporter(key, at)
        for member in beyond:
            inside = member.removeprefix(at)
            report("wire.exact-members", pattern(inside), inside, "no such member", "a member")
        if card.activity_id != entry.message_id:
            report("wire.saved-card", "id", "/activity_id", entry.message_id, card.activity_id)
        if card.state != "finished":
            report("wire.saved-card", "state", "/state", "finished", card.state)
        if card.revision != 0:
            report("wire.saved-card", "revision", "/revision", "0", str(card.revision))
        if card.origin != "saved":
            report("wire.origin", "", "/origin", "saved", card.origin)
        check_card(card, len(text), report)
        return Snapshot(key=key, card=card, text=text, spot=breaches.spot, pointer=at)

    def close(self, breaches: Breaches) -> None:
        """Check what can be said only when the whole history, or all that there will be, is known."""
        cards = {entry.message_id: entry.snapshot for entry in self.entries if entry.snapshot is not None}
        check_relations(cards, breaches, whole=self.read)
