"""How many blocks an SM holds at once."""

from functools import partial

from gemmviz.gui.panel import Panel
from gemmviz.gui.view_dock import ViewDock

_WHAT = "How many blocks an SM holds, by each of its limits; click a column to try out another value"
PANEL = Panel("Occupancy", "bottom", partial(ViewDock, view="occupancy", what=_WHAT), order=7)
