"""Every reader against inputs that nobody means well with: a value or an error of ours, in bounded time and memory.

The corpus is replayed, the same mutations of it are tried at every run, and atheris goes on from it for a bounded
number of inputs where it is there. Longer: ``uv run python -m tests.fuzz --seconds 600``.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import FrameType

import msgspec
import pytest

from harness.cli.places import parse_time
from harness.terminal import Screen
from tests.fuzz import engine
from tests.fuzz.__main__ import fuzz, stats
from tests.fuzz.containers import pack, unpack
from tests.fuzz.engine import CORPUS, available, corpus
from tests.fuzz.mutate import mutated
from tests.fuzz.targets import TARGETS, clean_up
from tests.support import runs, wire_frames

MUTATIONS = 25
GUIDED = "session"
"""The one that atheris goes on with here: a start of it takes some seconds. All the others: the command."""
GUIDED_RUNS = 200


@pytest.fixture(scope="module", autouse=True)
def _scratch() -> Iterator[None]:
    yield
    clean_up()


def test_every_reader_begins_with_inputs_and_no_input_is_of_no_reader() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert all(any(path.name.startswith("valid-") for path in corpus(name)) for name in TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_what_once_broke_a_reader_does_not_break_it_again(name: str) -> None:
    for path in corpus(name):
        accepted = TARGETS[name].accepts(path.read_bytes())
        assert accepted or not path.name.startswith("valid-"), f"{path.name} is refused"


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_of_the_corpus_are_answered(name: str) -> None:
    target, random = TARGETS[name], Random(name)  # noqa: S311 # chance for tests
    pool = [path.read_bytes() for path in corpus(name) if path.name.startswith("valid-")]
    answers = set()
    for _ in range(MUTATIONS):
        data = mutated(random.choice(pool), random, target.limit)
        answers.add(target.accepts(data))
    assert answers, "nothing was tried"


def test_a_coverage_guided_run_finds_nothing(tmp_path: Path) -> None:
    done = fuzz(GUIDED, runs=GUIDED_RUNS, seed=7, folder=tmp_path)
    kept = [path.name for path in tmp_path.iterdir() if path.is_file()]
    assert done.returncode == 0, done.stderr[-3000:]
    assert kept == []
    assert stats(done.stderr)["number_of_executed_units"] >= GUIDED_RUNS
    if available():
        assert any((tmp_path / "work" / GUIDED).iterdir()), "no input reached new code: nothing was instrumented"


def test_a_fault_of_a_reader_is_found_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer itself can fail: a reader that breaks at once is reported with its input."""

    def broken(data: bytes) -> None:
        raise IndexError(len(data))

    monkeypatch.setitem(TARGETS, "time", msgspec.structs.replace(TARGETS["time"], reader=broken))
    assert engine.unguided("time", runs=3, seconds=0, seed=1, found=tmp_path) == engine.FOUND
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith("crash-")


# Growth: counted, not timed


def repeated(name: str, times: int) -> bytes:
    """An input of a target whose size is in proportion to `times`."""
    builders: dict[str, Callable[[int], bytes]] = {
        "session": lambda n: runs.saved_script(_script(n)).session.bytes(),
        "projection": lambda n: pack({"session.jsonl": runs.saved_script(_script(n)).session.bytes()}),
        "capture": lambda n: wire_frames.big_script(n).encode(),
        "bundle": lambda n: pack(
            {
                "session.jsonl": runs.saved_script(_script(n)).session.bytes(),
                "local-agent.live.jsonl": wire_frames.big_script(n).encode(),
            }
        ),
        "cast": lambda n: b'{"version":2,"width":80,"height":24}\n' + b'[0,"o","\\u001b[2Jx\\n"]\n[0,"m","card"]\n' * n,
        "mission-control": lambda n: (
            b'{"version":2,"width":80,"height":24}\n' + b'[0,"o","\\u001b[2Jx\\n"]\n[0,"m","card"]\n' * n
        ),
        "terminal": lambda n: "\x1b[2J\x1b[1;31m漢x\r\n\x1b[4;20r\x1b[2L".encode() * n,
        "screen-json": lambda n: '{"é":['.encode() + b'{"a":"\\n"},' * n + b"0",
        "feature": lambda n: (
            ('Feature: F\n  Scenario: S\n    Given the model answers "x"\n' + '    And the model answers "y"\n' * n)
            + '    When the prompt "p" is run\n'
        ).encode(),
        "facts-page": lambda n: b"# Page\n" + b"A rule of the garden. Another; null before.\n\n" * n,
        "waivers": lambda n: b"schema = 1\n" + b"".join(_waiver(number) for number in range(n)),
        "envelope": lambda n: b'{"payload":"' + b"QUJD" * n + b'","payloadType":"x","signatures":[{"sig":"QUJD"}]}',
        "sweep-folder": lambda n: pack({f"s{number}.jsonl": b'{"event_type":"x"}\n' for number in range(n)}),
        "model-log": lambda n: b'{"at":1,"lane":"main"}\n' * n,
        "workspace-listing": lambda n: b"[" + b",".join([b'{"path":"a","size":1,"sha256":"0"}'] * n) + b"]",
    }
    return builders[name](times)


