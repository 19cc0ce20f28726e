"""Reads and writes benchmark files, of which some ship with gemmviz: JSON with one row per line, so that diffs are readable."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gemmviz.files.codec import FormatError, check_version, from_plain, json_to_plain, read_text, to_plain
from gemmviz.files.recordings import recordings, text_of_rows
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import LARGEST_NUMBER
from gemmviz.model.timing import Benchmark, Measured
from gemmviz.model.translation import capital, marked, tr

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
