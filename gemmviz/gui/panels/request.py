"""What one warp asks of memory."""

from functools import partial

from gemmviz.gui.panel import Panel
from gemmviz.gui.view_dock import ViewDock

_WHAT = "What one warp asks of memory at this step: sectors and lines, or banks"
_TOUR = (
    "Memory",
    "What one warp asks for in this step: sectors of global memory, or banks of shared memory. What is moved but not needed is "
    "red. Behind it: every lane of the warp, and the cost of every step. All counts, as the hardware counts, are in Metrics at "
    "the right.",
)
PANEL = Panel("Request", "bottom", partial(ViewDock, view="request", what=_WHAT), order=4, tour=_TOUR)
