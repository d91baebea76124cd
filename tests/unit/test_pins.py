"""Every dependency is pinned exactly and once: pyproject.toml, its constraints and requirements.lock say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)")


def pins(lines: list[str]) -> dict[str, str]:
    """Name to version; fails for a line that is no exact pin."""
    found = {}
    for line in lines:
        match = _PIN.match(line)
        assert match, f"{line!r} is not pinned exactly"
        found[re.sub(r"[-_.]+", "-", match[1].lower())] = match[2]
    return found


def declared() -> dict[str, str]:
    lines = list(PROJECT["project"]["dependencies"])
    for extra in PROJECT["project"]["optional-dependencies"].values():
        lines += extra
    lines += PROJECT["dependency-groups"]["dev"]
    return pins(lines)


def test_a_dependency_without_an_exact_version_is_noticed() -> None:
    assert declared()
    assert pins(PROJECT["tool"]["uv"]["build-constraint-dependencies"])


def test_constraints_and_lock_cannot_drift_apart() -> None:
    constraints = pins(PROJECT["tool"]["uv"]["constraint-dependencies"])
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = pins([line for line in lock.splitlines() if line and not line.startswith((" ", "#"))])
    assert locked == constraints
    assert declared().items() <= constraints.items()


def test_every_locked_package_has_hashes_and_no_registry_is_named() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    packages = re.split(r"\n(?=\S)", lock.strip())
    assert len(packages) > 40
    assert all("--hash=sha256:" in package for package in packages)
    assert "://" not in lock
    assert not (ROOT / "uv.lock").exists() or "uv.lock" in (ROOT / ".gitignore").read_text(encoding="utf-8")
