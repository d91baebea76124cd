"""The typer application: its commands, and how errors become exit codes and one readable line."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Annotated

import typer
from typer.exceptions import TyperException

from harness import __version__
from harness.cli import (
    accept,
    authority,
    authorize,
    bundles,
    diff,
    doctor,
    imports,
    inspect,
    loud,
    output,
    record,
    selfcheck,
    stability,
    sweep,
    trends,
)
from harness.model.errors import HarnessError

app = typer.Typer(
    name="harness",
    help="Judge releases of magi-code by the facts that their tool cards publish.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: harness accept --release 0.104.0",
)

FAULT = 70
STOPPED = 130
CLOSED_PIPE = 141
"""What a shell reports of a program that SIGPIPE ended."""


def _version(show: bool) -> None:
    if show:
        typer.echo(f"harness {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[  # noqa: ARG001 # its callback has answered
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
    quiet: loud.Quiet = False,
    verbose: loud.Verbose = False,
) -> None:
    """Judge releases of magi-code by the facts that their tool cards publish."""
    loud.choose(quiet, verbose)


COMMANDS: tuple[tuple[str, Callable[..., int]], ...] = (
    ("accept", accept.accept_command),
    ("record", record.record_command),
    ("import", imports.import_command),
    ("product", record.product_command),
    ("verify", bundles.verify_command),
    ("compare", bundles.compare_command),
    ("project", inspect.project_command),
    ("show", inspect.show_command),
    ("diff", diff.diff_command),
    ("trends", trends.trends_command),
    ("stability", stability.stability_command),
    ("selfcheck", selfcheck.selfcheck_command),
    ("sweep", sweep.sweep_command),
    ("synthetic", sweep.synthetic_command),
    ("authorize", authorize.authorize_command),
    ("doctor", doctor.doctor_command),
    ("facts", inspect.facts_command),
    ("steps", inspect.steps_command),
)
"""In the order of `harness --help`. Every one of them can be quiet and verbose."""

for _name, _function in COMMANDS:
    app.command(_name)(loud.with_loudness(_function))
app.add_typer(authority.authority_app, name="authority")


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit code and never raises."""
    output.be(output.Loudness.NORMAL)
    try:
        result: object = app(arguments, standalone_mode=False)
    except KeyboardInterrupt:
        return _stopped()
    except Exception as error:  # noqa: BLE001 # the last line of defence: a fault of the harness has its own exit code
        return _failed(error, arguments)
    if result == STOPPED:
        return _stopped()  # the command line's library has caught it
    return result if isinstance(result, int) else 0


def _stopped() -> int:
    print("harness: stopped", file=sys.stderr)
    return STOPPED


def _failed(error: Exception, arguments: list[str]) -> int:
    """One readable line on standard error, the next thing to do below it, and the exit code of whoever is to blame."""
    match error:
        case HarnessError():
            print(f"harness: {error.where + ': ' if error.where else ''}{error.message}", file=sys.stderr)
            if error.hint:
                print(f"  {error.hint}", file=sys.stderr)
            return error.exit_code
        case typer.Abort():
            return _stopped()
        case TyperException():
            if message := error.format_message():
                print(f"harness: {message}\n  {_help_of(arguments)} shows how", file=sys.stderr)
            return error.exit_code
        case loud.ClosedPipe():
            # The interpreter must not try to write the rest when it ends.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return CLOSED_PIPE
        case OSError():
            print(f"harness: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)
            return FAULT
    print(f"harness: a fault of the harness itself: {type(error).__name__}: {error}", file=sys.stderr)
    if os.environ.get("HARNESS_DEBUG"):
        traceback.print_exception(error)
    else:
        print("  set HARNESS_DEBUG=1 to see where; please report it", file=sys.stderr)
    return FAULT


def _help_of(arguments: list[str]) -> str:
    """The command that explains what was meant: that of the command named, or of all when there is none such."""
    named = next((item for item in arguments if not item.startswith("-")), "")
    known = {name for name, _ in COMMANDS} | {"authority"}
    return f"harness {named} --help" if named in known else "harness --help"
