"""The time of a launch, divided into as many steps as a player goes through."""

from math import ceil

INSTANTS = 60


def instant_place(instant: float) -> tuple[int, float]:
    """The step of a launch's time that an instant is in, and how much of that has passed."""
    at = round(instant * INSTANTS, 6)
    step = max(0, ceil(at) - 1)
    return step, at - step
