"""Recorded cycles of loads at several strides."""

from gemmviz.model.stride_times import StrideTimes
from gemmviz.scenes.charts.strides import strides_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view("Cycles of a load by stride", StrideTimes, strides_chart, order=51)
