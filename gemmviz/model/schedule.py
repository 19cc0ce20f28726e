"""The SM and the time of each block of a launch."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from gemmviz.model.problem import Problem
from gemmviz.model.recording import Recorded, row_of
from gemmviz.model.setup import Setup


class Schedule(Struct, frozen=True):
    """SM of each block, int32 (blocks,), and its start and stop in nanoseconds after the first start, int64 (blocks,). Blocks
    are numbered with x fastest.

    ``tick_ns``: resolution of the GPU's clock, as observed.
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
        """The largest number of blocks that each SM held at once, by SM number."""
        most = np.zeros(int(self.sm.max()) + 1, np.int64)
        for number in np.unique(self.sm):
            here = self.sm == number
            times = np.concatenate([self.start_ns[here], self.stop_ns[here]])
            change = np.repeat([1, -1], here.sum())
            order = np.lexsort((change, times))  # a block that stops at a tick makes room for one that starts at it
            most[number] = np.cumsum(change[order]).max()
        return most


class RecordedLaunch(Struct, frozen=True):
    """The launch that a schedule was recorded of. ``source_hash``: of its text. ``tick_ns``: the clock's resolution."""

    kernel: str
    source_hash: str
    problem: Problem
    tick_ns: int
    parameters: Mapping[str, int] = field(default_factory=dict)


class RecordedSchedules(Recorded[RecordedLaunch], frozen=True):
    """Schedules recorded on one GPU; ``schedules[i]`` belongs to ``rows[i]``."""

    schedules: tuple[Schedule, ...] = field(default=(), name="")

    def find(self, setup: Setup) -> Schedule | None:
        """The schedule of a setup; None if this kernel text, problem and parameters were not recorded."""
        row = row_of(setup, self.rows)
        return None if row is None else self.schedules[self.rows.index(row)]


class GridCase(Struct, frozen=True, eq=False):
    """A launch as blocks that wait, run and finish. ``schedule``: SMs and times; ``source``: origin of the schedule;
    ``is_model``: the schedule is computed, not measured, and its times are not nanoseconds. ``grid``: blocks along x, y and z;
    ``what``: name of the launch; ``blocks_per_sm``: by occupancy, an upper bound unless ``is_certain``. ``beside``: the launch
    that this one is compared with.
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
        """Whether the times of both launches have the same unit, nanoseconds or that of a model, and can be compared."""
        return self.beside is not None and self.is_model == self.beside.is_model
