"""Reads from global memory by tile width."""

from gemmviz.model.traffic import TrafficCase
from gemmviz.scenes.charts.traffic import traffic_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view("Reads by tile width", TrafficCase, traffic_chart, order=45)
