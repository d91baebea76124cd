"""Plugins of the whole test run, and the number of skips that it may have.

``HARNESS_EXPECTED_SKIPS`` (set by .ci/run) is how many tests may skip; any other number fails the run, so that a test
does not fall silent because something is missing on the machine.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

pytest_plugins = ["harness.pytest_plugin"]

_SKIPPED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SKIPPED] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        item.config.stash[_SKIPPED].append(f"{item.nodeid}: {report.longreprtext}")
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    expected = os.environ.get("HARNESS_EXPECTED_SKIPS")
    if (
        expected is not None
        and exitstatus == pytest.ExitCode.OK
        and len(session.config.stash[_SKIPPED]) != int(expected)
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    expected = os.environ.get("HARNESS_EXPECTED_SKIPS")
    skipped = config.stash[_SKIPPED]
    if expected is not None and len(skipped) != int(expected):
        terminalreporter.section(f"{len(skipped)} tests skipped, {expected} may", red=True)
        for line in skipped:
            terminalreporter.line(line)
