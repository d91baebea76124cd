"""What changed between two real releases: the one change of display that is known, and nothing that a run alone makes.

Runs when both releases are in the user's cache (``harness product VERSION`` builds one); skipped otherwise.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import run
from harness.record import products

BEFORE, AFTER = "0.100.0", "0.104.0"
SURFACES = {"mission-control-live", "mission-control-reopen"}

pytestmark = pytest.mark.skipif(
    not (products.available(BEFORE) and products.available(AFTER)), reason=f"{BEFORE} and {AFTER} are not both built"
)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mixed script, driven by both surfaces on both releases, and on the newer one a second time.

    The runs happen at a path that names nobody, which a folder of pytest's own does.
    """
    folder = tmp_path_factory.mktemp("diff")
    with tempfile.TemporaryDirectory(prefix="acceptance-", ignore_cleanup_errors=True) as runs:
        for version, out in ((BEFORE, "evidence"), (AFTER, "evidence"), (AFTER, "again")):
            arguments = ["--product", version, "--out", str(folder / out), "--root", runs]
            assert run(["record", *arguments, "mixed-script"]) == 0
    return folder


def diffed(evidence: Path, capsys: pytest.CaptureFixture[str], before: str, after: str) -> Any:
    capsys.readouterr()
    assert run(["diff", before, after, "--evidence", str(evidence), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_rows_that_a_release_hides_are_all_that_changed(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = diffed(evidence / "evidence", capsys, BEFORE, AFTER)

    assert told["both"] == ["mixed-script.local-agent", "mixed-script.mission-control"]
    assert told["compared"] > 100
    assert {item["surface"] for item in told["facts"]} == SURFACES
    assert {kind for item in told["facts"] for kind in item["kinds"]} == {"display", "agreement"}
    hidden = {item["label"] for item in told["facts"] if item["after"]["state"] == "not_displayed"}
    assert {"Rollback", "External effects may be untracked", "Child references omitted"} <= hidden
    assert told["cards"] == told["surfaces"] == []


def test_two_runs_of_one_release_show_no_change(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second recording stands in for another release: other times, other ids, the same product."""
    again = evidence / "again" / AFTER
    bundle = again / "mixed-script.local-agent"
    first = evidence / "evidence" / AFTER / "mixed-script.local-agent"
    assert (bundle / "manifest.json").read_bytes() != (first / "manifest.json").read_bytes()
    mixed = tmp_path / "evidence"
    mixed.mkdir()
    (mixed / BEFORE).symlink_to(evidence / "evidence" / AFTER)
    (mixed / AFTER).symlink_to(again)

    told = diffed(mixed, capsys, BEFORE, AFTER)

    assert told["both"] == ["mixed-script.local-agent", "mixed-script.mission-control"]
    assert told["facts"] == told["cards"] == told["surfaces"] == []
    assert told["findings_appeared"] == told["findings_vanished"] == []
    assert told["compared"] > 100
