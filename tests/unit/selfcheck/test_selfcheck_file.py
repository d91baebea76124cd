"""The result of a selfcheck on disk: what contradicts itself, or was measured on something else, must prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness import selfcheck_file
from harness.model.errors import EvidenceError
from harness.model.selfcheck import Selfcheck
from harness.selfcheck_file import FILE, decode, encode, read_state
from tests.support import selfchecks

MANIFESTS = {"handled.local-agent": "1" * 64}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """An evidence folder with a fitting result, and a folder of scenarios."""
    evidence, features = tmp_path / "evidence", tmp_path / "features"
    evidence.mkdir()
    features.mkdir()
    (features / "one.feature").write_text("Feature: one\n")
    selfchecks.write(evidence, features, MANIFESTS)
    return evidence, features


def fault(folders: tuple[Path, Path], **changes: object) -> str:
    asked: dict[str, object] = {"release": "0.104.0", "manifests": MANIFESTS, "features": folders[1], **changes}
    return read_state(folders[0], **asked).fault  # type: ignore[arg-type]  # the defaults have the types


def test_what_is_written_is_read_again() -> None:
    assert decode(encode(selfchecks.with_survivors(2)), where=FILE) == selfchecks.with_survivors(2)


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(mutants=6),
        lambda plain: plain.update(caught=5),
        lambda plain: plain.update(equivalent=0),
        lambda plain: plain["classes"][0].update(caught=5),
        lambda plain: plain["classes"][0].update(survivors=1),
        lambda plain: plain["survivors"].append(msgspec.to_builtins(selfchecks.survivor())),
        lambda plain: plain["classes"][0]["equivalent"].append({"reason": "none", "mutants": 3}),
        lambda plain: plain.update(surprise=1),
        lambda plain: plain.pop("survivors"),
        lambda plain: plain.update(schema=2),
        lambda plain: plain.update(mutants="5"),
    ],
)
def test_numbers_that_do_not_add_up_and_other_shapes_are_refused(change: Callable[[dict[str, object]], object]) -> None:
    plain = msgspec.json.decode(encode(selfchecks.result()))
    change(plain)
    with pytest.raises(EvidenceError) as caught:
        decode(msgspec.json.encode(plain), where=FILE)
    assert "harness selfcheck" in caught.value.hint


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema":1,"schema":1}', b"\xff", b"[" * 100_000])
def test_bytes_that_are_no_result_are_refused(content: bytes) -> None:
    with pytest.raises(EvidenceError):
        decode(content, where=FILE)


def test_a_result_of_this_code_evidence_and_scenarios_proves_something(folders: tuple[Path, Path]) -> None:
    state = read_state(folders[0], release="0.104.0", manifests=MANIFESTS, features=folders[1])
    assert state.fault == ""
    assert state.result is not None
    assert state.result.caught == 4


def test_without_a_result_the_state_says_which_command_to_run(folders: tuple[Path, Path]) -> None:
    (folders[0] / FILE).unlink()
    what, _, command = fault(folders).partition("; ")
    assert what == "no selfcheck was made over this evidence"
    assert command == "run: uv run harness selfcheck, with the --evidence that is judged"


def test_a_link_in_its_place_is_not_followed(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (folders[0] / FILE).rename(tmp_path / "elsewhere.json")
    (folders[0] / FILE).symlink_to(tmp_path / "elsewhere.json")
    assert "no selfcheck was made" in fault(folders)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"release": "0.105.0"}, "not made over release 0.105.0"),
        ({"manifests": {}}, "other original runs"),
        ({"manifests": {**MANIFESTS, "more.local-agent": "2" * 64}}, "other original runs"),
        ({"manifests": {"handled.local-agent": "2" * 64}}, "other original runs"),
    ],
)
def test_a_result_of_other_evidence_is_stale(changes: dict[str, object], says: str, folders: tuple[Path, Path]) -> None:
    assert says in fault(folders, **changes)


def test_a_result_with_other_scenarios_is_stale(folders: tuple[Path, Path]) -> None:
    (folders[1] / "one.feature").write_text("Feature: two\n")
    assert "other scenarios" in fault(folders)


def test_a_result_of_other_judging_code_is_stale(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck_file, "code_digest", lambda: "f" * 64)
    assert "other judging code" in fault(folders)


def test_a_result_that_caught_nothing_proves_nothing(folders: tuple[Path, Path]) -> None:
    made: Selfcheck = decode((folders[0] / FILE).read_bytes(), where=FILE)
    empty = msgspec.structs.replace(made, mutants=0, caught=0, equivalent=0, classes=())
    (folders[0] / FILE).write_bytes(encode(empty))
    assert "caught nothing" in fault(folders)


def test_a_broken_result_is_a_fault_and_no_exception(folders: tuple[Path, Path]) -> None:
    (folders[0] / FILE).write_bytes(b"{")
    state = read_state(folders[0], release="0.104.0", manifests=MANIFESTS, features=folders[1])
    assert state.result is None
    assert FILE in state.fault


def test_the_digest_of_the_judging_code_covers_what_judges_and_nothing_that_shows() -> None:
    covered = set(selfcheck_file.judging_files())
    for name in ("compare/cells.py", "judge/verdict.py", "spec/requirements.toml", "examine.py", "wire/runs.py"):
        assert name in covered
    assert not [name for name in covered if name.startswith(("report/", "cli/", "record/", "selfcheck"))]
