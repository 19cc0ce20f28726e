"""The benchmark's file: JSON, a row a line, so that a difference can be read."""

import json
import math
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from gemmviz.files.resources import resource_folder
from gemmviz.files.trace_file import check_as_facts, read_check
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.gpu import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.timing import Measured, Resources, Timing, Transfer

FORMAT = "gemmviz benchmark"
VERSION = 1


def benchmark_text(benchmark: Benchmark) -> str:
    """The file's text."""
    facts = {
        "format": FORMAT, "version": VERSION, "date": benchmark.date, "gpu": asdict(benchmark.gpu), "host": benchmark.host,
        "units": "times in milliseconds of one launch: median and quartiles; memory in bytes",
    }  # fmt: skip
    rows = ",\n".join(json.dumps(_facts(row), separators=(",", ":")) for row in benchmark.rows)
    return json.dumps(facts, indent=1)[:-2] + f',\n "rows": [\n{rows}\n ]\n}}\n'


def _facts(row: Measured) -> dict[str, Any]:
    facts = {name: value for name, value in asdict(row).items() if value not in (None, "", {}, False)}
    facts["problem"] = row.problem.sizes
    if row.check is not None:
        facts["check"] = check_as_facts(row.check)
        facts["check"].pop("wrong_elements")
    return facts


def read_benchmark(path: Path, recorded: bool = False) -> Benchmark:
    """The benchmark in a file. Raises UsageError where there is none, GemmvizError where it is damaged or newer."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise GemmvizError("this is no benchmark of gemmviz", file=str(path))
        if int(facts["version"]) > VERSION:
            raise GemmvizError(f"this benchmark has version {facts['version']}; this gemmviz reads {VERSION}", file=str(path))
        rows = tuple(_row(row) for row in facts["rows"])
        gpu = Gpu(**facts["gpu"])
        if not isinstance(gpu.name, str) or not int(gpu.last_level_cache) > 0:
            raise ValueError
        return Benchmark(gpu, str(facts["host"]), str(facts["date"]), rows, recorded)
    except FileNotFoundError:
        raise UsageError("there is no such file", file=str(path)) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise GemmvizError("this benchmark is damaged", file=str(path)) from None


def _row(facts: dict[str, Any]) -> Measured:
    made: dict[str, Any] = {**facts, "problem": Problem(**facts["problem"])}
    made["timing"] = Timing(**facts["timing"]) if "timing" in facts else None
    if "transfer" in facts:
        made["transfer"] = Transfer(**facts["transfer"])
    if "resources" in facts:
        made["resources"] = Resources.read(facts["resources"])
    if "check" in facts:
        made["check"] = read_check(facts["check"])
    row = Measured(**made)
    times = [] if row.timing is None else [row.timing.median_ms, row.timing.low_ms, row.timing.high_ms]
    times += [] if row.transfer is None else [row.transfer.to_device_ms, row.transfer.to_host_ms]
    sound = all(time is None or (isinstance(time, float | int) and math.isfinite(time) and time > 0) for time in times)
    sound = sound and (row.timing is None or row.timing.median_ms is not None)
    texts = (row.kernel, row.source_hash, row.failure)
    if (
        not sound
        or not all(isinstance(text, str) for text in texts)
        or not all(isinstance(n, int) for n in row.parameters.values())
    ):
        raise ValueError
    return row


@cache
def recorded_benchmarks() -> tuple[Benchmark, ...]:
    """What ships with gemmviz, by name of the GPU."""
    folder = resource_folder("assets") / "measurements"
    return tuple(read_benchmark(path, recorded=True) for path in sorted(folder.glob("benchmark-*.json")))
