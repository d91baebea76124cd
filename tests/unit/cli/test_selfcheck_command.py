"""`harness selfcheck`: a result that has scrolled away, and quiet that is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from harness.cli import output
from harness.cli.selfcheck import print_result
from harness.model.selfcheck import Selfcheck
from tests.support import selfchecks

FILE = Path("evidence/selfcheck.json")
TOTALS = "5 mutants of original runs of 0.104.0"


@pytest.fixture(autouse=True)
def loudness() -> Iterator[None]:
    yield
    output.be(output.Loudness.NORMAL)


def printed(result: Selfcheck, level: output.Loudness, capsys: pytest.CaptureFixture[str]) -> list[str]:
    output.be(level)
    print_result(result, FILE)
    return capsys.readouterr().out.splitlines()


def test_the_totals_come_last_where_a_screen_of_24_lines_still_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(selfchecks.result(), output.Loudness.NORMAL, capsys)
    assert lines[0].split()[:3] == ["class", "rules", "mutants"]
    assert lines[1].split()[:3] == ["fact-value", "2", "5"]
    assert lines[2] == "  1 with nothing to notice: nothing to hold it against"
    assert lines[-2].startswith(TOTALS)
    assert lines[-1] == f"written to {FILE}; harness accept reads it there"


def test_quiet_prints_survivors_and_totals_alone(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = printed(selfchecks.result(), output.Loudness.QUIET, capsys)
    assert line.startswith(TOTALS)
    blind = msgspec.structs.replace(selfchecks.result(), survivors=(selfchecks.survivor(),))
    survived, totals = printed(blind, output.Loudness.QUIET, capsys)
    assert survived.startswith("survivor: fact-value, changed (code-mode.total-calls): 0.104.0/handled.local-agent")
    assert totals.startswith(TOTALS)


def test_verbose_names_every_rule_that_is_attacked(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(selfchecks.result(), output.Loudness.VERBOSE, capsys)
    assert "code-mode.total-calls, code-mode.warnings" in lines[1]
