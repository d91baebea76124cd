"""What holds of every command: an example, quiet and verbose, JSON of results, completion, plain pipes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from ptyprocess.ptyprocess import PtyProcess

from harness.cli import output
from harness.cli.app import COMMANDS, app, run

ROOT = Path(__file__).parents[3]
NAMES = [*([name] for name, _ in COMMANDS), ["authority", "new"]]
GROUPS: list[list[str]] = [[], ["authority"]]
BUNDLE = ROOT / "evidence" / "0.104.0" / "handled-failure.local-agent"


def helped(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run([*arguments, "--help"]) == 0
    return capsys.readouterr().out


def ids(names: list[str]) -> str:
    return " ".join(names) or "harness"


@pytest.mark.parametrize("names", [*NAMES, *GROUPS], ids=ids)
def test_help_shows_an_example(names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    _, word, example = " ".join(helped(names, capsys).split()).rpartition("Example: ")
    assert word
    assert f"harness {' '.join(names)}".rstrip() in example


@pytest.mark.parametrize("names", NAMES, ids=ids)
def test_every_command_has_json_quiet_and_verbose(names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = helped(names, capsys)
    for option in ("--json", "--quiet", "-q", "--verbose", "-v"):
        assert option in text


def test_a_command_that_is_registered_without_the_list_is_noticed() -> None:
    """Else it would have neither quiet nor verbose, and no test here would look at it."""
    registered = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined] # a group has them
    assert registered == {name for name, _ in COMMANDS} | {"authority"}


@pytest.mark.parametrize("arguments", [["-q", "facts"], ["facts", "--quiet"], ["--verbose", "facts"], ["facts", "-v"]])
def test_both_work_before_and_after_the_name(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    expected = output.Loudness.QUIET if "q" in arguments[0] + arguments[1] else output.Loudness.VERBOSE
    assert output.loudness() is expected
    assert run(["facts"]) == 0
    assert output.loudness() is output.Loudness.NORMAL, "one command line does not change the next"
    capsys.readouterr()


@pytest.mark.parametrize("arguments", [["-q", "facts", "-v"], ["facts", "-q", "-v"], ["-qv", "facts"]])
def test_quiet_and_verbose_contradict_each_other(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = run(arguments)
    printed = capsys.readouterr()
    if arguments == ["-q", "facts", "-v"]:
        assert code == 0, "what stands nearer to the command holds"
        return
    assert code == 2
    assert "contradict" in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("command", ["facts", "steps"])
def test_catalogues_are_json_lines(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) > 10
    assert all(isinstance(row, dict) for row in rows)


def test_a_piped_table_has_one_unbroken_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["facts"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["card", "label", "type", "null", "when"]
    rollback = [line for line in lines if "  Rollback  " in line]
    assert len(rollback) == 1
    assert not any(sign in "".join(lines) for sign in "│┃━\x1b")


def test_verify_says_less_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(BUNDLE)]) == 3
    normal = capsys.readouterr().out
    assert run(["verify", str(BUNDLE), "-q"]) == 3
    quiet = capsys.readouterr().out
    assert "1 unauthorized" in normal
    assert "Next: " in normal
    assert BUNDLE.name in quiet
    assert "Next: " not in quiet


def test_a_mistyped_command_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["accpt"]) == 2
    printed = capsys.readouterr().err
    assert "Did you mean 'accept'" in printed
    assert "harness --help shows how" in printed
    assert run(["diff", "0.100.0"]) == 2
    assert "harness diff --help shows how" in capsys.readouterr().err


def completed(shell: str, **variables: str) -> str:
    environment = {**os.environ, "_HARNESS_COMPLETE": f"complete_{shell}", **variables}
    code = "import sys; sys.argv[0] = 'harness'; from harness.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_shells_complete_commands_and_options() -> None:
    assert completed("bash", COMP_WORDS="harness acc", COMP_CWORD="1").split() == ["accept"]
    assert completed("bash", COMP_WORDS="harness accept --re", COMP_CWORD="2").split() == ["--release", "--reports"]
    assert '"--release"' in completed("zsh", _TYPER_COMPLETE_ARGS="harness accept --re")
    fish = completed("fish", _TYPER_COMPLETE_FISH_ACTION="get-args", _TYPER_COMPLETE_ARGS="harness author")
    assert fish.startswith("author")


def test_a_reader_that_has_seen_enough_is_no_fault() -> None:
    code = "import sys; sys.argv = ['harness', 'facts']; from harness.__main__ import main; main()"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 141
    assert complaint == b""


def on_a_terminal(*arguments: str, **variables: str) -> str:
    """What a command prints on a terminal of 100 columns."""
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "CI")}
    process = PtyProcess.spawn(  # type: ignore[no-untyped-call] # the library has no types
        [sys.executable, "-m", "harness", *arguments],
        cwd=str(ROOT),
        env={**environment, "TERM": "xterm-256color", **variables},
        dimensions=(40, 100),
    )
    seen = b""
    with contextlib.suppress(EOFError):
        while True:
            seen += process.read(65_536)
    process.close()
    return seen.decode("utf-8", "replace")


def test_a_terminal_gets_colours_unless_no_color_is_set() -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9](?:;|m)")
    arguments = ("compare", str(BUNDLE))
    assert colour.search(on_a_terminal(*arguments))
    assert not colour.search(on_a_terminal(*arguments, NO_COLOR="1"))
