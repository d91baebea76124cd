"""What every command has besides its own options: ``--quiet`` and ``--verbose``, before its name or after it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from harness.cli import output
from harness.model.errors import UsageError

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the result: no explanation, advice or progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Everything there is to say.")]


class ClosedPipe(Exception):  # noqa: N818 # nothing went wrong
    """Whoever read the output has seen enough. No OSError: typer would leave with 1, which says that a release is
    rejected."""


def choose(quiet: bool, verbose: bool) -> None:
    """Be quiet or verbose if either is asked for. Raises UsageError for both."""
    if quiet and verbose:
        raise UsageError("--quiet and --verbose contradict each other", hint="give one of them")
    if quiet or verbose:
        output.be(output.Loudness.QUIET if quiet else output.Loudness.VERBOSE)


def with_loudness(function: Callable[..., int]) -> Callable[..., int]:
    """The command `function` with both options added to those it has."""

    @functools.wraps(function)
    def command(*arguments: Any, quiet: bool, verbose: bool, **options: Any) -> int:
        choose(quiet, verbose)
        try:
            return function(*arguments, **options)
        except (BrokenPipeError, SystemExit) as error:
            # rich leaves with 1 by itself when nobody reads on; commands return their codes and never leave so.
            raise ClosedPipe from error

    signature = inspect.signature(function, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in (("quiet", Quiet), ("verbose", Verbose))
    ]
    own = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined] # read by typer
    command.__annotations__ = {item.name: item.annotation for item in (*own, *added)}
    return command
