"""Start of the command line. The version is answered before anything slow is imported."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path


def main() -> None:
    """Run `harness`; leaves with an exit code of the table in the README."""
    if sys.argv[1:] == ["--version"]:
        from harness import __version__  # noqa: PLC0415 # nothing else may be imported for it

        print(f"harness {__version__}")
        return
    # Whoever closed an output wants nothing there; the interpreter then has none at all.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 # open as long as the process
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115 # likewise
    try:
        from harness.cli.app import run  # noqa: PLC0415 # imports typer and rich
    except KeyboardInterrupt:
        print("harness: stopped", file=sys.stderr)
        sys.exit(130)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a sign gets its number: that is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
