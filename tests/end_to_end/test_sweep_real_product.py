"""Sweeps with the real product: what a fake can never show.

Runs when a product is in the user's cache (``harness record --product VERSION`` builds one) or when HARNESS_PRODUCT
names a version or a path; skipped otherwise.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import msgspec
import pytest

from harness.model.errors import UsageError
from harness.model.facts import CardFacts, Column
from harness.observe import local_agent
from harness.record import products
from harness.sweep.reopen import Candidate, candidate, reopened
from harness.sweep.rows import Reopening, Status
from harness.sweep.synthetic import recordings, write
from tests.support import sessions
from tests.support.sweeps import folder, real, swept

PRODUCT = os.environ.get("HARNESS_PRODUCT", "0.104.0")
CAPTURED = ("0.104.0-mixed-batch", "0.104.0-mixed-script", "0.104.0-cancelled-script", "0.104.0-killed-script")
"""Sessions of tests/data whose reopening at the recorded place was captured, too."""


@pytest.fixture(scope="module")
def product() -> Candidate:
    try:
        return candidate(products.locate(PRODUCT))
    except UsageError as error:
        pytest.skip(f"no product: {error}")


def shown(cards: tuple[CardFacts, ...]) -> list[object]:
    """All that cards say, without where it stands in a capture."""
    return [
        msgspec.structs.replace(
            card, place=None, facts=tuple(msgspec.structs.replace(fact, place=None) for fact in card.facts)
        )
        for card in cards
    ]


@pytest.mark.parametrize("name", CAPTURED)
def test_a_moved_copy_shows_what_was_shown_at_the_recorded_place(name: str, product: Candidate) -> None:
    if product.product.version != "0.104.0":
        pytest.skip("the captures are of 0.104.0")
    root, children = sessions.load(name)
    capture = gzip.decompress((sessions.DATA.parent / "captures" / f"{name}.reopen.jsonl.gz").read_bytes())
    expected = local_agent.reopen(capture, file="f", complete=True)
    session_id = root.partition(b'"session_id":"')[2].partition(b'"')[0].decode()
    again = local_agent.reopen(reopened(session_id, root, children, product), file="f", complete=True)
    assert shown(again.cards) == shown(expected.cards)
    assert again.unavailable is None
    assert len(again.cards) == {"0.104.0-mixed-batch": 5}.get(name, 1)


def test_an_archive_of_real_and_made_sessions_is_reopened(product: Candidate, tmp_path: Path) -> None:
    source = folder(tmp_path / "real", real("0.104.0-mixed-script") | real("0.104.0-mixed-batch"))
    before = {path: path.read_bytes() for path in source.rglob("*.jsonl")}
    write(tmp_path / "made.tar", recordings([source]), sessions=2, seed=0, progress=lambda _: None)
    rows = swept(source, tmp_path / "made.tar", candidate=product, jobs=2)
    assert len(rows) == 4
    assert {row.reopening for row in rows} == {Reopening.REOPENED}
    assert all(row.surface.agree > 0 for row in rows)
    assert [row.cards for row in rows[:2]] == [5, 1]

    def told(archive: str) -> list[tuple[str, str, str, str]]:
        return sorted(
            (found.requirement, found.card, found.label, found.observed)
            for row in rows
            if row.archive == archive
            for found in row.findings
        )

    assert told("made.tar") == told("real")
    assert {path: path.read_bytes() for path in source.rglob("*.jsonl")} == before
    assert not [path for path in source.rglob("*") if path.is_file() and path not in before]


def test_what_the_product_refuses_is_a_finding_of_its_session_alone(product: Candidate, tmp_path: Path) -> None:
    root, _ = sessions.load("0.104.0-mixed-script")
    strange = root.splitlines()[0].replace(b'"session_id":"', b'"session_id":"another-')
    files = real("0.104.0-mixed-script") | {b"sessions/x.jsonl": root + strange + b"\n", b"sessions/y.jsonl": b"\0"}
    rows = {row.session.rpartition("/")[2]: row for row in swept(folder(tmp_path / "p", files), candidate=product)}
    assert rows["0.104.0-mixed-script.jsonl"].reopening is Reopening.REOPENED
    assert (rows["y.jsonl"].status, rows["y.jsonl"].reopening) == (Status.UNREADABLE, Reopening.NOT_ASKED)
    assert (rows["x.jsonl"].status, rows["x.jsonl"].reopening) == (Status.READ, Reopening.FAILED)
    assert [(found.requirement, found.surface, found.observed) for found in rows["x.jsonl"].findings] == [
        (
            "sweep.product-reopens",
            Column.LOCAL_AGENT_REOPEN.value,
            "session.open was refused with 'session_invalid'",
        ),
        ("records.session-id", Column.NESTED.value, "'another-82d19ec9-c751-4b09-bf3f-b4166a6ff109'"),
        ("records.event-id", Column.NESTED.value, "'1', as on line 1"),
    ]
