"""`harness import` as it is typed: exit codes, what is said, and that every other command takes what it made."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import run
from tests.support.foreign import lay, tree

CAPTURES = os.environ.get("CARD_CAPTURES", "")
"""A folder of real captures, such as those that tests/data was made from."""


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    lay(tmp_path / "captures" / "cancelled-script", "cancelled-script")
    return tmp_path / "captures"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "evidence"


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Standard output; fails when something that looks like a fault of the harness was said."""
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    assert "fault of the harness" not in printed.err
    return printed.out


def in_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(said(capsys))


def test_it_says_what_it_made(captures: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["import", str(captures), "--product-version", "0.104.0", "--out", str(out)])

    lines = said(capsys).splitlines()
    bundle = out / "0.104.0" / "cancelled-script.local-agent.imported"
    assert code == 0
    assert lines[0] == f"imported {bundle} (local-agent-live, local-agent-reopen, mission-control-reopen)"
    assert lines[-1] == "1 of 1 folders imported"
    assert any("binary is not known" in line for line in lines)
    assert (bundle / "manifest.json").is_file()


def test_its_json_names_bundles_and_refusals(captures: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(captures / "broken", more={"session.jsonl": b"\xff\n"})

    code = run(["import", str(captures), "--product-version", "0.104.0", "--out", str(out), "--json"])

    told = in_json(capsys)
    assert code == 4
    assert [item["observation"] for item in told["imported"]] == ["cancelled-script.local-agent.imported"]
    assert told["imported"][0]["captures"] == ["local-agent-live", "local-agent-reopen", "mission-control-reopen"]
    assert [(Path(item["folder"]).name, item["exit_code"]) for item in told["refused"]] == [("broken", 4)]
    assert {path.partition("/")[2].partition("/")[0] for path in tree(out)} == {"cancelled-script.local-agent.imported"}


MISTAKES: dict[str, list[str]] = {
    "no folder": ["{captures}/none", "--product-version", "0.104.0"],
    "a file": ["{captures}/cancelled-script/session.jsonl", "--product-version", "0.104.0"],
    "no version": ["{captures}"],
    "a version that is none": ["{captures}", "--product-version", "../x"],
    "a digest that is none": ["{captures}", "--product-version", "0.104.0", "--product-sha256", "x"],
    "a release that nothing is of": ["{captures}", "--product-version", "0.104.0", "--release", "0.100.0"],
    "a driver that is none": ["{captures}", "--product-version", "0.104.0", "--driver", "terminal"],
    "a digest of nobody": ["{captures}", "--product-version", "0.104.0", "--recorded-by-sha256", "a" * 64],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_on_the_command_line_writes_nothing(
    mistake: str, captures: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [part.format(captures=captures) for part in MISTAKES[mistake]]

    code = run(["import", *arguments, "--out", str(out)])

    printed = capsys.readouterr()
    assert code == 2
    assert printed.err.startswith("harness: ")
    assert "Traceback" not in printed.err
    assert printed.out == ""
    assert tree(out) == {}


def test_without_replace_it_leaves_what_is_there(captures: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["import", str(captures), "--product-version", "0.104.0", "--out", str(out)]
    assert run(arguments) == 0
    before = tree(out)
    said(capsys)

    assert run([*arguments, "--product-sha256", "a" * 64]) == 2
    assert "--replace" in said(capsys)
    assert tree(out) == before
    assert run([*arguments, "--product-sha256", "a" * 64, "--replace"]) == 0
    assert tree(out) != before


def test_every_command_takes_an_imported_bundle(
    captures: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.104.0 calls a cancelled script a failure: compare tells it, accept counts it, show shows it."""
    assert run(["import", str(captures), "--product-version", "0.104.0", "--out", str(out)]) == 0
    bundle = out / "0.104.0" / "cancelled-script.local-agent.imported"
    said(capsys)

    assert run(["verify", str(out), "--json"]) == 3
    assert in_json(capsys)["status"] == "unauthorized"

    assert run(["compare", str(bundle), "--json"]) == 1
    compared = in_json(capsys)
    found = next(item for item in compared["findings"] if item["label"] == "Script outcome")
    assert (found["expected"], found["observed"]) == ("cancelled", "failure")

    assert run(["accept", "--evidence", str(out), "--reports", str(tmp_path / "reports"), "--json"]) == 3
    verdict = in_json(capsys)
    assert (verdict["verdict"], verdict["release"]["sha256"]) == ("insufficient", [])
    assert found["id"] in [item["id"] for item in verdict["findings"]]
    assert {path.name for path in (tmp_path / "reports").iterdir()} >= {"report.html", "report.md", "verdict.json"}
    assert 'sha256 <code class="digest">not known</code>' in (tmp_path / "reports" / "report.html").read_text()

    assert run(["show", found["id"], "--evidence", str(out)]) == 0
    shown = said(capsys)
    assert "> " in shown or "^" in shown
    assert "failure" in shown


def test_a_run_without_a_known_binary_cannot_be_signed(
    captures: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", str(captures), "--product-version", "0.104.0", "--out", str(out)]) == 0
    assert run(["authority", "new", str(tmp_path / "keys")]) == 0
    bundle = out / "0.104.0" / "cancelled-script.local-agent.imported"
    sign = [
        "authorize",
        str(bundle),
        "--key",
        str(tmp_path / "keys" / "release-authority.pem"),
        "--reason",
        "seen",
        "--yes",
    ]
    said(capsys)

    code = run(sign)

    printed = capsys.readouterr()
    assert code == 2
    assert "does not say which binary it is of" in printed.err
    assert "--product-sha256" in printed.err
    assert not (out / "authorizations").exists()

    again = ["--product-sha256", "a" * 64, "--replace"]
    assert run(["import", str(captures), "--product-version", "0.104.0", "--out", str(out), *again]) == 0
    assert run(sign) == 0
    assert len(list((out / "authorizations").iterdir())) == 1


@pytest.mark.skipif(not CAPTURES, reason="CARD_CAPTURES names no folder of captures")
def test_a_folder_of_real_captures(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["import", CAPTURES, "--product-version", "0.104.0", "--out", str(out), "--json"])

    told = in_json(capsys)
    assert code in (0, 2, 4)
    assert told["imported"]
    assert all(item["reason"] for item in told["refused"])
    for item in told["imported"]:
        assert run(["compare", item["bundle"]]) in (0, 1)
        said(capsys)
