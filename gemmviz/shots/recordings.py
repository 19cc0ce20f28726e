"""Benchmarks that ship with gemmviz, by their displayed names."""

from collections.abc import Mapping

from gemmviz.files.recordings import recordings
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import capital

_SHIPPED = {
    "benchmark": "",
    "lesson-speeds": marked(", kernels of the lessons"),
    "precision-speeds": marked(", float, double and CPU"),
}  # names of files, and what is added to the name of the GPU


def recorded() -> dict[str, Benchmark]:
    """Shipped benchmarks by name."""
    return {
        benchmark_name(each) + (tr(of) if of else ""): each
        for name, of in _SHIPPED.items()
        for each in recordings(name, Benchmark)
    }


def benchmark_name(benchmark: Benchmark) -> str:
    """The displayed name of a benchmark."""
    return capital(benchmark.source.partition(",")[0])


def named(benchmarks: Mapping[str, Benchmark], name: str) -> Benchmark | None:
    """The benchmark of this name, otherwise the first; None if there are none."""
    return benchmarks.get(name) or next(iter(benchmarks.values()), None)
