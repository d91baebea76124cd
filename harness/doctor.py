"""What this machine can do: judge, record, build products, run the tests; and what to do where something is missing.

`checks` decides from a `Machine`, which only answers questions, so that any machine can be tried out in a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from harness.model.manifest import Product

LEAST_PYTHON = (3, 11)
JUDGING_BYTES = 200_000_000
"""Free disk that the reports and unpacked captures of one release want, with room to spare."""
BUILDING_BYTES = 4_000_000_000
"""Free disk that building a product from its crate wants: cargo's target folder has 2 to 3 GB."""
RECORDING_BYTES = 500_000_000
SCREEN = (80, 24)


class Need(StrEnum):
    """What is impossible, or worse, without the thing."""

    JUDGING = "judging"
    RECORDING = "recording"
    BUILDING = "building products"
    TESTS = "own tests"
    COMFORT = "comfort"


class State(StrEnum):
    OK = "ok"
    LIMITED = "limited"
    """It works, and something about it is worth knowing."""
    MISSING = "missing"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing. `detail` is what was found, `advice` what to do about it ("" when nothing)."""

    name: str
    need: Need
    state: State
    detail: str
    advice: str = ""


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """Where the output goes: whether that is a terminal, its size in cells, and its colours in words."""

    interactive: bool
    columns: int
    rows: int
    colours: str
    encoding: str


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A product in the user's cache: what it says of itself, or why it says nothing."""

    version: str
    path: str
    product: Product | None
    problem: str = ""


class Machine(Protocol):
    """Questions to a machine. Problems are answers, "" being none: nothing raises."""

    def python(self) -> tuple[int, int, int]:
        """The version of the interpreter."""

    def packages(self) -> Mapping[str, tuple[str, str]]:
        """Package to the version that is pinned and the one that is installed, "" for none."""

    def folder(self, name: str) -> str:
        """Where ``evidence``, ``features`` or ``reports`` is, "" when there is none."""

    def releases(self) -> Sequence[str]:
        """Releases with evidence."""

    def writable(self, path: str) -> str:
        """Why the folder (or the one in which it would be made) cannot be written to."""

    def free(self, path: str) -> int:
        """Bytes free where the path is, or would be."""

    def cores(self) -> int:
        """How many processes run at once."""

    def shared_memory(self) -> str:
        """Why several processes cannot share a lock."""

    def loopback(self) -> str:
        """Why a server on 127.0.0.1 cannot be reached."""

    def pseudo_terminal(self) -> str:
        """Why no pseudo terminal of 500 rows can be had."""

    def program(self, name: str) -> tuple[str, str]:
        """Path and first line of what ``NAME --version`` says, each "" when there is none."""

    def terminal(self) -> Terminal:
        """Where the output goes."""

    def products(self) -> Sequence[Found]:
        """Products in the user's cache."""

    def recorded_by(self) -> Sequence[str]:
        """Older releases that scenarios are recorded with."""

    def cache(self) -> str:
        """The folder in which products are kept."""

    def neutral(self) -> tuple[str, str]:
        """The neutral folder in which runs happen, and why none can."""


def checks(machine: Machine) -> tuple[Check, ...]:
    """Everything, what judging needs first."""
    return (
        *_judging(machine),
        *_recording(machine),
        *_building(machine),
        *_tests(machine),
        *_comfort(machine),
    )


def exit_code(found: Sequence[Check]) -> int:
    """3 (something required is missing) when this machine cannot judge, else 0."""
    return 3 if any(item.need is Need.JUDGING and item.state is State.MISSING for item in found) else 0


def recordable(found: Sequence[Found], older: Sequence[str]) -> tuple[str, ...]:
    """Releases that can be recorded at once; older ones serve only to save the sessions of legacy scenarios."""
    return tuple(item.version for item in found if item.product is not None and item.version not in older)


def _check(name: str, need: Need, problem: str, detail: str, advice: str = "") -> Check:
    state = State.MISSING if problem else State.OK
    return Check(name=name, need=need, state=state, detail=problem or detail, advice=advice if problem else "")


def _judging(machine: Machine) -> Iterator[Check]:
    version = machine.python()
    shown = ".".join(map(str, version))
    old = "" if version[:2] >= LEAST_PYTHON else f"{shown}, older than {'.'.join(map(str, LEAST_PYTHON))}"
    yield _check("python", Need.JUDGING, old, shown, "uv python install 3.11")
    yield _packages(machine)
    for name, advice in (
        ("evidence", "go into a clone of the project, or name a folder with --evidence"),
        ("features", "go into a clone of the project, or name a folder with --features"),
    ):
        where = machine.folder(name)
        detail = where
        if name == "evidence" and where:
            detail = f"{where}, releases {', '.join(machine.releases()) or 'none'}"
        yield _check(name, Need.JUDGING, "" if where else f"no folder {name}/ here", detail, advice)
    reports = machine.folder("reports") or "reports"
    problem = machine.writable(reports)
    yield _check("reports", Need.JUDGING, problem and f"{reports}: {problem}", reports, "name another with --reports")
    yield _space("disk", Need.JUDGING, machine.free(reports), JUDGING_BYTES, "free some, or use --reports elsewhere")
    cores = machine.cores()
    if without := machine.shared_memory():
        yield Check(
            name="processes",
            need=Need.JUDGING,
            state=State.LIMITED,
            detail=f"{cores} cores, but {without}",
            advice="judging uses one process then; in a container, mount /dev/shm",
        )
    else:
        yield Check(name="processes", need=Need.JUDGING, state=State.OK, detail=f"{cores} cores, shared memory")


