"""Findings and authorization in, verdict out. Pure: it sees values only, never a file or a clock."""

from harness.judge.requirements import OtherRule
from harness.judge.verdict import judge

__all__ = ["OtherRule", "judge"]
