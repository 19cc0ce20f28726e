"""Views of a device, a launch and its blocks: text that can be read in every frame, no overlaps, truthful pieces, and motion."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.models import DONE, RUNNING, WAITING, WARPS, OccupancyLimits, occupancy_limits
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, launch_for, requested_launch, setup_for
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recordings
from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Needs
from gemmviz.model.problem import Problem
from gemmviz.model.timing import Benchmark
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.kit.chart import curve_names
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels, Lines, Rects, Scene
from gemmviz.scenes.kit.scale import ticks
from gemmviz.scenes.kit.slots import Tray, count_landed
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.grid_view import _block_tips, block_names
from gemmviz.scenes.views.occupancy_view import why_no_more
from gemmviz.shots.kinds.launches import SUBJECTS, grid_case
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.shot import Against, Shot, Trial
from tests.conftest import moment_of, piece, sure, trace_of
from tests.legible import too_small, wrong_with


def keys(scene: Scene) -> set[str]:
    return {each.key for each in scene.all}


def texts(scene: Scene) -> list[str]:
    return [text for each in scene.all if isinstance(each, Labels) for text in each.texts]


FRAMES = [(1600.0, 900.0), (1600.0, 770.0), (1280.0, 720.0)]  # a slide, one with a caption, and larger text
THREADS = (64, 256, 512, 700, 1024)


def shot_of(kernel: str, size: int = 1024, device: str = "a100", **parameters: int) -> Shot:
    return Shot(setup_for(load_kernel(kernel), Problem(size, size, size), parameters, device=device))


@cache
def occupied(threads: int, registers: int = 16, shared: int = 0) -> Any:
    return sure(occupancy_case(structs.replace(shot_of("03_coalesced"), trial=Trial(threads, registers, shared))))


def launched(kernel: str, size: int = 64, device: str = "h200", **parameters: int) -> LaunchCase:
    setup = shot_of(kernel, size, device, **parameters).setup
    return LaunchCase(setup, device_for(setup), kernel, launch_for(setup, with_nearest=False))


@cache
def two_gpus() -> Any:
    small, large = (shot_of("linear_block", 16, device, BLOCK=32) for device in ("toy2", "toy4"))
    return sure(grid_case(structs.replace(large, against=Against(small.setup))))


@cache
def subjects() -> dict[tuple[str, str], Any]:
    run = moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    found = {("occupancy", f"{threads}"): occupied(threads) for threads in THREADS}
    found |= {
        ("latency", f"{threads}"): occupied(threads, 32, shared) for threads, shared in ((64, 49152), (256, 0), (1024, 0))
    }
    found |= {("device", name): launched("04_tiled", device=name) for name in ("a100", "h200", "8800gtx", "toy2")}
    found |= {("block", "1D"): launched("linear_block", BLOCK=48), ("block", "2D"): launched("03_coalesced", BLOCK=16),
              ("block", "3D"): launched("cube_block", DEPTH=4), ("block", "32"): launched("03_coalesced", BLOCK=32)}  # fmt: skip
    found |= {
        ("grid", "recorded"): sure(grid_case(shot_of("04_tiled", 1024, "h200", TILE_WIDTH=16))),
        ("grid", "two"): two_gpus(),
    }
    found |= {("spaces", "g80"): launched("04_tiled", device="8800gtx")}
    return found | {(name, "run"): run for name in ("hierarchy", "block_tiles", "walk")}


@pytest.mark.parametrize("which", list(subjects()), ids="-".join)
def test_all_text_can_be_read(which: tuple[str, str]) -> None:
    view, subject = view_named(which[0]), subjects()[which]
    for frame, moment in product(FRAMES, (0.0, 0.5, 1.0)):
        scene = view.scene(subject, ViewOptions(width=frame[0], height=frame[1], moment=moment))
        assert too_small(scene) == [], (frame, moment)
        assert wrong_with(scene) == [], (frame, moment)


@pytest.mark.parametrize(
    "which", [each for each in subjects() if each[0] not in ("grid", "hierarchy", "block_tiles", "walk")], ids="-".join
)
def test_matrices_alone_have_their_colours(which: tuple[str, str]) -> None:
    """Blue, orange and green stand for A, B and C; none of these views but those of blocks over C and of elements has them."""
    for theme in (theme for theme in map(load_theme, theme_names()) if not theme.is_grey):
        scene = view_named(which[0]).scene(subjects()[which], ViewOptions(theme))
        fills = {each.fill for each in scene.all if isinstance(each, Rects)}
        fills |= {colour for each in scene.all if isinstance(each, Cells) for colour in each.palette}
        assert not fills & {*theme.accents.values(), theme.warning, *(theme.tint(name, 0.45) for name in "ABC")}


class TestOccupancy:
    @pytest.mark.parametrize("threads", THREADS)
    def test_each_block_takes_its_warps_on_one_scale(self, threads: int) -> None:
        case = occupied(threads)
        limits = occupancy_limits(case.device, case.needs)
        scene = view_named("occupancy").scene(case, ViewOptions())
        slots = piece(scene, "slots", Cells)
        assert slots.size == piece(view_named("occupancy").scene(occupied(256), ViewOptions()), "slots", Cells).size
        for number in range(limits.blocks_per_sm):
            wide = piece(scene, f"block-{number}", Rects).boxes[:, 2].sum()
            assert round(wide / slots.size + 0.1) == limits.warps_per_block
        assert f"block-{limits.blocks_per_sm}" not in keys(scene)

    def test_bars_differ_by_block(self) -> None:
        widths = {}
        for threads in (64, 256, 512, 1024):
            scene = view_named("occupancy").scene(occupied(threads), ViewOptions())
            bars = [each for each in scene.all if each.key.startswith("limit-block slots-") and each.key[-1].isdigit()]
            widths[threads] = len(bars)
        assert widths == {64: 32, 256: 8, 512: 4, 1024: 2}

    def test_blocks_fall_one_after_another_and_are_counted(self) -> None:
        counts = [count_landed(moment / 20, 8) for moment in range(21)]
        assert counts == sorted(counts)
        assert (counts[0], counts[-1]) == (0, 8)
        early = view_named("occupancy").scene(occupied(256), ViewOptions(moment=0.5))
        assert "8 blocks per SM" not in texts(early)
        assert not any(text.startswith("limited by") for text in texts(early))
        assert "8 blocks per SM" in texts(view_named("occupancy").scene(occupied(256), ViewOptions()))

    def test_a_block_without_enough_slots_shows_which_warps_lack_one_and_goes_back(self) -> None:
        def shown(moment: float, width: float = 1600.0) -> Scene:
            return view_named("occupancy").scene(occupied(700), ViewOptions(moment=moment, width=width, words=width > 900))

        for width in (1600.0, 720.0):
            there = shown(0.75, width)
            found, lacking = piece(there, "next-block", Rects).boxes, piece(there, "next-lacking", Rects).boxes
            assert (len(found), len(lacking)) == (20, 2)
            slots = piece(there, "slots", Cells).box
            assert lacking[:, 0].min() >= slots[0] + slots[2]
            assert lacking[:, 0].max() + lacking[0, 2] <= width
        assert "2 warps too many" in texts(shown(0.75))
        assert "next-block" not in keys(shown(1.0))
        assert "next-block" not in keys(shown(0.2))
        assert "2 blocks per SM" in texts(shown(0.75))
        assert not any(text.startswith("limited by") for text in texts(shown(0.75)))

    def test_no_block_is_turned_away_if_all_slots_are_taken(self) -> None:
        scene = view_named("occupancy").scene(occupied(256), ViewOptions(moment=0.75))
        assert "next-block" not in keys(scene)

    @pytest.mark.parametrize(
        ("needs", "why"),
        [
            (Needs(256, 16, 0), "no warps left"),
            (Needs(700, 16, 0), "the next block needs 22 warps, 20 left"),
            (Needs(256, 64, 0), "no registers left"),
            (Needs(1024, 255, 0), "not even one block fits"),
        ],
    )
    def test_why_no_other_block_fits(self, needs: Needs, why: str) -> None:
        assert why_no_more(occupancy_limits(load_device("a100"), needs)) == why

    @pytest.mark.parametrize("name", ["a100", "h200", "8800gtx", "rx6800xt"])
    def test_uses_never_exceed_what_an_sm_holds(self, name: str) -> None:
        for threads in (64, 192, 256):
            for registers in (1, 10, 16):
                limits: OccupancyLimits = occupancy_limits(load_device(name), Needs(threads, registers, 3000))
                for taken, held in (sure(uses) for uses in limits.uses.values()):
                    assert taken * limits.blocks_per_sm <= held
                assert sure(limits.uses[WARPS])[0] == limits.warps_per_block

    def test_a_block_without_threads_fits_nowhere(self) -> None:
        assert occupancy_limits(load_device("a100"), Needs(0, 32, 0)).blocks_per_sm == 0

    def test_a_tray_is_filled_from_below(self) -> None:
        tray = Tray.within(Box(0, 0, 1600, 400), 64)
        assert tray.runs(12, 8) == [(0, 12, 4), (1, 0, 4)]
        assert tray.box_of((0, 0, 1))[1] > tray.box_of((1, 0, 1))[1]
        assert tray.runs(60, 8) == [(3, 12, 4)]


class TestGrid:
    def test_blocks_have_three_colours_until_an_sm_is_marked(self) -> None:
        case, view = subjects()["grid", "recorded"], view_named("grid")
        assert set(piece(view.scene(case, ViewOptions(instant=0.4)), "grid", Cells).fill.ravel().tolist()) == {0, 1, 2}
        marked = piece(view.scene(case, ViewOptions(instant=0.4, sm=7)), "grid", Cells).fill.ravel()
        assert ((marked >= 3) == (case.schedule.sm == 7)).all()

    def test_a_click_marks_an_sm_and_a_second_one_none(self) -> None:
        shot = structs.replace(shot_of("04_tiled", 1024, "h200", TILE_WIDTH=16), view="grid")
        case = subjects()["grid", "recorded"]
        lanes = piece(view_named("grid").scene(case, ViewOptions()), "lanes", Cells)
        once = sure(SUBJECTS["grid"].click(case, shot, Hit(lanes, 5, 0)))
        assert once.sm == 5
        assert sure(SUBJECTS["grid"].click(case, once, Hit(lanes, 5, 9))).sm == -1

    def test_an_sm_is_equally_high_on_both_gpus(self) -> None:
        scene = view_named("grid").scene(two_gpus(), ViewOptions())
        small, large = piece(scene, "left-lanes", Cells), piece(scene, "right-lanes", Cells)
        assert small.pitch == large.pitch
        assert (len(small.fill), len(large.fill)) == (2, 4)

    def test_what_comes_later_is_dim(self) -> None:
        case = subjects()["grid", "recorded"]
        fill = piece(view_named("grid").scene(case, ViewOptions(instant=0.5)), "lanes", Cells).fill
        half = fill.shape[1] // 2
        assert fill[:, :half].max() <= 8 < fill[:, half:].min()


class TestBlock:
    def test_threads_move_from_their_places_into_their_lanes(self) -> None:
        view, case = view_named("block"), subjects()["block", "2D"]
        early, late = (view.scene(case, ViewOptions(moment=moment)) for moment in (0.2, 1.0))
        assert "threads" in keys(early)
        assert "threads" not in keys(late)
        fill = piece(late, "warp-3", Cells).fill
        assert (fill == 3).all()
        assert (piece(early, "warp-3", Cells).fill == 8).all()
        assert {"y = 6", "y = 7"} <= set(texts(late))

    def test_layers_stand_one_behind_the_other(self) -> None:
        scene = view_named("block").scene(subjects()["block", "3D"], ViewOptions())
        corners = [piece(scene, f"layer-{z}", Cells).box[:2] for z in range(4)]
        assert [x for x, _ in corners] == sorted(x for x, _ in corners)
        assert [y for _, y in corners] == sorted((y for _, y in corners), reverse=True)

    def test_threads_beyond_the_limit_are_red(self) -> None:
        setup = shot_of("01_single_block", 23, "8800gtx").setup
        case = LaunchCase(setup, device_for(setup), "a kernel", None, "too many", requested_launch(setup))
        scene = view_named("block").scene(case, ViewOptions())
        cells = piece(scene, "refused", Cells)
        assert (cells.fill == cells.palette.index(load_theme("dark").warning)).sum() == 529 - 512
        assert "17 too many" in texts(scene)


def core_cells(scene: Scene) -> int:
    """The cells of all groups of cores."""
    return sum(each.fill.size for each in scene.all if isinstance(each, Cells) and each.key.startswith("cores"))


def test_cores_are_full_rectangles() -> None:
    for name, cores, sms in (("a100", 64, 108), ("h200", 128, 132), ("8800gtx", 8, 16)):
        scene = view_named("device").scene(launched("04_tiled", size=16, device=name, TILE_WIDTH=16), ViewOptions())
        assert core_cells(scene) == cores
        assert piece(scene, "sms", Cells).fill.size == sms


def test_a_block_may_have_more_shared_memory_on_request() -> None:
    scene = view_named("device").scene(launched("04_tiled", device="a100"), ViewOptions())
    assert "shared memory: 164 KiB, up to 163 KiB per block" in texts(scene)


def test_formulas_of_a_launch_that_are_too_long_are_numbers() -> None:
    case = launched("04_tiled", size=64, TILE_WIDTH=16)
    long = (
        "max(1, ceil_div(N, TILE_WIDTH * min(TILE_WIDTH, 1))) * ceil_div(M + TILE_WIDTH, M + TILE_WIDTH)",
        "ceil_div(M, TILE_WIDTH)",
    )
    setup = structs.replace(case.setup, kernel=structs.replace(case.setup.kernel, grid=long))
    for width in (1600.0, 1024.0):
        scene = view_named("launch").scene(structs.replace(case, setup=setup), ViewOptions(width=width))
        assert "dim3 dimGrid(4, 4);" in texts(scene)
        assert not any("…" in text for text in texts(scene) if text.startswith("dim3"))
        assert wrong_with(scene) == []
    assert {"dim3 dimGrid(ceil_div(N, TILE_WIDTH), ceil_div(M, TILE_WIDTH));", "= (4, 4)"} <= set(
        texts(view_named("launch").scene(case, ViewOptions()))
    )


def test_warps_issue_in_time() -> None:
    view, case = view_named("latency"), occupied(256, 32)
    until = [
        max(
            float((each.boxes[:, 0] + each.boxes[:, 2]).max())
            for each in view.motion(case, ViewOptions(moment=moment))
            if isinstance(each, Rects)
        )
        for moment in (0.25, 0.5, 1.0)
    ]
    assert until == sorted(until)
    assert "latency-said" not in {each.key for each in view.motion(case, ViewOptions(moment=0.5))}


def test_a_cursor_runs_over_the_warps_and_names_the_one_that_issues() -> None:
    view, case = view_named("latency"), occupied(256, 32)
    for moment, warp in ((0.05, 5), (0.1, 10), (0.13, 13), (0.23, None), (0.36, 1)):
        pieces = {each.key: each for each in view.motion(case, ViewOptions(moment=moment))}
        cursor, name = pieces["cursor"], pieces["issuing"]
        assert isinstance(cursor, Lines)
        assert isinstance(name, Labels)
        assert name.texts == (() if warp is None else (f"warp {warp}",))
        strips = [each.boxes for key, each in pieces.items() if key.startswith("scheduler-") and isinstance(each, Rects)]
        drawn = max((boxes[:, 0] + boxes[:, 2]).max() for boxes in strips)
        assert cursor.segments[0, 0] == pytest.approx(drawn) if warp is not None else cursor.segments[0, 0] > drawn
    assert "cursor" not in {each.key for each in view.motion(case, ViewOptions())}


def test_cells_of_blocks_and_tiles_are_large() -> None:
    scene = view_named("block_tiles").scene(moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)), ViewOptions())
    grounds = sum(float(np.prod(piece(scene, f"{name}-ground", Rects).boxes[0, 2:])) for name in "ABC")
    assert grounds >= 0.3 * scene.width * scene.height
    lines = [each for each in scene.all if each.key == "C-lines"]
    assert lines
    names = [each for each in scene.all if isinstance(each, Labels) and each.key.startswith("block-names")]
    assert sum(len(each.texts) for each in names) == 4


class TestCharts:
    benchmark = recordings("benchmark", Benchmark)[0]

    @pytest.mark.parametrize("name", [name for name, view in views_of(Benchmark).items() if view.chart is not None])
    def test_text_can_be_read(self, name: str) -> None:
        for frame in FRAMES:
            scene = view_named(name).scene(self.benchmark, ViewOptions(width=frame[0], height=frame[1]))
            assert too_small(scene) == []

    def test_sizes_stand_above_the_blocks_of_each_sm(self) -> None:
        chart = sure(view_named("growth").chart)(self.benchmark)
        for _, text in chart.x.ticks or ():
            assert ":" not in text

    def test_names_say_the_width(self) -> None:
        chart = sure(view_named("rate").chart)(self.benchmark)
        names = [name for name in curve_names(chart.showing({})).values() if name.startswith("0")]
        assert names
        assert all(name.endswith("wide") for name in names)

    @pytest.mark.parametrize(("low", "high"), [(9.0, 95.0), (600.0, 11000.0), (1.0, 1e9), (3.0, 8.0)])
    def test_ticks_are_several_and_in_order(self, low: float, high: float) -> None:
        chart = sure(view_named("share").chart)(self.benchmark)
        values = [at for at, _ in ticks(chart.y, low, high)]
        assert values == sorted(values)
        assert len(values) >= 3

    def test_a_falling_share_is_explained(self) -> None:
        chart = sure(view_named("share").chart)(self.benchmark)
        assert "no falling speed" in chart.remark
        assert chart.remark in texts(view_named("share").scene(self.benchmark, ViewOptions()))


def test_blocks_are_named_and_described_by_what_they_do_at_an_instant() -> None:
    case = sure(grid_case(Shot(setup_for(load_kernel("04_tiled"), Problem(16, 24, 16), {"TILE_WIDTH": 8}, device="toy2"))))
    assert block_names(case) == ["(0, 0)", "(1, 0)", "(2, 0)", "(0, 1)", "(1, 1)", "(2, 1)"]
    states = np.array([WAITING, RUNNING, DONE, DONE, DONE, DONE], np.int8)
    told = [each.partition("\n")[2].partition(" SM")[0] for each in _block_tips(case, states)[:3].tolist()]
    assert told == ["waits for", "runs on", "ran on"]
    scene = {at: view_named("grid").scene(case, ViewOptions(instant=at)) for at in (0.0, 1.0)}
    assert scene[1.0].find("bars-2") is not None
    assert scene[1.0].find("bars-0") is None
    assert scene[0.0].find("bars-2") is None
