"""What no bundle may hold, whoever records, imports or signs it: secrets, the product's prompt text, made sessions.

A made (synthetic) session can never be an original run; every one says so in its id, and here that is taken seriously.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from harness.bundle import Bundle
from harness.bundle.prompt_text import prompt_text_in_members
from harness.bundle.secrets import secrets_in_members
from harness.sweep.names import SYNTHETIC, is_synthetic

_SYNTHETIC_ID = re.compile(rb'session_id(?:\\*")\s*:\s*(?:\\*")' + SYNTHETIC.encode())
"""A session's id in a record, or in a frame that stands as text inside a record."""


def not_publishable(
    members: Iterable[tuple[str, bytes]], *, names: Iterable[str] = (), sent: frozenset[int] = frozenset()
) -> tuple[str, ...]:
    """Everything that keeps these members from being evidence, as "member: what". What is found is not repeated.

    `names`: host and user names to look for; `sent`: digests of what the product sent to its model, where that is
    known, beside those of releases that were recorded before.
    """
    words = tuple(names)
    return tuple(hit for member in members for hit in _hits(member, words, sent))


def _hits(member: tuple[str, bytes], names: tuple[str, ...], sent: frozenset[int]) -> Iterator[str]:
    yield from secrets_in_members([member], names=names)
    yield from prompt_text_in_members([member], sent)
    name, content = member
    if is_synthetic(name) or _SYNTHETIC_ID.search(content):
        yield f"{name}: a synthetic session, which can never be an original run"


def not_publishable_in(bundle: Bundle, *, names: Iterable[str] = ()) -> tuple[str, ...]:
    """`not_publishable` over every member of a bundle."""
    return not_publishable(((name, bundle.read(name)) for name in sorted(bundle.manifest.files)), names=names)
