"""The panel with the memory request of one warp."""

from functools import partial

from gemmviz.gui.panel import Panel, ViewDock
from gemmviz.model.translation import marked

_REQUEST_OF_WARP = marked("Memory request of one warp in this step: sectors and lines, or banks")
_TOUR = (
    marked("Memory"),
    marked(
        "The request of one warp in this step: sectors of global memory, or banks of shared memory. Bytes "
        "that are moved but not needed are red. The other tabs show each lane of the warp and the cost of "
        "each step. Metrics, on the right, shows all counts as the hardware counts them."
    ),
)
PANEL = Panel(marked("Request"), "bottom", partial(ViewDock, view="request", what=_REQUEST_OF_WARP), order=4, tour=_TOUR)
