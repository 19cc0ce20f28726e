"""Rates of a benchmark with and without copies."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.speeds import transfer_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("Compute, and compute + copies"), Benchmark, transfer_chart, order=15)
