"""Reads from global memory by tile width."""

from gemmviz.model.cases import TrafficCase
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.models import traffic_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("Reads by tile width"), TrafficCase, traffic_chart, order=45)
