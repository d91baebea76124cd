"""Fuzzes readers for as long as one likes: ``uv run python -m tests.fuzz [TARGET…] --seconds N``.

Targets are run one after another, `N` seconds each. An input that fails is kept in the folder that is printed; make it
small, put it into ``tests/fuzz/corpus/TARGET/`` and mend the reader.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.engine import FAULT, available, corpus
from tests.fuzz.targets import TARGETS, in_memory

ROOT = Path(__file__).parents[2]
_STATS = re.compile(r"stat::(\w+):\s+(\d+)")


def fuzz(
    target: str, *, seconds: int = 0, runs: int = 0, seed: int = 1, folder: Path
) -> subprocess.CompletedProcess[str]:
    """One target in a process of its own. Inputs that fail are kept in `folder`."""
    work = folder / "work" / target
    work.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzz.engine", target]
    command += ["--seconds", str(seconds), "--runs", str(runs), "--seed", str(seed)]
    command += ["--found", str(folder), "--work", str(work)]
    with tempfile.TemporaryDirectory(prefix="harness-fuzz-", dir=in_memory()) as scratch:  # libFuzzer tidies nothing up
        environment = {**os.environ, "HARNESS_FUZZ_SCRATCH": scratch}
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, errors="replace"
        )


def stats(output: str) -> dict[str, int]:
    """What the fuzzer counted."""
    return {name: int(number) for name, number in _STATS.findall(output)}


def fault(output: str) -> str:
    """What was found, as far as it says."""
    _, found, after = output.partition(FAULT)
    return (after if found else output)[-4000:].strip()


def main() -> int:
    """Run the command line; 1 when a target failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for inputs that fail or reach new code; default: a new one")
    options = parser.parse_args()
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    folder = options.keep or Path(tempfile.mkdtemp(prefix="harness-fuzz-found-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{'coverage-guided' if available() else 'without coverage (no atheris here)'}; inputs are kept in {folder}")
    failed = 0
    for name in options.targets or TARGETS:
        done = fuzz(name, seconds=options.seconds, seed=options.seed, folder=folder)
        counted = stats(done.stderr)
        line = f"{name}: {counted.get('number_of_executed_units', '?')} inputs, {len(corpus(name))} in the corpus, "
        line += f"at most {counted.get('peak_rss_mb', '?')} MB"
        if done.returncode:
            failed += 1
            line += f"\n{fault(done.stderr)}"
        print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
