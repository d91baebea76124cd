"""Runs every benchmark and writes its figures with the machine's description: ``python -m tests.benchmarks``.

Benchmarks are files ``bench_*.py``, which a plain ``pytest`` does not collect. Arguments go to pytest, such as
``-k pipeline``; figures of benchmarks that did not run stay as they were. A goal that is missed is written
down as such.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmarks.figures import Figures

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    files = [str(path) for path in sorted(HERE.glob("bench_*.py"))]
    return int(
        pytest.main([*files, "-p", "no:cacheprovider", "-q", *arguments], plugins=[Figures(HERE / "figures.json")])
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
