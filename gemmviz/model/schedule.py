"""Where and when each block of a launch ran."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Schedule:
    """By block number (x fastest): its SM, int32 (blocks,), and nanoseconds since the first block began, int64 (blocks,).

    ``tick_ns`` is how finely the GPU's clock was seen to tell times apart.
    """

    sm: npt.NDArray[np.int32]
    start_ns: npt.NDArray[np.int64]
    stop_ns: npt.NDArray[np.int64]
    tick_ns: int

    @property
    def blocks(self) -> int:
        return len(self.sm)

    @property
    def duration_ns(self) -> int:
        return int(self.stop_ns.max())

    def resident(self) -> npt.NDArray[np.int64]:
        """The most blocks that each SM held at once, by SM number."""
        most = np.zeros(int(self.sm.max()) + 1, np.int64)
        for number in np.unique(self.sm):
            here = self.sm == number
            times = np.concatenate([self.start_ns[here], self.stop_ns[here]])
            change = np.repeat([1, -1], here.sum())
            order = np.lexsort((change, times))  # who leaves at a tick makes room before the next one comes
            most[number] = np.cumsum(change[order]).max()
        return most


@dataclass(frozen=True, eq=False)
class GridCase:
    """A launch as blocks that wait, run and are done. ``schedule``: where and when; ``source``: whence that is known;
    ``is_model``: nobody measured it, and its times are no nanoseconds. ``grid``: blocks along x, y and z; ``what``: which
    launch; ``blocks_per_sm``: by occupancy, at most so many where it
    is not ``is_certain``. ``beside``: the launch that this one is held against.
    """

    what: str
    device: str
    sms: int
    blocks_per_sm: int
    grid: tuple[int, int, int]
    schedule: Schedule
    source: str
    is_model: bool
    is_certain: bool = True
    beside: "GridCase | None" = None

    @property
    def shares_time(self) -> bool:
        """Whether the times of both launches are of one kind, nanoseconds or a model's, so that one instant is one in both."""
        return self.beside is not None and self.is_model == self.beside.is_model
