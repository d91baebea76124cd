"""What the README and its like promise: pictures, links, commands and examples that are there and true."""

from __future__ import annotations

import importlib
import re
import shlex
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from harness.cli.app import app
from harness.scenario.compile import compile_feature
from harness.spec.classes import served

ROOT = Path(__file__).parents[2]
TEXTS = ("README.md", "CONTRIBUTING.md", "features/README.md", "evidence/README.md", "reports/README.md")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "reports" / "report.png"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_INLINE = re.compile(r"`((?:uv run )?harness [^`\n]+)`")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def fenced(name: str, language: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(text(name)) if kind == language]


def test_the_picture_is_there_small_and_shown() -> None:
    content = PICTURE.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width >= 1000
    assert height >= 600
    assert len(content) <= 300_000
    assert "](reports/report.png)" in README
    assert ".ci/picture" in text("reports/README.md")


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    for target in _LINK.findall(text(name)):
        if "://" not in target:
            assert ((ROOT / name).parent / target).exists(), target


def commands(name: str) -> Iterator[str]:
    """Every command of the harness that a text shows, in blocks and in sentences."""
    for kind, body in _FENCE.findall(text(name)):
        lines = body.splitlines()
        if kind == "":
            yield from (line.partition("  #")[0] for line in lines if "harness " in line and "─" not in line)
        if kind == "yaml":
            yield from (line.partition("run: ")[2] for line in lines if "run: uv run harness" in line)
    yield from _INLINE.findall(_FENCE.sub("", text(name)))


def arguments(command: str) -> Iterator[list[str]]:
    """The arguments of each `harness` in a command line."""
    for part in re.split(r"&&|\|\|", command):
        words = shlex.split(part.replace("$?", ""))
        if "harness" in words:
            yield words[words.index("harness") + 1 :]


def unknown(words: list[str]) -> str:
    """What in these arguments no command of the harness has, or ""."""
    known: Any = typer.main.get_command(app)
    while words and not words[0].startswith("-") and hasattr(known, "commands"):
        if words[0] not in known.commands:
            return words[0]
        known, words = known.commands[words[0]], words[1:]
    options = {option for item in known.params for option in (*item.opts, *item.secondary_opts)} | {"--help", "-h"}
    return next((word for word in words if word.startswith("--") and word.partition("=")[0] not in options), "")


@pytest.mark.parametrize("name", TEXTS)
def test_commands_and_options_that_a_text_shows_exist(name: str) -> None:
    shown = [words for command in commands(name) for words in arguments(command)]
    assert [(words, unknown(words)) for words in shown if unknown(words)] == []
    if name == "README.md":
        assert len(shown) > 25
        assert {"accept", "record", "doctor", "trends", "diff", "sweep", "import", "show"} <= {
            words[0] for words in shown
        }


def test_a_command_that_does_not_exist_would_be_noticed() -> None:
    assert unknown(["accpt"]) == "accpt"
    assert unknown(["accept", "--fast"]) == "--fast"
    assert unknown(["authority", "old"]) == "old"
    assert unknown(["accept", "--at", "2026-11-30"]) == ""


def test_the_workflow_is_one() -> None:
    (body,) = fenced("README.md", "yaml")
    workflow = importlib.import_module("yaml").safe_load(body)
    steps = workflow["jobs"]["accept"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    runs = " ".join(step.get("run", "") for step in steps)
    for part in ("harness record --product", "harness accept", "|| [ $? -eq 3 ]"):
        assert part in runs
    assert any("junit.xml" in str(step.get("with", {})) for step in steps)


def test_the_scenario_that_is_shown_compiles_and_serves_a_run() -> None:
    (body,) = fenced("README.md", "gherkin")
    (scenario,) = compile_feature(f"@recovered-failures\nFeature: F\n\n{body}", name="f.feature")
    assert scenario.slug == "one-of-two-files-is-there"
    assert f"evidence/0.104.0/{scenario.slug}.local-agent" in text("CONTRIBUTING.md")
    assert served(scenario.tags).runs == ("recovered-failures.handled",)
    (card,) = scenario.expected
    assert [stated.label for stated in card.facts][:2] == ["Script outcome", "Total calls"]


@pytest.mark.parametrize("folder", ["features", "evidence", "reports"])
def test_every_folder_says_what_it_holds(folder: str) -> None:
    assert len(text(f"{folder}/README.md")) > 200
    assert f"`{folder}/`" in README


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    rows = re.findall(r"^\| (\d+) \| ", README.partition("## Exit codes")[2].partition("\n## ")[0], re.MULTILINE)
    assert rows == ["0", "1", "2", "3", "4", "70"]
