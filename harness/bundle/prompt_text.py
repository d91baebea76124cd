"""The product's own prompt text, which is not ours to publish: recognized by digests of eight words in a row.

No sentence of it is kept anywhere. Digests of the releases that were recorded so far lie beside this module; whoever
records compares with what the product really sent, whatever its release. Every fourth digest is kept, chosen by its
value, so that a passage of some twenty words is recognized wherever it begins.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

import jiter

IN_A_ROW = 8
"""Words whose digest is taken. Fewer would be recognized where somebody else says the same by chance."""
_ONE_IN = 4
LEAST = 3
"""Different digests in one member before it is said to hold prompt text."""
KNOWN_FILE = "prompt_text.txt"

_ESCAPES = re.compile(
    rb"\\+u001b\[[0-9;:?<>=]*[A-Za-z]|\x1b\[[0-9;:?<>=]*[A-Za-z]"  # the terminal's, written as JSON or raw
    rb"|\\+u[0-9A-Fa-f]{4}|\\+[nrtbf\"/]"  # JSON's, however often it was wrapped
)
_PATH = re.compile(r"(?:[~.]?/[\w.@+-]+)+/?")
_WORD = re.compile(rb"[a-z0-9]+")


def digests(content: bytes) -> frozenset[int]:
    """Digests of the words in `content`, with the escapes of terminals and of JSON in JSON taken away.

    Rows with a digit in them are left out: identities, times and paths that a prompt mentions are no sentences of it.
    """
    words = _WORD.findall(_ESCAPES.sub(b" ", content).lower())
    rows = set(zip(*(words[start:] for start in range(IN_A_ROW)), strict=False))
    texts = (b" ".join(row) for row in rows if all(word.isalpha() for word in row))
    found = (int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) for text in texts)
    return frozenset(digest for digest in found if digest % _ONE_IN == 0)


def own_texts(body: bytes) -> tuple[str, ...]:
    """What is the product's own in one request to the model: system messages and descriptions of tools.

    Empty for what is no such request.
    """
    try:
        request = jiter.from_json(body)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(request, dict):
        return ()
    messages = request.get("messages")
    own = [item for item in messages if isinstance(item, dict)] if isinstance(messages, list) else []
    texts = [text for item in own if item.get("role") == "system" for text in _texts(item.get("content"))]
    return (*texts, *_texts(request.get("tools")))


class Sent:
    """Digests of everything of its own that a product sends in one run. Requests come on several threads.

    Paths are taken out first: a prompt names the run's workspace, and so does every record of the session.
    """

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        self._found: set[int] = set()

    @property
    def digests(self) -> frozenset[int]:
        return frozenset(self._found)

    def take(self, body: bytes) -> None:
        """One request's body. The same text is looked at once."""
        for text in own_texts(body):
            if text not in self._seen:
                self._seen[text] = None
                self._found |= digests(_PATH.sub(" ", text).encode("utf-8", "replace"))


def _texts(value: object) -> Iterable[str]:
    """Every string in a JSON value, but for the names of members."""
    match value:
        case str():
            yield value
        case dict():
            for member in value.values():
                yield from _texts(member)
        case list():
            for item in value:
                yield from _texts(item)


@cache
def known() -> frozenset[int]:
    """Digests of the prompts of releases that were recorded so far; `KNOWN_FILE` names the releases."""
    text = resources.files(__package__).joinpath(KNOWN_FILE).read_text(encoding="ascii")
    return frozenset(int(line, 16) for line in text.splitlines() if line and not line.startswith("#"))


def prompt_text_in_members(members: Iterable[tuple[str, bytes]], sent: frozenset[int] = frozenset()) -> tuple[str, ...]:
    """Every member that holds prompt text, as "member: how much". `sent` are digests beside the known ones."""
    wanted = known() | sent
    found = ((name, len(digests(content) & wanted)) for name, content in members)
    return tuple(f"{name}: the product's own prompt text, {count} passages" for name, count in found if count >= LEAST)
