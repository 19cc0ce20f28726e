"""The panel with the lanes of one warp."""

from functools import partial

from gemmviz.gui.panel import Panel
from gemmviz.gui.view_dock import ViewDock

_WHAT = "Each lane of the warp: thread, element, byte address, value"
PANEL = Panel("Warp", "bottom", partial(ViewDock, view="warp", what=_WHAT), order=5)