def _script(calls: int) -> runs.Script:
    return runs.Script(calls=(runs.Did("write", True, ("a",)),) * calls, success=True)


def _waiver(number: int) -> bytes:
    members = ("requirement", "observation", "label", "release", "owner", "reason", "issue")
    lines = [f'id = "W-{number}"', 'expires = "2027-01-31T00:00:00Z"', *(f'{name} = "x"' for name in members)]
    return ("[[waiver]]\n" + "\n".join(lines) + "\n").encode()


GROWING = {
    "session": 40,
    "projection": 30,
    "capture": 8,
    "bundle": 6,
    "cast": 30,
    "mission-control": 12,
    "terminal": 100,
    "screen-json": 100,
    "feature": 40,
    "facts-page": 4,
    "waivers": 40,
    "envelope": 400,
    "sweep-folder": 12,
    "model-log": 100,
    "workspace-listing": 100,
}
"""Target to how often the smallest of its three inputs repeats something."""


def work(name: str, data: bytes) -> int:
    """How many calls, of Python and of C, reading an input takes."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        TARGETS[name].accepts(data)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", GROWING)
def test_work_grows_no_faster_than_the_input(name: str) -> None:
    """What reading costs beyond the first input's cost must grow in proportion; a square would make it three times."""
    inputs = [repeated(name, GROWING[name] * factor) for factor in (1, 2, 4)]
    work(name, inputs[0])  # caches are filled, modules imported
    small, middle, large = (work(name, data) for data in inputs)
    sizes = [len(data) for data in inputs]
    assert sizes[2] > 3 * sizes[0]
    assert large - middle <= 2.6 * max(middle - small, 50), f"{small}, {middle}, {large} calls for {sizes} bytes"


def memory(name: str, data: bytes) -> int:
    """Most bytes that Python had at once while reading an input."""
    tracemalloc.start()
    try:
        TARGETS[name].accepts(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["session", "projection", "capture", "cast", "mission-control", "screen-json"])
def test_memory_grows_no_faster_than_the_input(name: str) -> None:
    inputs = [repeated(name, GROWING[name] * factor) for factor in (1, 4)]
    memory(name, inputs[0])
    small, large = (memory(name, data) for data in inputs)
    assert large <= 6 * small + 1_000_000, f"{small}, {large} bytes for {len(inputs[0])}, {len(inputs[1])}"
    assert large <= 400 * len(inputs[1]) + 4_000_000


# What the fuzzer found, in words


def test_a_cast_that_fills_large_screens_with_few_bytes_is_refused() -> None:
    data = (CORPUS / "cast" / "fills-large-screens").read_bytes()
    assert len(data) < 1_500
    assert work("cast", data) < 100_000
    assert not TARGETS["cast"].accepts(data)


def test_the_cursor_is_told_under_origin_mode_without_margins() -> None:
    screen = Screen(20, 5)
    screen.feed("\x1b[?6h\x1b[3;4H\x1b[6n")
    assert screen.take_replies() == b"\x1b[3;4R"


def test_a_parameter_of_any_length_is_the_largest_one() -> None:
    screen = Screen(20, 5)
    screen.feed("\x1b[" + "9" * 5000 + ";" + "0" * 5000 + "3Hx")
    assert screen.rows()[4] == "  x" + " " * 17


def test_times_are_written_with_four_digits_of_the_year() -> None:
    assert parse_time("0999-01-01") == "0999-01-01T00:00:00Z"


def test_containers_hold_what_was_put_in() -> None:
    files = {"a.jsonl": b'{"x":1}\n', "children/b": b"", "c": b"--\n-- x"}
    assert unpack(pack(files)) == files
