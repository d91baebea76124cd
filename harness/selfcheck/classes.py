"""The classes of mutants: what each changes, and what must be seen of it for a mutant to count as caught."""

from __future__ import annotations

from typing import NamedTuple

from harness.selfcheck.mutant import Signal

_TOLD = frozenset((Signal.FINDING, Signal.UNREADABLE))
_READ = _TOLD | {Signal.NOTHING_COMPARED}
_SHOWN = _READ | {Signal.COMPARISON_LOST, Signal.READING_LOST}


class Class(NamedTuple):
    """One class. `caught` are the signals that count. `harmless`: nothing in it is a fact, and noticing it is wrong."""

    id: str
    text: str
    caught: frozenset[Signal] = _TOLD
    harmless: bool = False


CLASSES: tuple[Class, ...] = (
    Class("fact-value", "local agent: another value of a fact row, well spelled"),
    Class("fact-null", "local agent: null for a value, a value for null"),
    Class("fact-spelling", "local agent: a value spelled as its type cannot be"),
    Class("fact-row", "local agent: a fact row dropped, repeated, swapped, mislabelled or misshapen"),
    Class("row-outcome", "local agent: another outcome of a fact row than unknown"),
    Class("card-member", "local agent: another outcome, changes, detail, schema version or tool of a card"),
    Class("card-shape", "local agent: a member of a card missing, foreign or of another type"),
    Class("omission", "local agent: an omission of a card counted, reasoned, named or repeated otherwise"),
    Class("bound", "local agent: one more, or one byte more, than a bound allows"),
    Class("state", "local agent: a card that runs when it has ended"),
    Class("origin", "local agent: live cards saved, saved cards live"),
    Class("revision", "local agent: revisions that do not begin, grow or stay as they must"),
    Class("parent", "local agent: another parent, parent state, task id, card id"),
    Class("child", "local agent: another reference to a child"),
    Class("order", "local agent: frames lost, repeated or in another order"),
    Class("frame", "local agent: an envelope that breaks the protocol, or bytes that are no frame", _READ),
    Class("history", "local agent: pages and entries of a history that do not fit together"),
    Class("capture-line", "local agent: a line that no recorder writes"),
    Class("screen-value", "Mission Control: another digit, word or letter on the screen"),
    Class("screen-null", "Mission Control: null for a value, a value for null, on the screen"),
    Class("screen-chip", "Mission Control: another mark of a task", _SHOWN),
    Class("screen-label", "Mission Control: another letter in what names a value", _SHOWN),
    Class("screen-row", "Mission Control: a row blanked, or scrolled away", _SHOWN),
    Class("report-member", "saved report: another value of a member, null, lost or of another type"),
    Class("report-shape", "saved report: tasks, sizes and members beyond what the owned report may be"),
    Class("nested-record", "saved records: calls and results lost, repeated, of another parent or id, turned over"),
    Class("usage-snapshot", "saved records: other usage of a task"),
    Class("child-session", "saved records: child sessions lost, exchanged, cut, or ending otherwise"),
    Class("record-line", "saved records: lines that are no record of this session"),
    Class("workspace", "listings of the workspace: files added, lost or changed, before, after and reopened"),
    Class("reopening", "the model's log: requests while a session is reopened"),
    Class("stimulus", "the stimulus of a run or of its scenario changed", frozenset((Signal.STALE,))),
    Class("integrity", "bytes of a sealed bundle changed, lost, added or exchanged", frozenset((Signal.DAMAGED,))),
    Class("authorization", "signature, statement, policy, time or manifest changed", frozenset((Signal.REFUSED,))),
    Class("no-fact", "colours, titles, previews, ids, times: nobody may be told by them", _SHOWN, harmless=True),
)
BY_ID = {one.id: one for one in CLASSES}
