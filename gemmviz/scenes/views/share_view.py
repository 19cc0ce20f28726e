"""Share of cuBLAS by size, of a benchmark."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.speeds import share_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("Share of cuBLAS by size"), Benchmark, share_chart, order=12)
