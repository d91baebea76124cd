"""Times as statements and policies write them: RFC 3339, UTC, whole seconds, so that text order is time order."""

from __future__ import annotations

import re
from datetime import datetime

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def time_error(text: str) -> str | None:
    """Why `text` is no time like ``2026-11-30T00:00:00Z`` of the calendar, or None. Leap seconds are none."""
    if _TIME.fullmatch(text):
        try:
            datetime.fromisoformat(text)
        except ValueError as error:
            return f"{text!r} is no RFC 3339 UTC time: {error}"
        return None
    return f"{text!r} is no RFC 3339 UTC time"
