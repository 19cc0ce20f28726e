"""GFLOP/s by size, of a benchmark."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.speeds import rate_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("GFLOP/s by size"), Benchmark, rate_chart, order=11)
