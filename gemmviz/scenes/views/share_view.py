"""Share of cuBLAS by size, of a benchmark."""

from gemmviz.analysis.speeds import share_chart
from gemmviz.model.benchmark import Benchmark
from gemmviz.scenes.chart import chart_view

VIEW = chart_view("Share of cuBLAS by size", Benchmark, share_chart, order=12)
