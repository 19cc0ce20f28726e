"""Charts: what they plot beside measurements, and how they are drawn from left to right."""

from itertools import product

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recordings, reported_shares
from gemmviz.model.cases import LaunchCase, RoofCase, SpeedCase, TrafficCase
from gemmviz.model.messages import grouped, number
from gemmviz.model.problem import Problem
from gemmviz.model.timing import CUBLAS, Benchmark
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.charts.models import growth_chart
from gemmviz.scenes.charts.speeds import (
    host_chart,
    narrowed,
    precision_chart,
    rate_chart,
    share_chart,
    tile_chart,
    transfer_chart,
)
from gemmviz.scenes.kit.chart import curve_colours
from gemmviz.scenes.kit.primitives import Labels, Lines, Rects, Scene
from gemmviz.scenes.kit.scale import _log_ticks, _of_log
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.kinds.counted import _speed_at, speed_case_of
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Against, Shot
from gemmviz.shots.subject import value_of
from tests.conftest import piece, sure, trace_of
from tests.legible import too_small, wrong_with

FRAMES = [(1600.0, 900.0), (1600.0, 770.0), (1280.0, 720.0)]


def wide(width: int = 32) -> Benchmark:
    return narrowed(recordings("benchmark", Benchmark)[0], width, with_host=False)


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


@pytest.mark.parametrize("name", list(views_of(Benchmark)))
def test_every_text_of_a_chart_can_be_read(name: str) -> None:
    for frame in FRAMES:
        scene = view_named(name).scene(wide(), ViewOptions(width=frame[0], height=frame[1]))
        assert not wrong_with(scene), frame
        assert not too_small(scene), frame
        assert not any("…" in text for text in texts(scene)), frame


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


def precise() -> Benchmark:
    return narrowed(recordings("precision-speeds", Benchmark)[0])


def test_the_cpu_stands_beside_the_gpu_with_and_without_its_copies() -> None:
    shown = host_chart(precise()).showing({}).curves
    names = [curve.name for curve in shown]
    assert [curve.name for curve in shown if curve.dashed] == ["04_tiled, 32 wide + copies"]
    assert {"Triple loop, one thread", "Flattened loop, 12 threads", "NumPy, one thread", "04_tiled, 32 wide"} < set(names)
    alone, with_copies = (dict(next(c for c in shown if c.name == name).points) for name in (names[-2], names[-1]))
    assert all(with_copies[n] < alone[n] for n in alone)
    colours = curve_colours(host_chart(precise()), load_theme("dark"))
    assert len({colours[curve.family] for curve in shown}) == len(shown) - 1, "only the pair shares a colour"


def test_other_precisions_are_dashed_beside_float_and_hidden_elsewhere() -> None:
    chart = precision_chart(precise())
    shown = {curve.name: curve for curve in chart.showing({}).curves}
    assert shown["04_tiled, double, 32 wide"].dashed
    assert shown["04_tiled, double, 32 wide"].family == shown["04_tiled, 32 wide"].family
    assert not shown["cuBLAS, TF32 tensor cores"].dashed
    assert not [curve for curve in rate_chart(precise()).showing({}).curves if "double" in curve.name or "TF32" in curve.name]
    assert all(opens is None for curve in chart.curves if "double" in curve.name for opens in curve.opens)


def test_a_share_of_cublas_is_of_the_same_precision() -> None:
    benchmark = precise()
    row = next(row for row in benchmark.rows if row.kernel == "04_tiled, double" and row.problem.N == 4096)
    beside = next(row for row in benchmark.rows if row.kernel == "cuBLAS, double" and row.problem.N == 4096)
    assert benchmark.share_of_cublas(row) == sure(row.gflops) / sure(beside.gflops)


def test_the_cpu_can_be_left_out_but_not_a_librarys_tensor_cores() -> None:
    kernels = {row.kernel for row in narrowed(precise(), with_host=False).rows}
    assert "cuBLAS, TF32 tensor cores" in kernels
    assert not any("thread" in kernel for kernel in kernels)


def test_cublas_is_in_the_charts_of_growth_and_of_shares() -> None:
    benchmark = wide()
    assert CUBLAS in {curve.family for curve in growth_chart(benchmark).showing({}).curves}
    shares = {curve.family: curve for curve in share_chart(benchmark).showing({}).curves}
    assert [y for _, y in shares[CUBLAS].points] == pytest.approx([100.0] * len(shares[CUBLAS].points))


