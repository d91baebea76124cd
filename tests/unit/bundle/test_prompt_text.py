"""The product's own prompt text: recognized however a recording has wrapped it, and nothing else taken for it."""

from __future__ import annotations

import json
import random

import pytest

from harness.bundle.prompt_text import IN_A_ROW, Sent, digests, known, own_texts, prompt_text_in_members

WORDS = [f"{first}{vowel}{last}" for first in "bdfgkmprst" for vowel in "aeiou" for last in ("ln", "rd", "st")]
"""A hundred and fifty words of no language."""


def sentence(words: int, seed: int = 1) -> str:
    chance = random.Random(seed)  # noqa: S311 # a text, no secret
    return " ".join(chance.choice(WORDS) for _ in range(words))


PROMPT = sentence(400)
REQUEST = {
    "messages": [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": sentence(400, 2)},
        {"role": "assistant", "content": sentence(400, 3)},
    ],
    "tools": [{"type": "function", "function": {"name": "read", "description": sentence(200, 4)}}],
}
BODY = json.dumps(REQUEST).encode()


def sent(body: bytes = BODY) -> frozenset[int]:
    watching = Sent()
    watching.take(body)
    return watching.digests


def found(content: str | bytes, wanted: frozenset[int] | None = None) -> tuple[str, ...]:
    raw = content.encode() if isinstance(content, str) else content
    return prompt_text_in_members([("m", raw)], sent() if wanted is None else wanted)


def on_a_terminal(text: str, width: int) -> str:
    """The text as a screen would draw it: rows, each at its place and in a colour."""
    rows = [text[start : start + width] for start in range(0, len(text), width)]
    return "".join(f"\x1b[{number};3H\x1b[38;5;12m{row}\x1b[0m" for number, row in enumerate(rows, 1))


PASSAGE = " ".join(PROMPT.split()[100:160])
WRAPPED = {
    "as it is": PASSAGE,
    "capitals": PASSAGE.upper(),
    "lines": PASSAGE.replace(" ", "\n"),
    "json": json.dumps({"text": PASSAGE.replace(" ", "\n")}),
    "json in json": json.dumps({"line": json.dumps({"text": PASSAGE.replace(" ", "\n")})}),
    "json in json in json": json.dumps([json.dumps({"line": json.dumps({"text": PASSAGE.replace(" ", '"\n')})})]),
    "punctuation": PASSAGE.replace(" ", ", "),
    "markup": PASSAGE.replace(" ", "** `"),
    "a screen": on_a_terminal(PASSAGE, 160),
    "a cast": json.dumps([1.5, "o", on_a_terminal(PASSAGE, 160)]),
    "amid other text": f"{sentence(50, 7)} {PASSAGE} {sentence(50, 8)}",
}


@pytest.mark.parametrize("wrapped", WRAPPED.values(), ids=WRAPPED)
def test_a_passage_is_recognized_however_it_is_wrapped(wrapped: str) -> None:
    (line,) = found(wrapped)
    assert line.startswith("m: the product's own prompt text, ")
    assert not set(line.split()) & set(WORDS), "the finding does not repeat it"


def test_passages_of_thirty_words_are_nearly_always_recognized() -> None:
    words = PROMPT.split()
    hits = [bool(found(" ".join(words[start : start + 30]))) for start in range(0, 370, 3)]
    assert sum(hits) / len(hits) > 0.9


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ".join(PROMPT.split()[: IN_A_ROW - 1]),
        " ".join(reversed(PROMPT.split())),
        sentence(400, 9),
        REQUEST["messages"][1]["content"],  # type: ignore[index] # what the scenario's author wrote
        REQUEST["messages"][2]["content"],  # type: ignore[index] # what the scripted model said
    ],
)
def test_nothing_else_is_taken_for_it(text: str) -> None:
    assert found(text) == ()


def test_identities_times_and_paths_that_a_prompt_mentions_are_no_sentences() -> None:
    mentioned = "sessions 36fc29a5-4520-47dd-9400-211da2cd15b1 at 2026-11-30 12:00:01 in /w/1/2/3/4/5/6/7/8 " * 3
    body = json.dumps({"messages": [{"role": "system", "content": mentioned}]}).encode()
    assert found(mentioned, sent(body)) == ()


def test_the_workspace_that_a_prompt_names_is_no_prompt_text_in_a_record() -> None:
    """Its name is the observation's, which may be a sentence of its own."""
    workspace = f"/tmp/acceptance/{'-'.join(WORDS[:40])}.mission-control/ws"  # noqa: S108 # a text
    system = f"{PROMPT}\nYou work in {workspace} now. {sentence(60, 5)}"
    wanted = sent(json.dumps({"messages": [{"role": "system", "content": system}]}).encode())
    assert found(json.dumps({"cwd": workspace, "paths": [f"{workspace}/a.txt"]}), wanted) == ()
    assert found(PROMPT, wanted)
    assert found(sentence(60, 5), wanted)


def test_descriptions_of_tools_are_the_products_own_too() -> None:
    assert found(sentence(200, 4))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"messages": 3}',
        b'{"messages": [3, {"role": "system"}, {"role": "system", "content": 3}]}',
        b'{"tools": null}',
    ],
)
def test_what_is_no_request_says_nothing(body: bytes) -> None:
    assert own_texts(body) == ()
    assert sent(body) == frozenset()


def test_the_known_digests_are_those_of_three_releases_and_hold_no_text() -> None:
    assert len(known()) > 500
    assert all(digest % 4 == 0 for digest in known())
    assert not known() & digests(PROMPT.encode())
