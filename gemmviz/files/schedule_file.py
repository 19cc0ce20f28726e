"""Reads and writes recorded schedules: a NumPy file with an index of launches and, for each, where and when its blocks ran."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from msgspec import Struct, field

from gemmviz.files.codec import from_json, to_json
from gemmviz.files.resources import resources
from gemmviz.files.whole import atomic_write
from gemmviz.model.device import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr


class RecordedLaunch(Struct, frozen=True):
    """The launch that a schedule was recorded of. ``source_hash``: of its text. ``tick_ns``: the clock's resolution."""

    kernel: str
    source_hash: str
    problem: Problem
    tick_ns: int
    parameters: Mapping[str, int] = field(default_factory=dict)

    def is_of(self, setup: Setup) -> bool:
        """Whether this launch had the kernel text, problem and parameters of ``setup``."""
        return (self.source_hash, self.problem, dict(self.parameters)) == (
            setup.kernel.text_hash, setup.problem, dict(setup.parameters),
        )  # fmt: skip


class RecordedSchedules(Struct, frozen=True):
    """Schedules recorded on one GPU on one day; ``schedules[i]`` belongs to ``launches[i]``."""

    gpu: Gpu
    date: str
    launches: tuple[RecordedLaunch, ...]
    schedules: tuple[Schedule, ...]

    @property
    def source(self) -> str:
        return tr("recorded on {label}, {date}", label=self.gpu.label, date=self.date)

    def find(self, setup: Setup) -> Schedule | None:
        """The schedule of a setup; None if this kernel text, problem and parameters were not recorded."""
        pairs = zip(self.launches, self.schedules, strict=True)
        return next((schedule for launch, schedule in pairs if launch.is_of(setup)), None)


class _Index(Struct, frozen=True):
    gpu: Gpu
    date: str
    launches: tuple[RecordedLaunch, ...]


def write_schedules(recorded: RecordedSchedules, path: Path) -> None:
    """Writes schedules with times of 32 bits, in ns, and SMs of 16 bits. Raises GemmvizError if the file can't be written."""
    arrays = {"index": np.frombuffer(to_json(_Index(recorded.gpu, recorded.date, recorded.launches)), np.uint8)}
    for number, schedule in enumerate(recorded.schedules):
        arrays[f"sm_{number}"] = schedule.sm.astype(np.uint16)
        arrays[f"start_{number}"] = schedule.start_ns.astype(np.uint32)
        arrays[f"length_{number}"] = (schedule.stop_ns - schedule.start_ns).astype(np.uint32)
    with atomic_write(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_schedules(path: Path) -> RecordedSchedules:
    """The schedules in a shipped file."""
    with np.load(path, allow_pickle=False) as arrays:
        index = from_json(arrays["index"].tobytes(), _Index)
        schedules = []
        for number, launch in enumerate(index.launches):
            start = arrays[f"start_{number}"].astype(np.int64)
            stop = start + arrays[f"length_{number}"].astype(np.int64)
            schedules.append(Schedule(arrays[f"sm_{number}"].astype(np.int32), start, stop, launch.tick_ns))
    return RecordedSchedules(index.gpu, index.date, index.launches, tuple(schedules))


@cache
def recorded_schedules() -> tuple[RecordedSchedules, ...]:
    """The shipped schedules, one record per GPU."""
    return tuple(read_schedules(path) for path in resources("assets/measurements", "schedules-*.npz"))
