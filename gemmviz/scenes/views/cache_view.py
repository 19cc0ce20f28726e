"""The matrices that fit the device's last-level cache, by size."""

from gemmviz.model.launch_case import LaunchCase
from gemmviz.scenes.charts.scaling import cache_chart
from gemmviz.scenes.kit.chart import chart_view

VIEW = chart_view("What the cache holds, by size", LaunchCase, cache_chart, multiplies=True, order=44)
