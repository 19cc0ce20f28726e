"""The panel with the lanes of one warp."""

from functools import partial

from gemmviz.gui.panel import Panel, ViewDock
from gemmviz.model.translation import marked

_LANES_OF_WARP = marked("Each lane of the warp: thread, element, byte address, value")
PANEL = Panel(marked("Warp"), "bottom", partial(ViewDock, view="warp", what=_LANES_OF_WARP), order=5)
