"""A terminal emulator behind one small interface; both the recorder (to wait) and the observers (to read) use it.

Imports nothing of the project.
"""

from harness.terminal.emulator import TooMuchDrawnError
from harness.terminal.screen import Cell, Screen, Snapshot

__all__ = ["Cell", "Screen", "Snapshot", "TooMuchDrawnError"]
