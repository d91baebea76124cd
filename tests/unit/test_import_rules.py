"""Who imports whom, and who touches the world: a stage that reaches into another, or a pure one that reads a file or a
clock, makes verdicts that nobody can derive again from a bundle alone."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

PURE_STAGES = frozenset(
    ("scenario", "wire", "records", "project", "observe", "compare", "judge", "authorize", "report", "terminal")
)
WORLDLY_STAGES = frozenset(("bundle", "record"))
"""The stages that may use files, processes, sockets and clocks."""
STAGES = PURE_STAGES | WORLDLY_STAGES
EDGES = frozenset(
    (
        ("observe", "wire"),  # a frame is an observation and an object of rules
        ("observe", "terminal"),  # a screen is drawn before it is read
        ("record", "terminal"),  # the recorder waits for what the screen shows
        ("project", "records"),  # saved sessions are decoded once, for whoever derives from them
    )
)
"""The only stages that import another one."""
PURE_JOINTS = frozenset(("examine", "proofs", "whole_run"))
"""Top-level modules join the stages: they, and the command line, may import all and may use the world. But these
derive everything that is judged and shown, and get no more than a verified bundle."""

_WORLDLY_MODULES = frozenset(
    (
        *("os", "pathlib", "shutil", "tempfile", "glob", "fileinput", "mmap", "fcntl", "sqlite3"),
        *("subprocess", "socket", "socketserver", "select", "selectors", "signal", "pty", "termios", "asyncio"),
        *("urllib", "http", "ssl", "ftplib", "smtplib", "ptyprocess", "psutil", "platformdirs"),
        *("time", "random", "secrets", "getpass", "platform", "locale"),
    )
)
_WORLDLY_NAMES = frozenset(("open", "print", "input", "exec", "eval", "__import__", "breakpoint"))
_FILE_METHODS = frozenset(
    ("read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "rmdir", "iterdir", "rglob", "touch")
)
_CHANCE = frozenset(("now", "utcnow", "today", "uuid1", "uuid4"))


class Module(NamedTuple):
    """One module of the harness: its unit (a package, or the module itself at the top), its file and its tree."""

    unit: str
    packaged: bool
    file: str
    tree: ast.Module

    @property
    def pure(self) -> bool:
        if self.packaged:
            return self.unit in PURE_STAGES | {"model", "spec"}
        return self.unit in PURE_JOINTS


def _modules() -> Iterator[Module]:
    """Every module but the root's docstring."""
    for path in sorted((ROOT / "harness").rglob("*.py")):
        parts = path.relative_to(ROOT / "harness").with_suffix("").parts
        if parts != ("__init__",):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield Module(parts[0], len(parts) > 1, path.relative_to(ROOT).as_posix(), tree)


