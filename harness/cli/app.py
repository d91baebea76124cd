"""The typer application: its commands, and how errors become exit codes and one readable line."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer
from typer.exceptions import TyperException

from harness import __version__
from harness.cli import accept, authority, bundles, diff, imports, inspect, record, sweep
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


def _version(show: bool) -> None:
    if show:
        typer.echo(f"harness {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Judge releases of magi-code by the facts that their tool cards publish."""


app.command("accept")(accept.accept_command)
app.command("record")(record.record_command)
app.command("import")(imports.import_command)
app.command("product")(record.product_command)
app.command("verify")(bundles.verify_command)
app.command("compare")(bundles.compare_command)
app.command("project")(inspect.project_command)
app.command("show")(inspect.show_command)
app.command("diff")(diff.diff_command)
app.command("sweep")(sweep.sweep_command)
app.command("synthetic")(sweep.synthetic_command)
app.command("authorize")(authority.authorize_command)
app.add_typer(authority.authority_app, name="authority")
app.command("facts")(inspect.facts_command)
app.command("steps")(inspect.steps_command)


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit code and never raises."""
    try:
        result: object = app(arguments, standalone_mode=False)
    except HarnessError as error:
        print(f"harness: {error.where + ': ' if error.where else ''}{error.message}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        print("harness: stopped", file=sys.stderr)
        return STOPPED
    except TyperException as error:
        if message := error.format_message():
            print(f"harness: {message}\n  harness {' '.join(arguments[:1])} --help shows how", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"harness: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)
        return FAULT
    except Exception as error:  # noqa: BLE001 # the last line of defence: a fault of the harness has its own exit code
        print(f"harness: a fault of the harness itself: {type(error).__name__}: {error}", file=sys.stderr)
        if os.environ.get("HARNESS_DEBUG"):
            traceback.print_exc()
        else:
            print("  set HARNESS_DEBUG=1 to see where; please report it", file=sys.stderr)
        return FAULT
    return result if isinstance(result, int) else 0
