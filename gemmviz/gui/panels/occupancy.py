"""The panel with the number of blocks that an SM holds at once."""

from functools import partial

from gemmviz.gui.panel import Panel, ViewDock
from gemmviz.model.translation import marked

_BLOCKS_BY_LIMIT = marked("Blocks per SM by each limit. Click a column to try another value")
PANEL = Panel(marked("Occupancy"), "bottom", partial(ViewDock, view="occupancy", what=_BLOCKS_BY_LIMIT), order=7)
