"""Views of the lecture: a launch and its limits, memories, one phase of a block, rounding; their numbers, texts and motion."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.listing import declarations
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.cases import BlockPhase, DataUse, LaunchCase, RoundedRun, RoundingCase
from gemmviz.model.messages import UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.recording import AccessTimesCase, TransferCase
from gemmviz.model.sites import LabelStyle
from gemmviz.model.threads import Strips, strips_of
from gemmviz.model.trace import Check
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Rects, Scene, Squares
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.measured_view import error_text
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import value_of
from tests.conftest import moment_of, piece, sure, trace_of
from tests.legible import too_small, wrong_with

FRAMES = [(1600.0, 900.0), (1600.0, 770.0), (1600.0, 1000.0)]


def facts_of(kernel: str, size: int, device: str = "h200", **parameters: int) -> Knowledge:
    setup = setup_for(load_kernel(kernel), Problem(size, size, size), parameters, device=device)
    return Knowledge(Shot(setup), Interpreter())


def launch_case(kernel: str, size: int, device: str = "h200", **parameters: int) -> LaunchCase:
    return value_of(LaunchCase, facts_of(kernel, size, device, **parameters))


def rounding() -> RoundingCase:
    kernels = [load_kernel(name) for name in ("sequential", "sequential_double")]
    first, second = (
        RoundedRun(kernel.name, kernel.text, Check(16, 0, 0, error))
        for kernel, error in zip(kernels, (3e-6, 2e-7), strict=True)
    )
    return RoundingCase(Problem(4, 4, 256), first, second)


@cache
def subjects() -> dict[tuple[str, str], Any]:
    found: dict[tuple[str, str], Any] = {
        ("launch", "one"): launch_case("one_block", 6), ("launch", "grid"): launch_case("many_blocks", 16, TILE_WIDTH=4),
        ("launch", "large"): launch_case("many_blocks", 4096, TILE_WIDTH=32),
        ("launch", "strips"): launch_case("linear_block", 2048, "8800gtx"),
        ("launch", "many strips"): launch_case("linear_block", 8192, "8800gtx"),
        ("block", "refused"): launch_case("01_single_block", 23, "8800gtx"),
        ("block", "tiles"): launch_case("column_first", 1024, "8800gtx", TILE_WIDTH=32),
        ("block", "h200"): launch_case("column_first", 1024, TILE_WIDTH=64),
        ("spaces", "qualifiers"): launch_case("qualifiers", 4, "8800gtx"),
        ("spaces", "AMD"): launch_case("column_first", 4, "rx6800xt"),
        ("access_times", ""): value_of(AccessTimesCase, facts_of("column_first", 4)),
        ("block_phase", ""): value_of(BlockPhase, facts_of("column_first", 1024, "8800gtx", TILE_WIDTH=16)),
        ("code_and_tiles", ""): moment_of(trace_of("column_first", 4, 4, 4, TILE_WIDTH=2), step=2),
        ("code_and_tiles", "no tiles"): moment_of(trace_of("02_naive", 4, 4, 4, BLOCK=2)),
        ("data", ""): value_of(DataUse, facts_of("column_first", 8, TILE_WIDTH=4)),
        ("host_timeline", ""): value_of(TransferCase, facts_of("04_tiled", 2048)),
        ("rounding", ""): rounding(), ("memory_strip", ""): moment_of(trace_of("column_first", 4, 4, 4, TILE_WIDTH=2)),
    }  # fmt: skip
    return found | {
        ("terms", device): launch_case("column_first", 16, device, TILE_WIDTH=4)
        for device in ("8800gtx", "h200", "rx6800xt", "toy2")
    }


def drawn(which: tuple[str, str], moment: float = 1.0, size: tuple[float, float] = FRAMES[0]) -> Scene:
    options = ViewOptions(width=size[0], height=size[1], moment=moment)
    return view_named(which[0]).scene(subjects()[which], options)


def texts(scene: Scene) -> list[str]:
    return [text for each in scene.all if isinstance(each, Labels) for text in each.texts]


@pytest.mark.parametrize("which", list(subjects()), ids="-".join)
def test_all_text_can_be_read(which: tuple[str, str]) -> None:
    for frame, moment in product(FRAMES, (0.0, 1.0)):
        scene = drawn(which, moment, frame)
        assert too_small(scene) == [], (frame, moment)
        assert wrong_with(scene) == [], (frame, moment)


@pytest.mark.parametrize("which", list(subjects()), ids="-".join)
def test_pictures_move_and_come_to_rest(which: tuple[str, str]) -> None:
    view = view_named(which[0])
    assert view.moves
    early, late = drawn(which, 0.1), drawn(which)
    assert early != late
    stills = (view.still(subjects()[which], ViewOptions(moment=moment)).primitives for moment in (0.4, 0.8))
    assert next(stills) == next(stills)


class TestLaunch:
    def test_the_grid_and_the_block_are_the_launch(self) -> None:
        scene = drawn(("launch", "grid"))
        assert len(piece(scene, "blocks", Squares).boxes) == 16
        assert piece(scene, "threads", Cells).fill.shape == (4, 4)
        assert {"= (4, 4)", "grid: 4 × 4 = 16 blocks", "dim3 dimBlock(TILE_WIDTH, TILE_WIDTH);"} <= set(texts(scene))

    def test_no_block_grows_before_the_grid_is_there(self) -> None:
        assert drawn(("launch", "grid"), 0.3).find("threads") is None
        assert len(piece(drawn(("launch", "grid"), 0.2), "blocks", Squares).boxes) < 16

    def test_a_cut_grid_says_so(self) -> None:
        assert any("the first ones are shown" in text for text in texts(drawn(("launch", "large"))))

    def test_a_grid_that_is_too_long_is_cut_into_strips(self) -> None:
        case = subjects()["launch", "strips"]
        strips = strips_of(sure(case.requested), case.device)
        assert strips == Strips("x", -(-2048 * 2048 // 48), 65535)
        assert [strips.strip(number) for number in range(strips.count)] == [(0, 65535), (65535, 87382)]
        scene = drawn(("launch", "strips"))
        wide = [piece(scene, f"strip-{number}", Rects).boxes[0, 2] for number in (0, 1)]
        assert wide[0] / wide[1] == pytest.approx(65535 / 21847)
        assert sum(wide) == pytest.approx(1520)
        said = "The kernel gets one parameter more, first, and uses first + blockIdx.x in the place of blockIdx.x"
        assert said in texts(scene)

    def test_formulas_of_offsets_follow_the_labels(self) -> None:
        moment = subjects()["memory_strip", ""]
        styles = (LabelStyle(), LabelStyle("column, row"), LabelStyle("column, row", 1))
        drawings = [view_named("memory_strip").scene(moment, ViewOptions(labels=each)) for each in styles]
        assert [piece(each, "layout-formulas", Labels).texts[0] for each in drawings] == [
            "row-major: element [r, c] at r · 4 + c",
            "row-major: element [c, r] at r · 4 + c",
            "row-major: element [c, r] at (r - 1) · 4 + (c - 1)",
        ]

    def test_a_grid_within_the_limit_is_not_cut(self) -> None:
        case = launch_case("linear_block", 64, "8800gtx")
        assert strips_of(sure(case.launch), case.device) is None


class TestRefusedBlock:
    def test_threads_without_a_slot_are_red_and_counted(self) -> None:
        theme, scene = ViewOptions().theme, drawn(("block", "refused"))
        threads = piece(scene, "threads", Squares)
        assert (threads.fill == threads.palette.index(theme.warning)).sum() == 529 - 512
        assert {"23 × 23 = 529 threads", "17 too many", "512 taken"} <= set(texts(scene))

    def test_the_count_grows_to_the_limit(self) -> None:
        counts = [piece(drawn(("block", "refused"), moment), "slots-count", Labels).texts[0] for moment in (0.2, 0.6, 1.0)]
        taken = [int(text.split()[0]) for text in counts]
        assert taken == sorted(taken)
        assert taken[-1] == 512

    def test_launch_sizes_and_arguments_leave_room_for_one_slab_in_the_shared_memory_of_an_sm(self) -> None:
        case, scene = subjects()["block", "tiles"], drawn(("block", "tiles"))
        assert case.shared_bytes == 2 * 32 * 32 * 4
        bar = piece(scene, "memory-bar", Rects).boxes[0, 2]
        assert piece(scene, "slab-0", Rects).boxes[0, 2] == pytest.approx(bar * (8192 + 512) / 16384, abs=5)
        assert scene.find("slab-1") is None

    def test_what_the_driver_reserves_for_each_block_counts(self) -> None:
        case, scene = subjects()["block", "h200"], drawn(("block", "h200"))
        taken = 2 * 64 * 64 * 4
        assert case.device.shared_per_sm // taken == 7
        assert case.device.shared_per_sm // (taken + 1024) == 6
        assert scene.find("slab-5") is not None
        assert scene.find("slab-6") is None
        assert any(text.endswith("6 blocks would fit") for text in texts(scene))


class TestBlockPhase:
    def test_numbers_are_counted(self) -> None:
        case: BlockPhase = subjects()["block_phase", ""]
        assert (case.threads, case.loads, case.operations, case.shared_bytes) == (256, 512, 8192, 2048)
        assert case.fitting == {"shared memory": 6, "threads": 3}
        assert case.matrices == ("A", "B")

    def test_padded_tiles_are_not_shown_as_loaded(self) -> None:
        text = load_kernel("04_tiled").text.replace("tileA[TILE_WIDTH][TILE_WIDTH]", "tileA[TILE_WIDTH][TILE_WIDTH + 1]")
        padded = setup_for(parse_kernel(text, "padded.cu"), Problem(32, 32, 32), {"TILE_WIDTH": 16})
        with pytest.raises(UsageError, match="other cells than those that one phase loads"):
            value_of(BlockPhase, Knowledge(Shot(padded), Interpreter()))

    def test_loads_arrive_before_operations_are_done(self) -> None:
        early = texts(drawn(("block_phase", ""), 0.4))
        assert "0 operations" in early
        assert "512 loads" not in early
        late = {text.replace("\u202f", "") for text in texts(drawn(("block_phase", "")))}
        assert {"512 loads", "8192 operations", "6 blocks: 3072 loads pending", "3 blocks: 1536 loads pending"} <= late


class TestAccessTimes:
    def test_words_arrive_at_their_recorded_cycles(self) -> None:
        case: AccessTimesCase = subjects()["access_times", ""]
        cycles = {row.memory: row.cycles for row in case.times.rows}
        assert cycles["register"] < cycles["shared"] < cycles["L1"] < cycles["L2"] < cycles["DRAM"]
        now = 0.85 * (cycles["L2"] + 1) / cycles["DRAM"]
        arrived = {each.key for each in drawn(("access_times", ""), now).all if each.key.startswith("cycles-")}
        assert arrived == {f"cycles-{memory}" for memory, at in cycles.items() if at <= cycles["L2"] + 1}

    def test_distances_are_on_one_scale(self) -> None:
        scene, case = drawn(("access_times", "")), subjects()["access_times", ""]
        ways = {
            row.memory: float(np.diff(piece(scene, f"way-{row.memory}", Lines).segments[0, [0, 2]])[0])
            for row in case.times.rows
        }
        for row in case.times.rows:
            assert ways[row.memory] / ways["DRAM"] == pytest.approx(row.cycles / case.times.cycles("DRAM"))


class TestDeclarations:
    def test_each_declaration_is_in_its_memory(self) -> None:
        found = {each.name: each.space for each in declarations(load_kernel("qualifiers").text)}
        assert found == {
            "Scale": "constant", "Offset": "global", "Mds": "shared", "Nds": "shared", "Md": "global", "Nd": "global",
            "Pd": "global", "Products": "local", "Row": "register", "Col": "register", "Pvalue": "register", "m": "register",
            "k": "register",
        }  # fmt: skip

    def test_values_stand_for_macros_and_comments_are_left_out(self) -> None:
        text = "__global__ void f(float* A /* int q; */) { __shared__ float t[T][T + 1]; // float no;\n int a = g(1, 2), b; }"
        assert [each.text for each in declarations(text, {"T": 4})] == [
            "__shared__ float t[4][4 + 1]", "float* A", "int a", "int b",
        ]  # fmt: skip

    def test_names_end_in_their_cards(self) -> None:
        scene = drawn(("spaces", "qualifiers"))
        cards = {name: piece(scene, f"memory-{name}", Rects).boxes[0] for name in ("constant", "local", "register", "shared")}
        for place, each in enumerate(declarations(load_kernel("qualifiers").text)):
            if each.space in cards:
                x, y = piece(scene, f"chip-{place}", Rects).boxes[0, :2]
                left, top, wide, high = cards[each.space]
                assert left <= x <= left + wide
                assert top <= y <= top + high


class TestCodeAndTiles:
    def test_the_line_of_the_step_is_lit(self) -> None:
        moment = subjects()["code_and_tiles", ""]
        lines = [text for text in texts(drawn(("code_and_tiles", ""))) if "Mds[ty][tx] = " in text]
        assert len(lines) == 1
        source = moment.trace.setup.kernel.text.split("\n")[moment.site.place.line - 1]
        shown = [text.strip() for text in texts(drawn(("code_and_tiles", ""))) if text.strip()]
        assert any(source.strip().startswith(text) for text in shown)

    def test_stored_elements_arrive_in_their_tile(self) -> None:
        stored = moment_of(trace_of("column_first", 4, 4, 4, TILE_WIDTH=2), step=1)
        view = view_named("code_and_tiles")
        early, late = (view.scene(stored, ViewOptions(moment=moment)) for moment in (0.2, 1.0))
        assert sure(piece(late, "tile-Mds", Cells).labels).ravel().tolist() == ["0,0", "0,1", "1,0", "1,1"]
        assert not piece(early, "tile-Mds", Cells).fill.any()
        assert len(piece(early, "flying", Squares).boxes) == 4


class TestDataUse:
    def test_reads_and_writes_are_counted(self) -> None:
        case: DataUse = subjects()["data", ""]
        assert {each.name: (each.reads, each.writes) for each in case.arrays} == {
            "A": (128, 0), "B": (128, 0), "C": (0, 64), "Mds": (512, 128), "Nds": (512, 128),
        }  # fmt: skip
        assert "A and B would fit into its 64 KiB" in texts(drawn(("data", "")))

    def test_large_arrays_do_not_fit_constant_memory(self) -> None:
        case = value_of(DataUse, facts_of("column_first", 256, TILE_WIDTH=16))
        assert not any("would fit" in text for text in texts(view_named("data").scene(case, ViewOptions())))


class TestRounding:
    @pytest.mark.parametrize(("error", "text"), [(2.76e-6, "2.8 · 10⁻⁶"), (0.0, "0"), (1.0, "1.0 · 10⁰")])
    def test_errors_are_written_with_a_power_of_ten(self, error: float, text: str) -> None:
        assert error_text(error) == text

    def test_bars_are_on_one_scale(self) -> None:
        scene = drawn(("rounding", ""))
        float_, double = (piece(scene, f"bar-{place}", Rects).boxes[0, 2] for place in (0, 1))
        assert float_ / double == pytest.approx(3e-6 / 2e-7)
        assert {"float sum", "15 times as large; 16 elements compared"} <= set(texts(scene))


def test_calls_of_the_host_end_in_their_order() -> None:
    case: TransferCase = subjects()["host_timeline", ""]
    most = max(run.total() for run in case.runs)
    first = sure(case.runs[0].calls[0].us) / most
    scene = drawn(("host_timeline", ""), 0.85 * 0.5 * first)
    assert not any(each.key.endswith("-time") for each in scene.all)
    assert sum(each.key.endswith("-time") for each in drawn(("host_timeline", "")).all) == sum(len(r.calls) for r in case.runs)


def test_all_multiprocessors_are_drawn() -> None:
    for device in ("8800gtx", "h200", "rx6800xt", "toy2"):
        scene, setup = drawn(("terms", device)), subjects()["terms", device].setup
        assert (piece(scene, "sms", Cells).fill != 1).sum() == device_for(setup).sms


def test_an_unrecorded_device_is_named() -> None:
    case = value_of(AccessTimesCase, facts_of("column_first", 4, "8800gtx"))
    scene = view_named("access_times").scene(case, ViewOptions())
    assert any("was not measured" in text or "NVIDIA H200" in text for text in texts(scene))
    assert case.times.gpu.name == "NVIDIA H200"
