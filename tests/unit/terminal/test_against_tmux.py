"""The emulator against another one: whole screens of real captures must come out the same in tmux."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from harness.terminal import Screen

_CASTS = Path(__file__).parents[2] / "data" / "casts"
_TMUX = shutil.which("tmux")
_WAIT_SECONDS = 20.0

pytestmark = pytest.mark.skipif(_TMUX is None, reason="tmux is not installed: nothing to check the emulator against")


def _capture(output: bytes, columns: int, rows: int, folder: Path) -> list[str]:
    """tmux's screen after `output`, trailing blanks removed."""
    data = folder / "output.bin"
    data.write_bytes(output)
    done = folder / "done"
    tmux = [str(_TMUX), "-S", str(folder / "socket"), "-f", "/dev/null"]
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "HOME": str(folder)}

    def run(*arguments: str) -> str:
        return subprocess.run(
            [*tmux, *arguments], env=environment, check=True, capture_output=True, timeout=_WAIT_SECONDS
        ).stdout.decode()

    try:
        # The pane is made first and sized without a status line, then fed: output must not be drawn at another size.
        run(
            "new-session",
            "-d",
            "-x",
            str(columns),
            "-y",
            str(rows),
            f"stty raw -echo; sleep 0.3; cat '{data}'; touch '{done}'; sleep 60",
            ";",
            "set",
            "status",
            "off",
            ";",
            "resize-window",
            "-x",
            str(columns),
            "-y",
            str(rows),
        )
        end = time.monotonic() + _WAIT_SECONDS
        while not done.exists():
            assert time.monotonic() < end, "tmux did not take the capture in time"
            time.sleep(0.05)
        shown = ""
        while time.monotonic() < end:
            time.sleep(0.2)
            again = run("capture-pane", "-p", "-N")
            if again == shown and again.strip():
                break
            shown = again
        return [row.rstrip() for row in shown.split("\n")][:rows]
    finally:
        subprocess.run([*tmux, "kill-server"], env=environment, check=False, capture_output=True)


@pytest.mark.parametrize(
    "name", ["0.104.0-mixed-batch", "0.100.0-mixed-script", "0.96.6-reopened-by-0.104.0-legacy-script"]
)
def test_a_real_capture_shows_the_same_whole_screen_in_tmux(name: str, tmp_path: Path) -> None:
    lines = gzip.decompress((_CASTS / f"{name}.cast.gz").read_bytes()).decode().splitlines()
    header = json.loads(lines[0])
    output = "".join(event[2] for event in map(json.loads, lines[1:]) if event[1] == "o")
    # The last bytes leave the alternate screen on no account here: the capture was cut while the product ran.
    ours = Screen(header["width"], header["height"])
    ours.feed(output)
    theirs = _capture(output.encode(), header["width"], header["height"], tmp_path)
    rows = [row.rstrip() for row in ours.rows()]
    assert sum(bool(row) for row in rows) > 50, "the capture shows a screen"
    assert rows == theirs


def test_wide_and_combining_text_shows_the_same_in_tmux(tmp_path: Path) -> None:
    output = (
        "\x1b[?1049h\x1b[2J\x1b[1;1H日本語のテキスト|\x1b[2;1He\u0301a\u0308|\x1b[3;1H漢字\x1b[3;1Hx\x1b[4;1H漢字\x1b[4;3Hy"
        "\x1b[5;18H漢字\x1b[7;1H\x1b[1;31mred\x1b[0m\x1b[Kend\x1b[8;1H\x1b[>1u\x1b[?2026hsync\x1b[?2026l"
    )
    ours = Screen(20, 10)
    ours.feed(output)
    assert [row.rstrip() for row in ours.rows()] == _capture(output.encode(), 20, 10, tmp_path)
