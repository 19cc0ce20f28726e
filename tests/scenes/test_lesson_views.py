"""Views of loops, threads, orders, addresses, banks, copies and words: what they show follows from runs and recordings, and what
moves in them ends in the picture at rest.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recordings
from gemmviz.files.resources import resource
from gemmviz.model.cases import AmdahlCase, LaunchCase, LoadsCase, LoopsCase
from gemmviz.model.messages import spaced
from gemmviz.model.problem import Problem
from gemmviz.model.recording import StrideTimes
from gemmviz.model.timing import Benchmark
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Recording
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.charts.speeds import per_thread_chart, strides_chart
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, text_width
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.kinds.runs import _loop_counters
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Against, ChartChoice, Shot
from gemmviz.shots.subject import value_of
from tests.conftest import kernel_from, moment_of, piece, sure, trace_of

OPTIONS = ViewOptions()
_FULL = 2  # of the palette of a cell of C that is stored


def texts(primitives: tuple[Primitive, ...]) -> dict[str, str]:
    return {each.key: " ".join(each.texts) for each in primitives if isinstance(each, Labels)}


def moving(view: str, subject: object, moment: float) -> dict[str, Primitive]:
    return {each.key: each for each in view_named(view).motion(subject, structs.replace(OPTIONS, moment=moment))}


# Loops


@cache
def loops(kernel: str, before: str) -> LoopsCase:
    shot = Shot(setup_for(load_kernel(kernel)), against=Against(setup_for(load_kernel(before))))
    return value_of(LoopsCase, Knowledge(shot, Interpreter()))


def done(primitive: Primitive) -> int:
    assert isinstance(primitive, Cells)
    return int((primitive.fill == _FULL).sum())


def test_a_sequential_run_fills_c_element_by_element_and_a_grid_all_at_once() -> None:
    case = loops("one_element", "sequential")
    times = np.linspace(0.0, 1.0, 150)
    left, right = ([done(moving("loops", case, moment)[f"loops-{side}-C"]) for moment in times] for side in (0, 1))
    assert set(left) == set(range(17)), "one after the other"
    assert set(right) == {0, 16}
    assert right[left.index(16)] == 0, "the loop is over before the grid begins"
    assert (left[-1], right[-1]) == (16, 16)


def test_counters_count_what_the_loops_count() -> None:
    case = loops("flattened", "sequential")
    values = {each.name: each.values for each in case.main.counters}
    assert list(values) == ["i", "row", "col", "k"]
    stored = np.sort(case.main.stored, axis=None)
    for element, step in enumerate(stored.tolist()):
        row, column = divmod(element, 4)
        assert [values[name][step] for name in ("i", "row", "col")] == [str(element), str(row), str(column)]
        assert [values["k"][step - 8 + 2 * k] for k in range(4)] == ["0", "1", "2", "3"]
    lines = case.main.lines
    assert [lines[each.line].split("=")[0].split()[-1] for each in case.main.counters] == ["i", "row", "col", "k"]


def test_a_run_that_is_stored_without_its_first_values_counts_as_well() -> None:
    known = Knowledge(Shot(setup_for(load_kernel("flattened"))), Interpreter())
    watched = sure(known.watch_result.watched)
    lines = [variable.first_line for variable in watched.variables]
    whole, stored = (_loop_counters(each, lines) for each in (watched, structs.replace(watched, before={})))
    assert [counter.values[1:] for counter in stored] == [counter.values[1:] for counter in whole]


def test_steps_are_those_of_the_runs() -> None:
    said = texts(view_named("loops").motion(loops("one_element", "sequential"), OPTIONS))
    assert (said["loops-0-words-0"], said["loops-1-words-0"]) == ("144 steps", "9 steps")  # 2 · 64 + 16, 2 · 4 + 1
    assert (said["loops-0-words-1"], said["loops-1-words-1"]) == ("by 1 thread", "by 16 threads")


# Threads and orders


def test_threads_that_returned_are_hatched_and_the_others_name_their_elements() -> None:
    moment = moment_of(trace_of("early_return", 5, 5, 5, BLOCK=4))
    shown = moving("guard", moment, 1.0)
    returned = shown["guard-returned"]
    assert isinstance(returned, Rects)
    assert len(returned.boxes) == 39
    named = [text for key, each in shown.items() if isinstance(each, Cells) and each.labels is not None
             for text in each.labels.ravel().tolist() if text]  # fmt: skip
    assert sorted(named) == sorted(f"{row},{column}" for row in range(5) for column in range(5))
    said = texts(view_named("guard").still(moment, OPTIONS).all)
    assert {"64 threads", "39 return before their first access", "25 work"} <= set(said.values())
    assert "block (1, 1): 1 of 16 work" in said["guard-blocks"]


def test_all_threads_run_at_first() -> None:
    shown = moving("guard", moment_of(trace_of("early_return", 5, 5, 5, BLOCK=4)), 0.0)
    assert "guard-returned" not in shown
    assert all(len(set(each.palette)) == 1 for each in shown.values() if isinstance(each, Cells))


@pytest.mark.parametrize(("kernel", "sizes"), [("hip_naive", (4, 3, 5)), ("04_tiled", (8, 8, 8))])
def test_every_order_ends_with_all_elements(kernel: str, sizes: tuple[int, int, int]) -> None:
    moment = moment_of(trace_of(kernel, *sizes, values=True))
    whole = [each for each in moving("order", moment, 1.0).values() if isinstance(each, Cells)]
    assert len(whole) == 3
    assert all((each.fill == 1).all() for each in whole)
    assert len({None if each.labels is None else each.labels.tobytes() for each in whole}) == 1
    half = [each for each in moving("order", moment, 0.5).values() if isinstance(each, Cells)]
    assert len({each.fill.tobytes() for each in half}) == 3, "three different orders"
    assert len({int(each.fill.sum()) for each in half}) == 1


def test_a_vector_that_fills_no_rectangle_is_drawn() -> None:
    setup = setup_for(load_kernel("vector_add")).changed(n=250)
    moment = moment_of(trace_kernel(setup, recording=Recording(values=True)).whole)
    first = view_named("order").motion(moment, structs.replace(OPTIONS, width=4000, moment=1.0))[0]
    assert isinstance(first, Cells)
    assert first.labels is not None
    assert np.count_nonzero(first.labels) == 250


def test_a_run_that_stores_nothing_has_no_orders() -> None:
    stopped = trace_of(kernel_from("float x = A[0]; if (M < 0) C[0] = x;"))
    assert moving("order", moment_of(stopped), 0.5) == {}
    assert "This kernel stores no result" in texts(view_named("order").still(moment_of(stopped), OPTIONS).all)["message"]


def test_blocks_that_share_memory_are_computed_as_a_whole() -> None:
    moment = moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    for share in (0.2, 0.5, 0.8):
        for each in moving("order", moment, share).values():
            assert isinstance(each, Cells)
            blocks = each.fill.reshape(2, 4, 2, 4).sum(axis=(1, 3))
            assert set(blocks.ravel().tolist()) <= {0, 16}


# Addresses and banks


def walking(step: int) -> Moment:
    return moment_of(trace_of("03_coalesced", 64, 64, 64, BLOCK=8), step, Focus(thread=0))


def test_a_walk_moves_to_the_box_that_lights_up() -> None:
    moment = walking(9)  # B[4, 0]
    end = piece(view_named("walk").still(moment, OPTIONS), "B-walk-4", Cells)
    jump = moving("walk", moment, 0.8499)["B-jump"]
    assert isinstance(jump, Rects)
    assert jump.boxes[0] == pytest.approx(end.box, abs=1.0)
    assert moving("walk", moment, 1.0) == {}


def test_strips_show_addresses_to_scale() -> None:
    still = view_named("walk").still(walking(9), OPTIONS)
    left = piece(still, "B-strip", Rects).boxes[0]
    ticks = piece(still, "B-ticks", Rects).boxes
    assert len(ticks) == 5
    assert ticks[:, 0] - left[0] == pytest.approx(np.arange(5) / 63 * (left[2] - ticks[0, 2]))  # 64 rows, 256 bytes each
    assert np.ptp(piece(still, "A-ticks", Rects).boxes[:, 0]) < 2.0


@pytest.mark.parametrize("pad", [0, 1])
def test_lanes_fall_to_where_they_rest(pad: int) -> None:
    trace = trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=pad)
    moment = moment_of(trace, 1, Focus(warp=0))
    stacks = piece(view_named("banks").still(moment, OPTIONS), "banks", Cells)
    assert stacks.fill.shape == ((1, 32) if pad else (32, 32))
    falling = moving("banks", moment, 0.84999)
    boxes = np.concatenate([each.boxes for each in falling.values() if isinstance(each, Rects)])
    row, column = np.nonzero(stacks.fill)
    rest = np.stack([stacks.x + column * stacks.size, stacks.y + row * stacks.pitch], axis=1)
    assert np.sort(boxes[:, :2], axis=0) == pytest.approx(np.sort(rest, axis=0), abs=0.5)
    assert moving("banks", moment, 1.0) == {}
    start = moving("banks", moment, 0.0)["falling-lanes"]
    assert isinstance(start, Rects)
    assert np.ptp(start.boxes[:, 1]) == 0.0, "all begin in the row of lanes"


# Recordings


def _is_wide(row: dict[str, Any]) -> bool:
    """Whether the tile or block of a row is 32 wide, or it has none."""
    widths = [value for name, value in (row.get("parameters") or {}).items() if name in ("BLOCK", "TILE_WIDTH")]
    return widths in ([], [32])


def amdahl(n: int, width: int = 32) -> AmdahlCase:
    shot = Shot(setup_for(load_kernel("04_tiled"), Problem(n, n, n)), chart=ChartChoice(width=width))
    return value_of(AmdahlCase, Knowledge(shot, Interpreter()))


def test_gains_follow_from_the_recorded_times() -> None:
    rows = json.loads(resource("assets/measurements/benchmark-nvidia-h200.json").read_text(encoding="utf-8"))["rows"]

    def times(kernel: str) -> tuple[float, float]:
        (row,) = (
            each for each in rows
            if each["kernel"] == kernel and each["problem"]["N"] == 4096 and list(each["parameters"].values()) == [32]
        )  # fmt: skip
        return row["timing"]["median_ms"], row["transfer"]["to_device_ms"] + row["transfer"]["to_host_ms"]

    case = amdahl(4096)
    slow, copies = times("02_naive")
    fast, _ = times("04_tiled")
    assert case.gain(case.names.index("04_tiled")) == pytest.approx((slow + copies) / (fast + copies))
    assert case.limit == pytest.approx((slow + copies) / copies) == dict(case.limits)[4096]
    assert list(case.kernel_ms) == sorted(case.kernel_ms, reverse=True)
    for name, kernel_ms in zip(case.names, case.kernel_ms, strict=True):
        timed = [
            row["timing"]["median_ms"] for row in rows
            if row["kernel"] == name and row["problem"]["N"] == 4096 and _is_wide(row)
        ]  # fmt: skip
        assert kernel_ms == min(timed)


def test_bars_shrink_to_their_own_times_and_say_them_only_then() -> None:
    case = amdahl(4096)
    first, last = moving("amdahl", case, 0.0), moving("amdahl", case, 1.0)
    widths = {
        name: [each.boxes[0, 2] for key, each in found.items() if isinstance(each, Rects) and key.startswith("amdahl-kernel")]
        for name, found in (("first", first), ("last", last))
    }
    assert len(set(widths["first"])) == 1
    assert np.array(widths["last"]) / widths["last"][0] == pytest.approx(np.array([*case.kernel_ms, 0.0]) / case.kernel_ms[0])
    assert [key for key in first if key.startswith("amdahl-ms")] == ["amdahl-ms-0"]
    assert len([key for key in last if key.startswith("amdahl-ms")]) == len(case.names) + 1


def test_times_and_limits_are_read_at_any_size() -> None:
    case, height = amdahl(128), 900.0
    for width in (1100.0, 1600.0):
        options = structs.replace(OPTIONS, width=width, height=height)
        scene = view_named("amdahl").scene(case, options)
        for each in scene.all:
            assert not isinstance(each, Labels) or not any("…" in text for text in each.texts), each.texts
            if isinstance(each, Labels) and each.key.startswith("amdahl-ms"):
                (x, y), row = each.at[0], each.key.rpartition("-")[2]
                below = [bar for bar in scene.primitives if isinstance(bar, Rects) and bar.key.endswith(f"-{row}")]
                bars = [bar for bar in below if bar.boxes[0, 0] <= x < bar.boxes[0, [0, 2]].sum() and bar.boxes[0, 1] < y]
                assert each.colour == (options.theme.ink_on(bars[-1].fill or "") if bars else options.theme.faint)
                end = x + text_width(each.texts[0], each.size)
                assert all(end <= bar.boxes[0, [0, 2]].sum() for bar in bars)


def test_strides_are_the_recorded_ones() -> None:
    record = json.loads(resource("assets/measurements/strides-nvidia-h200.json").read_text(encoding="utf-8"))
    chart = strides_chart(recordings("strides", StrideTimes)[0])
    drawn = {(curve.label, x): y for curve in chart.curves for x, y in curve.points}
    rows = [row for row in record["rows"] if row["cache"] == "L1"]
    assert len(drawn) == len(rows)
    for row in rows:
        assert drawn[f"{spaced(row['stride'])} bytes", row["elements"]] == row["cycles"]
    (mark,) = chart.marks
    least = min(row["cycles"] for row in rows)
    assert all(row["cycles"] < 1.1 * least for row in rows if row["elements"] <= mark.x)
    assert any(row["cycles"] > 1.1 * least for row in rows if row["elements"] == 2 * mark.x)


def test_numbers_of_the_lessons_are_computed_from_the_recordings() -> None:
    facts = Knowledge(Shot(setup_for(load_kernel("04_tiled"), Problem(4096, 4096, 4096))), Interpreter())
    assert value_of(AmdahlCase, facts).n == 4096


# Words


def test_words_are_those_of_the_device() -> None:
    device = load_device("rx6800xt")
    setup = setup_for(load_kernel("hip_naive"), device="rx6800xt")
    said = set(texts(view_named("vendors").motion(LaunchCase(setup, device, "", None), OPTIONS)).values())
    assert set(device.own_words.values()) & said == {"wavefront", "LDS", "compute unit"}
    assert {"warp", "shared memory", "SM", "cudaMalloc", "hipMalloc"} <= said


# Reads for each multiply-add, and what more elements for each thread cost


def test_the_reads_of_a_product_are_those_of_the_run() -> None:
    runs = [("04_tiled", {"TILE_WIDTH": 32})]
    runs += [("08_register_tiled", {"TILE_WIDTH": 32, "PER_THREAD": count}) for count in (2, 4, 8)]
    setups = [setup_for(load_kernel(name), Problem(32, 32, 32), values) for name, values in runs]
    case = value_of(LoadsCase, Knowledge(Shot(setups[-1], against=Against(setups[0])), Interpreter()))
    said, drawn = texts(view_named("loads").scene(case, OPTIONS).all), moving("loads", case, 1.0)
    for place, (name, values) in enumerate(runs):
        trace = trace_of(name, 32, 32, 32, **values)
        turns = trace.space.threads_per_block * trace.launch.block_count * 32
        reads = [
            sum(int((trace.element[touches.rows] >= 0).sum()) for touches in trace.touches_of(number, "read")) // turns
            for number, array in enumerate(trace.arrays)
            if array.space == "shared"
        ]
        products = drawn[f"C-{place}"]
        assert isinstance(products, Cells)
        assert products.fill.shape == tuple(reads)
        assert products.fill.size * turns == 32**3
        assert products.fill.all()
        assert said[f"figure-{place}"] == f"{sum(reads) / products.fill.size:g}"
    middle = moving("loads", case, 0.4)["C-3"]
    assert isinstance(middle, Cells)
    assert 0 < middle.fill.sum() < 64


def test_occupancy_and_speed_are_those_of_the_fastest_recorded_launches() -> None:
    rows = json.loads(resource("assets/measurements/benchmark-nvidia-h200.json").read_text(encoding="utf-8"))["rows"]
    chart = per_thread_chart(recordings("benchmark", Benchmark)[0])
    rows = [row for row in rows if row["problem"]["N"] == 8192 and "timing" in row]
    whole = next(row["timing"]["median_ms"] for row in rows if row["kernel"] == "cuBLAS")
    for name, count in (("04_tiled", 1), ("08_register_tiled", 2), ("08_register_tiled", 4), ("08_register_tiled", 8)):
        of_count = [each for each in rows if each["kernel"] == name and each["parameters"].get("PER_THREAD", 1) == count]
        best = min(of_count, key=lambda each: each["timing"]["median_ms"])
        held = best["resources"]["occupancy"]
        shares = whole / best["timing"]["median_ms"], held["blocks_per_sm"] * held["warps_per_block"] / held["warps_per_sm"]
        assert [dict(curve.points)[count**2] for curve in chart.curves] == pytest.approx([100 * share for share in shares])
