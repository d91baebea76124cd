"""One target under load: by atheris (libFuzzer), which keeps what reaches new code, or by seeded mutation without it.

It runs in a process of its own, ``python -m tests.fuzz.engine TARGET``, because libFuzzer ends the process it runs in.
The exit code is 0 when nothing was found; otherwise the input lies in the folder that was named, and the traceback is
on standard error.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
CORPUS: Final = FOLDER / "corpus"
UNIT_SECONDS: Final = 20
"""What libFuzzer takes for a hang: some hundred times what the slowest input takes on a busy machine."""
RSS_MEGABYTES: Final = 2_048
FOUND: Final = 1
FAULT: Final = "=== a fault was found"
"""Stands on standard error before a traceback."""


def corpus(target: str) -> list[Path]:
    """The inputs that are kept for a target, by name."""
    return sorted((CORPUS / target).glob("*"))


def available() -> bool:
    """Whether coverage-guided fuzzing is there: atheris has wheels for CPython 3.11 to 3.13 on Linux, x86-64."""
    return importlib.util.find_spec("atheris") is not None


def guided(name: str, *, runs: int, seconds: int, seed: int, found: Path, work: Path) -> None:
    """Coverage-guided. Never returns. New inputs that reached new code go to `work`."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["harness"], enable_loader_override=False):
        from tests.fuzz.targets import TARGETS  # noqa: PLC0415
    from tests.fuzz.mutate import mutated  # noqa: PLC0415

    target = TARGETS[name]

    def once(data: bytes) -> None:
        try:
            target.accepts(data)
        except Exception:
            print(f"{FAULT}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            raise

    def mutator(data: bytes, limit: int, number: int) -> Any:
        random = Random(number)  # noqa: S311 # chance for tests
        if random.random() < 0.5:
            return atheris.Mutate(data, limit)
        return mutated(data, random, limit)

    dictionary = FOLDER / "dictionaries" / f"{target.form}.dict"
    arguments = [
        sys.argv[0],
        f"-max_len={target.limit}",
        f"-seed={seed}",
        f"-timeout={UNIT_SECONDS}",
        f"-rss_limit_mb={RSS_MEGABYTES}",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
        "-reload=0",
        "-verbosity=0",
        *([f"-runs={runs}"] if runs else []),
        *([f"-max_total_time={seconds}"] if seconds else []),
        *([f"-dict={dictionary}"] if dictionary.exists() else []),
        str(work),
        *([str(CORPUS / name)] if (CORPUS / name).is_dir() else []),
    ]
    atheris.Setup(arguments, once, custom_mutator=mutator)
    atheris.Fuzz()


def unguided(name: str, *, runs: int, seconds: int, seed: int, found: Path) -> int:
    """Mutations of the corpus, the same ones for the same seed. Returns the exit code."""
    from tests.fuzz.mutate import mutated  # noqa: PLC0415
    from tests.fuzz.targets import TARGETS, clean_up  # noqa: PLC0415

    target, random = TARGETS[name], Random(seed)  # noqa: S311 # chance for tests
    pool = [path.read_bytes() for path in corpus(name)] or [b""]
    ends = time.monotonic() + seconds if seconds else float("inf")
    done = 0
    data = b""
    try:
        while (not runs or done < runs) and time.monotonic() < ends:
            data = random.choice(pool)
            for _ in range(random.choice((1, 1, 2, 5))):
                data = mutated(data, random, target.limit)
            target.accepts(data)
            done += 1
    except Exception:  # noqa: BLE001 # this is what it looks for
        print(f"{FAULT}\n{traceback.format_exc()}", file=sys.stderr)
        path = found / f"crash-{hashlib.sha256(data).hexdigest()[:16]}"
        path.write_bytes(data)
        print(f"after {done} inputs, kept as {path}", file=sys.stderr)
        return FOUND
    finally:
        clean_up()
    print(f"stat::number_of_executed_units: {done}", file=sys.stderr)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Parse the arguments and fuzz."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.engine", description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--runs", type=int, default=0, help="inputs to try; 0 for no limit")
    parser.add_argument("--seconds", type=int, default=0, help="how long to try; 0 for no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--found", type=Path, required=True, help="where inputs that fail are kept")
    parser.add_argument("--work", type=Path, required=True, help="where inputs that reach new code are kept")
    parser.add_argument("--unguided", action="store_true", help="without coverage")
    options = parser.parse_args(arguments)
    if options.unguided or not available():
        return unguided(
            options.target, runs=options.runs, seconds=options.seconds, seed=options.seed, found=options.found
        )
    guided(
        options.target,
        runs=options.runs,
        seconds=options.seconds,
        seed=options.seed,
        found=options.found,
        work=options.work,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
