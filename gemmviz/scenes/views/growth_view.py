"""GFLOP/s by size, with the blocks per SM."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.models import growth_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("GFLOP/s by size, and blocks for each SM"), Benchmark, growth_chart, order=16)
