"""Mission Control: raw terminal bytes become screens, and screens become facts with row and columns.

`observe` reads a whole capture; `screens` shows the moments it looked at. Nothing here draws on anything but what
stands on the screen: what a release does not print is *not displayed*, what a window cuts off is *cut*.
"""

from harness.observe.mission_control.cast import screens
from harness.observe.mission_control.column import ExpectedCard, Sight, observe

__all__ = ["ExpectedCard", "Sight", "observe", "screens"]
