"""The host's calls: times only where exactly these calls were recorded, and nothing cut."""

from itertools import product

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.recording import TransferCase
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Labels, Lines, Rects, Scene
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import value_of
from gemmviz.teaching.quantities.catalog import quantity_value
from tests.conftest import ENGINE, piece
from tests.legible import too_small, wrong_with

VIEW = view_named("host_timeline")


def facts_of(kernel: str, problem: Problem, device: str = "h200", **parameters: int) -> Knowledge:
    setup = setup_for(load_kernel(kernel), problem, parameters, device=device)
    return Knowledge(Shot(setup, view="host_timeline"), ENGINE)


def square(n: int) -> Problem:
    return Problem(n, n, n)


def case_of(kernel: str, problem: Problem, device: str = "h200", **parameters: int) -> TransferCase:
    return value_of(TransferCase, facts_of(kernel, problem, device, **parameters))


def texts(scene: Scene) -> list[str]:
    return [text for each in scene.all if isinstance(each, Labels) for text in each.texts]


CASES = {
    "recorded": lambda: case_of("04_tiled", square(2048), TILE_WIDTH=32),
    "another kernel": lambda: case_of("03_coalesced", square(2048)),
    "another size": lambda: case_of("04_tiled", square(8), TILE_WIDTH=4),
    "not square": lambda: case_of("04_tiled", Problem(512, 300, 700), TILE_WIDTH=32),
    "G80": lambda: case_of("04_tiled", square(512), "8800gtx", TILE_WIDTH=16),
    "in pieces": lambda: case_of("04_tiled", Problem(512, 4096, 4096), "h100", TILE_WIDTH=32),
    "Radeon": lambda: case_of("reads_c", square(1024), "rx6800xt", BLOCK=16),
}


@pytest.mark.parametrize("which", CASES)
def test_every_text_can_be_read(which: str) -> None:
    case = CASES[which]()
    for frame, moment in product([(1600.0, 900.0), (1600.0, 770.0), (1280.0, 720.0)], [0.0, 0.4, 0.7, 1.0]):
        scene = VIEW.scene(case, ViewOptions(width=frame[0], height=frame[1], moment=moment))
        assert not wrong_with(scene), (frame, moment)
        assert not too_small(scene), (frame, moment)
        assert not any("…" in text for text in texts(scene)), (frame, moment)


@pytest.mark.parametrize(("which", "why"), [
    ("another size", "not measured at this size; recorded on NVIDIA H200: N = 512, 1024, 2048 and 4096"),
    ("not square", "not measured at this size"), ("G80", "not measured on NVIDIA GeForce 8800 GTX"),
    ("Radeon", "not measured on AMD Radeon RX 6800 XT"),
])  # fmt: skip
def test_calls_that_were_not_recorded_have_no_times(which: str, why: str) -> None:
    case = CASES[which]()
    said = texts(VIEW.scene(case, ViewOptions()))
    assert not case.runs
    assert why in case.unmeasured
    assert any(case.unmeasured in text for text in said)
    assert not any("µs" in text for text in said)


def test_another_kernel_does_not_get_the_recorded_ones_time() -> None:
    said = texts(VIEW.scene(CASES["another kernel"](), ViewOptions()))
    assert said.count("not measured") == 2
    assert "2597 µs" in said, "copies of the same bytes on the same device"
    assert not any("932" in text for text in said), "the tiled kernel's time"
    recorded = texts(VIEW.scene(CASES["recorded"](), ViewOptions()))
    assert "1932 µs" in recorded
    assert any("kernel: tiled, 32 wide" in text and "NVIDIA H200" in text for text in recorded)


def test_quantities_refuse_what_was_not_recorded() -> None:
    facts = facts_of("reads_c", square(1024), "rx6800xt", BLOCK=16)
    assert quantity_value("copies_to_device", facts) == 3
    for reference in ("host_run_size", "host_copy_us(memory=pinned)", "host_kernel_us"):
        with pytest.raises(UsageError, match="not measured on AMD Radeon RX 6800 XT"):
            quantity_value(reference, facts)
    other = facts_of("03_coalesced", square(2048))
    assert quantity_value("host_copy_us(memory=pageable)", other) == pytest.approx(6938, abs=1)
    with pytest.raises(UsageError, match="this kernel was not recorded"):
        quantity_value("host_kernel_us", other)


