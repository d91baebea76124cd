"""One run, event after event: the rules of order inside it, and its activities with their folded cards.

Source: ``local-agent-tool-cards.md``, "Live event and ordering"; ``local-agent-protocol.md``, "Turns, approvals and
events".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from harness.spec import bounds
from harness.wire.breaches import Breaches, Key
from harness.wire.checking import Report
from harness.wire.content import check_card
from harness.wire.events import ActivityEvent, InputPersisted, MessageReconcile, RunFinished, ToolCard
from harness.wire.fold import Snapshot, newer
from harness.wire.frames import Frame
from harness.wire.relations import check_relations, parent_of
from harness.wire.shapes import Card

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_EFFECTS = ("applied", "partial")
CARD = "/data/card"
"""Where the card stands in the frame of a ``tool.card`` event."""


@dataclass(slots=True)
class Activity:
    """One activity of a run. `order` is the seq of its first frame. `kind` and `name` are those of its base activity,
    "" when none was seen; `ended` when that was completed or failed. `snapshot` is the folded card and `latest` the one
    that arrived last, both None while no card was seen. `outcome`, `effects` and `decided` are what any snapshot has
    said before: an outcome, applied or partial changes, a protection decision."""

    id: str
    key: Key
    order: int
    kind: str = ""
    name: str = ""
    ended: bool = False
    snapshot: Snapshot | None = None
    latest: Snapshot | None = None
    outcome: str | None = None
    effects: bool = False
    decided: bool = False

    @property
    def finished(self) -> bool:
        return self.snapshot is not None and self.snapshot.card.state == "finished"


@dataclass(slots=True)
class Run:
    """One run. `turn` is its 1-based number among the turns of the session, None while no input was persisted.
    `finished` is None while the run goes on, and stays so when the capture ends before the run does."""

    id: str
    session_id: str
    turn: int | None = None
    admitted: bool = False
    persisted: bool = False
    finished: RunFinished | None = None
    activities: dict[str, Activity] = field(default_factory=dict)
    _cards: int = 0
    _snapshots: int = 0
    _bytes: int = 0
    _retained: int = 0
    _parts: dict[str, int] = field(default_factory=dict)

    def event(self, frame: Frame, breaches: Breaches) -> None:
        """Take one event of this run."""
        data, name = frame.data, frame.event
        if self.finished is not None:
            breaches.add("wire.run-terminal", "nothing after run.finished", name, label=name, pointer="/event")
            return
        if not self.admitted:
            breaches.add("wire.admission", "first the answer to turn.start", name, label=name, pointer="/data/run_id")
            self.admitted = True
        match data:
            case ToolCard():
                if not self.persisted:
                    self._needs_input(name, breaches)
                if data.card is not None and frame.card_text is not None:
                    self._card(data, data.card, frame.card_text, frame.seq, breaches)
            case ActivityEvent():
                if not self.persisted:
                    self._needs_input(name, breaches)
                self._activity(data, frame.seq, breaches)
            case InputPersisted():
                if self.persisted:
                    breaches.add("wire.input-first", "one input.persisted", "one more", label=name, pointer="/event")
                self.persisted = True
            case MessageReconcile():
                self._reconcile(data, breaches)
            case RunFinished():
                self.finished = data
                self.close(breaches)
            case _:
                pass  # nothing orders deltas, diagnostics, approvals and client tools within their run

    def _needs_input(self, name: str, breaches: Breaches) -> None:
        breaches.add("wire.input-first", "first input.persisted", name, label=name, pointer="/event")

    def _activity(self, data: ActivityEvent, seq: int, breaches: Breaches) -> None:
        activity = self.activities.get(data.activity_id)
        if activity is None:
            activity = self._admit(data.activity_id, seq, breaches)
        if not activity.kind:
            activity.kind, activity.name = data.kind, data.name
        if data.state != "started":
            activity.ended = True
            if activity.finished:
                breaches.add(
                    "wire.activity-first",
                    "the base activity ends before its first finished card",
                    f"{data.state} after a finished card",
                    key=activity.key,
                    label="ended",
                    pointer="/data/state",
                )

    def _admit(self, identity: str, seq: int, breaches: Breaches) -> Activity:
        if not _ID.fullmatch(identity):
            expected, at = "1 to 64 of A-Z a-z 0-9 . _ -", "/data/activity_id"
            breaches.add("wire.id-grammar", expected, repr(identity), label="id", pointer=at)
        activity = self.activities[identity] = Activity(identity, Key(self.id, identity), seq)
        return activity

    def _card(self, data: ToolCard, card: Card, text: bytes, seq: int, breaches: Breaches) -> None:
        activity = self.activities.get(data.activity_id)
        if activity is None:
            activity = self._admit(data.activity_id, seq, breaches)
        report = breaches.reporter(activity.key, CARD)
        if not activity.kind:
            report("wire.activity-first", "started", "", "a started base activity first", "none")
        if data.part != 0 or not data.last_part:
            report("wire.single-part", "", "", "part 0, the last", f"part {data.part}, last {data.last_part}")
        if data.activity_id != card.activity_id:
            report("wire.card-identity", "event", "/activity_id", data.activity_id, card.activity_id)
        if card.origin != "live":
            report("wire.origin", "", "/origin", "live", card.origin)
        snapshot = Snapshot(key=activity.key, card=card, text=text, spot=breaches.spot, pointer=CARD)
        self._succession(activity, snapshot, report)
        self._parent(snapshot, report)
        self._budget(activity, len(text), breaches)
        check_card(card, len(text), report)
        activity.snapshot = newer(activity.snapshot, snapshot)
        activity.latest = snapshot

    def _succession(self, activity: Activity, snapshot: Snapshot, report: Report) -> None:
        card, latest = snapshot.card, activity.latest
        if latest is None:
            if card.revision != 0:
                report("wire.revision", "first", "/revision", "0 first", str(card.revision))
        elif card.revision < latest.card.revision:
            report("wire.revision", "order", "/revision", f"more than {latest.card.revision}", str(card.revision))
        elif card.revision == latest.card.revision and snapshot.text != latest.text:
            seen = f"other bytes than in line {latest.spot.number}"
            report("wire.revision", "content", "/revision", f"one content of revision {card.revision}", seen)
        if activity.finished and card.state == "running":
            report("wire.finished-stays", "", "/state", "finished as before", card.state)
        if activity.outcome is not None and card.outcome not in (activity.outcome, None):
            report("wire.facts-stay", "outcome", "/outcome", f"{activity.outcome} as before", str(card.outcome))
        activity.outcome = activity.outcome or card.outcome
        if card.changes in _EFFECTS:
            activity.effects = True
        elif activity.effects:
            report("wire.facts-stay", "changes", "/changes", "applied or partial as before", card.changes)
        if card.metadata.public_protection.decision != "not_reported":
            activity.decided = True
        elif activity.decided:
            at = "/metadata/public_protection/decision"
            report("wire.facts-stay", "decision", at, "a decision as before", "not_reported")

    def _parent(self, snapshot: Snapshot, report: Report) -> None:
        parent = parent_of(snapshot)
        if parent is not None and parent not in self.activities:
            report("wire.parent-known", "order", "/parent_activity_id", "an activity shown before", parent)

    def _budget(self, activity: Activity, size: int, breaches: Breaches) -> None:
        self._cards += activity.latest is None
        self._snapshots += 1
        self._bytes += size
        self._retained += size - (len(activity.latest.text) if activity.latest else 0)
        if (
            self._cards <= bounds.CARDS_PER_RUN
            and self._snapshots <= bounds.SNAPSHOTS_PER_RUN
            and self._bytes <= bounds.RUN_SNAPSHOT_BYTES
            and self._retained <= bounds.RETAINED_CARD_BYTES
        ):
            return
        for what, amount, bound in (
            ("cards", self._cards, bounds.CARDS_PER_RUN),
            ("snapshots", self._snapshots, bounds.SNAPSHOTS_PER_RUN),
            ("bytes of snapshots", self._bytes, bounds.RUN_SNAPSHOT_BYTES),
            ("bytes of latest snapshots", self._retained, bounds.RETAINED_CARD_BYTES),
        ):
            if amount > bound:
                breaches.add("wire.run-budget", f"at most {bound} {what}", f"{amount} {what}", label=what, pointer=CARD)

    def _reconcile(self, data: MessageReconcile, breaches: Breaches) -> None:
        expected = self._parts.get(data.message_id, 0)
        if data.part != expected:
            breaches.add("wire.message-parts", f"part {expected}", f"part {data.part}", pointer="/data/part")
        self._parts[data.message_id] = 0 if data.last_part else data.part + 1

    def close(self, breaches: Breaches) -> None:
        """Check what can be said only at the end: at ``run.finished``, or where the capture ends without it."""
        cards = {activity.id: activity.snapshot for activity in self.activities.values() if activity.snapshot}
        if self.finished is not None:
            how = f"{self.finished.outcome}, {self.finished.error_code or 'no error'}"
            for held in cards.values():
                if held.card.state == "running":
                    seen = f"revision {held.card.revision} is running as the run ends ({how})"
                    expected = "a finished snapshot before run.finished"
                    breaches.add("wire.final-snapshot", expected, seen, key=held.key, pointer="/event")
        check_relations(cards, breaches, whole=self.finished is not None)