@functools.cache
def imported(tree: ast.Module) -> tuple[tuple[str, int], ...]:
    """Every module name that is imported anywhere in a module, also in functions and for type checking only."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            found.append((name, node.lineno))
            found.extend((f"{name}.{alias.name}", node.lineno) for alias in node.names)
    return tuple(found)


def units_imported(tree: ast.Module) -> set[str]:
    """Units of the harness that a module imports. Relative imports count as a unit of their own: they are not used."""
    names = {name for name, _ in imported(tree)}
    return {
        *(name.split(".")[1] for name in names if name.startswith("harness.") and name != "harness.__version__"),
        *(name for name in names if name.startswith(".")),
    }


def forbidden(unit: str, units: Iterable[str]) -> list[str]:
    """Units that may not be imported there."""
    if unit not in STAGES | {"model", "spec"}:
        return []
    allowed = {unit} if unit == "model" else {unit, "model"} if unit == "spec" else {unit, "model", "spec"}
    return sorted(other for other in units if other not in allowed and (unit, other) not in EDGES)


def worldly(tree: ast.Module) -> list[str]:
    """Everything in a module that reaches out of it: imports, built-in functions, methods of paths, clocks, chance.

    The package's own data files, read through `importlib.resources`, are a part of the program.
    """
    imports = imported(tree)
    own_data = any(name.startswith("importlib.resources") for name, _ in imports)
    found = [
        f"line {line}: {name}"
        for name, line in imports
        if name.split(".")[0] in _WORLDLY_MODULES and not name.startswith("pathlib.Pure") and name != "pathlib"
    ]
    pure_paths = any(name.startswith("pathlib.Pure") for name, _ in imports)
    found.extend(f"line {line}: {name}" for name, line in imports if name == "pathlib" and not pure_paths)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WORLDLY_NAMES:
            found.append(f"line {node.lineno}: {node.func.id}()")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in _CHANCE or (name in _FILE_METHODS and not own_data):
                found.append(f"line {node.lineno}: .{name}()")
    return found


MODULES = tuple(_modules())


def _graph() -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        graph.setdefault(module.unit, set()).update(units_imported(module.tree) - {module.unit})
    return graph


def test_every_package_is_known_to_these_rules() -> None:
    assert {module.unit for module in MODULES if module.packaged} <= STAGES | {
        "model",
        "spec",
        "cli",
        "sweep",
        "selfcheck",
    }
    assert PURE_STAGES | PURE_JOINTS | {"model", "spec"} <= {module.unit for module in MODULES if module.pure}


def test_no_stage_reaches_into_another() -> None:
    wrong = {item.file: found for item in MODULES if (found := forbidden(item.unit, units_imported(item.tree)))}
    assert wrong == {}


def test_packages_do_not_import_each_other_in_a_circle() -> None:
    try:
        order = list(TopologicalSorter(_graph()).static_order())
    except CycleError as error:
        pytest.fail(f"{' -> '.join(error.args[1])}")
    assert order.index("model") < order.index("spec") < order.index("judge") < order.index("acceptance")


def test_what_derives_a_verdict_never_touches_the_world() -> None:
    wrong = {module.file: found for module in MODULES if module.pure and (found := worldly(module.tree))}
    assert wrong == {}


def test_the_model_needs_nothing_but_the_standard_library_and_msgspec() -> None:
    known = {*sys.stdlib_module_names, "msgspec", "harness"}
    model = [module for module in MODULES if module.unit == "model"]
    foreign = {name for module in model for name, _ in imported(module.tree) if name.split(".")[0] not in known}
    assert model
    assert foreign == set()


def test_the_harness_does_not_need_its_tests() -> None:
    names = {(module.file, name.split(".")[0]) for module in MODULES for name, _ in imported(module.tree)}
    assert not [item for item in names if item[1] in ("tests", "features", "hypothesis", "conftest")]


# The rules themselves


@pytest.mark.parametrize(
    ("unit", "code", "found"),
    [
        ("judge", "from harness.compare import compare", ["compare"]),
        ("judge", "import harness.compare.rules", ["compare"]),
        ("judge", "from harness import compare", ["compare"]),
        ("judge", "def late():\n    from harness.report.page import page", ["report"]),
        ("judge", "if TYPE_CHECKING:\n    from harness.acceptance import accept", ["acceptance"]),
        ("judge", "from ..compare import rules", ["..compare", "..compare.rules"]),
        ("judge", "from harness.spec.facts import FACTS\nfrom harness.judge.coverage import missing", []),
        ("spec", "from harness.compare import compare", ["compare"]),
        ("spec", "from harness.model.facts import Fact", []),
        ("model", "from harness.spec.facts import FACTS", ["spec"]),
        ("wire", "from harness.observe import local_agent", ["observe"]),
        ("observe", "from harness.wire.frames import Frame", []),
        ("acceptance", "from harness.wire.frames import Frame", []),
        ("judge", "from harness import __version__", []),
    ],
)
def test_a_forbidden_import_is_found_wherever_it_stands(unit: str, code: str, found: list[str]) -> None:
    assert forbidden(unit, units_imported(ast.parse(code))) == found


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "import os.path",
        "from pathlib import Path",
        "import pathlib",
        "from subprocess import run",
        "def late():\n    import socket",
        "open('x')",
        "print('x')",
        "path.read_text()",
        "path.write_bytes(b'')",
        "import time",
        "datetime.now()",
        "date.today()",
        "uuid.uuid4()",
        "from pathlib import Path, PurePosixPath",
    ],
)
def test_a_look_at_the_world_is_found(code: str) -> None:
    assert worldly(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "from datetime import datetime\ndatetime.fromisoformat('2026-11-30T12:00:00Z')",
        "from importlib.resources import files\nfiles('x').joinpath('y').read_text()",
        "from pathlib import PurePosixPath",
        "import io\nio.BytesIO(b'')",
        "text.replace('a', 'b')",
        "import uuid\nuuid.uuid5(space, 'name')",
        "reopen(capture)",
    ],
)
def test_what_is_pure_is_let_through(code: str) -> None:
    assert worldly(ast.parse(code)) == []


def test_a_circle_is_found() -> None:
    with pytest.raises(CycleError):
        list(TopologicalSorter({"a": {"b"}, "b": {"c"}, "c": {"a"}}).static_order())
