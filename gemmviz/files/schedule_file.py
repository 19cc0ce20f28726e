"""Schedules of launches that were recorded, in one NumPy file: an index of them, and for each where and when its blocks ran."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from gemmviz.files.codec import from_json, to_json
from gemmviz.files.resources import resources
from gemmviz.files.whole import atomic_write
from gemmviz.model.gpu import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """Which launch a schedule is of. ``source_hash``: of the kernel's text."""

    kernel: str
    source_hash: str
    problem: Problem
    tick_ns: int
    parameters: Mapping[str, int] = field(default_factory=dict)

    def is_of(self, setup: Setup) -> bool:
        return (self.source_hash, self.problem, dict(self.parameters)) == (
            setup.kernel.text_hash, setup.problem, dict(setup.parameters),
        )  # fmt: skip


@dataclass(frozen=True)
class Schedules:
    """``launches`` and ``schedules`` go together; all are of one GPU, on one day."""

    gpu: Gpu
    date: str
    launches: tuple[RecordedLaunch, ...]
    schedules: tuple[Schedule, ...]

    @property
    def source(self) -> str:
        return f"recorded on {self.gpu.label}, {self.date}"

    def find(self, setup: Setup) -> Schedule | None:
        """That of exactly this kernel text, these parameters and this problem."""
        found = zip(self.launches, self.schedules, strict=True)
        return next((schedule for launched, schedule in found if launched.is_of(setup)), None)


@dataclass(frozen=True)
class _Index:
    gpu: Gpu
    date: str
    launches: tuple[RecordedLaunch, ...]


def write_schedules(found: Schedules, path: Path) -> None:
    """Times as 32 bits, SMs as 16."""
    arrays = {"index": np.frombuffer(to_json(_Index(found.gpu, found.date, found.launches)), np.uint8)}
    for number, schedule in enumerate(found.schedules):
        arrays[f"sm_{number}"] = schedule.sm.astype(np.uint16)
        arrays[f"start_{number}"] = schedule.start_ns.astype(np.uint32)
        arrays[f"length_{number}"] = (schedule.stop_ns - schedule.start_ns).astype(np.uint32)
    with atomic_write(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_schedules(path: Path) -> Schedules:
    """One of gemmviz's own files."""
    with np.load(path, allow_pickle=False) as arrays:
        index = from_json(arrays["index"].tobytes(), _Index)
        schedules = []
        for number, launched in enumerate(index.launches):
            start = arrays[f"start_{number}"].astype(np.int64)
            stop = start + arrays[f"length_{number}"].astype(np.int64)
            schedules.append(Schedule(arrays[f"sm_{number}"].astype(np.int32), start, stop, launched.tick_ns))
    return Schedules(index.gpu, index.date, index.launches, tuple(schedules))


@cache
def recorded_schedules() -> tuple[Schedules, ...]:
    """Those that ship with gemmviz, one for each GPU."""
    return tuple(read_schedules(path) for path in resources("assets/measurements", "schedules-*.npz"))
