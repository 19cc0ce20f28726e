"""Benchmarks that ship with gemmviz, by their displayed names."""

from collections.abc import Mapping

from gemmviz.files.benchmark_file import recorded_benchmarks, recorded_lesson_benchmarks, recorded_precision_benchmarks
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import capital

_LESSONS = marked(", kernels of the lessons")
_PRECISION = marked(", float, double and CPU")


def recorded() -> dict[str, Benchmark]:
    """Shipped benchmarks by name."""
    shipped = {benchmark_name(each): each for each in recorded_benchmarks()}
    lessons = {benchmark_name(each) + tr(_LESSONS): each for each in recorded_lesson_benchmarks()}
    return {**shipped, **lessons, **{benchmark_name(each) + tr(_PRECISION): each for each in recorded_precision_benchmarks()}}


def benchmark_name(benchmark: Benchmark) -> str:
    """The displayed name of a benchmark."""
    return capital(benchmark.source.partition(",")[0])


def named(benchmarks: Mapping[str, Benchmark], name: str) -> Benchmark | None:
    """The benchmark of this name, otherwise the first; None if there are none."""
    return benchmarks.get(name) or next(iter(benchmarks.values()), None)
