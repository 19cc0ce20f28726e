"""GFLOP/s by size in single and double precision, and on tensor cores."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.hosts import precision_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("Float, double and tensor cores"), Benchmark, precision_chart, order=18)
