"""What no bundle may hold: keys, tokens, and whatever names the recording machine or its user.

Patterns of credentials are those that their issuers publish for scanners. `harness.bundle.prompt_text` looks for the
product's own prompt text, and `harness.publishable` for all that keeps a bundle from being evidence.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterable, Iterator

from harness.bundle.verified import Bundle

_PATTERNS: dict[str, re.Pattern[bytes]] = {
    "a private key": re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"),
    "an AWS access key id": re.compile(rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a GitHub token": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})"),
    "a Slack token": re.compile(rb"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    "an OpenAI-style key": re.compile(rb"\bsk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{20,}"),
    "a Google API key": re.compile(rb"\bAIza[A-Za-z0-9_-]{35}\b"),
    "a Stripe key": re.compile(rb"\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}"),
    "a JSON web token": re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    "a password in a URL": re.compile(rb"\b[a-z][a-z0-9+.-]*://[^\s/:@\"]+:[^\s/:@\"]+@"),
    "a home folder": re.compile(
        rb"(?<![A-Za-z0-9._-])(?:/home/|/Users/|[Cc]:\\+Users\\+)[A-Za-z0-9._-]+|(?<![A-Za-z0-9._-])/root/"
    ),
}


def _hits(content: bytes, extra: Iterable[str]) -> Iterator[str]:
    for name, pattern in _PATTERNS.items():
        match = pattern.search(content)
        if match is not None:
            yield f"{name} at byte {match.start()}"
    for word in extra:
        match = re.search(rb"(?<![A-Za-z0-9])" + re.escape(word.encode()) + rb"(?![A-Za-z0-9])", content)
        if match is not None:
            yield f"a name of the recording machine or its user at byte {match.start()}"


def machine_names() -> tuple[str, ...]:
    """Host and user names of this machine, which must not stand in evidence; "root" names nobody."""
    return tuple({socket.gethostname(), getpass.getuser()} - {"root", "localhost"})


def secrets_in_members(members: Iterable[tuple[str, bytes]], *, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Everything found, as "member: what at which byte of the raw content". The finding never repeats the secret.

    `names`: host and user names to look for as whole words; those shorter than four letters are too common to tell.
    """
    words = [name for name in names if len(name) >= 4]
    return tuple(f"{member}: {hit}" for member, content in members for hit in _hits(content, words))


def secrets_in(bundle: Bundle, *, names: Iterable[str] = ()) -> tuple[str, ...]:
    """`secrets_in_members` over every member of a bundle."""
    return secrets_in_members(((name, bundle.read(name)) for name in sorted(bundle.manifest.files)), names=names)
