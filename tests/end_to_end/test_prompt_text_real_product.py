"""What the real products send to their model is recognized, and is in none of their own recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.acceptance import load_scenarios
from harness.bundle.prompt_text import own_texts, prompt_text_in_members
from harness.record import products
from harness.record.recorder import record

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("release", ["0.104.0", "0.100.0"])
def test_a_prompt_that_leaks_is_recognized_and_none_has_leaked(release: str, tmp_path: Path) -> None:
    if not products.available(release):
        pytest.skip(f"{release} is not in the user's cache")
    bodies: list[bytes] = []
    scenario = next(item for item in load_scenarios(ROOT / "features") if item.slug == "mixed-script")
    run = record(
        scenario.stimulus,
        observation="prompt.local-agent",
        scenario=scenario.id,
        classes=(),
        release=release,
        driver="local-agent",
        product=products.locate(release),
        root=tmp_path / "runs",
        watch=bodies.append,
    )
    texts = [text for body in bodies for text in own_texts(body)]
    assert sum(map(len, texts)) > 10_000
    longest = max(texts, key=len)
    assert prompt_text_in_members([("m", longest.encode())]), "known by its digests alone"
    assert prompt_text_in_members([("m", longest[1_000:1_600].encode())])
    assert prompt_text_in_members(run.members.items()) == ()
