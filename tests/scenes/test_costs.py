"""The sectors, meters and stacks of lanes on the stage show the trace's own counts."""

from collections.abc import Iterator
from functools import cache
from itertools import chain

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.costs import access_card, moved_sectors
from gemmviz.analysis.counts import LaunchCounts
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader, TouchedOperand
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import all_kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recordings
from gemmviz.model.arrays import SCALAR, vector
from gemmviz.model.cases import SpeedCase, Traffic
from gemmviz.model.device import MemoryRules
from gemmviz.model.problem import Problem
from gemmviz.model.recording import recording_of
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray, Operand
from gemmviz.model.timing import RecordedCounters
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import FallbackEngine
from gemmviz.run.stored import StoredAnswers
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import ArrayCells, Cells, Hit, Labels, Lines, Primitive, Rects, Scene
from gemmviz.scenes.kit.sentence import cost as cost_words
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.cells import CellGrid
from gemmviz.scenes.stage.cost import (
    AGAIN,
    FIRST,
    WAITING,
    Meter,
    meter_primitives,
    meters_of,
    request_primitives,
    sector_boxes,
    sector_primitives,
    waiting_primitives,
)
from gemmviz.scenes.stage.hover import cell_sentence, hover_lines
from gemmviz.scenes.views.request_view import request_sentence
from gemmviz.shots.kinds.counted import speed_case_of
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.metrics import COSTS
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import value_of
from tests.conftest import ENGINE, moment_of, sampled, trace_of
from tests.legible import too_small, wrong_with

OPTIONS = ViewOptions()
RULES = MemoryRules()
_FAULTY = ("no_guard", "no_else", "piece_1", "piece_2", "piece_3", "wide_block")  # no whole run, on purpose
_EMPTY = {name for name in all_kernel_names() if load_kernel(name).blanks and name != "missing_barriers"}
KERNELS = tuple(name for name in all_kernel_names() if name not in _FAULTY and name not in _EMPTY)
FOCUSES = (Focus(), Focus(warp=0), Focus(thread=5), Focus(everyone=True))
ROOM = Box(40, 60, 340, 560)


@cache
def shipped(name: str) -> Replay:
    """A shipped kernel's run at its own sizes."""
    return Replay.of(trace_kernel(setup_for(load_kernel(name)), None).whole)


def moments(replay: Replay, focus: Focus, places: tuple[float, ...] = (0.0, 0.5, 1.0)) -> Iterator[Moment]:
    """The first, a middle and the last step of every site."""
    reader = Reader(replay, focus)
    for site in np.unique(replay.trace.site):
        steps = np.flatnonzero(replay.trace.site == site)
        for step in sorted({int(steps[round(place * (len(steps) - 1))]) for place in places}):
            yield reader.at(step)


def in_global(moment: Moment) -> list[TouchedOperand]:
    return [each for each in moment.touched if each.array.space == "global"]


def elements_by_warp(moment: Moment, touched: TouchedOperand) -> dict[tuple[int, int], list[int]]:
    """The elements that each warp of the scope touches, from the record alone: one list entry for each lane and element."""
    trace, warps = moment.trace, dict[tuple[int, int], list[int]]()
    block = trace.space.threads_per_block
    for column in range(*moment.scope.of_warps.indices(trace.element.shape[1])):
        element = int(trace.element[touched.row, column])
        if element >= 0:
            lane = int(trace.lane[column])
            offsets = touched.operand.layout.table[lane % touched.operand.layout.lanes].tolist()
            key = column // block, column % block // trace.rules.warp_size
            warps.setdefault(key, []).extend(element + offset for offset in offsets)
    return warps


def centres_in(boxes: np.ndarray, grid: CellGrid, array: MemoryArray, elements: list[int]) -> np.ndarray:
    """How many of the boxes hold the centre of each element's cell."""
    at = grid.middle(*array.row_column(np.array(elements, np.int64)))
    inside = (at[:, None] > boxes[None, :, :2]) & (at[:, None] < boxes[None, :, :2] + boxes[None, :, 2:])
    return np.asarray(inside.all(axis=2).sum(axis=1))


