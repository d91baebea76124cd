"""A product that inherits the machine's environment or settings would put them into evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.model.stimulus import Stimulus
from harness.record import launch
from harness.record.saved_session import turns_ended
from harness.record.workspace import Workspace


def test_nothing_of_the_machines_environment_reaches_the_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "machine-secret")
    monkeypatch.setenv("USER", "somebody")
    place = Workspace(tmp_path)
    environment = launch.environment(Stimulus(environment={"EXTRA": "1"}), place, place.home)
    assert "machine-secret" not in environment.values()
    assert "USER" not in environment
    assert environment["HOME"] == str(tmp_path / "home")
    assert environment["MC_HOME"].startswith(environment["HOME"])
    assert environment["EXTRA"] == "1"
    assert environment["NO_PROXY"].startswith("127.0.0.1"), "the scripted model must stay reachable"


def test_a_scenarios_settings_go_into_the_base_without_replacing_it() -> None:
    stimulus = Stimulus(settings={"agent": {"model": {"thinking_level": "high"}, "extra": [1]}})
    settings = launch.settings(stimulus, model_url="http://127.0.0.1:1/v1", releases=["1.0.0", "2.0.0"])
    assert settings["agent"] == {
        "model": {"provider": "scripted", "model": "scripted", "thinking_level": "high"},
        "extra": [1],
    }
    assert settings["providers"]["custom"]["scripted"]["base_url"] == "http://127.0.0.1:1/v1"
    assert settings["welcome_release_notes_seen"] == {"1.0.0": True, "2.0.0": True}


def test_merging_replaces_lists_and_scalars_and_changes_no_argument() -> None:
    base = {"a": {"b": [1], "c": 2}, "d": 3}
    assert launch.merged(base, {"a": {"b": [9]}, "d": {"e": 4}}) == {"a": {"b": [9], "c": 2}, "d": {"e": 4}}
    assert base == {"a": {"b": [1], "c": 2}, "d": 3}


@pytest.mark.parametrize(
    ("kinds", "turns", "over"),
    [
        (["user_input", "tool_call"], 1, False),
        (["user_input", "assistant_output"], 1, True),
        (["user_input", "turn_status", "session_active_time"], 1, True),
        (["user_input", "assistant_output"], 2, False),
        (["user_input", "assistant_output", "user_input"], 2, False),
        (["user_input", "tool_call", "user_input", "assistant_output"], 2, True),
        ([], 1, False),
    ],
)
def test_a_turn_is_over_when_the_session_says_so_after_its_own_beginning(
    kinds: list[str], turns: int, *, over: bool, tmp_path: Path
) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text("".join(f'{{"event_type": "{kind}"}}\n' for kind in kinds) + '{"event_type": "user_in')
    assert turns_ended((file,), turns) is over
