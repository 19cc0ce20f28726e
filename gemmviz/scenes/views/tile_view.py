"""GFLOP/s by tile size, of a benchmark."""

from gemmviz.analysis.speeds import tile_chart
from gemmviz.model.benchmark import Benchmark
from gemmviz.scenes.chart import chart_view

VIEW = chart_view("GFLOP/s by tile size", Benchmark, tile_chart, order=13)
