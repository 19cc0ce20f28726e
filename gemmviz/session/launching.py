"""The launch of a setup, found in no more time than a frame may take."""

import time

from gemmviz.launch.legality import launch_for
from gemmviz.model.cancelling import cancellable
from gemmviz.model.errors import Cancelled
from gemmviz.model.kernel import Launch
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import requested_blocks

_SOON_S = 0.03


def launch_soon(setup: Setup) -> Launch:
    """As ``launch_for``, of a setup whose blocks exist; the nearest setting that works is named if it is found soon."""
    end = time.monotonic() + _SOON_S
    try:
        with cancellable(lambda: time.monotonic() > end):
            launch = launch_for(setup)
    except Cancelled:
        launch = launch_for(setup, with_nearest=False)
    requested_blocks(setup, launch)
    return launch