def test_matrices_travel_between_the_memories_call_by_call() -> None:
    case = CASES["Radeon"]()
    calls = [call.name for call in case.calls]
    assert calls == ["Malloc"] * 3 + ["Memcpy"] * 3 + ["launch", "Memcpy"] + ["Free"] * 3
    held = []
    for done in (3, 4, 5, 6, 8, 9, 11):
        motion = VIEW.motion(case, ViewOptions(moment=0.85 * (done + 0.001) / len(calls)))
        held.append({each.key for each in motion if isinstance(each, Rects) and each.key.startswith("held-")})
    ends = [len(each) for each in held]
    assert ends == [0, 1, 2, 3, 3, 2, 0]
    two = structs.replace(case, calls=tuple(call for call in case.calls if call.what != "Cd from C"))
    ways = [piece(VIEW.still(each, ViewOptions()), "ways", Lines).segments for each in (two, case)]
    assert len(ways[0]) < len(ways[1])


def test_each_copy_and_kernel_of_a_piece_is_a_bar_in_the_lane_of_its_stream() -> None:
    """At its recorded time, on one scale for both runs, after the kernels that are before it in its lane."""
    case = CASES["in pieces"]()
    assert case.pieces is not None
    scene = VIEW.scene(case, ViewOptions(moment=1.0))
    starts: dict[tuple[int, int], list[float]] = {}
    left, scales = set[float](), list[float]()
    for row in case.pieces.rows:
        x, y, wide, _ = piece(scene, f"{row.streams}-{row.piece}-{row.what}", Rects).boxes[0]
        starts.setdefault((row.streams, round(y)), []).append(x)
        scales.append(wide / (row.stop_us - row.start_us))
        left.add(round(x - row.start_us * scales[0], 1))
    assert [len(each) for each in starts.values()] == [24, 12, 12]
    assert all(each == sorted(each) for each in starts.values())
    assert max(scales) - min(scales) < 1e-6
    assert max(left) - min(left) < 0.5


def test_an_open_question_shows_the_run_in_one_stream_alone() -> None:
    case = CASES["in pieces"]()
    asked, answered = (VIEW.scene(case, ViewOptions(moment=1.0, counted=share)) for share in (0.0, 1.0))
    bars = [{each.key for each in scene.all if each.key.startswith("2-")} for scene in (asked, answered)]
    assert len(bars[1]) > len(bars[0]) == 0
    texts = [
        " ".join(text for each in scene.all if isinstance(each, Labels) for text in each.texts) for scene in (asked, answered)
    ]
    assert [text.count(" ms") for text in texts] == [1, 2]


def test_what_waits_is_outlined_and_no_two_kernels_run_at_a_time_for_long() -> None:
    case = CASES["in pieces"]()
    assert case.pieces is not None
    waiting = {each.key for each in VIEW.scene(case, ViewOptions(moment=1.0)).all if each.key.endswith("-waits")}
    assert waiting == {f"2-{place}-kernel-waits" for place in range(1, case.pieces.pieces)}
    facts = facts_of("04_tiled", Problem(512, 4096, 4096), "h100", TILE_WIDTH=32)
    for streams in case.pieces.counts:
        idle, whole = (float(quantity_value(f"{name}(streams={streams})", facts)) for name in ("stream_idle_ms", "stream_ms"))
        kernels = sum(row.stop_us - row.start_us for row in case.pieces.of(streams) if row.what == "kernel") / 1e3
        assert whole - idle <= kernels < 1.15 * (whole - idle)


def test_a_launch_that_is_no_recorded_piece_has_no_lanes() -> None:
    for problem, device in ((Problem(512, 4096, 4096), "h200"), (Problem(1024, 4096, 4096), "h100")):
        assert case_of("04_tiled", problem, device, TILE_WIDTH=32).pieces is None
    assert case_of("04_tiled", Problem(512, 4096, 4096), "h100", TILE_WIDTH=16).pieces is None
