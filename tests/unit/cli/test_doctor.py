"""`harness doctor` on machines that lack one thing each: it is named, with what to do, and nothing else is blamed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli.app import run
from harness.doctor import Check, Found, Need, State, Terminal, checks, exit_code, recordable
from harness.model.manifest import Product
from harness.this_machine import ThisMachine

SHA256 = "9e2942194a70fb3cc57828041da6acfd6a04b3880e076372b883cf86fd43e80c"


def product(version: str) -> Found:
    return Found(version=version, path=f"/cache/{version}", product=Product(version=version, sha256=SHA256))


SOUND: dict[str, Any] = {
    "python": (3, 12, 1),
    "packages": {"msgspec": ("1.0", "1.0")},
    "folder": lambda name: f"/clone/{name}",
    "releases": ("0.100.0", "0.104.0"),
    "writable": lambda _: "",
    "free": lambda _: 10**12,
    "cores": 4,
    "shared_memory": "",
    "loopback": "",
    "pseudo_terminal": "",
    "program": lambda name: (f"/usr/bin/{name}", f"{name} 1.2"),
    "terminal": Terminal(interactive=True, columns=120, rows=40, colours="256 colours", encoding="utf-8"),
    "products": (product("0.104.0"), product("0.96.6")),
    "recorded_by": ("0.96.6",),
    "cache": "/cache",
    "neutral": ("/neutral", ""),
}
"""A machine that can do everything: the answer to each question, or what gives it."""


def looked_at(**changes: Any) -> dict[str, Check]:
    answers = {
        name: answer if callable(answer) else lambda answer=answer: answer for name, answer in (SOUND | changes).items()
    }
    found = checks(SimpleNamespace(**answers))
    assert len({item.name for item in found}) == len(found)
    return {item.name: item for item in found}


def test_a_sound_machine_can_do_everything() -> None:
    found = looked_at()
    assert {item.state for item in found.values()} == {State.OK}
    assert {item.need for item in found.values()} == set(Need)
    assert all(item.detail and not item.advice for item in found.values())
    assert exit_code(tuple(found.values())) == 0
    assert found["releases"].detail == "0.104.0 can be recorded"
    assert "0.100.0, 0.104.0" in found["evidence"].detail


def no_folder(name: str) -> Any:
    return lambda asked: "" if asked == name else f"/clone/{asked}"


def without(name: str) -> Any:
    return lambda asked: ("", "") if asked == name else (f"/usr/bin/{asked}", asked)


LACKS: list[tuple[str, dict[str, Any], Need, str, str]] = [
    ("python", {"python": (3, 10, 9)}, Need.JUDGING, "older than 3.11", "uv python install"),
    ("packages", {"packages": {"msgspec": ("1.0", "")}}, Need.JUDGING, "not installed: msgspec", "uv sync"),
    ("evidence", {"folder": no_folder("evidence")}, Need.JUDGING, "no folder evidence/", "--evidence"),
    ("features", {"folder": no_folder("features")}, Need.JUDGING, "no folder features/", "--features"),
    ("reports", {"writable": lambda _: "Read-only file system"}, Need.JUDGING, "Read-only", "--reports"),
    (
        "disk",
        {"free": lambda path: 10**12 if "clone" not in path else 10**6},
        Need.JUDGING,
        "0.2 GB are wanted",
        "free",
    ),
    ("releases", {"products": (product("0.96.6"),)}, Need.RECORDING, "none can be recorded", "harness product 0.104.0"),
    ("magi-code 0.96.6", {"products": (product("0.104.0"),)}, Need.RECORDING, "legacy", "harness product 0.96.6"),
    (
        "magi-code 0.104.0",
        {"products": (Found(version="0.104.0", path="/x", product=None, problem="no answer"), product("0.96.6"))},
        Need.RECORDING,
        "no answer",
        "harness product 0.104.0",
    ),
    ("neutral folder", {"neutral": ("/neutral", "belongs to somebody else")}, Need.RECORDING, "somebody", "--root"),
    ("loopback", {"loopback": "127.0.0.1: refused"}, Need.RECORDING, "refused", "127.0.0.1"),
    ("pseudo terminal", {"pseudo_terminal": "none can be had"}, Need.RECORDING, "none", "devpts"),
    ("cargo", {"program": without("cargo")}, Need.BUILDING, "not found", "rustup"),
    ("rustc", {"program": without("rustc")}, Need.BUILDING, "not found", "rustup"),
    ("disk for builds", {"free": lambda path: 10**12 if "cache" not in path else 0}, Need.BUILDING, "4.0 GB", "free"),
    ("disk for runs", {"free": lambda path: 10**12 if "neutral" not in path else 0}, Need.RECORDING, "0.5 GB", "free"),
    ("tmux", {"program": without("tmux")}, Need.TESTS, "not found", "apt-get install tmux"),
    ("chromium", {"program": without("chromium")}, Need.TESTS, "not found", "apt-get install chromium"),
]


@pytest.mark.parametrize(("name", "changes", "need", "says", "advice"), LACKS, ids=[lack[0] for lack in LACKS])
def test_what_is_missing_is_named_with_what_to_do(
    name: str, changes: dict[str, Any], need: Need, says: str, advice: str
) -> None:
    found = looked_at(**changes)
    item = found[name]
    assert (item.state, item.need) == (State.MISSING, need)
    assert says in item.detail
    assert advice in item.advice
    assert exit_code(tuple(found.values())) == (3 if need is Need.JUDGING else 0)
    others = [other.name for other in found.values() if other.state is State.MISSING and other.name != name]
    assert others in ([], ["releases"]), "one thing that is missing is told once"


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("processes", {"shared_memory": "no shared memory: Function not implemented"}, "one process"),
        ("packages", {"packages": {"msgspec": ("1.0", "2.0")}}, "reproduced"),
        (
            "terminal",
            {"terminal": Terminal(interactive=True, columns=40, rows=10, colours="none", encoding="utf-8")},
            "80 columns",
        ),
        (
            "terminal",
            {"terminal": Terminal(interactive=True, columns=90, rows=30, colours="none", encoding="ascii")},
            "UTF-8",
        ),
    ],
)
def test_what_works_but_not_well_is_limited_and_stops_nothing(name: str, changes: dict[str, Any], says: str) -> None:
    found = looked_at(**changes)
    assert found[name].state is State.LIMITED
    assert says in found[name].advice
    assert exit_code(tuple(found.values())) == 0


def test_output_that_goes_into_a_pipe_is_nothing_to_worry_about() -> None:
    piped = Terminal(interactive=False, columns=80, rows=25, colours="no colour", encoding="utf-8")
    assert looked_at(terminal=piped)["terminal"].state is State.OK


def test_older_releases_serve_legacy_scenarios_only() -> None:
    broken = Found(version="0.100.0", path="/x", product=None, problem="no answer")
    assert recordable((product("0.96.6"), broken, product("0.104.0")), ("0.96.6",)) == ("0.104.0",)


# The machine that these tests run on, and machines of which one thing is made up


def lay_product(cache: Path, version: str, says: str) -> None:
    program = cache / "card-acceptance-harness" / "products" / version / "bin" / "magi-code"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)


def test_the_cache_is_asked_and_never_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert ThisMachine({}).products() == ()
    lay_product(tmp_path, "0.104.0", "magi-code 0.104.0")
    lay_product(tmp_path, "0.100.0", "magi-code 0.99.0")
    lay_product(tmp_path, "0.99.0", "hello")
    found = {item.version: (item.product and item.product.version, item.problem) for item in ThisMachine({}).products()}
    assert found["0.104.0"] == ("0.104.0", "")
    assert found["0.100.0"] == (None, "says that it is 0.99.0")
    assert found["0.99.0"][0] is None
    assert "does not tell its version" in found["0.99.0"][1]


def test_folders_that_cannot_be_written_to_are_found_out(tmp_path: Path) -> None:
    machine = ThisMachine({})
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    assert machine.writable(str(tmp_path / "not" / "yet")) == ""
    assert "is no folder" in machine.writable(str(tmp_path / "file" / "below"))
    assert machine.writable(str(tmp_path / "link")) == "is a link"
    assert not (tmp_path / "not").exists(), "asking makes nothing"
    assert machine.free(str(tmp_path / "not" / "yet")) > 0


def test_programs_are_told_by_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("cargo", "echo cargo 1.2; echo more"), ("rustc", "exit 3")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    machine = ThisMachine({})
    assert machine.program("cargo") == (str(tmp_path / "cargo"), "cargo 1.2")
    assert machine.program("rustc") == (str(tmp_path / "rustc"), "")
    assert machine.program("no-such-program-anywhere") == ("", "")


def test_the_command_says_it_in_words_and_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["able"]["judging"] is True
    assert told["able"]["recording"] is False
    assert told["recordable"] == []
    states: Sequence[str] = [item["state"] for item in told["checks"] if item["need"] == "judging"]
    assert "missing" not in states
    assert run(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "harness product 0.104.0 builds one" in text
    assert "This machine can do: judging" in text
    assert run(["doctor", "--quiet"]) == 0
    quiet = capsys.readouterr().out
    assert "\nok " not in quiet
    assert "missing" in quiet


def test_what_is_missing_is_named_below_a_table_that_may_have_scrolled_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["doctor"]) == 0
    lacks = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("It lacks something for"))
    assert "building products (cargo, rustc)" in lacks
    assert "own tests (tmux, chromium)" in lacks
    assert "recording (releases, " in lacks


def test_paths_below_home_are_short_for_people_and_whole_for_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    lay_product(tmp_path / ".cache", "0.104.0", "magi-code 0.104.0")
    program = "card-acceptance-harness/products/0.104.0/bin/magi-code"
    assert run(["doctor"]) == 0
    text = capsys.readouterr().out
    assert f"~/.cache/{program}" in text
    assert str(tmp_path) not in text
    assert run(["doctor", "--json"]) == 0
    assert f"{tmp_path}/.cache/{program}" in capsys.readouterr().out
