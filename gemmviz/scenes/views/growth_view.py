"""GFLOP/s by size, with the blocks that there are for each SM."""

from gemmviz.analysis.growth import growth_chart
from gemmviz.model.benchmark import Benchmark
from gemmviz.scenes.chart import chart_view

VIEW = chart_view("GFLOP/s by size, and blocks for each SM", Benchmark, growth_chart, order=16)