def test_blocks_for_each_sm_are_those_of_the_recorded_gpu() -> None:
    benchmark = wide()
    other = structs.replace(benchmark, gpu=structs.replace(benchmark.gpu, name="half a GPU", sms=66))
    assert "4096\n124.1" in [text for _, text in growth_chart(benchmark).x.ticks or ()]
    assert "4096\n248.2" in [text for _, text in growth_chart(other).x.ticks or ()]
    assert "half a GPU" in growth_chart(other).x.label


# Work and span, and the cache as a box


def case_of(size: int, device: str = "h200", block: int = 4) -> LaunchCase:
    setup = setup_for(load_kernel("03_coalesced"), Problem(size, size, size), {"BLOCK": block}, device=device)
    return LaunchCase(setup, load_device(device), "03_coalesced", None)


def test_the_ticks_of_one_thread_part_into_rows_of_their_own() -> None:
    view, case = view_named("work"), case_of(4)
    early, late = (view.motion(case, ViewOptions(moment=moment)) for moment in (0.3, 1.0))
    cells = {each.key: each.boxes for each in late if isinstance(each, Rects)}
    assert sum(len(cells[f"sum-{number}"]) for number in range(16)) == len(cells["ran"]) == 64
    assert {float(cells[f"sum-{number}"][0, 0]) for number in range(16)} == {float(cells["ran"][0, 0])}
    assert len({float(cells[f"sum-{number}"][0, 1]) for number in range(16)}) == 16, "side by side"
    assert {float(each.boxes[0, 1]) for each in early if isinstance(each, Rects)} == {float(cells["ran"][0, 1])}, "in a row"
    said = texts(view.scene(case, ViewOptions()))
    assert {"64 ticks one after the other", "4 ticks with 16 threads"} <= set(said)


@pytest.mark.parametrize(("view", "size", "device"), [
    ("work", 4, "h200"), ("work", 5, "h200"), ("work", 4096, "h200"),
    ("cache", 4096, "rx6800xt"), ("cache", 3345, "rx6800xt"), ("cache", 512, "8800gtx"),
])  # fmt: skip
def test_pictures_of_scaling_can_be_read(view: str, size: int, device: str) -> None:
    for frame, moment in product(FRAMES, (0.5, 1.0)):
        options = ViewOptions(width=frame[0], height=frame[1], moment=moment)
        scene = view_named(view).scene(case_of(size, device), options)
        assert not wrong_with(scene), (frame, moment)
        assert not too_small(scene), (frame, moment)
        assert not any("…" in text for text in texts(scene)), (frame, moment)


def test_what_does_not_fit_the_cache_is_red_and_above_its_edge() -> None:
    view, theme = view_named("cache"), load_theme("dark")
    scene = view.scene(case_of(4096, "rx6800xt"), ViewOptions())
    found = {each.key: each for each in scene.all if isinstance(each, Rects)}
    box = found["cache"].boxes[0]
    assert {"A-held", "B-held", "C-lost"} <= set(found)
    assert "C-held" not in found
    assert found["C-lost"].stroke == theme.warning
    assert found["C-lost"].boxes[0, 1] + found["C-lost"].boxes[0, 3] == pytest.approx(box[1])
    assert found["A-held"].boxes[0, 3] == pytest.approx(box[3] / 2), "64 of 128 MiB"
    assert "N × N matrices, 12 N² bytes, fit up to N = 3344" in " ".join(texts(scene))
    fitting = {each.key for each in view.scene(case_of(2048, "rx6800xt"), ViewOptions()).all}
    assert not any("lost" in key for key in fitting)


def test_the_matrices_are_poured_one_after_the_other() -> None:
    view, case = view_named("cache"), case_of(4096, "rx6800xt")
    heights = []
    for moment in (0.0, 0.25, 0.5, 0.75, 1.0):
        motion = [each for each in view.motion(case, ViewOptions(moment=moment)) if isinstance(each, Rects)]
        bands = [each.boxes[0, 3] for each in motion if each.key[2:] in ("held", "lost")]
        heights.append(round(float(sum(bands)), 3))
    assert heights == sorted(set(heights))
    assert heights[0] == 0


