"""`harness selfcheck`: proof that the harness can fail, by mutants of evidence, each caught or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli import output, places

if TYPE_CHECKING:
    from harness.model.selfcheck import MutantClass, Selfcheck

SURVIVED = 3
_SHOWN_SURVIVORS = 20


def _row(row: MutantClass) -> list[str | Text]:
    from harness.report.selfcheck import alone, rate_of  # noqa: PLC0415

    named = output.loudness() is output.Loudness.VERBOSE
    attacks = ", ".join(row.requirements) if named else str(len(row.requirements))
    survivors = Text(str(row.survivors), style="bold red" if row.survivors else "")
    return [row.id, attacks, str(row.mutants), str(row.caught), str(alone(row)), survivors, rate_of(row)]


def print_result(result: Selfcheck, file: Path) -> None:
    """The kill matrix, every reason why a mutant is equivalent, the survivors, and the totals, which are last: what
    stands before them may be longer than the screen. Only survivors and totals when quiet."""
    from harness.model.selfcheck import SelfcheckState  # noqa: PLC0415
    from harness.report.selfcheck import reasons, sentence  # noqa: PLC0415

    if output.loudness() > output.Loudness.QUIET:
        columns = ["class", "rules", "mutants", "caught", "nothing to notice", "survived", "kill rate"]
        output.show_table("", columns, [_row(row) for row in result.classes])
        for reason, number in reasons(result):
            output.say(f"  {number} with nothing to notice: {reason}")
    for item in result.survivors[:_SHOWN_SURVIVORS]:
        where = " ".join(part for part in (item.where, item.card, item.label) if part)
        output.say(
            f"survivor: {item.class_}, {item.kind} ({item.requirement}): {item.release}/{item.observation} {where}: "
            f"{item.why}"
        )
    if len(result.survivors) > _SHOWN_SURVIVORS:
        output.say(f"… {len(result.survivors) - _SHOWN_SURVIVORS} more survivors in {file}")
    output.say(sentence(SelfcheckState(result=result)))
    output.note(f"written to {file}; harness accept reads it there")


def selfcheck_command(
    evidence: Annotated[Path | None, typer.Option(help="Evidence folder. Default: the bundled evidence.")] = None,
    release: Annotated[str, typer.Option(help="Release to mutate. Default: all releases with evidence.")] = "",
    features: Annotated[Path | None, typer.Option(help="Folder of scenarios. Default: the bundled features.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes. Default: one a core.")] = 0,
    json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of the tables.")] = False,
) -> int:
    """Prove that the harness can fail: mutate original runs one thing at a time, and judge each mutant.

    The result is written to selfcheck.json in the evidence folder, where `harness accept` reads it. Exit code: 0 when
    every mutant that something must notice was caught, 3 when one survived, 4 for damaged evidence.

    Example: harness selfcheck --evidence /tmp/evidence --release 0.104.0
    """
    from harness.selfcheck.running import selfcheck  # noqa: PLC0415 # help and errors of usage do not need it
    from harness.selfcheck_file import FILE, encode  # noqa: PLC0415

    folder = evidence or places.default_folder("evidence")
    with output.progress("mutating", None) as bar:

        def step(what: str, done: int, total: int) -> None:
            if bar is not None:
                bar.update(bar.task_ids[0], description=output.plain(what), completed=done, total=total)

        result = selfcheck(
            evidence=folder,
            features=features or places.default_folder("features"),
            release=release,
            jobs=jobs,
            progress=step,
        )
    content = encode(result)
    places.write_file(folder / FILE, content)
    if json_:
        output.console().file.write(content.decode())
    else:
        print_result(result, folder / FILE)
    return SURVIVED if result.survivors else 0
