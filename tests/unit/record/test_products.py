"""A product that is half built, or not what it says, must never be taken for the one under test."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.model.errors import ProductError, UsageError
from harness.record import products


@pytest.fixture
def cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a cargo on the path that runs the given shell lines; ``$ROOT`` is where it is to install."""

    def put(script: str) -> None:
        folder = tmp_path / "path"
        folder.mkdir()
        program = folder / "cargo"
        program.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/arguments"\nROOT="$7"\n{script}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    return put


GOOD = """
echo '    Updating crates.io index' >&2
echo '   Compiling libc v0.2' >&2
echo '   Compiling serde v1.0' >&2
mkdir -p "$ROOT/bin"
printf '#!/bin/sh\\necho magi-code 1.2.3\\n' > "$ROOT/bin/magi-code"
chmod +x "$ROOT/bin/magi-code"
"""


def test_a_build_reports_its_crates_and_lands_whole(cargo: Any, tmp_path: Path) -> None:
    cargo(GOOD)
    lines: list[str] = []
    program = products.build("1.2.3", lines.append, cache=tmp_path / "cache")
    assert program == tmp_path / "cache" / "products" / "1.2.3" / "bin" / "magi-code"
    assert lines == ["Updating crates.io index", "compiling 1: libc", "compiling 2: serde"]
    assert products.identify(program).version == "1.2.3"
    assert products.locate("1.2.3", tmp_path / "cache") == program
    arguments = (tmp_path / "arguments").read_text()
    assert arguments.startswith("install magi-code --version 1.2.3 --locked --root ")
    assert [path.name for path in (tmp_path / "cache" / "products").iterdir()] == ["1.2.3"]


def test_a_version_in_the_cache_is_not_built_again(cargo: Any, tmp_path: Path) -> None:
    cargo(GOOD)
    products.build("1.2.3", cache=tmp_path / "cache")
    (tmp_path / "arguments").unlink()
    products.build("1.2.3", cache=tmp_path / "cache")
    assert not (tmp_path / "arguments").exists()


@pytest.mark.parametrize(
    "script",
    ["echo 'error: rustc 1.99 is needed' >&2; exit 101", "mkdir -p $ROOT/bin; echo 'error: linker' >&2; exit 1", ""],
)
def test_a_failed_build_leaves_nothing_that_could_be_located(cargo: Any, script: str, tmp_path: Path) -> None:
    cargo(script)
    with pytest.raises(ProductError, match=r"magi-code 1\.2\.3 does not build"):
        products.build("1.2.3", cache=tmp_path / "cache")
    assert list((tmp_path / "cache" / "products").iterdir()) == []
    with pytest.raises(UsageError, match="has not been built yet"):
        products.locate("1.2.3", tmp_path / "cache")


def test_without_cargo_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="rustup"):
        products.build("1.2.3", cache=tmp_path / "cache")
    with pytest.raises(UsageError, match="not a version"):
        products.build("latest", cache=tmp_path / "cache")


def test_a_program_is_known_by_what_it_says_and_by_its_bytes(tmp_path: Path) -> None:
    program = tmp_path / "magi-code"
    program.write_text("#!/bin/sh\necho magi-code 3.2.1\n")
    program.chmod(0o755)
    product = products.identify(program)
    assert product.version == "3.2.1"
    assert product.sha256 == hashlib.sha256(program.read_bytes()).hexdigest()
    assert products.locate(str(program)) == program
    assert products.locate(str(tmp_path)) == program, "its folder will do"


@pytest.mark.parametrize("script", ["echo other 1.2.3", "echo magi-code", "echo magi-code 1.2.3; exit 1", "exit 0"])
def test_a_program_that_is_something_else_is_refused(script: str, tmp_path: Path) -> None:
    program = tmp_path / "magi-code"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(ProductError, match="does not tell its version"):
        products.identify(program)


def test_what_is_no_program_cannot_be_located(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for path in (plain, tmp_path / "nothing", tmp_path):
        with pytest.raises(UsageError, match="no program there"):
            products.locate(str(path))
    with pytest.raises(UsageError, match="no program there"):
        products.identify(tmp_path / "nothing")
