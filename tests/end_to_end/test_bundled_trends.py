"""reports/trends.html is the page that the clone's own evidence gives, as of the time of its verdict."""

from __future__ import annotations

import json
from pathlib import Path

from harness.cli.app import run

ROOT = Path(__file__).parents[2]


def test_a_page_of_trends_that_would_not_be_rendered_now_is_noticed(tmp_path: Path) -> None:
    at = json.loads((ROOT / "reports" / "verdict.json").read_text(encoding="utf-8"))["at"]
    folders = ["--evidence", str(ROOT / "evidence"), "--features", str(ROOT / "features")]
    assert run(["trends", *folders, "--reports", str(tmp_path), "--at", at, "--quiet"]) == 0
    page = (ROOT / "reports" / "trends.html").read_bytes()
    assert page == (tmp_path / "trends.html").read_bytes(), f"run `uv run harness trends --at {at}`, commit reports/"
