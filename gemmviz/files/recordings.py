"""The recordings that ship with gemmviz: rows, registers, schedules, figures that the course reports, and checksums of all; and
benchmark files.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, structs

from gemmviz.files.codec import (
    FormatError,
    check_version,
    from_json,
    from_plain,
    json_to_plain,
    read_json,
    read_text,
    read_toml,
    to_json,
    to_plain,
)
from gemmviz.files.resources import ROOT, atomic_write, resource, resources, write_text
from gemmviz.model.device import Device
from gemmviz.model.kernel import LARGEST_NUMBER
from gemmviz.model.messages import GemmvizError, capital, marked, tr
from gemmviz.model.recording import Recorded, row_of
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Benchmark, LaunchCounters, MachineCode, Measured, RecordedCounters, RecordedSchedules, Schedule

# Reads and writes benchmark files, of which some ship with gemmviz: JSON with one row per line, so that diffs are readable.

FORMAT = "gemmviz benchmark"
VERSION = 1
_MOST_ROWS, _MOST_KERNELS, _LONGEST_NAME = 5000, 100, 255
_LEAST_MS, _MOST_MS = 1e-9, 1e12


def benchmark_text(benchmark: Benchmark) -> str:
    """The text of a benchmark file."""
    facts = {
        "format": FORMAT, "version": VERSION, "date": benchmark.date, "gpu": to_plain(benchmark.gpu), "host": benchmark.host,
        "units": "times in milliseconds of one launch: median and quartiles; memory in bytes",
    }  # fmt: skip
    return text_of_rows(facts, map(_plain_row, benchmark.rows))


def _plain_row(row: Measured) -> dict[str, Any]:
    """A row as a dict, without empty values."""
    facts = {name: value for name, value in to_plain(row).items() if value not in ("", {}, False)}
    if row.check is not None:
        facts["check"].pop("wrong_elements")
    return facts


def read_benchmark(path: Path) -> Benchmark:
    """The benchmark in a file. Raises UsageError if there is no file, GemmvizError if it is damaged or of another version."""
    text = read_text(path)
    try:
        plain = json_to_plain(text.encode())
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            raise FormatError("this is not a gemmviz benchmark")
        check_version(plain.get("version"), VERSION, "measure again: gemmviz bench")
        found = from_plain(plain, Benchmark)
    except FormatError as error:
        error.in_file(str(path))
        raise
    if len(found.rows) > _MOST_ROWS or len({row.kernel for row in found.rows}) > _MOST_KERNELS:
        message = f"this benchmark has {len(found.rows):,} rows; at most {_MOST_ROWS:,} of {_MOST_KERNELS} kernels are read"
        raise GemmvizError(message, file=str(path))
    names = [found.host, found.date, found.gpu.name, *(name for row in found.rows for name in (row.kernel, *row.parameters))]
    if max(map(len, names)) > _LONGEST_NAME:
        raise GemmvizError(f"a name in this benchmark has more than {_LONGEST_NAME} characters", file=str(path))
    if found.gpu.last_level_cache <= 0 or not all(map(_has_sound_numbers, found.rows)):
        raise GemmvizError("this benchmark is damaged: a time or size is out of range", file=str(path))
    return found


def _has_sound_numbers(row: Measured) -> bool:
    times = [] if row.timing is None else [row.timing.median_ms, row.timing.low_ms, row.timing.high_ms]
    times += [] if row.transfer is None else [row.transfer.to_device_ms, row.transfer.to_host_ms]
    numbers = [value for value in row.parameters.values() if not 0 <= value <= LARGEST_NUMBER]
    return not numbers and all(time is None or _LEAST_MS <= time <= _MOST_MS for time in times)


# Benchmarks that ship with gemmviz.

_SHIPPED_BENCHMARKS = {
    "benchmark": "",
    "lesson-speeds": marked(", kernels of the lessons"),
    "precision-speeds": marked(", float, double and CPU"),
    "tensor-speeds": marked(", up to tensor cores"),
}  # names of files, and what is added to the name of the GPU


def recorded() -> dict[str, Benchmark]:
    """Shipped benchmarks by name. Names are English in every language, because views and lessons keep them."""
    return {name: each for name, _, each in _shipped()}


def shown_name(name: str) -> str:
    """The displayed name of a benchmark, in the program's language."""
    return next((capital(each.short_source) + (tr(of) if of else "") for key, of, each in _shipped() if key == name), name)


