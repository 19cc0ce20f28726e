"""The launch of a setup, computed within the time of one frame."""

import time

from gemmviz.launch.legality import launch_for
from gemmviz.model.cancelling import cancellable
from gemmviz.model.errors import Cancelled
from gemmviz.model.kernel import Launch
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import requested_blocks

_SOON_S = 0.03


def launch_soon(setup: Setup) -> Launch:
    """The launch of a setup, as from ``launch_for``. An error names the nearest legal setting only if it is found within 0.03
    s. Raises as ``launch_for``, also if the setup names blocks that don't exist.
    """
    end = time.monotonic() + _SOON_S
    try:
        with cancellable(lambda: time.monotonic() > end):
            launch = launch_for(setup)
    except Cancelled:
        launch = launch_for(setup, with_nearest=False)
    requested_blocks(setup, launch)
    return launch
