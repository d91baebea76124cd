"""`ctrf.json`: the same checks in the Common Test Report Format (ctrf.io), for tools that read that.

A disagreement is ``failed``, what is waived is ``other``, what is unsettled ``skipped``; an unsettled verdict is
``failed``, since a run without enough evidence must not look green. Nothing is timed: start and stop are the time the
verdict holds for.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec

from harness.report.checks import NamedCheck, checks
from harness.report.text import visible
from harness.report.verdict_json import encoded
from harness.report.views import Outcome, Overview

SPEC_VERSION = "0.0.0"
STATUSES = ("passed", "failed", "skipped", "pending", "other")
_STATUS = {
    Outcome.AGREES: "passed",
    Outcome.DISAGREES: "failed",
    Outcome.WAIVED: "other",
    Outcome.UNSETTLED: "skipped",
}


def ctrf_json(overview: Overview) -> bytes:
    """The file's bytes: UTF-8, two spaces of indentation, one newline at the end."""
    acceptance = overview.acceptance
    tests = [_test(check) for check in checks(overview)]
    found = Counter(test["status"] for test in tests)
    at = _milliseconds(acceptance.at)
    results = {
        "tool": {"name": "card-acceptance-harness", "version": acceptance.harness},
        "summary": {
            "tests": len(tests),
            **{status: found[status] for status in STATUSES},
            "suites": len({test["suite"][0] for test in tests}),
            "start": at,
            "stop": at,
            "extra": {"verdict": acceptance.verdict.value, "reasons": list(acceptance.reasons)},
        },
        "tests": tests,
        "environment": {
            "appName": acceptance.release.name,
            "appVersion": acceptance.release.version,
            "extra": {"binary_sha256": sorted(acceptance.release.sha256)},
        },
    }
    # An id made of the content: the same judgement is the same report.
    digest = hashlib.sha256(encoded(results)).hexdigest()
    value = {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "reportId": str(uuid.uuid5(uuid.NAMESPACE_OID, digest)),
        "timestamp": acceptance.at,
        "generatedBy": "card-acceptance-harness",
        "results": results,
    }
    return msgspec.json.format(encoded(value), indent=2) + b"\n"


def _milliseconds(at: str) -> int:
    """RFC 3339 to milliseconds since the epoch; 0 when the text is no time, which the report then simply lacks."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return 0
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _test(check: NamedCheck) -> dict[str, Any]:
    failed = check.outcome is Outcome.UNSETTLED and check.blocking
    test: dict[str, Any] = {
        "name": visible(check.name),
        "status": "failed" if failed else _STATUS[check.outcome],
        "duration": 0,
        "suite": [check.suite, visible(check.group) or check.suite],
        "rawStatus": check.outcome.value,
        "type": "acceptance",
    }
    if check.message:
        test["message"] = visible(check.message)
    if check.details:
        test["trace"] = visible(check.details)
    if check.tags:
        test["tags"] = [visible(tag) for tag in check.tags if tag]
    if check.file:
        test["filePath"] = visible(check.file)
    return test
