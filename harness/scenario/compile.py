"""A feature file's text to scenarios: parsed by the official Gherkin parser, compiled by the vocabulary."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.model.errors import HarnessError, UsageError
from harness.model.stimulus import Stimulus, digest
from harness.scenario.draft import Block, Draft
from harness.scenario.expected import ExpectedCard
from harness.scenario.vocabulary import STEPS, Step

LOCAL_AGENT = "local-agent"
MISSION_CONTROL = "mission-control"
DRIVERS = (LOCAL_AGENT, MISSION_CONTROL)
_KEYWORDS = {"Context": "given", "Action": "when", "Outcome": "then"}


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario.

    `id` is ``<feature file name>::<scenario name>``; `slug` names its observations. `tags` come without ``@``.
    `drivers` are the surfaces that may drive it: both, unless tagged ``local-agent-only`` or ``mission-control-only``.
    `releases` are the releases it is recorded on; empty means every one.
    """

    id: str
    slug: str
    name: str
    feature: str
    line: int
    tags: tuple[str, ...]
    gherkin: str
    stimulus: Stimulus
    stimulus_sha256: str
    expected: tuple[ExpectedCard, ...]
    varying: tuple[str, ...]
    drivers: tuple[str, ...]
    releases: tuple[str, ...]

    def observation(self, driver: str) -> str:
        """Id of the observation that `driver` makes of this scenario."""
        return f"{self.slug}.{driver}"


@functools.cache
def _matchers() -> tuple[tuple[Step, Any], ...]:
    import parse  # noqa: PLC0415 # only compiling needs it

    return tuple((step, parse.compile(step.pattern, case_sensitive=True)) for step in STEPS)


def find_step(keyword: str, text: str) -> tuple[Step, dict[str, Any]] | None:
    """The step that `text` means, with its named values. The longest matching pattern wins: it says most."""
    found = [
        (step, match.named)
        for step, matcher in _matchers()
        if step.keyword == keyword and (match := matcher.parse(text)) is not None
    ]
    return max(found, key=lambda item: len(item[0].pattern), default=None)


def _block(step: dict[str, Any]) -> Block:
    argument = step.get("argument", {})
    rows = argument.get("dataTable", {}).get("rows", [])
    return Block(
        text=argument.get("docString", {}).get("content", ""),
        table=[[cell["value"] for cell in row["cells"]] for row in rows],
    )


def _slug(name: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in name.lower()).split()
    return "-".join(words)


def _source(lines: list[str], first: int, following: list[int]) -> str:
    """The scenario's own text: from its tags to before the next scenario, rule or examples outside it."""
    start = first - 1
    while start > 0 and lines[start - 1].strip().startswith("@"):
        start -= 1
    ends = [line - 1 for line in following if line > first]
    end = min(ends, default=len(lines))
    while end > start and (not lines[end - 1].strip() or lines[end - 1].strip().startswith("@")):
        end -= 1
    return textwrap.dedent("\n".join(lines[start:end])) + "\n"


def _background(document: dict[str, Any], lines: list[str]) -> str:
    children = document["feature"]["children"] if document.get("feature") else []
    backgrounds = [child["background"]["location"]["line"] for child in children if "background" in child]
    if not backgrounds:
        return ""
    others = [child["scenario"]["location"]["line"] for child in children if "scenario" in child]
    return _source(lines, backgrounds[0], others) + "\n"


def compile_feature(text: str, *, name: str) -> Iterator[Scenario]:
    """Yield the scenarios of one feature file. `name` is the file's name, used in ids and error messages.

    Raises UsageError with file and line for text that is not Gherkin, an unknown step, or a step that cannot be acted.
    """
    from gherkin.errors import CompositeParserException, ParserException  # noqa: PLC0415 # half a second to import
    from gherkin.parser import Parser  # noqa: PLC0415
    from gherkin.pickles.compiler import Compiler  # noqa: PLC0415

    try:
        document: Any = Parser().parse(text)
    except (CompositeParserException, ParserException) as error:
        raise UsageError(f"not a feature: {error}", where=name) from error
    document["uri"] = name
    lines = text.splitlines()
    step_lines = _step_lines(document)
    starts = [
        child["scenario"]["location"]["line"]
        for child in (document["feature"]["children"] if document.get("feature") else [])
        if "scenario" in child
    ]
    background = _background(document, lines)
    pickles: Any = Compiler().compile(document)
    for pickle in pickles:
        line = pickle["location"]["line"]
        start = max((at for at in starts if at <= line), default=line)
        yield _compile_scenario(
            pickle, name=name, line=line, step_lines=step_lines, gherkin=background + _source(lines, start, starts)
        )


def _step_lines(document: dict[str, Any]) -> dict[str, int]:
    """Gherkin node id to line of every step in the document."""
    found: dict[str, int] = {}
    pending: list[Any] = [document]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "keywordType" in node:
                found[node["id"]] = node["location"]["line"]
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return found


def _compile_scenario(
    pickle: dict[str, Any], *, name: str, line: int, step_lines: dict[str, int], gherkin: str
) -> Scenario:
    draft = Draft(where=f"{name}:{line}")
    for step in pickle["steps"]:
        draft.line = step_lines[step["astNodeIds"][0]]
        draft.where = f"{name}:{draft.line}"
        draft.block = _block(step)
        found = find_step(_KEYWORDS.get(step["type"], "given"), step["text"])
        if found is None:
            raise UsageError(
                f"no step reads {step['text']!r}", where=draft.where, hint="`harness steps` lists the vocabulary"
            )
        try:
            found[0].act(draft, **found[1])
        except HarnessError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"the step cannot be read: {error}", where=draft.where) from error
    if not draft.turns:
        raise UsageError("the scenario runs no prompt", where=f"{name}:{line}")
    tags = tuple(tag["name"].removeprefix("@") for tag in pickle["tags"])
    stimulus = draft.stimulus()
    only = tuple(driver for driver in DRIVERS if f"{driver}-only" in tags)
    return Scenario(
        id=f"{name}::{pickle['name']}",
        slug=_slug(pickle["name"]),
        name=pickle["name"],
        feature=name,
        line=line,
        tags=tags,
        gherkin=gherkin,
        stimulus=stimulus,
        stimulus_sha256=digest(stimulus),
        expected=tuple(draft.expected.values()),
        varying=tuple(draft.varying),
        drivers=only or DRIVERS,
        releases=tuple(tag.removeprefix("release:") for tag in tags if tag.startswith("release:")),
    )
