"""Benchmark: measurements of many launches on one GPU, selected by a shot's chart."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import UsageError
from gemmviz.scenes.charts.speeds import narrowed
from gemmviz.state.shot import Shot
from gemmviz.subjects.recordings import named
from gemmviz.subjects.subject import Context, Subject


def _make(shot: Shot, context: Context) -> Benchmark:
    """The measurements of a shot's chart. Raises UsageError if there are none."""
    benchmark = named(context.measurements, shot.chart.source)
    if benchmark is None:
        raise UsageError("there are no measurements to show", remedy="run gemmviz bench and open its file")
    return narrowed(benchmark, shot.chart.width, shot.chart.with_host)


SUBJECT = Subject(
    Benchmark, _make, needs=("measurements",), page="benchmark", name=lambda benchmark: str(benchmark.gpu.name), order=2
)
