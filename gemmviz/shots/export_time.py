"""Division of the time of a launch into steps for playback."""

from math import ceil

INSTANTS = 60


def instant_place(instant: float) -> tuple[int, float]:
    """The step that contains an instant (0 to 1) of a launch, and the elapsed fraction of that step."""
    at = round(instant * INSTANTS, 6)
    step = max(0, ceil(at) - 1)
    return step, at - step
