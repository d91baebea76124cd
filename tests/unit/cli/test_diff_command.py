"""`harness diff` as it is typed, on the imported captures of two releases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import run
from tests.support.foreign import two_releases

NAME = "mixed-script.local-agent.imported"


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_releases(tmp_path_factory.mktemp("diff"))


def diffed(capsys: pytest.CaptureFixture[str], evidence: Path, *arguments: str, code: int = 0) -> str:
    assert run(["diff", *arguments, "--evidence", str(evidence)]) == code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return printed.out


def test_hidden_rows_of_the_screen_are_a_change_of_display(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0.100.0 prints every fact row on the card, and 0.104.0 none. What the local agent says is the same, and the two
    runs took different times."""
    told: Any = json.loads(diffed(capsys, evidence, "0.100.0", "0.104.0", "--json"))

    assert (told["schema"], told["before"], told["after"], told["damaged"]) == (1, "0.100.0", "0.104.0", [])
    assert told["both"] == [NAME]
    assert (told["only_before"], told["only_after"]) == ([], ["killed-script.local-agent.imported"])
    assert {item["surface"] for item in told["facts"]} == {"mission-control-reopen"}
    by_label = {item["label"]: item for item in told["facts"]}
    rollback, unknown = by_label["Rollback"], by_label["Unknown calls"]
    assert rollback["kinds"] == ["display", "agreement"]
    assert rollback["before"] == {"state": "known", "values": ["false"], "via": ["row"], "agreement": "agree"}
    assert (rollback["after"]["state"], rollback["after"]["agreement"]) == ("not_displayed", "not_comparable")
    assert unknown["kinds"] == ["display"]
    assert (unknown["before"]["via"], unknown["after"]["via"]) == (["metadata", "row"], ["metadata"])
    assert all("row" in item["before"]["via"] or item["before"]["state"] == "absent" for item in told["facts"])
    assert not [item for item in told["facts"] if "value" in item["kinds"]]
    assert by_label["Elapsed milliseconds"]["before"]["values"] != by_label["Elapsed milliseconds"]["after"]["values"]
    assert told["compared"] == 3 * 24
    assert told["not_compared"] == 24


def test_the_tables_say_the_same(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = diffed(capsys, evidence, "0.100.0", "0.104.0")

    lines = text.splitlines()
    assert lines[0] == "From 0.100.0 to 0.104.0: 1 observations of both"
    assert lines[1] == "only in 0.104.0: killed-script.local-agent.imported"
    assert "Rollback" in text
    assert "(varies)" in text
    assert lines[-1].startswith("72 facts on surfaces were compared, 24 could not be; ")


def test_the_other_direction_and_itself(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = json.loads(diffed(capsys, evidence, "0.100.0", "0.104.0", "--json"))
    back = json.loads(diffed(capsys, evidence, "0.104.0", "0.100.0", "--json"))
    itself = json.loads(diffed(capsys, evidence, "0.104.0", "0.104.0", "--json"))

    assert [(item["label"], item["after"], item["before"]) for item in back["facts"]] == [
        (item["label"], item["before"], item["after"]) for item in there["facts"]
    ]
    assert back["only_before"] == there["only_after"]
    assert itself["compared"] > there["compared"]
    assert (itself["facts"], itself["cards"], itself["surfaces"], itself["findings_appeared"]) == ([], [], [], [])


@pytest.mark.parametrize("release", ["0.96.6", "nonsense"])
def test_a_release_without_evidence_is_a_mistake(
    release: str, evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for pair in ((release, "0.104.0"), ("0.104.0", release)):
        assert run(["diff", *pair, "--evidence", str(evidence)]) == 2
        printed = capsys.readouterr()
        assert f"no evidence of release {release}" in printed.err
        assert printed.out == ""


def test_an_empty_folder_of_a_release_is_no_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "0.100.0").mkdir()
    (tmp_path / "0.104.0").mkdir()

    assert run(["diff", "0.100.0", "0.104.0", "--evidence", str(tmp_path)]) == 2
    assert "no evidence of release 0.100.0" in capsys.readouterr().err


def test_damaged_evidence_is_left_out_and_said(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "evidence"
    shutil.copytree(evidence, copy)
    (copy / "0.104.0" / "killed-script.local-agent.imported" / "session.jsonl.gz").write_bytes(b"")

    told = json.loads(diffed(capsys, copy, "0.100.0", "0.104.0", "--json", code=4))
    text = diffed(capsys, copy, "0.100.0", "0.104.0", code=4)

    assert [(item["release"], item["bundle"]) for item in told["damaged"]] == [
        ("0.104.0", "killed-script.local-agent.imported")
    ]
    assert told["only_after"] == []
    assert told["facts"]
    assert text.startswith("damaged, and left out: 0.104.0/killed-script.local-agent.imported: ")
