"""From the bytes of a large real capture to findings, beside what people would use for parts of that.

The capture is the live one of a bundle whose script wrote a thousand files (some 15 MB of frames); HARNESS_BENCH_BUNDLE
names another bundle's folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.bundle import Bundle, read_bundle
from harness.compare import Compared, compare
from harness.examine import child_id
from harness.model.facts import CardFacts, Column, ColumnFacts
from harness.observe import local_agent
from harness.project import Projection, project
from tests.benchmarks import rivals
from tests.benchmarks.figures import Record, interleaved, ratio
from tests.benchmarks.ruled_cards import by_pydantic_with_rules

EVIDENCE = Path(__file__).parents[2] / "evidence" / "0.104.0"
LARGE = Path(os.environ.get("HARNESS_BENCH_BUNDLE") or EVIDENCE / "thousand-files.local-agent")
MANY_CARDS = LARGE.parent / "ten-tasks.local-agent"
pytestmark = pytest.mark.skipif(not LARGE.is_dir(), reason="there is no bundle to measure with")

SAMPLE = 200
"""Cards that the slowest rival is given; its time for all of them is worked out from that."""


class Inputs:
    """The bytes of a bundle, read and unpacked before anything is timed."""

    def __init__(self, folder: Path) -> None:
        bundle: Bundle = read_bundle(folder)
        manifest = bundle.manifest
        self.live = self._capture(bundle, Column.LOCAL_AGENT_LIVE)
        self.reopen = self._capture(bundle, Column.LOCAL_AGENT_REOPEN)
        self.session = bundle.read(manifest.session)
        self.children = {child_id(name): bundle.read(name) for name in manifest.children}

    @staticmethod
    def _capture(bundle: Bundle, column: Column) -> bytes:
        return bundle.read(next(item.file for item in bundle.manifest.captures if item.column is column))

    def projection(self) -> Projection:
        return project(self.session, self.children, file="session.jsonl")

    def columns(self, projection: Projection, *, reopen: bool) -> dict[Column, ColumnFacts]:
        columns = {
            Column.REPORT: projection.report,
            Column.NESTED: projection.nested,
            Column.LOCAL_AGENT_LIVE: local_agent.live(self.live, file="live", complete=True),
        }
        if reopen:
            columns[Column.LOCAL_AGENT_REOPEN] = local_agent.reopen(self.reopen, file="reopen", complete=True)
        return columns

    def pipeline(self) -> Compared:
        """Decode, wire rules, order, fold, observation, projection and comparison: bytes in, findings out."""
        projection = self.projection()
        return compare(self.columns(projection, reopen=False), projection.reference, observation="bench")


@pytest.fixture(scope="module")
def large() -> Inputs:
    return Inputs(LARGE)


def test_the_whole_pipeline_against_parsing_alone(large: Inputs, figures: Record) -> None:
    stages: dict[str, Callable[[], object]] = {
        "parse": lambda: rivals.parse(large.live),
        "read": lambda: local_agent.live(large.live, file="live", complete=True),
        "project": large.projection,
        "pipeline": large.pipeline,
    }
    seconds = interleaved(stages)
    figures.at_most(
        "pipeline / orjson parsing the same bytes",
        ratio(seconds, "pipeline", "parse"),
        4.0,
        of_which_reading=ratio(seconds, "read", "parse"),
        of_which_projection=ratio(seconds, "project", "parse"),
        megabytes=round(len(large.live) / 1e6, 1),
        lines=large.live.count(b"\n"),
    )


def test_the_whole_pipeline_against_validators_of_the_same_cards(large: Inputs, figures: Record) -> None:
    cards = rivals.card_bytes(large.live)
    sample = cards[:: max(1, len(cards) // SAMPLE)]
    seconds = interleaved(
        {
            "pipeline": large.pipeline,
            "pydantic": rivals.by_pydantic(cards),
            "pydantic with rules": by_pydantic_with_rules(large.live),
            "pydantic from frames": rivals.by_pydantic_from_frames(large.live),
            "fastjsonschema": rivals.by_fastjsonschema(cards),
            "jsonschema": rivals.by_jsonschema(sample),
        },
        rounds=5,
    )
    seconds["jsonschema"] = [spent * len(cards) / len(sample) for spent in seconds["jsonschema"]]
    figures.at_least("jsonschema / pipeline", ratio(seconds, "jsonschema", "pipeline"), 10.0, cards=len(cards))
    figures.keep("fastjsonschema / pipeline", ratio=ratio(seconds, "fastjsonschema", "pipeline"), cards=len(cards))
    figures.at_least("pydantic, cards alone / pipeline", ratio(seconds, "pydantic", "pipeline"), 1.0, cards=len(cards))
    figures.keep(
        "pydantic, cards out of the same bytes / pipeline", ratio=ratio(seconds, "pydantic from frames", "pipeline")
    )
    figures.keep(
        "pydantic, cards and their rules out of the same bytes / pipeline",
        ratio=ratio(seconds, "pydantic with rules", "pipeline"),
    )


def plain(card: CardFacts) -> Any:
    return msgspec.to_builtins(card)


@pytest.mark.skipif(not MANY_CARDS.is_dir(), reason="there is no bundle with many cards")
def test_the_comparison_against_deepdiff_on_whole_cards(figures: Record) -> None:
    inputs = Inputs(MANY_CARDS)
    projection = inputs.projection()
    columns = inputs.columns(projection, reopen=True)
    by_path = {column: {card.path: plain(card) for card in facts.cards} for column, facts in columns.items()}
    reference = {card.path: plain(card) for card in projection.reference}
    pairs = [(reference[path], cards[path]) for cards in by_path.values() for path in reference if path in cards]
    seconds = interleaved(
        {
            "ours": lambda: compare(columns, projection.reference, observation="bench"),
            "deepdiff": rivals.by_deepdiff(pairs),
        }
    )
    figures.at_least(
        "deepdiff on whole cards / comparison", ratio(seconds, "deepdiff", "ours"), 1.0, cards=len(reference)
    )