def boxes_of(primitives: list[Primitive], *keys: str) -> np.ndarray:
    parts = [each.boxes for each in primitives if isinstance(each, Rects) and each.key in keys]
    return np.vstack(parts) if parts else np.zeros((0, 4))


def large(array: MemoryArray) -> CellGrid:
    rows, columns = array.extents
    return CellGrid(10.0, 20.0, 12.0, rows, columns)


@pytest.mark.parametrize("name", sampled(KERNELS, 5))
def test_the_outlined_sectors_are_those_of_the_addresses(name: str) -> None:
    for moment in chain.from_iterable(moments(shipped(name), focus) for focus in FOCUSES):
        for touched in in_global(moment):
            array, per_sector = touched.array, 32 // touched.array.itemsize
            warps = elements_by_warp(moment, touched)
            asked = {each for elements in warps.values() for each in elements}
            moved = {each // per_sector for each in asked}
            wasteful = set[int]()
            for elements in warps.values():
                sectors = {each // per_sector for each in elements}
                if len(sectors) > -(-len({*elements}) * array.itemsize // 32):
                    wasteful |= sectors
            grid = large(array)
            drawn = sector_primitives(moment, {array.name: grid}, OPTIONS)
            every = [each for each in range(array.size) if each < 2048]
            outlines = boxes_of(drawn, f"{array.name}-sectors", f"{array.name}-wasteful-sectors")
            red = boxes_of(drawn, f"{array.name}-wasteful-sectors")
            hatched = boxes_of(drawn, f"{array.name}-sectors-wasted")
            assert centres_in(outlines, grid, array, every).tolist() == [int(e // per_sector in moved) for e in every]
            assert centres_in(red, grid, array, every).tolist() == [int(e // per_sector in wasteful) for e in every]
            assert centres_in(hatched, grid, array, every).tolist() == [
                int(e // per_sector in wasteful and e not in asked) for e in every
            ]


@pytest.mark.parametrize("name", sampled(KERNELS, 5))
def test_the_meter_shows_the_counts_of_the_step(name: str) -> None:
    for moment in chain.from_iterable(moments(shipped(name), focus) for focus in FOCUSES):
        cost, meters = moment.cost, {each.unit: each for each in meters_of(moment)}
        assert sum(each.requests for each in meters.values()) == cost.requests
        none = Meter("", "", 0, 0)
        sectors, wavefronts = (meters.get(unit, none) for unit in ("sector", "wavefront"))
        assert (sectors.all_moved, sectors.all_needed) == (cost.sectors, cost.needed_sectors)
        assert (wavefronts.all_moved, wavefronts.all_needed) == (cost.wavefronts, cost.ideal_wavefronts)
        for meter in meters.values():
            if meter.requests == 1:
                assert (meter.moved, meter.needed) == (meter.all_moved, meter.all_needed)
            drawn = meter_primitives(meter, ROOM, OPTIONS.theme)
            assert len(boxes_of(drawn, "meter-needed")) == meter.needed
            assert len(boxes_of(drawn, "meter-wasted")) == meter.moved - meter.needed


def test_needed_are_the_sectors_of_different_elements_not_of_lanes() -> None:
    """A warp of a block of 16 × 16 reads 16 elements of A, each with two lanes: they fit into 2 sectors. If each of the 32 lanes
    had its own element, it would need 4: Nsight Compute's ideal.
    """
    trace = trace_of("02_naive", 32, 32, 32, BLOCK=16)
    moment = moment_of(trace, 0, Focus(warp=0))
    cost, (meter,) = moment.cost, meters_of(moment)
    assert len(set(elements_by_warp(moment, in_global(moment)[0])[0, 0])) == 16
    assert (cost.lanes, cost.sectors, cost.needed_sectors, cost.ideal_sectors) == (32, 16, 2, 4)
    assert meter.text == "16 moved, 2 needed"
    assert request_sentence(cost) == "32 lanes, 16 sectors moved, 2 needed: 12.5 %"
    assert cost_words(moment).endswith("1 request moves 16 sectors of 32 bytes: 2 needed, 14 lost")
    texts = {label.key: label.texts for label in view_named("stage").still(moment, OPTIONS).all if isinstance(label, Labels)}
    assert (texts["request-moved"], texts["request-needed"]) == (("16 sectors",), ("2 needed",))
    by_row = {metric.name.strip(): metric.of(cost) for metric in COSTS if metric.space == "global"}
    assert (by_row["needed"], by_row["lost"], by_row["ideal"]) == (2, 14, 4)
    case = value_of(SpeedCase, Knowledge(Shot(trace.setup, view="why"), Interpreter()))
    assert any("moves 16 sectors, 2 needed: 8 times as many" in each.sentence for each in case.causes)


def test_naive_wastes_seven_of_eight_and_coalesced_nothing() -> None:
    naive, coalesced = trace_of("02_naive", 32, 32, 32, BLOCK=32), trace_of("03_coalesced", 32, 32, 32, BLOCK=32)
    for focus in (Focus(warp=0), Focus()):
        moment = moment_of(naive, 0, focus)
        drawn = sector_primitives(moment, {"A": large(naive.arrays[0])}, OPTIONS)
        assert len(boxes_of(drawn, "A-wasteful-sectors")) == 32
        along = boxes_of(drawn, "A-sectors-wasted")
        assert len(along) == 32  # the seven elements beside the one that is needed are one box
        assert np.rint(along[:, 2] / 12).tolist() == [7] * 32
        (meter,) = meters_of(moment)
        assert meter.text == "32 moved, 4 needed"
        assert meter.sum_text == ("" if focus.warp == 0 else "all 32 requests: 1024 moved, 128 needed")
        for step in range(coalesced.steps):
            moment = moment_of(coalesced, step, focus)
            grids = {array.name: large(array) for array in coalesced.arrays}
            drawn = sector_primitives(moment, grids, OPTIONS)
            assert drawn
            assert not [each for each in drawn if "waste" in each.key]


@pytest.mark.parametrize("column_major", [False, True])
@pytest.mark.parametrize(("element_type", "per_sector"), [("float16", 16), ("float32", 8), ("float64", 4)])
def test_sectors_lie_along_memory(column_major: bool, element_type: str, per_sector: int) -> None:
    array, grid = MemoryArray("A", "global", (32, 24), element_type, column_major), CellGrid(0.0, 0.0, 10.0, 32, 24)
    moved = moved_sectors(np.array([[5] + [-1] * 31]), Operand(0, "read"), array, RULES)
    boxes, wasteful = sector_boxes(array, moved, grid)
    first = 5 // per_sector * per_sector
    along, across = (1, 0) if column_major else (0, 1)
    assert len(boxes) == 1
    assert not wasteful.any()  # one sector holds what is requested
    assert boxes[0, 2 + along] == per_sector * 10.0
    assert boxes[0, 2 + across] == 10.0
    assert boxes[0, along] == first * 10.0


def test_a_sector_that_continues_in_the_next_row_has_two_boxes() -> None:
    array, grid = MemoryArray("A", "global", (4, 6), "float32"), CellGrid(0.0, 0.0, 10.0, 4, 6)
    moved = moved_sectors(np.array([[0] + [-1] * 31]), Operand(0, "read"), array, RULES)
    boxes, _ = sector_boxes(array, moved, grid)
    assert boxes.tolist() == [[0, 0, 60, 10], [0, 10, 20, 10]]


def test_requests_of_several_elements_and_shared_elements_are_counted() -> None:
    array = MemoryArray("A", "global", (8, 32), "float32")
    wide = moved_sectors(np.arange(0, 128, 4)[None], Operand(0, "read", vector(4)), array, RULES)
    assert wide.numbers.tolist() == list(range(16))
    assert wide.first[0].tolist() == [0] * 4 + [1] * 4
    same = moved_sectors(np.full((1, 32), 9), Operand(0, "read", SCALAR), array, RULES)
    assert same.numbers.tolist() == [1]
    assert same.asking[0].tolist() == [0, 32, 0, 0, 0, 0, 0, 0]


def test_a_device_of_segments_moves_the_whole_segment() -> None:
    rules = MemoryRules(request_lanes=16, coalescing="segments")
    array = MemoryArray("A", "global", (8, 32), "float32")
    half = np.where(np.arange(16) < 4, np.arange(16), -1)[None]
    assert moved_sectors(half, Operand(0, "read"), array, rules).numbers.tolist() == [0, 1]
    assert moved_sectors(half[:, ::-1].copy(), Operand(0, "read"), array, rules).numbers.tolist() == [0]


@pytest.mark.parametrize(("pad", "wavefronts"), [(0, 32), (1, 1), (2, 2)])
def test_lanes_stack_up_over_their_bank_wavefront_by_wavefront(pad: int, wavefronts: int) -> None:
    trace = trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=pad)
    step = next(step for step in range(trace.steps) if trace.site_of(step).text == "tileA[x][y]")
    moment = moment_of(trace, step, Focus(warp=0))
    request, main = moment.request, moment.main
    assert request is not None
    assert main is not None
    card = access_card(request.lanes, main.operand, main.array, trace.rules)
    for share in (0.0, 0.5, 1.0):
        (cells,) = [
            each for each in waiting_primitives(card, ROOM, "#56B4E9", OPTIONS.theme, share=share) if isinstance(each, Cells)
        ]
        fill = cells.fill
        assert fill.shape == (wavefronts, 32)
        assert (fill > 0).sum() == 32
        assert (fill == WAITING).sum() == 32 - 32 // wavefronts * int(np.ceil(share * wavefronts))
        if share == 1.0:
            assert (fill[-1] == FIRST).sum() == 32 // wavefronts
            assert (fill[:-1] == AGAIN).sum() == 32 - 32 // wavefronts
            assert (fill > 0).sum(axis=0).max() == wavefronts == moment.cost.wavefronts


@pytest.mark.parametrize("theme", ["dark", "light", "print"])
def test_meter_and_request_are_readable_and_within_their_box(theme: str) -> None:
    options = ViewOptions(theme=load_theme(theme))
    for name in ("02_naive", "07_tiled_transposed", "09_vectorised"):
        for moment in moments(shipped(name), Focus(), (0.5,)):
            parts = [request_primitives(moment, Box(1220, 60, 340, 600), options)]
            parts += [meter_primitives(meter, Box(40, 60, 340, 300), options.theme) for meter in meters_of(moment)[:1]]
            scene = Scene(1600, 900, options.theme.background, tuple(each for part in parts for each in part))
            assert not wrong_with(scene)
            assert not too_small(scene)


def test_a_meter_counts_up() -> None:
    meter = Meter("request of warp 0", "sector", 32, 4, 1, 32, 4, "sectors of 32 bytes")
    half = meter_primitives(meter, ROOM, OPTIONS.theme, share=0.5)
    assert len(boxes_of(half, "meter-needed")) + len(boxes_of(half, "meter-wasted")) == 16


def test_an_open_question_hides_what_a_request_costs() -> None:
    moment = moment_of(trace_of("02_naive", 32, 32, 32, BLOCK=32), 0, Focus(warp=0))
    for view in ("stage", "mapping"):
        open_, answered = (view_named(view).still(moment, structs.replace(OPTIONS, counted=share)) for share in (0.0, 1.0))
        assert [each for each in answered.all if "wast" in each.key]
        assert not [each for each in open_.all if "wast" in each.key or "needed" in each.key]
        texts = [text for each in open_.all if isinstance(each, Labels) for text in each.texts]
        assert not any("32 moved" in text or "4 needed" in text or "32 sectors" in text or "12.5" in text for text in texts)


def test_a_meter_of_more_than_fits_is_a_bar() -> None:
    many = meter_primitives(Meter("", "sector", 100_000, 25_000), ROOM, OPTIONS.theme)
    needed, wasted = boxes_of(many, "meter-needed"), boxes_of(many, "meter-wasted")
    assert len(needed) == len(wasted) == 1
    assert wasted[0, 2] == pytest.approx(3 * needed[0, 2])


def test_neighbouring_sectors_are_outlined_each() -> None:
    moment = moment_of(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), 1, Focus(warp=0))
    outlines = boxes_of(sector_primitives(moment, {"B": large(moment.trace.arrays[1])}, OPTIONS), "B-sectors")
    assert outlines[:, 2].tolist() == [8 * 12.0] * 4


def test_the_request_writes_lanes_on_the_elements_that_they_request() -> None:
    moment = moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    drawn = request_primitives(moment, Box(1200, 60, 360, 600), OPTIONS)
    (numbers,) = [each for each in drawn if each.key == "request-sectors-lane-numbers"]
    assert isinstance(numbers, Labels)
    assert numbers.texts == tuple(map(str, range(16)))
    words = {each.key: each.texts for each in drawn if isinstance(each, Labels)}
    assert (words["request-moved"], words["request-needed"]) == (("4 sectors",), ("2 needed",))
    assert words["request-unasked-text"] == ("not requested",)
    all_requested = moment_of(trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8))
    assert "request-unasked-text" not in [
        each.key for each in request_primitives(all_requested, Box(1200, 60, 360, 600), OPTIONS)
    ]


def test_pointing_at_a_hatched_element_says_why_it_is_moved() -> None:
    moment = moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    asked = set(moment.arrived.tolist())
    cells = Cells("A", 0, 0, 10, np.zeros((8, 8), np.uint8), ("#000000",), ("#ffffff",), meaning=ArrayCells("A", "global"))
    for row, column in ((0, 0), (0, 4), (3, 7), (4, 0)):
        lines = hover_lines(moment, Hit(cells, row, column))
        comes_along = 8 * row + column not in asked and row < 4
        assert ("now: moved with its sector, not requested by block (0, 0)" in lines) == comes_along
        assert ("not requested" in cell_sentence(moment, Hit(cells, row, column))) == comes_along


def case_of(moved: int, size: int = 4096) -> SpeedCase:
    requested = 8 * size**3
    traffic = (Traffic("requested", requested, "counted"), Traffic("moved in sectors", moved, "counted"))
    return SpeedCase("a kernel", load_device("h200"), Problem(size, size, size), traffic, least_bytes=12 * size**2)


def test_areas_of_bytes_have_one_scale_for_all_kernels_of_a_problem() -> None:
    areas, places = [], []
    for gib in (2112, 320, 512):
        view, case = view_named("bytes"), case_of(gib << 30)
        scene, grown = view.scene(case, OPTIONS), view.motion(case, OPTIONS)
        bars = {each.key: each.boxes[0] for each in grown if isinstance(each, Rects) and each.key.endswith("-bar")}
        areas.append([bars[f"bytes-{n}-bar"][2:].prod() for n in range(3)])
        places.append([bars[f"bytes-{n}-bar"][0] for n in range(3)])
        assert not wrong_with(scene)
        assert not too_small(scene)
    assert areas[0][0] == pytest.approx(areas[1][0])  # 512 GiB are as large in each
    assert areas[0][1] / areas[1][1] == pytest.approx(2112 / 320)
    assert areas[2][1] == pytest.approx(areas[2][0])
    assert places[0] == places[1] == places[2]
    assert all(area > 15.0 for row in areas for area in row)


@pytest.mark.parametrize(
    ("device", "size", "said"),
    [("h200", 4096, "recorded for this launch on NVIDIA H100 80GB HBM3, not on NVIDIA H200"), ("h100", 4096, ""), ("h200", 512, "")],
)  # fmt: skip
def test_the_gpu_with_the_traffic_of_dram_is_named_on_another_device(device: str, size: int, said: str) -> None:
    kernel, parameters = load_kernel("grouped_blocks"), {"TILE_WIDTH": 32, "GROUP": 16}
    setup = setup_for(kernel, Problem(size, size, size), parameters, device=device)
    case = speed_case_of(
        Shot(setup), case_counts(structs.replace(setup, device="h100")), None
    )  # whose rules are those of the H200
    for name in ("bytes", "why"):
        labels = [each for each in view_named(name).scene(case, ViewOptions()).all if isinstance(each, Labels)]
        words = " ".join(text for each in labels for text in each.texts)
        assert ("recorded for this launch on" in words) == bool(said)
        assert said in words


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_traffic_of_dram_has_a_square_for_each_recorded_size_of_a_group(size: tuple[int, int]) -> None:
    """Areas are those of the profiler's counters; the launch's own size is one of them, and they are in its picture alone."""
    parameters = {"TILE_WIDTH": 32, "GROUP": 16}
    setup = setup_for(load_kernel("grouped_blocks"), Problem(4096, 4096, 4096), parameters, device="h100")
    case = speed_case_of(Shot(setup), Knowledge(Shot(setup), StoredAnswers()).counts, None)
    rows = recording_of(load_device("h100"), recordings("levels", RecordedCounters)).rows  # type: ignore[union-attr]
    recorded = [row.counters for row in rows if row.problem == setup.problem]
    assert len(recorded) == len(case.variants) == 4
    options = ViewOptions(width=size[0], height=size[1])
    scene, drawn = (getattr(view_named("bytes"), name)(case, options) for name in ("scene", "motion"))
    bars = [each.boxes[0][2:].prod() for each in drawn if isinstance(each, Rects) and each.key.endswith("-bar")]
    for place, counters in enumerate(recorded, 1):
        moved = counters["dram_bytes_read"] + counters["dram_bytes_written"]
        assert bars[place] / bars[0] == pytest.approx(moved / case.traffic[1].size_bytes, rel=0.01)
    assert not wrong_with(scene)
    assert not too_small(scene)
    assert {f"DRAM, GROUP = {n}" for n in (1, 4, 8, 16)} == {each.level for each in case.variants}
    other = setup_for(load_kernel("04_tiled"), Problem(1024, 1024, 1024), {"TILE_WIDTH": 32})
    assert speed_case_of(Shot(other), case_counts(other), None).variants == ()


def case_counts(setup: Setup) -> LaunchCounts:
    return Knowledge(Shot(setup), FallbackEngine(StoredAnswers(), ENGINE)).counts


def test_reads_are_lit_at_the_step_that_reads_them() -> None:
    trace = trace_of("01_single_block", 4, 4, 4)
    reader = Reader(Replay.of(trace))
    for step, (name, k) in enumerate([("A", 0), ("B", 0), ("A", 1), ("B", 1)]):
        scene = view_named("accesses").still(reader.at(step), OPTIONS)
        accent = OPTIONS.theme.accent(name)
        lit = [
            each.key
            for each in scene.primitives
            if isinstance(each, Cells) and accent in [each.palette[f] for f in each.fill.ravel()]
        ]
        assert lit == [f"accesses-{1 + 2 * k + 'AB'.index(name)}", f"small-{name}"]
        counts = [each for each in scene.all if isinstance(each, Labels) and each.key.startswith("accesses-9-")]
        assert {each.texts for each in counts} == {(str(step + 1),)}


@pytest.mark.parametrize("view", ["memory", "banks", "warp", "request", "mapping", "accesses", "memory_strip"])
def test_views_of_requests_are_readable(view: str) -> None:
    for name in ("02_naive", "07_tiled_transposed", "09_vectorised"):
        for moment in moments(shipped(name), Focus(warp=0), (0.5,)):
            scene = view_named(view).scene(moment, OPTIONS)
            assert not wrong_with(scene), (name, moment.step)
            assert not too_small(scene), (name, moment.step)


@pytest.mark.parametrize("view", ["memory", "banks", "request", "stage"])
def test_motion_ends_with_the_picture(view: str) -> None:
    """Nothing covers the picture once the step has passed; while it passes, fewer lanes are drawn: all ask in its first 40 %."""
    for name, step in (("02_naive", 0), ("07_tiled_transposed", 1)):
        moment = Reader(shipped(name), Focus(warp=0)).at(step)
        at = [view_named(view).motion(moment, structs.replace(OPTIONS, moment=share)) for share in (0.3, 1.0)]
        assert not [each for each in at[1] if each.key in ("threads-cover", "banks", "request-waiting")]
        still = view_named(view).still(moment, structs.replace(OPTIONS, moment=0.3))
        texts = [{each.key for each in drawn if isinstance(each, Labels)} for drawn in (at[0], still.all)]
        assert not texts[0] & texts[1]  # no text is drawn twice
        threads = [each for each in at[0] if each.key == "lane-threads"]
        assert all(isinstance(each, Lines) and len(each.segments) == 24 for each in threads)
