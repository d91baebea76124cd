"""`harness compare`: folders taken for damaged bundles, findings of no card, commands that lead nowhere."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from harness.cli.app import run
from tests.support.authorities import key_file

ROOT = Path(__file__).parents[3]
NAME = "mixed-batch.local-agent"
SCRIPT = "handled-failure.local-agent"


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "some where"
    for release in ("0.100.0", "0.104.0"):
        shutil.copytree(ROOT / "evidence" / release / SCRIPT, folder / release / SCRIPT)
    return folder


def commands(printed: str) -> list[list[str]]:
    """What is said to be done next."""
    return [
        shlex.split(line.removeprefix("Next: harness ").partition("   ")[0])
        for line in printed.splitlines()
        if line.startswith("Next: harness ")
    ]


@pytest.mark.parametrize("below", ["", "0.104.0"])
def test_a_folder_of_bundles_is_not_taken_for_a_damaged_bundle(
    below: str, evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signing = ["--key", str(key_file(tmp_path, "ada")), "--reason", "r", "--yes"]
    for command in (["compare", str(evidence / below)], ["authorize", str(evidence / below), *signing]):
        assert run(command) == 2
        said = capsys.readouterr().err
        assert ("has a bundle in it" if below else "has 2 bundles in it") in said
        assert f"such as {evidence / (below or '0.100.0') / SCRIPT}" in said
    assert not (tmp_path / "authorizations").exists()
    assert not (evidence / "authorizations").exists()


def test_a_file_of_a_bundle_is_not_taken_for_a_damaged_bundle(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(evidence / "0.104.0" / SCRIPT / "manifest.json")]) == 2
    assert "a bundle is a folder" in capsys.readouterr().err


def test_a_bundle_that_has_lost_its_manifest_is_damaged(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (evidence / "0.104.0" / SCRIPT / "manifest.json").unlink()
    assert run(["compare", str(evidence / "0.104.0" / SCRIPT)]) == 4
    assert "manifest.json" in capsys.readouterr().err


def test_findings_of_several_cards_say_which(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", str(ROOT / "evidence" / "0.104.0" / NAME), "-q"]) == 1
    first, *found = capsys.readouterr().out.splitlines()
    assert first == f"{len(found)} findings, 6 cards compared"
    assert len({line.split(": ")[1].split()[0] for line in found}) > 1
    assert all(line.split(": ")[1].startswith("turn1/call1") for line in found)


@pytest.mark.parametrize("release", ["0.100.0", "0.104.0"])
def test_the_command_that_comes_next_finds_the_finding(
    release: str, evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of other evidence than the bundled one, and of a release that is not the newest there."""
    assert run(["compare", str(evidence / release / SCRIPT)]) == 1
    printed = capsys.readouterr().out
    (command,) = commands(printed)
    assert command[:2] == ["show", command[1]]
    assert ("--release" in command) is (release == "0.100.0")
    assert run(command) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{command[1]} ")
    assert f"observation  {SCRIPT}" in shown


def test_a_bundle_outside_of_evidence_gets_no_command_that_fails(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move(evidence / "0.104.0" / SCRIPT, tmp_path / "alone" / SCRIPT)
    assert run(["compare", str(tmp_path / "alone" / SCRIPT)]) == 1
    assert commands(capsys.readouterr().out) == []


def test_what_the_author_of_another_scenario_expects_is_not_taken_for_what_was_expected(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "features").mkdir()
    shutil.copy(ROOT / "features" / "cancellation.feature", tmp_path / "features")
    said = "stale: its scenario has changed since the recording, or is gone"
    bundle = str(evidence / "0.104.0" / SCRIPT)
    run(["compare", bundle])
    assert said not in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    run(["compare", bundle])
    assert said in capsys.readouterr().out


def test_sources_are_explained_and_keep_their_names_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    run(["compare", str(ROOT / "evidence" / "0.104.0" / SCRIPT)])
    printed = capsys.readouterr().out
    assert "report, nested: from the saved session" in printed
    heads = next(line for line in printed.splitlines() if line.startswith("fact "))
    surfaces = ["local-agent-live", "local-agent-reopen", "mission-control-reopen"]
    assert heads.split() == ["fact", "expected", "report", "nested", *surfaces]
