"""Every vice of a product, and the test that names it; those that lie are recorded and judged from end to end.

What a product does wrong while it is driven ends in an error, or is evidence and ends in a finding. Either way somebody
has to have thought of it: a vice of the fake that is not in this table fails.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.bundle import read_bundle
from tests.support import faults
from tests.support.faults import FAKE, Machine

TESTS = Path(__file__).parents[1]
DRIVEN = TESTS / "unit" / "record" / "test_recorder_and_bad_products.py"
HERE = Path(__file__)
_LOCAL_AGENT = "test_a_local_agent_that_misbehaves_is_named_and_gone"
_MISSION_CONTROL = "test_a_mission_control_that_misbehaves_is_named_and_gone"

VICES: dict[str, tuple[Path, str]] = {
    **dict.fromkeys(
        (
            *("silent", "refuses", "starts-nonsense", "not-utf-8", "foreign", "nests-deeply", "floods", "escapes"),
            *("dies", "cuts-line", "never-finishes", "stays", "keeps-lease", "asks-too-much", "asks-strangely"),
            *("writes-outside", "leaves-a-link"),
        ),
        (DRIVEN, _LOCAL_AGENT),
    ),
    **dict.fromkeys(
        (
            *("mc-dies", "mc-never-ready", "mc-not-utf-8", "mc-floods", "mc-never-finishes", "mc-dies-running"),
            *("mc-two-sessions", "mc-stays"),
        ),
        (DRIVEN, _MISSION_CONTROL),
    ),
    "turn-fails": (DRIVEN, "test_a_turn_that_fails_is_an_observation"),
    "asks-permission": (DRIVEN, "test_what_a_run_asks_permission_for_is_allowed"),
    "leaves-child": (DRIVEN, "test_a_child_that_left_its_group_does_not_outlive_the_recording"),
    "mc-busy-once": (DRIVEN, "test_a_session_that_is_still_held_is_resumed_once_it_is_free"),
    "saves-nothing": (DRIVEN, "test_a_finished_run_without_a_saved_session_is_an_error"),
    "no-version": (HERE, "test_a_program_that_does_not_tell_its_version_is_no_product"),
    "slow": (HERE, "test_a_slow_product_is_waited_for"),
    "wrong-seq": (HERE, "test_frames_out_of_order_are_recorded_and_found"),
    "replays=": (HERE, "test_a_product_that_lies_is_found_where_it_lies"),
}
"""Vice of the fake to the test that names it."""

TOLD = "handled-failure.local-agent"
"""The bundled run that the lying product tells again."""


def named() -> set[str]:
    """Every vice that the fake has, read from its text."""
    text = FAKE.read_text(encoding="utf-8")
    compared = re.findall(r'VICE (?:==|!=) "([a-z0-9-]+)"', text)
    matched = re.search(r"match VICE:\n(.*?)\n    def ", text, re.DOTALL)
    assert matched, "the fake has no vices at its start any more"
    return {
        *compared,
        *re.findall(r'case "([a-z0-9-]+)"', matched[1]),
        *re.findall(r'VICE.startswith\("(.+?)"\)', text),
    }


def test_every_vice_has_a_test_that_names_it() -> None:
    assert named() == set(VICES)
    for vice, (file, test) in VICES.items():
        text = file.read_text(encoding="utf-8")
        tests = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        assert any(name.startswith(test) for name in tests), f"{vice}: {file.name} has no {test}"
        assert f'"{vice}' in text, f"{file.name} does not name {vice}"


def found(machine: Machine) -> list[dict[str, Any]]:
    """The findings of a judgement over everything that was recorded."""
    reports = machine.folder / "reports"
    assert machine.run(machine.accept(reports)) == 3, machine.said()
    findings = json.loads((reports / "verdict.json").read_bytes())["findings"]
    assert isinstance(findings, list)
    return findings


def test_a_program_that_does_not_tell_its_version_is_no_product(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "no-version")
    assert machine.run(machine.record()) == 3
    assert "does not tell its version" in machine.said()
    assert machine.bundles() == {}


def test_a_slow_product_is_waited_for(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "slow")
    assert machine.run(machine.record("--driver", "local-agent")) == 0, machine.said()
    (line, *_) = [line for line in machine.said().splitlines() if line.startswith("recorded")]
    assert float(line.split()[-2]) >= 1.5
    assert len(machine.bundles()) == 1


def test_frames_out_of_order_are_recorded_and_found(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "wrong-seq")
    assert machine.run(machine.record("--driver", "local-agent")) == 0, machine.said()
    broken = [item for item in found(machine) if item["requirement"] == "wire.seq"]
    assert {item["surface"] for item in broken} == {"local-agent-live", "local-agent-reopen"}
    assert all(item["place"]["line"] for item in broken)


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Path]:
    """The captures of a real run, to be told again with one thing changed."""
    folder = tmp_path / "told"
    folder.mkdir()
    bundle = read_bundle(TESTS.parent / "evidence" / "0.104.0" / TOLD)
    for name in bundle.manifest.files:
        if name.endswith(".gz"):
            (folder / name.removesuffix(".gz")).write_bytes(bundle.read(name))
    yield folder
    assert faults.tree(folder)


LIES: dict[str, tuple[str, str, str, str, str, str]] = {
    "cards": (
        *("local-agent.live.jsonl", r"{\"label\":\"Failed calls\",\"outcome\":\"unknown\",\"value\":\"1\"}"),
        *(r"{\"label\":\"Failed calls\",\"outcome\":\"unknown\",\"value\":\"0\"}", "local-agent-live"),
        *("Failed calls", "0"),
    ),
    "saved cards": (
        *("local-agent.reopen.jsonl", r"{\"label\":\"Total calls\",\"outcome\":\"unknown\",\"value\":\"3\"}"),
        *(r"{\"label\":\"Total calls\",\"outcome\":\"unknown\",\"value\":\"4\"}", "local-agent-reopen"),
        *("Total calls", "4"),
    ),
    "screens": (
        *("mission-control.reopen.cast", "• 3 calls", "• 7 calls", "mission-control-reopen", "Total calls", "7"),
    ),
}
"""What lies: the capture, what is told in it, what is told instead, and the surface, label and value of the finding."""


@pytest.mark.parametrize("lies", [False, True], ids=["honest", "lying"])
def test_a_product_that_lies_is_found_where_it_lies(lies: bool, told: Path, tmp_path: Path) -> None:
    """Recorded through both surfaces and judged: exactly the lies, and the honest twin is accused of nothing."""
    expected: set[tuple[str, str, str]] = set()
    for file, true, false, surface, label, observed in LIES.values() if lies else ():
        text = (told / file).read_text(encoding="utf-8")
        assert true in text, "the run does not tell this at all"
        (told / file).write_text(text.replace(true, false), encoding="utf-8")
        expected.add((surface, label, observed))
    machine = Machine(tmp_path, f"replays={told}")
    feature = machine.features / "faults.feature"
    feature.write_text(feature.read_text().replace("    And a terminal of 80 columns and 24 rows\n", ""))
    assert machine.run(machine.record("--driver", "local-agent")) == 0, machine.said()
    values = {(item["surface"], item["label"], item["observed"]) for item in found(machine) if item["kind"] == "value"}
    assert values == expected
    assert machine.processes() == 0
