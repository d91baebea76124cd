"""The first screen of `harness accept`: whatever the judgement, a newcomer's terminal holds all of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len

from harness.cli import output
from harness.cli.accept import print_verdict
from harness.cli.first_screen import MARGIN, PIPE, Screen, first_screen
from harness.model.verdict import Acceptance, Damage, Missing, Release, Verdict
from tests.support.acceptances import accepted_of, finding, many, observed, rejected

REPORTS = Path("reports")
SIZES = [(80, 24), (120, 40), (100, 30), (80, 50)]
HOSTILE = "\x1b[2J\x1b]0;hurt\x07 <b> \u202e " + "x" * 10_000 + "\u6f22\u5b57" * 200
CAUSE = re.compile(r"^\S+ +[0-9]+  \S", re.MULTILINE)
"""The line of a probable cause: its first finding, how many there are, what differs."""
TMUX = shutil.which("tmux")


def insufficient(reasons: int = 3) -> Acceptance:
    return msgspec.structs.replace(
        rejected(),
        verdict=Verdict.INSUFFICIENT,
        reasons=tuple(f"reason {number} " + "is long and goes on " * 5 for number in range(reasons)),
        missing=(Missing(class_="legacy", reason="no original run"),),
    )


def tampered() -> Acceptance:
    broken = (Damage(bundle="0.104.0/x", reasons=("session.jsonl.gz has another sha256",)),)
    return msgspec.structs.replace(rejected(), verdict=Verdict.TAMPERED, damaged=broken)


def hostile() -> Acceptance:
    found = finding("a", label=HOSTILE, observed=HOSTILE, expected=HOSTILE)
    made = accepted_of((observed("a", extra=(found,)),), reasons=(HOSTILE,) * 20)
    return msgspec.structs.replace(made, release=Release(name=HOSTILE, version=HOSTILE, sha256=("0" * 64,)))


JUDGEMENTS = {
    "rejected": rejected(),
    "insufficient": insufficient(),
    "many-reasons": insufficient(40),
    "tampered": tampered(),
    "hostile": hostile(),
    "many": many(20),
    "nothing": accepted_of((), Verdict.INSUFFICIENT, reasons=("there is no original run of this release",)),
}


def lines(acceptance: Acceptance, width: int, height: int, policy: Path | None = None) -> list[str]:
    screen = Screen(width=width, height=height)
    shown = first_screen(acceptance, screen, reports=REPORTS, evidence=None, missing_policy=policy)
    return [line.plain for line in shown]


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("policy", [None, Path("evidence/trust-policy.toml"), Path("/" + "deep/" * 40)])
@pytest.mark.parametrize("name", JUDGEMENTS)
def test_it_fits_beside_the_command_and_the_prompt(name: str, policy: Path | None, width: int, height: int) -> None:
    shown = lines(JUDGEMENTS[name], width, height, policy)
    assert len(shown) <= height - MARGIN
    assert [line for line in shown if cell_len(line) > width] == []
    assert not any("\x1b" in line or "\u202e" in line for line in shown)


@pytest.mark.parametrize("name", ["rejected", "insufficient", "many-reasons", "tampered", "many", "nothing"])
def test_it_says_what_was_judged_the_verdict_why_and_what_next(name: str) -> None:
    acceptance = JUDGEMENTS[name]
    shown = lines(acceptance, 80, 24)
    assert shown[0].startswith("Judged:  magi-code 0.104.0, binary sha256 ")
    assert f"Verdict: {acceptance.verdict.value.upper()}" in shown
    assert any(line.startswith(f"- {acceptance.reasons[0][:40]}") for line in shown)
    assert "Next" in shown
    assert any(line.startswith("  reports/report.html") for line in shown)


def test_reasons_and_causes_that_do_not_fit_are_counted() -> None:
    shown = lines(JUDGEMENTS["many-reasons"], 80, 24)
    assert "- … 36 more reasons, in the report and with --verbose" in shown
    causes = CAUSE.findall("\n".join(shown))
    heading = next(line for line in shown if "probable cause" in line)
    assert f"the first {len(causes)}" in heading
    assert 0 < len(causes) < len(CAUSE.findall("\n".join(lines(JUDGEMENTS["many-reasons"], 80, 50))))


def test_five_long_reasons_are_all_told_if_only_in_part() -> None:
    """The last of them may be the one that matters: none is dropped for the length of another."""
    shown = lines(insufficient(5), 80, 24)
    reasons = [line for line in shown if line.startswith("- ")]
    assert [line[:10] for line in reasons] == [f"- reason {number}" for number in range(5)]
    assert all(line.endswith("…") and cell_len(line) <= 80 for line in reasons)
    assert any(line.startswith("  is long") or "is long and goes on" in line for line in lines(insufficient(2), 80, 24))


def test_damage_comes_with_the_command_that_names_it_and_missing_runs_with_theirs() -> None:
    assert any(line.startswith("  harness verify evidence") for line in lines(tampered(), 80, 24))
    assert any("harness authorize --help" in line for line in lines(insufficient(), 80, 24))
    signed = msgspec.structs.replace(
        insufficient(),
        observations=tuple(item for item in rejected().observations if item.authorization == "authorized"),
        findings=(),
    )
    assert any("harness record --help" in line for line in lines(signed, 80, 24))


def test_a_missing_policy_comes_first_and_instead_of_signing() -> None:
    """Whoever signs without one signs for nothing."""
    shown = lines(insufficient(40), 80, 24, Path("evidence/trust-policy.toml"))
    reasons = [line for line in shown if line.startswith("- ")]
    assert reasons[0] == "- there is no evidence/trust-policy.toml, so that no signature counts"
    assert reasons[1].startswith("- reason 0 ")
    assert any(line.startswith("  write evidence/trust-policy.toml") for line in shown)
    assert not any("harness authorize" in line for line in shown)


def test_a_named_folder_of_evidence_stays_in_the_commands() -> None:
    screen = first_screen(rejected(), PIPE, reports=REPORTS, evidence=Path("some where"))
    named = [line.plain.split() for line in screen if "--evidence 'some where'" in line.plain]
    assert [words[1] for words in named] == ["show", "accept"]


def printed(acceptance: Acceptance, level: output.Loudness, capsys: pytest.CaptureFixture[str]) -> str:
    output.be(level)
    try:
        print_verdict(acceptance, REPORTS, None, output.console())
    finally:
        output.be(output.Loudness.NORMAL)
    return capsys.readouterr().out


def test_quiet_is_one_line_and_verbose_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    acceptance = JUDGEMENTS["many-reasons"]
    assert printed(acceptance, output.Loudness.QUIET, capsys) == "magi-code 0.104.0: insufficient\n"
    normal = printed(acceptance, output.Loudness.NORMAL, capsys)
    verbose = printed(acceptance, output.Loudness.VERBOSE, capsys)
    for number in range(40):
        assert f"- reason {number} " in verbose
    assert "out-of-order" in verbose
    assert "no original run" in verbose
    assert len(CAUSE.findall(verbose)) > len(CAUSE.findall(normal)) == 8
    assert "harness accept --verbose" in normal
    assert "harness accept --verbose" not in verbose
    assert "\x1b" not in normal + verbose, "piped output is plain"


@pytest.mark.skipif(TMUX is None, reason="there is no tmux on this machine")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_a_real_terminal_shows_all_of_it_at_once(width: int, height: int, tmp_path: Path) -> None:
    script = tmp_path / "show.py"
    script.write_text(
        "from pathlib import Path\n"
        "from harness.cli import output\n"
        "from harness.cli.accept import print_verdict\n"
        "from tests.support.acceptances import rejected\n"
        "print_verdict(rejected(), Path('reports'), None, output.console())\n"
    )
    server = f"harness-test-{width}-{tmp_path.name}"

    def tmux(*arguments: str) -> str:
        return subprocess.run(
            [str(TMUX), "-L", server, *arguments], check=True, capture_output=True, text=True, timeout=20
        ).stdout

    command = f"cd {Path(__file__).parents[3]}; clear; echo '$ harness accept'; PYTHONPATH=. {sys.executable} {script}"
    tmux("new-session", "-d", "-x", str(width), "-y", str(height), f"sh -c \"{command}; printf 'at rest'; sleep 60\"")
    try:
        deadline = time.monotonic() + 60
        seen = ""
        while "at rest" not in seen and time.monotonic() < deadline:
            time.sleep(0.2)
            seen = tmux("capture-pane", "-p")
    finally:
        tmux("kill-server")
    assert seen.splitlines()[0] == "$ harness accept", "nothing has scrolled away"
    assert "Verdict: REJECTED" in seen
    assert "Next" in seen