def _packages(machine: Machine) -> Check:
    packages = machine.packages()
    gone = sorted(name for name, (_, installed) in packages.items() if not installed)
    other = sorted(f"{name} {has} for {pin}" for name, (pin, has) in packages.items() if has and has != pin)
    if gone:
        return _check("packages", Need.JUDGING, f"not installed: {', '.join(gone)}", "", "uv sync")
    if other:
        return Check(
            name="packages",
            need=Need.JUDGING,
            state=State.LIMITED,
            detail=f"other versions than pinned: {', '.join(other)}",
            advice="uv sync; a verdict is reproduced with the pinned ones",
        )
    return Check(name="packages", need=Need.JUDGING, state=State.OK, detail=f"{len(packages)}, as pinned")


def _space(name: str, need: Need, free: int, least: int, advice: str) -> Check:
    shown = f"{free / 1e9:.1f} GB free"
    return _check(name, need, "" if free >= least else f"{shown}, {least / 1e9:.1f} GB are wanted", shown, advice)


def _recording(machine: Machine) -> Iterator[Check]:
    products, older = machine.products(), machine.recorded_by()
    can = recordable(products, older)
    for found in products:
        name = f"magi-code {found.version}"
        detail = f"sha256 {found.product.sha256[:16]}…, {found.path}" if found.product else ""
        advice = f"delete {found.path} and run: harness product {found.version}"
        yield _check(name, Need.RECORDING, "" if found.product else found.problem, detail, advice)
    yield _check(
        "releases",
        Need.RECORDING,
        "" if can else "none can be recorded yet",
        f"{', '.join(can)} can be recorded",
        "harness product 0.104.0 builds one; or name a binary with --product PATH",
    )
    there = {found.version for found in products if found.product}
    for version in older:
        if version not in there:
            yield _check(
                f"magi-code {version}",
                Need.RECORDING,
                "legacy scenarios are recorded with it",
                "",
                f"harness product {version} builds it; harness record does, when it is needed",
            )
    root, problem = machine.neutral()
    yield _check("neutral folder", Need.RECORDING, problem and f"{root}: {problem}", root, "name another with --root")
    yield _space("disk for runs", Need.RECORDING, machine.free(root), RECORDING_BYTES, "free some")
    yield _check(
        "loopback",
        Need.RECORDING,
        machine.loopback(),
        "a server on 127.0.0.1 answers",
        "the scripted model answers there; allow connections to 127.0.0.1",
    )
    yield _check(
        "pseudo terminal",
        Need.RECORDING,
        machine.pseudo_terminal(),
        "500 rows can be had",
        "Mission Control runs in one; in a container, mount devpts",
    )


def _building(machine: Machine) -> Iterator[Check]:
    for name in ("cargo", "rustc"):
        _, version = machine.program(name)
        yield _check(name, Need.BUILDING, "" if version else "not found", version, "install Rust: https://rustup.rs")
    cache = machine.cache()
    yield _space("disk for builds", Need.BUILDING, machine.free(cache), BUILDING_BYTES, f"free some where {cache} is")


def _tests(machine: Machine) -> Iterator[Check]:
    for name, package in (("tmux", "tmux"), ("chromium", "chromium")):
        path, version = machine.program(name)
        advice = f"apt-get install {package}; tests that drive it are skipped without"
        yield _check(name, Need.TESTS, "" if path else "not found", version or path, advice)


def _comfort(machine: Machine) -> Iterator[Check]:
    terminal = machine.terminal()
    if not terminal.interactive:
        yield Check(
            name="terminal",
            need=Need.COMFORT,
            state=State.OK,
            detail="the output goes elsewhere: plain text, one line a row",
        )
        return
    shown = f"{terminal.columns} columns, {terminal.rows} rows, {terminal.colours}"
    small = terminal.columns < SCREEN[0] or terminal.rows < SCREEN[1]
    dumb = "utf" not in terminal.encoding.lower()
    advice = "tables want 80 columns and 24 rows" if small else "set LANG to a UTF-8 locale" if dumb else ""
    yield Check(
        name="terminal",
        need=Need.COMFORT,
        state=State.LIMITED if small or dumb else State.OK,
        detail=f"{shown}, {terminal.encoding}",
        advice=advice,
    )
