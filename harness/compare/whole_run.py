"""Rules of a whole run: what reopening it must not do, and what no fact of it may tell.

Both need more of a bundle than its columns: the listings of the workspace and the log of the scripted model, and the
texts that the run kept to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from harness.compare.structure import STATUSES
from harness.compare.tried import Tried, broken, kept
from harness.model.errors import DecodeError
from harness.model.facts import SURFACES, CardFacts, CardKind, Column, ColumnFacts, Fact, Place, Problem
from harness.model.values import Value, known
from harness.spec.facts import FactType, facts_of

NO_REPLAY = "acceptance.no-replay"
REOPEN_INERT = "code-mode.reopen-inert"
NO_SUBSTITUTE = "acceptance.no-substitute"
NEVER_CONTEXT = "task.task-intent.never-context"
PRIVATE = "task.activity-private"
_SHOWN = 80


class ListedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the workspace; `size` in bytes."""

    path: str
    size: int
    sha256: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request that the scripted model got. `at`: seconds since the epoch; `lane` is "" for a request of no agent;
    `fault` says why the script could not answer it, "" otherwise."""

    at: float
    lane: str
    fault: str = ""


class Reopening(msgspec.Struct, frozen=True, kw_only=True):
    """What a run left, and what it was like after the reopenings. None: the bundle does not say.

    `left`, `found`: the files of the workspace, in the members `left_file` and `found_file`. `asked`: all requests of
    the model, logged in `log_file`; `since` is when the first reopening began, in seconds since the epoch.
    """

    left: tuple[ListedFile, ...] | None = None
    found: tuple[ListedFile, ...] | None = None
    found_file: str = ""
    asked: tuple[Asked, ...] | None = None
    log_file: str = ""
    since: float | None = None


def listing(content: bytes, *, where: str) -> tuple[ListedFile, ...]:
    """The files in a listing. Raises DecodeError when it is none."""
    try:
        return msgspec.json.decode(content, type=tuple[ListedFile, ...])
    except (msgspec.DecodeError, RecursionError) as error:
        raise DecodeError(f"is no listing of a workspace: {error}", where=where) from None


def requests(content: bytes, *, where: str) -> tuple[Asked, ...]:
    """The requests in a log of the scripted model, one a line. Raises DecodeError when it is none."""
    try:
        return tuple(msgspec.json.decode(line, type=Asked) for line in content.splitlines())
    except (msgspec.DecodeError, RecursionError) as error:
        raise DecodeError(f"is no log of a model: {error}", where=where) from None


def try_reopening(reopening: Reopening, *, scripts: bool) -> Iterator[Tried]:
    """``acceptance.no-replay``, ``code-mode.reopen-inert`` (a case only where `scripts` were saved): a reopening asks
    the model nothing, and leaves every file of the workspace as the run left it."""
    faults = []
    if reopening.left is not None and reopening.found is not None:
        faults.append(_touched(reopening.left, reopening.found, reopening.found_file))
    if reopening.asked is not None and reopening.since is not None:
        faults.append(_asked_again(reopening.asked, reopening.since, reopening.log_file))
    for number, fault in enumerate(faults):
        yield Tried(NO_REPLAY, fault, detail=str(number))
        if scripts and fault is None:
            yield from kept(REOPEN_INERT)


def try_start(given: Iterable[ListedFile], begun: Iterable[ListedFile], file: str) -> Tried:
    """``acceptance.no-substitute``: a run that began with other files than its stimulus gives is another run. `given`:
    the files of the stimulus; `begun`: those that the member `file` lists before the run."""
    fault = _touched(given, begun, file)
    if fault is not None:
        expected = "the workspace that the stimulus gives"
        fault = msgspec.structs.replace(fault, requirement=NO_SUBSTITUTE, expected=expected)
    return Tried(NO_SUBSTITUTE, fault, detail="start")


def _problem(expected: str, observed: str, place: Place) -> Problem:
    return Problem(requirement=NO_REPLAY, card="", label="", expected=expected, observed=observed, place=place)


def _touched(left: Iterable[ListedFile], found: Iterable[ListedFile], file: str) -> Problem | None:
    before, after = {item.path: item for item in left}, {item.path: item for item in found}
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if not changed:
        return None
    rest = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return _problem("the workspace as the run left it", f"changed: {', '.join(changed[:3])}{rest}", Place(file=file))


def _asked_again(asked: Iterable[Asked], since: float, file: str) -> Problem | None:
    """A product lists the models of its provider when it starts; that is no request of an agent."""
    late = [(line, item) for line, item in enumerate(asked, start=1) if item.at >= since and (item.lane or item.fault)]
    if not late:
        return None
    line, first = late[0]
    seen = f"{len(late)} requests, the first {first.at - since:.1f} s after it began: {first.lane or first.fault}"
    return _problem("no request of a model while reopening", seen, Place(file=file, line=line))


class PrivateTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Texts of a run that no fact may show. `contexts`: card path of a task to the context that it was given.
    `others`: what the tools of its tasks put out and what the models of its tasks said, in pieces worth looking for."""

    contexts: dict[str, str]
    others: tuple[str, ...]


def try_privacy(columns: Mapping[Column, ColumnFacts], texts: PrivateTexts) -> Iterator[tuple[Column, Tried]]:
    """``task.task-intent.never-context`` for tasks that had a context, on all their texts and titles;
    ``task.activity-private`` for every activity row of a task."""
    others = [text for text in texts.others if text not in STATUSES]
    for column in SURFACES:
        for card in columns[column].cards if column in columns else ():
            if card.kind is not CardKind.TASK:
                continue
            context = texts.contexts.get(card.path)
            for item in _texts(card):
                if context is not None:
                    yield column, _tried(NEVER_CONTEXT, card, item, _found(item, (context,)))
                if item.label == "Task activity":
                    yield column, _tried(PRIVATE, card, item, _found(item, (*texts.contexts.values(), *others)))


def _texts(card: CardFacts) -> Iterator[Fact]:
    """Every text that a card shows of its task, its title too."""
    entries = facts_of(card.kind)
    for item in card.facts:
        entry = entries.get(item.label)
        if entry is not None and entry.type is FactType.TEXT and isinstance(item.value, Value) and item.value.text:
            yield item
    if card.title:
        yield Fact(label="", value=known(card.title), via="title", place=card.place)


def _found(item: Fact, private: Iterable[str]) -> str | None:
    """The private text that the fact shows, or a long part of; None when it shows none."""
    shown = str(item.value)
    return next((text for text in private if text in shown or (len(shown) > _SHOWN // 4 and shown in text)), None)


def _tried(requirement: str, card: CardFacts, item: Fact, found: str | None) -> Tried:
    problem = broken(requirement, card, item, "no private text of the task", repr(str(item.value)[:_SHOWN]))
    return Tried(requirement, problem if found is not None else None, item.ordinal, f"private {item.via}")
