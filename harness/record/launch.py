"""What the product is started with: settings, environment, and nothing of the recording machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.model.errors import UsageError
from harness.model.stimulus import Stimulus
from harness.record.model_script import MODEL, PROVIDER
from harness.record.terminal_session import TERM
from harness.record.workspace import Home, Workspace

_CLOSED_PORT = "http://127.0.0.1:9"
"""The discard port: nobody listens, so that no check for updates or catalogs leaves the machine."""
_FIXED = frozenset({"HOME", "MC_HOME", "PATH", "TERM", "TMPDIR"})


def settings(stimulus: Stimulus, *, model_url: str, releases: Iterable[str]) -> dict[str, Any]:
    """The product's settings file: a scripted model, stillness, and the stimulus's own settings merged in deeply.

    `releases` have had their notes read: a new state folder would otherwise open with the release's own text.
    """
    base: dict[str, Any] = {
        "schema_version": 2,
        "agent": {"model": {"provider": PROVIDER, "model": MODEL}},
        "interface": {"appearance": {"reduced_motion": True}},
        "providers": {
            "custom": {
                PROVIDER: {
                    "label": "Scripted",
                    "base_url": model_url,
                    "use_responses_endpoint": False,
                    "extra_models": [MODEL],
                }
            },
            "catalog": {"enabled": [f"{PROVIDER}/{MODEL}"]},
        },
        "welcome_release_notes_seen": dict.fromkeys(releases, True),
    }
    return merged(base, stimulus.settings)


def environment(stimulus: Stimulus, workspace: Workspace, home: Home) -> dict[str, str]:
    """The whole environment of one process of the product. Raises UsageError for a variable that the place fixes."""
    if taken := sorted(_FIXED & stimulus.environment.keys()):
        raise UsageError(f"a scenario cannot set {', '.join(taken)}", where="environment")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home.path),
        "MC_HOME": str(home.state),
        "TMPDIR": str(workspace.temporary),
        "TERM": TERM,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "MC_PROMPT_HISTORY": "0",
        "MC_DISABLE_SKILLS": "1",
        "MC_DISABLE_MCP": "1",
        "HTTP_PROXY": _CLOSED_PORT,
        "HTTPS_PROXY": _CLOSED_PORT,
        "NO_PROXY": "127.0.0.1,localhost",
        **stimulus.environment,
    }


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `over` merged in: objects member by member, everything else replaced."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result