# The roofline


def speed_of(kernel: str, device: str, **parameters: int) -> SpeedCase:
    setup = setup_for(load_kernel(kernel), Problem(64, 64, 64), parameters, device=device)
    return speed_case_of(Shot(setup), Knowledge(Shot(setup), Interpreter()).counts, None, "not measured")


def _middle(mark: Rects) -> float:
    """The height of a mark, in units."""
    return round(float(mark.boxes[0, 1] + mark.boxes[0, 3] / 2), 6)


def test_the_roofline_names_what_is_asked_and_what_is_moved_with_their_roofs() -> None:
    view, case = view_named("why"), speed_of("many_blocks", "8800gtx", TILE_WIDTH=16)
    scene = view.scene(case, ViewOptions())
    said = " ".join(texts(scene))
    for level in case.traffic:
        roof = case.device.roof(case.problem.flops / level.size_bytes)  # type: ignore[operator]
        assert f"{number(roof)} GFLOP/s" in said
        assert scene.find(f"level-{level.level.replace(' ', '-')}-rate").texts == (number(roof),)  # type: ignore[union-attr]
    timed = view.scene(structs.replace(case, rate=10.0), ViewOptions())
    keys = [f"level-{level.level.replace(' ', '-')}" for level in case.traffic]
    marks, roofs = ([_middle(piece(timed, f"{key}{end}", Rects)) for key in keys] for end in ("", "-roof"))
    assert len(set(marks)) == 1  # at the kernel's rate, whatever the roof
    assert len(set(roofs)) == len(roofs)
    assert case.traffic[1].size_bytes > 4 * case.traffic[0].size_bytes, "half-warps that read one element are served one by one"
    assert "flop per byte, stores included" in said
    assert "without a cache, DRAM moves it all" in said
    assert "peak 345.6 GFLOP/s" in said
    cached = " ".join(texts(view.scene(speed_of("many_blocks", "h200", TILE_WIDTH=16), ViewOptions())))
    assert "without a cache" not in cached


@pytest.mark.parametrize(("kernel", "device", "width"), [
    ("many_blocks", "8800gtx", 16), ("column_first", "8800gtx", 16), ("03_coalesced", "h200", 32),
])  # fmt: skip
def test_a_roofline_can_be_read(kernel: str, device: str, width: int) -> None:
    case = speed_of(kernel, device, **{"BLOCK" if kernel.startswith("03") else "TILE_WIDTH": width})
    for frame in FRAMES:
        scene = view_named("why").scene(case, ViewOptions(width=frame[0], height=frame[1]))
        assert not wrong_with(scene), frame
        assert not too_small(scene), frame


def test_the_roof_is_drawn_from_left_to_right_with_its_marks_and_the_bars_grow() -> None:
    view, case = view_named("why"), speed_of("many_blocks", "8800gtx", TILE_WIDTH=16)
    ends, bars, marks = [], [], []
    for moment in (0.0, 0.15, 0.3, 1.0):
        motion = view.motion(case, ViewOptions(moment=moment))
        roof = next(each.segments for each in motion if each.key == "roof" and isinstance(each, Lines))
        ends.append(float(roof[:, 2].max()) if len(roof) else 0.0)
        bars.append(sum(float(each.boxes[:, 2].sum()) for each in motion if isinstance(each, Rects) and "meter" in each.key))
        marks.append(sum(len(each.boxes) for each in motion if isinstance(each, Rects) and each.key.endswith("-roof")))
    assert ends == sorted(set(ends))
    assert bars == sorted(set(bars))
    assert marks[0] == 0
    assert marks[-1] == 2
    playing = structs.replace(case, so_far=(64.0, (32.0, 32.0)))
    assert view.motion(playing, ViewOptions(moment=0.0))[0] == view.motion(case, ViewOptions(moment=1.0))[0]


