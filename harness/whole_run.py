"""What a bundle holds beside captures and records: listings of the workspace, the model's log, texts kept private.

The rules of a whole run (`harness.compare.whole_run`) are tried on these. A member that a bundle does not have, as an
imported one, is not tried.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from harness.bundle import Bundle
from harness.compare.tried import Tried
from harness.compare.whole_run import (
    ListedFile,
    PrivateTexts,
    Reopening,
    listing,
    requests,
    try_privacy,
    try_reopening,
    try_start,
)
from harness.model.errors import DecodeError
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts
from harness.records.private import private_texts
from harness.wire.capture import Lines, split

BEGUN = "workspace.before.json"
LEFT = "workspace.after.json"
FOUND = "workspace.reopened.json"
MODEL_LOG = "model.jsonl.gz"
_REOPENED = (Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN)


def tries(
    bundle: Bundle,
    columns: Mapping[Column, ColumnFacts],
    reference: tuple[CardFacts, ...],
    contexts: Mapping[str, str],
) -> Iterator[tuple[Column | None, Tried]]:
    """Everything of one bundle that the rules of a whole run are tried on. `contexts`: card path of a task to the
    context that it was given.

    Raises DecodeError for a listing or a log that is none.
    """
    if bundle.manifest.scenario and BEGUN in bundle.manifest.files:
        yield None, try_start(_given(bundle), listing(bundle.read(BEGUN), where=BEGUN), BEGUN)
    scripts = any(card.kind is CardKind.CODE_MODE for card in reference)
    for tried in try_reopening(_reopening(bundle), scripts=scripts):
        yield None, tried
    texts = {text for name in bundle.manifest.children for text in private_texts(bundle.read(name))}
    yield from try_privacy(columns, PrivateTexts(contexts=dict(contexts), others=tuple(sorted(texts))))


def _given(bundle: Bundle) -> Iterator[ListedFile]:
    for path, text in bundle.stimulus.files.items():
        content = text.encode()
        yield ListedFile(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def _reopening(bundle: Bundle) -> Reopening:
    files = bundle.manifest.files
    return Reopening(
        left=listing(bundle.read(LEFT), where=LEFT) if LEFT in files else None,
        found=listing(bundle.read(FOUND), where=FOUND) if FOUND in files else None,
        found_file=FOUND,
        asked=requests(bundle.read(MODEL_LOG), where=MODEL_LOG) if MODEL_LOG in files else None,
        log_file=MODEL_LOG,
        since=_since(bundle),
    )


def _since(bundle: Bundle) -> float | None:
    """When the first reopening began, in seconds since the epoch; None when none was captured."""
    begun = []
    for capture in bundle.manifest.captures:
        if capture.column is Column.LOCAL_AGENT_REOPEN:
            begun += [line.at for line, _ in zip(Lines(split(bundle.read(capture.file))), range(1), strict=False)]
        elif capture.column is Column.MISSION_CONTROL_REOPEN:
            begun.append(_cast_began(bundle.read(capture.file), capture.file))
    return min(begun, default=None)


def _cast_began(cast: bytes, file: str) -> float:
    """The time in a cast's header. It has no fraction, so the next whole second is the first that is surely later."""
    header, _, _ = cast.partition(b"\n")
    try:
        return float(json.loads(header)["timestamp"]) + 1
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise DecodeError(f"the header of the cast has no time: {error}", where=file) from None
