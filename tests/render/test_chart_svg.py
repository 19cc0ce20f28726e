"""A chart's SVG is read like a reader does: by the numbers at its axes. What it plots is what was measured."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.recordings import recordings
from gemmviz.model.cases import TrafficCase
from gemmviz.model.chart import Axis
from gemmviz.model.timing import Benchmark
from gemmviz.render.svg import scene_svg
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.charts.models import traffic_chart
from gemmviz.scenes.kit.scale import ticks
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import value_of
from tests.conftest import sampled, sure, trace_of

SVG = "{http://www.w3.org/2000/svg}"
pytestmark = pytest.mark.usefixtures("without_fonts")


class Picture:
    """An SVG document, its axes calibrated by two of their numbers."""

    def __init__(self, document: str, x: Axis, y: Axis) -> None:
        self.groups = {group.get("id"): group for group in ElementTree.fromstring(document).iter(f"{SVG}g")}
        self.x, self.y = self._axis("x-ticks", "x", x.is_log), self._axis("y-ticks", "y", y.is_log, baseline=8.0)

    def _axis(self, key: str, attribute: str, is_log: bool, baseline: float = 0.0):  # type: ignore[no-untyped-def]
        found = []
        for text in self.groups[key].iter(f"{SVG}text"):
            written = (text.text or "").replace("\u202f", "")
            found.append((float(text.get(attribute, "0")) - baseline, float(written)))
        (at, value), (other_at, other) = found[0], found[-1]
        if is_log:
            value, other = math.log10(value), math.log10(other)

        def read(place: float) -> float:
            on_axis = value + (place - at) / (other_at - at) * (other - value)
            return 10**on_axis if is_log else on_axis

        for place, number in found:  # all numbers between lie where they say
            assert read(place) == pytest.approx(number, rel=2e-3)
        return read

    def points(self, label: str) -> list[tuple[float, float]]:
        """The middles of a curve's markers, in the axes' values."""
        rects = list(self.groups[f"points-{label}"].iter(f"{SVG}rect"))
        boxes = [[float(rect.get(name, "0")) for name in ("x", "y", "width", "height")] for rect in rects]
        return [(self.x(x + width / 2), self.y(y + height / 2)) for x, y, width, height in boxes]


@pytest.mark.parametrize(("name", "words"), sampled([(name, words) for words in (True, False) for name in views_of(Benchmark)]))
def test_the_benchmarks_svg_plots_what_was_measured(name: str, words: bool) -> None:
    benchmark, view = recordings("benchmark", Benchmark)[0], view_named(name)
    chart = sure(view.chart)(benchmark)
    shown = chart.showing({curve.label: True for curve in chart.curves[:12]})
    options = ViewOptions(words=words, curves={curve.label: True for curve in chart.curves[:12]})
    picture = Picture(scene_svg(view.scene(benchmark, options)), chart.x, chart.y)
    assert len(shown.curves) >= (2 if name == "per_thread" else 5)
    for curve in shown.curves:
        read = picture.points(curve.label)
        assert len(read) == len(curve.points)
        for (x, y), (read_x, read_y) in zip(curve.points, read, strict=True):
            assert read_x == pytest.approx(x, rel=5e-3)
            assert read_y == pytest.approx(y, rel=1e-2)


def test_the_costs_svg_plots_what_was_counted() -> None:
    reader = Reader(Replay.of(trace_of("02_naive", 8, 8, 8, BLOCK=4)))
    moment, view = reader.at(3), view_named("costs")
    chart = sure(view.chart)(moment)
    picture = Picture(scene_svg(view.scene(moment, ViewOptions())), chart.x, chart.y)
    for number, bars in enumerate(chart.bars):
        rects = list(picture.groups[f"bars-{number}"].iter(f"{SVG}rect"))
        tops = [picture.y(float(rect.get("y", "0"))) for rect in rects]
        lows = [picture.y(float(rect.get("y", "0")) + float(rect.get("height", "0"))) for rect in rects]
        ends = np.sort([bars.bottoms, np.add(bars.bottoms, bars.heights)], axis=0)
        np.testing.assert_allclose(np.sort([tops, lows], axis=0), ends, atol=0.05)


def test_a_short_logarithmic_axis_has_numbers_too() -> None:
    """No power of ten, nor twice or five times one, lies between 128 and 144."""
    found = [at for at, _ in ticks(Axis("reads", is_log=True), 127.2, 144.8)]
    assert len(found) >= 2
    assert all(127.2 <= at <= 144.8 for at in found)


def test_reads_of_a_kernel_without_tiles_are_not_said_to_be_fewer() -> None:
    shot = Shot(setup_for(load_kernel("reads_c")), view="traffic")
    case = value_of(TrafficCase, Knowledge(shot, Interpreter()))
    chart = traffic_chart(case)
    assert "144 reads" in chart.notes[0]
    assert "fewer" not in chart.notes[0]
    assert chart.curves[0].name == "reads_c"
    assert scene_svg(view_named("traffic").still(case, ViewOptions()))
