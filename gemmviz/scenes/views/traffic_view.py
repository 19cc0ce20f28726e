"""Reads from global memory by tile width."""

from gemmviz.analysis.traffic import traffic_chart
from gemmviz.model.traffic import TrafficCase
from gemmviz.scenes.chart import chart_view

VIEW = chart_view("Reads by tile width", TrafficCase, traffic_chart, order=45)
