"""GFLOP/s by tile size, of a benchmark."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.speeds import tile_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("GFLOP/s by tile size"), Benchmark, tile_chart, order=13)
