"""Runs mutants that mutmut has made, each in a fork of one collected session: ``python -m tests.mutants PACKAGE``.

mutmut itself collects the tests anew for every mutant, which takes longer than to run them. To be run in mutmut's
folder ``mutants``, after it has made them (tests/README.md, "Mutation score"). Exits with 1 when one survives.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tests.support.one_by_one import SURVIVED, Fault, run


def names(package: str) -> list[str]:
    """The mutants of one package of the harness, sorted."""
    found: list[str] = []
    for file in Path("harness", package).glob("*.meta"):
        found += msgspec.json.decode(file.read_bytes(), type=dict[str, Any])["exit_code_by_key"]
    return sorted(found)


def faults(chosen: list[str]) -> Iterator[Fault]:
    """The mutants, and the tests of which mutmut knows that they do not reach their functions."""
    reach = msgspec.json.decode(Path("mutmut-stats.json").read_bytes(), type=dict[str, Any])
    by_function: dict[str, list[str]] = reach["tests_by_mangled_function_name"]
    tests = frozenset(reach["duration_by_test"])
    for name in chosen:
        function = re.sub(r"__mutmut_\d+$", "", name)
        words = (re.split(r"[.ǁ]", function)[-1].removeprefix("x_").strip("_"),)
        yield Fault(name, words, tests - frozenset(by_function.get(function, ())))


def commit(fault: Fault) -> None:
    os.environ["MUTANT_UNDER_TEST"] = fault.name


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("package", help="such as judge")
    parser.add_argument("--sample", type=int, default=0, help="that many of them; default: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample, drawn from the sorted names")
    parser.add_argument("--only", type=Path, help="a file with the names of those to run, one a line")
    options = parser.parse_args()
    chosen = names(options.package)
    if options.sample:
        chosen = random.Random(options.seed).sample(chosen, options.sample)  # noqa: S311 # no secret
    if options.only:
        chosen = [name for name in chosen if name in set(options.only.read_text(encoding="utf-8").split())]
    os.environ["MUTANT_UNDER_TEST"] = ""
    killed = 0
    for fault, test in run([f"tests/unit/{options.package}"], list(faults(chosen)), commit):
        killed += test != SURVIVED
        print(f"{fault.name}: {f'killed by {test}' if test else 'SURVIVED'}", flush=True)
    print(f"{len(chosen)} mutants run, {killed} killed, {len(chosen) - killed} survived")
    return 1 if killed < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