def test_the_mark_of_what_is_moved_slides_along_the_roof_from_what_is_asked_for() -> None:
    view, case = view_named("why"), speed_of("many_blocks", "8800gtx", TILE_WIDTH=16)
    places, slopes, named = [], [], []
    for moment in (0.4, 0.5, 0.6, 0.7, 1.0):
        motion = {each.key: each for each in view.motion(case, ViewOptions(moment=moment))}
        moved, requested = motion["level-moved-in-sectors-roof"], motion["level-requested-roof"]
        assert isinstance(moved, Rects)
        assert isinstance(requested, Rects)
        (x, y, side, _), (x0, y0, side0, _) = moved.boxes[0], requested.boxes[0]
        places.append(x0 + side0 / 2 - x - side / 2)
        slopes.append((y + side / 2 - y0 - side0 / 2) / max(1e-9, places[-1]))
        named.append("level-moved-in-sectors-rate" in motion)
    assert places[0] == pytest.approx(0.0)
    assert places == sorted(set(places))
    assert slopes[1:] == pytest.approx([slopes[-1]] * 4)
    assert named == [False] * 4 + [True]


def test_every_width_of_the_reads_has_its_part_written() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(64, 64, 64), {"TILE_WIDTH": 32})
    case = value_of(TrafficCase, Knowledge(Shot(setup, view="traffic"), Interpreter()))
    for width, height in FRAMES[:2]:
        said = texts(view_named("traffic").scene(case, ViewOptions(width=width, height=height)))
        assert {"1/2", "1/4", "1/8", "1/16", "1/32"} <= set(said)


def test_a_roof_shows_what_tiles_bring() -> None:
    """Each launch is on the roof, with its operations per byte: those of 16 threads of a tile share what they read."""
    problem = Problem(1024, 1024, 1024)
    plain, tiled = (
        setup_for(load_kernel(name), problem, {"TILE_WIDTH": 16}, device="8800gtx") for name in ("many_blocks", "column_first")
    )
    case = value_of(RoofCase, Knowledge(Shot(tiled, view="roof", against=Against(plain)), Interpreter()))
    assert [round(row.flops_per_byte, 2) for row in case.rows] == [0.25, 3.97]
    assert {"0.25 per byte", "3.97 per byte", "many_blocks: at most 21.6 GFLOP/s"} <= set(
        texts(view_named("roof").scene(case, ViewOptions()))
    )


def test_why_a_time_is_unknown_is_shortened_by_clauses() -> None:
    case = structs.replace(
        speed_of("many_blocks", "8800gtx", TILE_WIDTH=16), rate_source="no time, " + "nor any other, " * 12 + "at all"
    )
    note = next(each for each in view_named("why").scene(case, ViewOptions()).all if each.key == "note")
    assert isinstance(note, Labels)
    assert note.texts[0].startswith("Time unknown: no time, nor any other")
    assert "…" not in note.texts[0]


def test_a_chart_works_out_each_rate_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart of a thousand rows is drawn within a frame or two."""
    flops, asked = Problem.flops, [0]

    def counted(problem: Problem) -> object:
        asked[0] += 1
        return flops.__get__(problem)

    benchmark = structs.replace(
        recordings("benchmark", Benchmark)[0],
        rows=tuple(structs.replace(row) for row in recordings("benchmark", Benchmark)[0].rows),
    )
    monkeypatch.setattr(Problem, "flops", property(counted))
    for chart in (rate_chart, share_chart, tile_chart, transfer_chart):
        chart(benchmark)
    assert 0 < asked[0] <= 4 * len(benchmark.rows)


def test_logarithmic_axes_have_all_powers_of_ten_with_their_factors() -> None:
    assert {1.0, 10.0, 100.0, 1000.0} <= set(_log_ticks(1.0, 1000.0))
    assert [_of_log(at) for at in (5.0, 2e3, 1e7, 2e8)] == ["5", grouped(2000), "10⁷", "2·10⁸"]


def test_bytes_so_far_are_those_of_the_watched_block_as_its_flops_are() -> None:
    setup = setup_for(load_kernel("02_naive"), Problem(32, 32, 32), {"BLOCK": 16})
    case = speed_case_of(Shot(setup), Knowledge(Shot(setup), Interpreter()).counts, None, "not measured")
    replay = Replay.of(trace_of("02_naive", 32, 32, 32, BLOCK=16))
    for focus, is_known in ((Focus(), True), (Focus(warp=0), False)):
        now = Reader(replay, focus).at(9)
        replay.sums(now.scope)
        assert (_speed_at(case, now).so_far is not None) == is_known
