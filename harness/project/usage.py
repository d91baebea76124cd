"""Usage facts, from the report's usage member and from the usage snapshots of the root session.

Snapshots are cumulative over a task's run. The latest request's own numbers are therefore what the last final
snapshot adds to the final snapshot of the request before. Each function opens with its requirement's id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from harness.model.facts import Place
from harness.model.values import NULL, Reading, Reason, known, nullable
from harness.project.nodes import BatchNode, TaskNode, UsageRecord
from harness.project.stated import Rule, Stated, by_rule, silent
from harness.project.telemetry import TaskUsage, Tokens
from harness.records.payloads import Usage

VIA: Final = "nested"
PROVENANCE: Final = "normalized_provider_usage"


class Accounted(msgspec.Struct, frozen=True, kw_only=True):
    """A task's usage as one source has it, in the report's shape. `latest` may be not comparable as a whole, and its
    cache number by itself (`latest_cache`)."""

    whole: Tokens | Usage
    sequence: int
    final: bool
    latest: Callable[[str], Reading]
    via: str
    place: Place


Source = Accounted | Stated
"""A task's usage, or why there is none to read: null, or not comparable."""


def from_report(usage: TaskUsage | None, place: Place) -> Source:
    """``task.usage-provenance``: the report's usage; null throughout when the report has none."""
    if usage is None:
        return Stated(value=NULL, via="report", place=place)
    latest = usage.latest

    def tokens(member: str) -> Reading:
        if latest is None or (member == "cache_read" and not latest.cache_known):
            return NULL
        return known(getattr(latest, member))

    return Accounted(
        whole=usage.whole_run,
        sequence=usage.latest_request_sequence,
        final=usage.latest_final,
        latest=tokens,
        via="report",
        place=place,
    )


def _empty(snapshot: UsageRecord) -> bool:
    """Whether a snapshot is the placeholder that stands before any provider reported anything."""
    usage = snapshot.value.usage
    counts = (usage.effective_input, usage.output, usage.cache_read)
    return not any(counts) and not usage.cache_known and not snapshot.value.final_usage


def from_snapshots(batch: BatchNode, task: TaskNode) -> Source:
    """``task.usage-provenance``: the usage snapshots saved for a task; null when the provider reported nothing.

    Snapshots of one task are in order; those of different tasks may stand in any. Without a saved result of the batch
    usage is null (``acceptance.no-promotion``).
    """
    if batch.call.ending is None:
        return by_rule(NULL)
    saved = batch.scope.run.usage.get(f"{batch.scope.chain}{batch.call.id}/g{task.index + 1}", ())
    if all(_empty(snapshot) for snapshot in saved):
        return Stated(value=NULL, via=VIA, place=batch.scope.place(batch.call.record))
    sequence = max(snapshot.value.request_sequence for snapshot in saved)
    last = [snapshot for snapshot in saved if snapshot.value.request_sequence == sequence][-1]
    before = [snapshot for snapshot in saved if snapshot.value.request_sequence == sequence - 1]
    whole = last.value.usage

    def tokens(member: str) -> Reading:
        return _latest(member, last, before[-1] if before else None)

    return Accounted(
        whole=whole,
        sequence=sequence,
        final=last.value.final_usage,
        latest=tokens,
        via=VIA,
        place=batch.scope.run.root.place(last.record, "/payload/usage"),
    )


def _latest(member: str, last: UsageRecord, before: UsageRecord | None) -> Reading:
    """``task.usage-latest-tokens``: what the last request adds; null when it reported nothing, or no cache number."""
    unknown = silent(Reason.NOT_DERIVABLE, "the snapshots do not single out the latest request", VIA).value
    now = last.value.usage
    if last.value.request_sequence == 0:
        earlier = Usage(effective_input=0, output=0, cache_read=0, cache_known=True)
    elif before is None:
        return unknown
    else:
        earlier = before.value.usage
    if not last.value.final_usage and now == earlier:
        return NULL
    if member == "cache_read" and not now.cache_known:
        return NULL if earlier.cache_known else unknown
    if before is not None and not before.value.final_usage:
        return unknown
    added = int(getattr(now, member) - getattr(earlier, member))
    return unknown if added < 0 else known(added)


def _read(source: Source, reading: Callable[[Accounted], Reading]) -> Stated:
    if isinstance(source, Stated):
        return source
    return Stated(value=reading(source), via=source.via, place=source.place)


def provenance(source: Source) -> Stated:
    """``task.usage-provenance``: the one word that it can be, when there is usage."""
    return _read(source, lambda _: known(PROVENANCE))


def effective_input(source: Source) -> Stated:
    """``task.usage-effective-input-tokens-usage-output-tokens``: normalized input, cache reads included."""
    return _read(source, lambda usage: known(usage.whole.effective_input))


def output(source: Source) -> Stated:
    """``task.usage-effective-input-tokens-usage-output-tokens``: normalized output."""
    return _read(source, lambda usage: known(usage.whole.output))


def cache_read(source: Source) -> Stated:
    """``task.usage-cache-read-tokens-usage-cache-known.null``: null without cache accounting."""
    return _read(source, lambda usage: nullable(usage.whole.cache_read if usage.whole.cache_known else None))


def latest_request_sequence(source: Source) -> Stated:
    """``task.usage-latest-request-sequence``: the number of the last request, counted from 0."""
    return _read(source, lambda usage: known(usage.sequence))


def latest_effective_input(source: Source) -> Stated:
    """``task.usage-latest-tokens``: normalized input of the last request."""
    return _read(source, lambda usage: usage.latest("effective_input"))


def latest_output(source: Source) -> Stated:
    """``task.usage-latest-tokens``: normalized output of the last request."""
    return _read(source, lambda usage: usage.latest("output"))


def latest_cache_read(source: Source) -> Stated:
    """``task.usage-latest-tokens.cache-null``: null when the last request has no cache accounting."""
    return _read(source, lambda usage: usage.latest("cache_read"))


def cache_known(source: Source) -> Stated:
    """``task.usage-cache-read-tokens-usage-cache-known``: whether the whole task has cache accounting."""
    return _read(source, lambda usage: known(usage.whole.cache_known))


def latest_final(source: Source) -> Stated:
    """``task.usage-latest-final``: whether the last snapshot is final."""
    return _read(source, lambda usage: known(usage.final))


RULES: Final[dict[str, Rule[Source]]] = {
    "Usage provenance": provenance,
    "Usage effective input tokens": effective_input,
    "Usage output tokens": output,
    "Usage cache read tokens": cache_read,
    "Usage latest request sequence": latest_request_sequence,
    "Usage latest effective input tokens": latest_effective_input,
    "Usage latest output tokens": latest_output,
    "Usage latest cache read tokens": latest_cache_read,
    "Usage cache known": cache_known,
    "Usage latest final": latest_final,
}
