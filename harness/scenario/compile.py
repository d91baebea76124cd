"""A feature file's text to scenarios: parsed by the official Gherkin parser, compiled by the vocabulary."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from harness.model.errors import HarnessError, UsageError
from harness.model.stimulus import Stimulus, digest
from harness.scenario.draft import Block, Draft
from harness.scenario.expected import ExpectedCard
from harness.scenario.vocabulary import STEPS, Step

LOCAL_AGENT = "local-agent"
MISSION_CONTROL = "mission-control"
DRIVERS = (LOCAL_AGENT, MISSION_CONTROL)
ON_REQUEST = "on-request"
_OUTLINES = ("Scenario Outline", "Scenario Template")
_KEYWORDS = {"Context": "given", "Action": "when", "Outcome": "then"}


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario.

    `id` is ``<feature file name>::<scenario name>``; `slug` names its observations. `tags` come without ``@``.
    `drivers` are the surfaces that may drive it: none for a scenario over every recorded run, else both, unless tagged
    ``local-agent-only`` or ``mission-control-only``.
    `releases` are the releases it is recorded on; empty means every one. A scenario tagged ``on-request`` is recorded
    only when it is asked for by name, and no evidence lacks it.
    """

    id: str
    slug: str
    name: str
    feature: str
    line: int
    tags: tuple[str, ...]
    gherkin: str
    gherkin_lines: tuple[int, ...]
    stimulus: Stimulus
    stimulus_sha256: str
    expected: tuple[ExpectedCard, ...]
    varying: tuple[str, ...]
    drivers: tuple[str, ...]
    releases: tuple[str, ...]

    @property
    def on_request(self) -> bool:
        """Whether it is recorded only when it is asked for by name: its run takes more than all others together."""
        return ON_REQUEST in self.tags

    def recorded_on(self, release: str) -> bool:
        """Whether the scenario is one of those that a release is recorded with."""
        return not self.releases or release in self.releases

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


class _Place(NamedTuple):
    """The lines of the feature file on which a step and the rows of its table stand."""

    line: int
    rows: list[int]


def _block(step: dict[str, Any], place: _Place) -> Block:
    argument = step.get("argument", {})
    rows = argument.get("dataTable", {}).get("rows", [])
    return Block(
        text=argument.get("docString", {}).get("content"),
        table=[[cell["value"] for cell in row["cells"]] for row in rows],
        lines=place.rows,
    )


def _slug(name: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in name.lower()).split()
    return "-".join(words)


def _check_block(step: Step, block: Block, where: str) -> None:
    """A step has under it what it needs and nothing that it would ignore."""
    if (block.text is not None) != (step.block == "text"):
        raise UsageError(f"the step takes {'a' if step.block == 'text' else 'no'} doc string", where=where)
    if bool(block.table) != (step.block == "table"):
        raise UsageError(f"the step takes {'a' if step.block == 'table' else 'no'} table", where=where)


class _Source(NamedTuple):
    """A scenario's own text, and the line of the feature file that each of its lines is; 0 for none."""

    text: str
    lines: tuple[int, ...]


def _source(lines: list[str], first: int, following: list[int]) -> _Source:
    """The text of one part of a feature: from its tags to before the next part. Lines count from 1."""
    start = first - 1
    while start > 0 and lines[start - 1].strip().startswith("@"):
        start -= 1
    ends = [line - 1 for line in following if line > first]
    end = min(ends, default=len(lines))
    while end > start and (not lines[end - 1].strip() or lines[end - 1].strip().startswith(("@", "#"))):
        end -= 1
    return _Source(textwrap.dedent("\n".join(lines[start:end])) + "\n", tuple(range(start + 1, end + 1)))


def _together(parts: list[_Source]) -> _Source:
    """Backgrounds and scenario as one text, with an empty line between."""
    numbers = [part.lines for part in parts]
    return _Source("\n".join(part.text for part in parts), tuple(line for own in numbers for line in (*own, 0))[:-1])


