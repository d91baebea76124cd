"""Saved session files: bytes in, typed records with their places out, and the calls that the records add up to."""

from harness.records.decode import read_session
from harness.records.session import Record, Session
from harness.records.turns import Call, Turn, Turns, turns_of

__all__ = ["Call", "Record", "Session", "Turn", "Turns", "read_session", "turns_of"]