def _shipped() -> Iterator[tuple[str, str, Benchmark]]:
    """Name, what it adds to that of the GPU, and benchmark."""
    for file, of in _SHIPPED_BENCHMARKS.items():
        for each in recordings(file, Benchmark):
            yield f"Recorded on {each.gpu.name}{of}", of, each


def named(benchmarks: Mapping[str, Benchmark], name: str) -> Benchmark | None:
    """The benchmark of this name, otherwise the first; None if there are none."""
    return benchmarks.get(name) or next(iter(benchmarks.values()), None)


MEASUREMENTS = "assets/measurements"
_RecordedFile = TypeVar("_RecordedFile", bound=Recorded[Any])


def recordings(name: str, kind: type[_RecordedFile]) -> tuple[_RecordedFile, ...]:
    """The shipped recordings of a kind, one per GPU, sorted by its name. ``name``: of their files, before the GPU."""
    return _recordings(name, kind)


@cache
def _recordings(name: str, kind: type[Any]) -> tuple[Any, ...]:
    return tuple(from_plain(json_to_plain(path.read_bytes()), kind) for path in resources(MEASUREMENTS, f"{name}-*.json"))


def recording_text(recording: Recorded[Any]) -> str:
    """The text of a recording's file."""
    head = to_plain(recording, brief=True)
    return text_of_rows(head, head.pop("rows"))


def text_of_rows(head: Mapping[str, Any], rows: Iterable[Any]) -> str:
    """JSON with one row per line, so that diffs are readable."""
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return json.dumps(head, indent=1)[:-2] + f',\n "rows": [\n{lines}\n ]\n}}\n'


# Registers


class RegisterCount(Struct, frozen=True):
    """Registers of one thread, and the compiler that allocated them."""

    per_thread: int
    source: str


class CompiledKernel(Struct, frozen=True):
    """What a compiler made of a kernel's text with some parameters: by compute capability, the registers of a thread, and the
    lines of branches where lanes may part that became conditional jumps or exits.
    """

    source_hash: str
    parameters: dict[str, int]
    registers: dict[str, int]
    jumps: dict[str, tuple[int, ...]] = {}
    exits: dict[str, tuple[int, ...]] = {}


class _Compiled(Struct, frozen=True):
    """All recorded kernels."""

    compiler: str
    rows: tuple[CompiledKernel, ...]


def recorded_registers(setup: Setup, device: Device) -> RegisterCount | None:
    """Registers of a setup's kernel text and parameters on the device's architecture; None if they were not recorded."""
    row, architecture = _recorded_row(setup), device.compute_capability
    count = None if row is None else row.registers.get(architecture)
    return (
        None if count is None else RegisterCount(count, f"{_compiled_kernels().compiler}, sm_{architecture.replace('.', '')}")
    )


def recorded_machine_code(setup: Setup, device: Device) -> MachineCode | None:
    """What became of the branches at which lanes may part, for the same; None if it was not recorded."""
    row, registers, architecture = _recorded_row(setup), recorded_registers(setup, device), device.compute_capability
    if row is None or registers is None:
        return None
    return MachineCode(registers.source, row.jumps.get(architecture, ()), row.exits.get(architecture, ()))


def _recorded_row(setup: Setup) -> CompiledKernel | None:
    return _rows_by_text().get((setup.kernel.text_hash, parameter_key(setup.parameters)))


@cache
def _rows_by_text() -> dict[tuple[str, str], CompiledKernel]:
    return {(row.source_hash, parameter_key(row.parameters)): row for row in _compiled_kernels().rows}


