"""Reads and writes recorded schedules: a NumPy file with an index of launches and, for each, where and when its blocks ran."""

from functools import cache
from pathlib import Path

import numpy as np

from gemmviz.files.codec import from_json, to_json
from gemmviz.files.resources import resources
from gemmviz.files.whole import atomic_write
from gemmviz.model.records import replace
from gemmviz.model.schedule import RecordedSchedules, Schedule


def write_schedules(recorded: RecordedSchedules, path: Path) -> None:
    """Writes schedules with times of 32 bits, in ns, and SMs of 16 bits. Raises GemmvizError if the file can't be written."""
    arrays = {"index": np.frombuffer(to_json(recorded), np.uint8)}
    for number, schedule in enumerate(recorded.schedules):
        arrays[f"sm_{number}"] = schedule.sm.astype(np.uint16)
        arrays[f"start_{number}"] = schedule.start_ns.astype(np.uint32)
        arrays[f"length_{number}"] = (schedule.stop_ns - schedule.start_ns).astype(np.uint32)
    with atomic_write(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_schedules(path: Path) -> RecordedSchedules:
    """The schedules in a shipped file."""
    with np.load(path, allow_pickle=False) as arrays:
        index = from_json(arrays["index"].tobytes(), RecordedSchedules)
        schedules = []
        for number, launch in enumerate(index.rows):
            start = arrays[f"start_{number}"].astype(np.int64)
            stop = start + arrays[f"length_{number}"].astype(np.int64)
            schedules.append(Schedule(arrays[f"sm_{number}"].astype(np.int32), start, stop, launch.tick_ns))
    return replace(index, schedules=tuple(schedules))


@cache
def recorded_schedules() -> tuple[RecordedSchedules, ...]:
    """The shipped schedules, one record per GPU."""
    return tuple(read_schedules(path) for path in resources("assets/measurements", "schedules-*.npz"))
