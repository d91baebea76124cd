"""`harness doctor`: what this machine can do, and what to do about the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.cli import output, places

_STYLES = {"ok": "green", "limited": "yellow", "missing": "bold red"}


def doctor_command(
    json_: Annotated[bool, typer.Option("--json", help="One JSON object: checks, and what can be done.")] = False,
) -> int:
    """Say what this machine can do: judge, record, build products, run the tests; and what to do where it cannot.

    Exit code: 0, or 3 when something that judging needs is missing.

    Example: harness doctor
    """
    from harness.doctor import Need, State, checks, exit_code, recordable  # noqa: PLC0415 # help does not need them
    from harness.this_machine import ThisMachine  # noqa: PLC0415

    machine = ThisMachine({name: places.default_folder(name) for name in ("evidence", "features", "reports")})
    found = checks(machine)
    able = {need: not any(item.need is need and item.state is State.MISSING for item in found) for need in Need}
    can_record = recordable(machine.products(), machine.recorded_by())
    if json_:
        output.emit(
            {
                "schema": 1,
                "able": able,
                "recordable": can_record,
                "products": [item.product for item in machine.products() if item.product],
                "checks": found,
            }
        )
        return exit_code(found)
    shown = [item for item in found if output.loudness() > output.Loudness.QUIET or item.state is not State.OK]
    rows: list[list[str | Text]] = [
        [Text(item.state.value, style=_STYLES[item.state]), item.name, item.need.value, _said(item.detail, item.advice)]
        for item in shown
    ]
    if rows:
        output.show_table("", ["", "what", "for", "found"], rows)
        output.note("")
    can = [need.value for need in Need if able[need] and need is not Need.COMFORT]
    cannot = [
        f"{need.value} ({', '.join(item.name for item in found if item.need is need and item.state is State.MISSING)})"
        for need in Need
        if not able[need]
    ]
    output.say(f"This machine can do: {', '.join(can) or 'nothing'}")
    if cannot:
        output.say(f"It lacks something for: {', '.join(cannot)}")
    output.note("Next: harness accept" if able[Need.JUDGING] else "Next: see what is missing for judging above")
    return exit_code(found)


def _said(detail: str, advice: str) -> str:
    """What was found, and what to do. The home folder is `~`, which shells understand and narrow screens hold."""
    said = f"{detail}. To do: {advice}" if advice else detail
    home = Path.home().as_posix()
    return said if home == "/" else said.replace(f"{home}/", "~/")
