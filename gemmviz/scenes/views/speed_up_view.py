"""Speed-up over untiled kernels, of a benchmark."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.speeds import speed_up_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("Speed-up over untiled"), Benchmark, speed_up_chart, order=14)
