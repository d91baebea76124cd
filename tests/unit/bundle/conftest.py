"""One small bundle, written once and copied for every test that damages it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.support import bundles


@pytest.fixture(autouse=True)
def _fast_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can see whether the disk kept its promise; the order of the promises has a test of its own."""
    monkeypatch.setattr(os, "fsync", os.fstat)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "run"
    bundles.write(folder)
    return folder


@pytest.fixture
def bundle(written: Path, tmp_path: Path) -> Path:
    """A bundle folder of the test's own."""
    return Path(shutil.copytree(written, tmp_path / "run"))


@pytest.fixture
def content(written: Path) -> dict[str, bytes]:
    """Its files by relative name."""
    return bundles.files(written)


@pytest.fixture
def promptly() -> Iterator[None]:
    """Fail a test that would wait for ever, for example for somebody to write into a pipe."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError("waited for ten seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
