"""Courses: boxes that move straight from one place to another, each a little after the one before."""

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Floats, Longs
from gemmviz.scenes.kit.frame import eased

FAN = 2 / 3  # share of the way at which things that set out together part
_APART = 0.016  # of a step: 12 ms of 750
_MOST_APART = 0.35  # of a step, between the first and the last


class Courses(Struct, frozen=True):
    """Boxes (n, 4) at the start and at the end. ``together``: numbers (n,) of groups that set out as one, ascending in the
    order in which they start.
    """

    start: Floats
    end: Floats
    together: Longs
    way: tuple[float, float] = (0.0, 1.0)

    def shares(self, passed: float) -> Floats:
        """Return the share of its way that each has covered: (n, 1). ``passed``: the part of the time that has passed."""
        groups = int(self.together.max(initial=0))
        apart = min(_APART, _MOST_APART / max(1, groups))
        begin = apart * self.together
        own = np.clip((passed - begin) / (1.0 - apart * groups), 0.0, 1.0)
        first, last = self.way
        return np.asarray(first + (last - first) * eased(own))[:, None]

    def at(self, passed: float) -> Floats:
        """Return the boxes (n, 4) at a part of the time. Those that set out together part after ``FAN`` of their way."""
        share = self.shares(passed)
        if self.way != (0.0, 1.0) or not self.parts:
            return self.start + (self.end - self.start) * share
        hub = self.start + (self._means - self.start) * FAN
        early = self.start + (hub - self.start) * (share / FAN)
        late = hub + (self.end - hub) * ((share - FAN) / (1 - FAN))
        return np.where(share < FAN, early, late)

    @property
    def parts(self) -> bool:
        """Whether any set out together."""
        return int(self.together.max(initial=-1)) + 1 < len(self.together)

    @property
    def _means(self) -> Floats:
        """Where the middle of each group ends, with the size that each has at the start."""
        count = np.maximum(1, np.bincount(self.together))
        middle = self.end[:, :2] + self.end[:, 2:] / 2
        mean = np.stack([np.bincount(self.together, middle[:, axis]) / count for axis in (0, 1)], axis=1)[self.together]
        return np.hstack([mean - self.start[:, 2:] / 2, self.start[:, 2:]])


def together(start: Floats) -> Longs:
    """Return numbers of groups of equal boxes, in the order in which each first occurs."""
    _, first, which = np.unique(np.round(start, 3), axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[which.ravel()]
