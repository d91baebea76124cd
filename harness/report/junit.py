"""`junit.xml`: one test case for the verdict, each surface of each observation, and each requirement.

A disagreement is a failure, what is unsettled is skipped with its reason, and an unsettled verdict is an error.
"""

from __future__ import annotations

import io

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from harness.report.checks import NamedCheck, checks
from harness.report.text import visible
from harness.report.views import Outcome, Overview


def junit_xml(overview: Overview) -> bytes:
    """The file's bytes. Evidence text has its control characters replaced by symbols: XML cannot hold them."""
    report = JUnitXml("card acceptance")
    suites: dict[str, TestSuite] = {}
    cases: dict[str, list[TestCase]] = {}
    acceptance = overview.acceptance
    for check in checks(overview):
        suite = suites.get(check.suite)
        if suite is None:
            suite = suites[check.suite] = TestSuite(check.suite)
            suite.timestamp = visible(acceptance.at)
            for name, value in (
                ("verdict", acceptance.verdict.value),
                ("release", f"{acceptance.release.name} {acceptance.release.version}"),
                ("harness", acceptance.harness),
                *(("binary sha256", digest) for digest in sorted(acceptance.release.sha256)),
            ):
                suite.add_property(name, visible(value))
        cases.setdefault(check.suite, []).append(_case(check))
    for name, suite in suites.items():
        suite.add_testcases(cases[name])  # one by one, the library counts the whole suite anew each time
        report.add_testsuite(suite)
    stream = io.BytesIO()
    report.write(stream)
    return stream.getvalue().rstrip(b"\n") + b"\n"


def _case(check: NamedCheck) -> TestCase:
    case = TestCase(visible(check.name), classname=visible(f"{check.suite}.{check.group}"), time=0.0)
    message = visible(check.message)
    match check.outcome:
        case Outcome.DISAGREES:
            failure = Failure(message, "disagrees")
            failure.text = visible(check.details)
            case.result = [failure]
        case Outcome.UNSETTLED if check.blocking:
            error = Error(message, "insufficient")
            error.text = visible(check.details)
            case.result = [error]
        case Outcome.UNSETTLED | Outcome.WAIVED:
            case.result = [Skipped(message, check.outcome.value)]
            if check.details:
                case.system_out = visible(check.details)
        case Outcome.AGREES:
            pass
    return case
