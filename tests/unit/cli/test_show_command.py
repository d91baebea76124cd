"""`harness show`: the same place whether the last report helps to find it, is not there, or lies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.cli import finding
from harness.cli.app import run
from harness.model.errors import HarnessError

ROOT = Path(__file__).parents[3]
BUNDLE = ROOT / "evidence" / "0.104.0" / "handled-failure.local-agent"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a clone: one original run, and no report yet."""
    shutil.copytree(BUNDLE, tmp_path / "evidence" / "0.104.0" / BUNDLE.name)
    shutil.copytree(ROOT / "features", tmp_path / "features")
    (tmp_path / "reports").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def first_finding(clone: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["compare", str(clone / "evidence" / "0.104.0" / BUNDLE.name), "--json"]) == 1
    id_ = json.loads(capsys.readouterr().out)["findings"][0]["id"]
    assert isinstance(id_, str)
    return id_


def shown(id_: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert run(["show", id_, *more]) == 0
    return capsys.readouterr().out


def reported(clone: Path, id_: str, observation: object) -> None:
    (clone / "reports" / "verdict.json").write_text(json.dumps({"findings": [{"id": id_, "observation": observation}]}))


def test_the_last_report_saves_judging_everything_anew(
    clone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = first_finding(clone, capsys)
    searched = shown(id_, capsys)
    for part in (id_, "expected", "observed", "local-agent.live.jsonl.gz", "Next: harness compare evidence/0.104.0/"):
        assert part in searched
    assert "\\u000a" not in searched
    reported(clone, id_, BUNDLE.name)

    def accept(**_: object) -> None:
        raise HarnessError("all was judged anew")

    monkeypatch.setattr(finding, "accept", accept)
    assert shown(id_, capsys) == searched


@pytest.mark.parametrize(
    "observation", ["nowhere.local-agent", "../../../../etc", "/etc", "", 3, None, "fatal-failure.local-agent"]
)
def test_a_report_that_lies_is_a_hint_that_does_not_help(
    observation: object, clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id_ = first_finding(clone, capsys)
    reported(clone, id_, observation)
    assert id_ in shown(id_, capsys)


def test_a_report_that_names_a_finding_which_is_not_there_shows_nothing(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported(clone, "F-0000000000", BUNDLE.name)
    assert run(["show", "F-0000000000"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "there is no finding 'F-0000000000'" in printed.err
    assert "harness accept --verbose" in printed.err


def test_json_holds_the_finding_and_the_lines_of_its_place(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    id_ = first_finding(clone, capsys)
    reported(clone, id_, BUNDLE.name)
    told = json.loads(shown(id_, capsys, "--json"))
    text = shown(id_, capsys)
    assert told["finding"]["id"] == id_
    assert told["lines"]
    assert all(line in text for line in told["lines"])


def test_a_finding_of_an_older_release_is_found_without_naming_it(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reports of an older release print the same command as those of the newest."""
    name = "cancelled-between-calls.local-agent"
    old = clone / "evidence" / "0.100.0" / name
    shutil.copytree(ROOT / "evidence" / "0.100.0" / name, old)
    assert run(["compare", str(old), "--json"]) == 1
    id_ = json.loads(capsys.readouterr().out)["findings"][0]["id"]
    assert "evidence/0.100.0/" in shown(id_, capsys)
    assert run(["show", id_, "--release", "0.104.0"]) == 2
    assert "no finding" in capsys.readouterr().err
    assert run(["show", "F-0000000000"]) == 2
    assert "no finding" in capsys.readouterr().err
