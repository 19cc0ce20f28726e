"""The views: every module of ``gemmviz.scenes.views`` that ends with ``VIEW = View(...)``, and every row of CHARTS."""

from functools import cache, partial
from importlib import import_module

from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.model.cases import RoofCase, TrafficCase
from gemmviz.model.messages import UsageError, closest, marked
from gemmviz.model.recording import StrideTimes
from gemmviz.model.timing import Benchmark
from gemmviz.scenes.kit.view import View

CHARTS = {  # views that are a chart of their subject and nothing else; its module and function; the order among the views
    "copy_cost": (marked("Compute, and compute + copies"), Benchmark, "speeds.transfer_chart", 605),
    "cpu_and_gpu": (marked("CPU and GPU, with and without copies"), Benchmark, "speeds.host_chart", 607),
    "growth": (marked("GFLOP/s by size, and blocks for each SM"), Benchmark, "models.growth_chart", 606),
    "per_thread": (marked("Occupancy and speed by elements for each thread"), Benchmark, "speeds.per_thread_chart", 609),
    "precision": (marked("Float, double and tensor cores"), Benchmark, "speeds.precision_chart", 608),
    "rate": (marked("GFLOP/s by size"), Benchmark, "speeds.rate_chart", 601),
    "roof": (marked("Operations per byte, and the roof"), RoofCase, "models.roof_chart", 507),
    "share": (marked("Share of cuBLAS by size"), Benchmark, "speeds.share_chart", 602),
    "speed_up": (marked("Speed-up over untiled"), Benchmark, "speeds.speed_up_chart", 604),
    "strides": (marked("Cycles of a load by stride"), StrideTimes, "speeds.strides_chart", 508),
    "tile_size": (marked("GFLOP/s by tile size"), Benchmark, "speeds.tile_chart", 603),
    "traffic": (marked("Reads by tile width"), TrafficCase, "models.traffic_chart", 505),
}


@cache
def views() -> Catalog[View]:
    """Return the views by name: "stage" is the view in ``stage_view.py``; a file of several views is named in FAMILIES."""
    charts = {name: partial(_view_of_chart, *row) for name, row in CHARTS.items()}
    return extensions_in("gemmviz.scenes.views", "VIEW", View, suffix="_view", also=charts)


def _view_of_chart(title: str, subject: type, chart: str, order: int) -> View:
    from gemmviz.scenes.kit.chart import chart_view  # with the first chart, as its module

    module, name = chart.split(".")
    return chart_view(title, subject, getattr(import_module(f"gemmviz.scenes.charts.{module}"), name), order)


def views_of(subject: type) -> dict[str, View]:
    """Return the views of a type of subject, by name."""
    return {name: view for name, view in views().items() if view.subject is subject}


def view_named(name: str) -> View:
    """Return a view by name. Raises UsageError for an unknown name, GemmvizError for a view that can't be used."""
    if name not in views():
        raise UsageError(f"there is no view {name!r}", remedy=closest(name, views()) or f"choose one of {', '.join(views())}")
    return views()[name]