def parameter_key(parameters: Mapping[str, int]) -> str:
    """Parameters as one string such as "BM=64 BN=32", sorted by name."""
    return " ".join(f"{name}={parameters[name]}" for name in sorted(parameters))


@cache
def _compiled_kernels() -> _Compiled:
    return read_json(resource(f"{MEASUREMENTS}/registers.json"), _Compiled)


# Hardware counters


def recorded_counters(setup: Setup, device: Device, *names: str) -> tuple[RecordedCounters, LaunchCounters] | None:
    """The recording with counters of exactly this launch on a device, and its row; None if there is none. ``names``: of the
    files, before the GPU.
    """
    of_device = (each for name in names for each in recordings(name, RecordedCounters) if device.is_of(each.gpu))
    rows = ((each, row_of(setup, each.rows)) for each in of_device)
    return next(((each, row) for each, row in rows if row is not None), None)


def recorded_on(setup: Setup, name: str) -> tuple[str, ...]:
    """The GPUs on which counters of exactly this launch were recorded."""
    return tuple(each.gpu.name for each in recordings(name, RecordedCounters) if row_of(setup, each.rows) is not None)


# What the course reports


class ReportedShare(Struct, frozen=True):
    """Percent of cuBLAS's rate that a part of the course reports for a kernel, at large sizes on a device that it leaves
    unnamed: neither measured by gemmviz nor modelled. ``source``: where.
    """

    part: int
    kernel: str
    percent: float
    source: str


class _Reported(Struct, frozen=True):
    shares: tuple[ReportedShare, ...]


@cache
def reported_shares() -> tuple[ReportedShare, ...]:
    """All reported shares, in the order of the course."""
    return read_toml(resource(f"{MEASUREMENTS}/course-reported.toml"), _Reported).shares


# Schedules: a NumPy file with an index of launches and, for each, the SM and the time of every block.


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
    return structs.replace(index, schedules=tuple(schedules))


@cache
def recorded_schedules() -> tuple[RecordedSchedules, ...]:
    """The shipped schedules, one record per GPU."""
    return tuple(read_schedules(path) for path in resources(MEASUREMENTS, "schedules-*.npz"))


# Checksums of recordings and device files, which whoever records or looks up a figure writes.

_CHECKSUM_TABLE = f"{MEASUREMENTS}/checksums.json"
_CHECKED_FOLDERS = (MEASUREMENTS, "assets/devices")


def checked_files() -> list[Path]:
    """The shipped files whose figures have a checksum."""
    found = [path for folder in _CHECKED_FOLDERS for path in sorted(resource(folder).iterdir())]
    return [path for path in found if path.suffix in {".json", ".npz", ".toml"} and path != ROOT / _CHECKSUM_TABLE]


def checksum_errors(read: Callable[[Path], bytes] = Path.read_bytes) -> Iterator[GemmvizError]:
    """An error for each shipped recording or device file that isn't as it was recorded or looked up. ``read``: reads a file."""
    known = json.loads(resource(_CHECKSUM_TABLE).read_text("utf-8"))
    for path in checked_files():
        name = path.relative_to(ROOT).as_posix()
        if known.pop(name, None) != _checksum(read(path)):
            remedy = f"compare its figures with their source, then run python packaging/record.py checksums {name}"
            yield GemmvizError(f"the file {name} isn't as it was recorded", remedy=remedy)
    for name in known:
        yield GemmvizError(f"the recording {name} is missing", remedy="record it again")


def write_recording(path: Path, text: str) -> None:
    """Write a recording and its checksum."""
    write_text(path, text)
    seal(path)


def seal(path: Path) -> None:
    """Note the checksum of a recording or device file that was just written. ``path``: below the folder of the assets."""
    table = ROOT / _CHECKSUM_TABLE
    known = json.loads(table.read_text("utf-8")) if table.is_file() else {}
    known[path.resolve().relative_to(ROOT).as_posix()] = _checksum(path.read_bytes())
    write_text(table, json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
