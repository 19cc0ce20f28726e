"""Charts: what they plot beside measurements, and how they are drawn from left to right."""

from dataclasses import replace

import numpy as np
import pytest

from gemmviz.files.benchmark_file import recorded_benchmarks
from gemmviz.files.reported_file import reported_shares
from gemmviz.model.benchmark import CUBLAS, Benchmark
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.charts.growth import growth_chart
from gemmviz.scenes.charts.speeds import narrowed, share_chart
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Lines, Rects, Scene
from tests.legible import too_small, wrong_with

FRAMES = [(1600.0, 900.0), (1600.0, 770.0), (1280.0, 720.0)]


def wide(width: int = 32) -> Benchmark:
    return narrowed(recorded_benchmarks()[0], width, with_host=False)


def shown_for(benchmark: Benchmark, *families: str) -> dict[str, bool]:
    return {curve.label: curve.main and curve.family in families for curve in share_chart(benchmark).curves}


def texts(scene: Scene) -> list[str]:
    return [text for each in scene.all if isinstance(each, Labels) for text in each.texts]


@pytest.mark.parametrize("name", [name for name in views_of(Benchmark)])
def test_a_chart_is_drawn_from_left_to_right_and_whole_at_the_end(name: str) -> None:
    benchmark, view = wide(0 if name == "tile_size" else 32), view_named(name)
    ends = []
    for moment in (0.0, 0.4, 0.7, 1.0):
        motion = view.motion(benchmark, ViewOptions(moment=moment))
        segments = [each.segments for each in motion if isinstance(each, Lines) and each.key.startswith("curve-")]
        ends.append(max(float(np.max(each[:, [0, 2]])) if len(each) else 0.0 for each in segments))
    assert ends == sorted(set(ends)), f"{name} does not move: {ends}"
    whole, still = view.scene(benchmark, ViewOptions()), view.still(benchmark, ViewOptions())
    assert len(whole.primitives) > len(still.primitives)
    for curve in view.chart(benchmark).showing({}).curves:  # type: ignore[misc]
        markers = next(each for each in whole.all if isinstance(each, Rects) and each.key == f"points-{curve.label}")
        assert len(markers.boxes) == len(curve.points)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", list(views_of(Benchmark)))
def test_every_text_of_a_chart_can_be_read(name: str, frame: tuple[float, float]) -> None:
    scene = view_named(name).scene(wide(), ViewOptions(width=frame[0], height=frame[1]))
    assert not wrong_with(scene)
    assert not too_small(scene)
    assert not any("…" in text for text in texts(scene))


def test_reported_shares_are_rings_beside_the_curves_of_their_kernels_and_no_measurement() -> None:
    benchmark = wide()
    view, curves = view_named("share"), shown_for(benchmark, "02_naive", "03_coalesced")
    scene = view.scene(benchmark, ViewOptions(curves=curves))
    rings = [each for each in scene.all if isinstance(each, Rects) and each.key in ("aside-0", "aside-1", "aside-2")]
    last = max(
        float(each.boxes[:, 0].max()) for each in scene.all if isinstance(each, Rects) and each.key.startswith("points-")
    )
    assert [ring.boxes[0, 0] > last for ring in rings] == [True, True]
    assert {"1 %", "9 %", "the course"} <= set(texts(scene))
    assert "12 %" not in texts(scene), "its kernel is not shown"
    assert any("device that it does not name" in text for text in texts(scene))
    without = view.scene(benchmark, ViewOptions(curves=shown_for(benchmark, "08_register_tiled")))
    assert "the course" not in texts(without)


def test_every_reported_share_names_its_part() -> None:
    assert {(each.part, each.kernel, each.percent) for each in reported_shares()} == {
        (2, "02_naive", 1.0), (2, "03_coalesced", 9.0), (3, "03_coalesced", 9.0), (3, "04_tiled", 12.0),
    }  # fmt: skip
    assert all(f"part {each.part}" in each.source for each in reported_shares())


def test_cublas_is_in_the_charts_of_growth_and_of_shares() -> None:
    benchmark = wide()
    assert CUBLAS in {curve.family for curve in growth_chart(benchmark).showing({}).curves}
    shares = {curve.family: curve for curve in share_chart(benchmark).showing({}).curves}
    assert [y for _, y in shares[CUBLAS].points] == pytest.approx([100.0] * len(shares[CUBLAS].points))


def test_blocks_for_each_sm_are_those_of_the_recorded_gpu() -> None:
    benchmark = wide()
    other = replace(benchmark, gpu=replace(benchmark.gpu, name="half a GPU", sms=66))
    assert "4096\n124.1" in [text for _, text in growth_chart(benchmark).x.ticks or ()]
    assert "4096\n248.2" in [text for _, text in growth_chart(other).x.ticks or ()]
    assert "half a GPU" in growth_chart(other).x.label
