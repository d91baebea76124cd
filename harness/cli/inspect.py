"""`harness project`, `show`, `facts` and `steps`: looking at one session, one finding, and the catalogues."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from harness.cli import output, places
from harness.model.errors import UsageError
from harness.model.values import Reading, State, Value


def _json_value(reading: Reading) -> str | None:
    return reading.text if isinstance(reading, Value) and reading.state is State.KNOWN else None


def project_command(
    session: Annotated[Path, typer.Argument(help="A saved session (.jsonl); children are looked for beside it.")],
    json_: Annotated[bool, typer.Option("--json", help="Cards and facts as JSON.")] = False,
) -> int:
    """Project the reference facts of one saved session.

    Child sessions are read from ``subagents/`` or ``children/`` beside the session.

    Example: harness project ~/.magi-code/sessions/ID.jsonl --json
    """
    from harness.project import project  # noqa: PLC0415

    if not session.is_file():
        raise UsageError("there is no such session file", where=str(session))
    children = {
        path.stem: path
        for name in ("subagents", "children")
        for path in sorted((session.parent / name).glob("*.jsonl"))
    }
    projection = project(
        session.read_bytes(),
        {child: path.read_bytes() for child, path in children.items()},
        file=session.name,
        child_files={child: path.name for child, path in children.items()},
    )
    if json_:
        cards = [
            {
                "path": card.path,
                "kind": card.kind.value,
                "outcome": card.outcome,
                "facts": [
                    {
                        "label": fact.label,
                        "value": _json_value(fact.value),
                        "state": fact.value.state.value if isinstance(fact.value, Value) else fact.value.reason.value,
                        "source": fact.via,
                    }
                    for fact in card.facts
                ],
            }
            for card in projection.reference
        ]
        problems = [msgspec.to_builtins(problem) for problem in projection.problems]
        output.emit({"cards": cards, "problems": problems})
        return 0
    for card in projection.reference:
        rows = [[fact.label, str(fact.value), fact.via] for fact in card.facts]
        output.show_table(f"{card.path}: {card.kind.value}", ["fact", "value", "source"], rows)
        output.note("")
    for problem in projection.problems:
        output.say(f"{problem.requirement}: {problem.observed} ({problem.place})")
    return 0


def show_command(
    finding: Annotated[str, typer.Argument(help="A finding's id, such as F-0123456789.")],
    evidence: Annotated[Path | None, typer.Option(help="Evidence folder. Default: the bundled evidence.")] = None,
    release: Annotated[str, typer.Option(help="Release. Default: the newest that has the finding.")] = "",
    json_: Annotated[bool, typer.Option("--json", help="The finding and its place's lines as JSON.")] = False,
) -> int:
    """Show the place in the evidence that a finding points at: the frame, the record or the screen.

    Example: harness show F-0123456789
    """
    from harness.cli.finding import finding_of  # noqa: PLC0415
    from harness.proofs import Proofs  # noqa: PLC0415

    found, bundle = finding_of(
        finding,
        evidence=evidence or places.default_folder("evidence"),
        features=places.default_folder("features"),
        release=release,
    )
    proofs = Proofs({found.observation: bundle})
    lines = list(proofs.lines(found.observation, found.place)) if found.place is not None else []
    if json_:
        output.emit({"finding": found, "lines": lines})
        return 0
    output.say(f"{found.id} ({found.kind.value}) breaks {found.requirement}")
    output.say(f"observation  {found.observation}")
    output.say(f"surface      {found.surface}")
    output.say(f"card, fact   {found.card} {found.label}")
    output.say(f"expected     {found.expected}")
    output.say(f"observed     {found.observed}")
    output.say(f"place        {found.place or 'no single place: the card is not there'}")
    if lines:
        output.say("")
    for line in lines:
        sys.stdout.write(line + "\n")
    output.note("")
    output.note(f"Next: harness compare {places.shown(Path(bundle.folder))}   every fact of that run side by side")
    return 0


def facts_command(
    json_: Annotated[bool, typer.Option("--json", help="One JSON object a label.")] = False,
) -> int:
    """List the fact catalogue: every label with its card, type and null rule.

    Example: harness facts --json
    """
    from harness.spec.facts import FACTS  # noqa: PLC0415

    if json_:
        for entry in FACTS:
            output.emit(entry)
        return 0
    rows = [[entry.card.value, entry.label, entry.type.value, entry.null_when or "never"] for entry in FACTS]
    output.show_table("", ["card", "label", "type", "null when"], rows)
    return 0


def steps_command(
    json_: Annotated[bool, typer.Option("--json", help="One JSON object a step.")] = False,
) -> int:
    """List the steps that scenarios may use.

    Example: harness steps
    """
    from harness.scenario.vocabulary import STEPS  # noqa: PLC0415

    if json_:
        for step in STEPS:
            output.emit({"keyword": step.keyword, "step": step.pattern})
        return 0
    output.show_table("", ["keyword", "step"], [[step.keyword, step.pattern] for step in STEPS])
    return 0
