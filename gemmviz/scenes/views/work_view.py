"""Work, span and parallelism by size."""

from gemmviz.model.launch_case import LaunchCase
from gemmviz.scenes.charts.scaling import work_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view("Work and span by size", LaunchCase, work_chart, multiplies=True, order=43)
