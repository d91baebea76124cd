"""Runs the tests of a package once for each of many faults, until one test notices: each time in a fork of a session
that has collected already, so that a fault costs its tests and nothing else.

What test modules make when they are imported is made without the fault.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pytest

SURVIVED = ""
DIED = "(the process ended, or did not end in time)"
_SECONDS = 120
"""For all tests together under one fault."""


class Fault(NamedTuple):
    """`words`: tests that mention one of them are run first. `blind`: ids of those that cannot notice."""

    name: str
    words: tuple[str, ...] = ()
    blind: frozenset[str] = frozenset()


class Noticed(NamedTuple):
    """`test`: id of the first test that failed, `SURVIVED` or `DIED`."""

    fault: Fault
    test: str


NO_FAULT = Fault("(no fault)")
_TEXTS = pytest.StashKey[tuple[str, str]]()


def run(folders: Sequence[str], faults: Sequence[Fault], commit: Callable[[Fault], None]) -> Iterator[Noticed]:
    """What became of each fault, as soon as it is known. `commit` makes the fault in a process that ends after it.

    Exits when the tests cannot be collected, or fail without any fault.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            os.close(reading)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            arguments = ["-q", "--tb=native", "--assert=plain", "-p", "no:cacheprovider", *folders]
            os._exit(int(pytest.main(arguments, plugins=[_OneByOne([NO_FAULT, *faults], commit, writing)])))
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as lines:
            clean = next(lines, "nothing was collected").rstrip("\n")
            for fault, line in zip(faults, lines if clean == SURVIVED else (), strict=False):
                yield Noticed(fault, line.rstrip("\n"))
        _, status = os.waitpid(child, 0)
        if status or clean != SURVIVED:
            said.seek(0)
            sys.exit(f"the tests do not pass without a fault: {clean}\n{said.read().decode(errors='replace')}")


class _OneByOne:
    def __init__(self, faults: Sequence[Fault], commit: Callable[[Fault], None], told: int) -> None:
        self._faults, self._commit, self._told = faults, commit, told
        self._failed = SURVIVED
        self._noticed: dict[tuple[str, ...], list[str]] = {}
        """By words of faults: the tests that noticed one, the latest last. They may well notice the next."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _read(session.items)
        for fault in self._faults:
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                self._notice(session, fault, writing)
            os.close(writing)
            with os.fdopen(reading, encoding="utf-8") as line:
                test = line.read()
            _, status = os.waitpid(child, 0)
            test = DIED if status else test
            if test != SURVIVED:
                self._noticed.setdefault(fault.words, []).append(test)
            os.write(self._told, f"{test}\n".encode())
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = report.nodeid

    def _notice(self, session: pytest.Session, fault: Fault, told: int) -> None:
        status = 1
        try:
            signal.alarm(_SECONDS)
            if fault is not NO_FAULT:
                self._commit(fault)
            items = _in_order(session.items, fault, self._noticed.get(fault.words, []))
            for number, item in enumerate(items, start=1):
                following = items[number] if number < len(items) else None
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failed != SURVIVED:
                    break
            os.write(told, self._failed.encode())
            status = 0
        finally:
            os._exit(status)


def _in_order(items: Sequence[pytest.Item], fault: Fault, noticed: Sequence[str]) -> list[pytest.Item]:
    """First what noticed such a fault before, then tests that mention it, then those beside them, then the rest."""
    able = [item for item in items if item.nodeid not in fault.blind]
    before = {test: -number for number, test in enumerate(noticed, start=1)}

    def place(item: pytest.Item) -> tuple[int, bool, bool]:
        own, there = item.stash[_TEXTS]
        return (
            before.get(item.nodeid, 0),
            not any(word in own for word in fault.words),
            not any(word in there for word in fault.words),
        )

    return sorted(able, key=place)


def _read(items: Sequence[pytest.Item]) -> None:
    """Note what each test says, and what its file says."""
    files = {path: path.read_text(encoding="utf-8") for path in {item.path for item in items}}
    functions = {
        function: inspect.getsource(function)
        for function in {getattr(item, "function", None) for item in items}
        if function
    }
    for item in items:
        item.stash[_TEXTS] = (functions.get(getattr(item, "function", None), ""), files[item.path])
