"""GFLOP/s by size on the CPU and on the GPU, with and without copies."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.hosts import host_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("CPU and GPU, with and without copies"), Benchmark, host_chart, order=17)
