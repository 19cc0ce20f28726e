"""Benchmark: measurements of many launches on one GPU, selected by a shot's chart."""

from gemmviz.files.benchmark_file import named
from gemmviz.model.errors import UsageError
from gemmviz.model.timing import Benchmark
from gemmviz.model.translation import listed, tr
from gemmviz.scenes.charts.speeds import narrowed, widths_of
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _chosen_benchmark(shot: Shot, context: Context) -> Benchmark:
    """The measurements of a shot's chart. Raises UsageError if there are none, or none of its tile width."""
    benchmark = named(context.measurements, shot.chart.source)
    if benchmark is None:
        raise UsageError(tr("there are no measurements to show"), remedy=tr("run gemmviz bench and open its file"))
    width, widths = shot.chart.width, widths_of(benchmark)
    if width and width not in widths:
        measured = listed([str(each) for each in widths], "or") if widths else tr("no width")
        raise UsageError(
            tr("no tile or block {width} wide was measured", width=width), remedy=tr("choose {measured}", measured=measured)
        )
    return narrowed(benchmark, width, shot.chart.with_host)


SUBJECT = Subject(
    Benchmark, _chosen_benchmark, needs=("measurements",), page="benchmark", name=lambda case: str(case.gpu.name), order=2
)