def _sources(document: dict[str, Any], lines: list[str]) -> dict[int, _Source]:
    """Line of every scenario to its own text, after that of the backgrounds that it begins with."""
    parts: list[tuple[int, str]] = []
    backgrounds: dict[int, list[int]] = {}

    def walk(children: list[dict[str, Any]], inherited: list[int]) -> None:
        for child in children:
            ((kind, node),) = child.items()
            line = node["location"]["line"]
            parts.append((line, kind))
            if kind == "background":
                inherited = [*inherited, line]
            elif kind == "rule":
                walk(node["children"], inherited)
            else:
                backgrounds[line] = inherited
                if node["keyword"] in _OUTLINES and not any(rows.get("tableBody") for rows in node["examples"]):
                    raise UsageError("the outline has no examples", where=f"{document['uri']}:{line}")

    walk(document["feature"]["children"] if document.get("feature") else [], [])
    starts = [line for line, _ in parts]
    return {
        line: _together([_source(lines, first, starts) for first in (*before, line)])
        for line, before in backgrounds.items()
    }


def compile_feature(text: str, *, name: str) -> Iterator[Scenario]:
    """Yield the scenarios of one feature file. `name` is the file's name, used in ids and error messages.

    Raises UsageError with file and line for text that is not Gherkin, a file or outline without a scenario, an unknown
    step, or a step that cannot be acted.
    """
    from gherkin.errors import CompositeParserException, ParserException  # noqa: PLC0415 # half a second to import
    from gherkin.parser import Parser  # noqa: PLC0415
    from gherkin.pickles.compiler import Compiler  # noqa: PLC0415

    try:
        document: Any = Parser().parse(text)
    except CompositeParserException as error:
        raise UsageError(f"not a feature: {error}", where=f"{name}:{error.errors[0].location['line']}") from error
    except ParserException as error:
        raise UsageError(f"not a feature: {error}", where=f"{name}:{error.location['line']}") from error
    document["uri"] = name
    sources = _sources(document, [line.rstrip("\r") for line in text.split("\n")])
    if not sources:
        raise UsageError("the file holds no scenario", where=name)
    places = _step_places(document)
    pickles: Any = Compiler().compile(document)
    for pickle in pickles:
        line = pickle["location"]["line"]
        start = max(at for at in sources if at <= line)
        yield _compile_scenario(pickle, name=name, line=line, places=places, source=sources[start])


def _step_places(document: dict[str, Any]) -> dict[str, _Place]:
    """Gherkin node id to place of every step in the document."""
    found: dict[str, _Place] = {}
    pending: list[Any] = [document]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "keywordType" in node:
                rows = node.get("dataTable", {}).get("rows", [])
                found[node["id"]] = _Place(node["location"]["line"], [row["location"]["line"] for row in rows])
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return found


def _compile_scenario(
    pickle: dict[str, Any], *, name: str, line: int, places: dict[str, _Place], source: _Source
) -> Scenario:
    where = f"{name}:{line}"
    draft = Draft(where=where)
    for step in pickle["steps"]:
        place = places[step["astNodeIds"][0]]
        draft.line = place.line
        draft.where = f"{name}:{draft.line}"
        draft.block = _block(step, place)
        found = find_step(_KEYWORDS.get(step["type"], "given"), step["text"])
        if found is None:
            raise UsageError(
                f"no step reads {step['text']!r}", where=draft.where, hint="`harness steps` lists the vocabulary"
            )
        _check_block(found[0], draft.block, draft.where)
        try:
            found[0].act(draft, **found[1])
        except HarnessError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"the step cannot be read: {error}", where=draft.where) from error
    if not draft.turns and not draft.over_every_run:
        raise UsageError("the scenario runs no prompt", where=where)
    draft.settle()
    slug = _slug(pickle["name"])
    if not slug:
        raise UsageError("the scenario's name has no letter or digit to name its observations by", where=where)
    tags = tuple(tag["name"].removeprefix("@") for tag in pickle["tags"])
    stimulus = draft.stimulus()
    only = tuple(driver for driver in DRIVERS if f"{driver}-only" in tags)
    return Scenario(
        id=f"{name}::{pickle['name']}",
        slug=slug,
        name=pickle["name"],
        feature=name,
        line=line,
        tags=tags,
        gherkin=source.text,
        gherkin_lines=source.lines,
        stimulus=stimulus,
        stimulus_sha256=digest(stimulus),
        expected=tuple(draft.expected.values()),
        varying=tuple(draft.varying),
        drivers=() if draft.over_every_run else only or DRIVERS,
        releases=tuple(tag.removeprefix("release:") for tag in tags if tag.startswith("release:")),
    )
