"""Recorded cycles of loads at several strides."""

from gemmviz.model.access_times import StrideTimes
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.recorded import strides_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view(marked("Cycles of a load by stride"), StrideTimes, strides_chart, order=51)
