"""No text stands over another, and none is cut: from the scenes' own boxes, over every shipped kernel, view and kind of step."""

import dataclasses
from functools import cache

import pytest
from msgspec import structs
from recording.stored import advances_of

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.analysis.replay.replay import COMPUTE, LOAD_A, Replay
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import watch_thread
from gemmviz.run.stored import RecordedTimes
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.kit.primitives import FONT_FILES, Labels, _advances, bundled_font, text_width
from gemmviz.scenes.kit.view import LAYERS, ViewOptions
from gemmviz.shots.kinds.counted import speed_case_of
from gemmviz.shots.kinds.launches import grid_case
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.shot import Against, Shot, Trial
from tests.analysis.test_reasons import counted, setup_of
from tests.conftest import piece, sampled, sure, trace_of
from tests.legible import texts_of, wrong_with

FRAMES = [(1600.0, 900.0), (1600.0, 1059.0), (1600.0, 1200.0), (1100.0, 1000.0), (930.0, 1300.0), (1067.0, 600.0)]
CARD = (1240.0, 800.0)  # what a card has in a small window


@cache
def reader_of(kernel: str) -> Reader:
    setup = setup_for(load_kernel(kernel))
    reader = Reader(Replay.of(trace_of(kernel, *setup.problem.sizes.values(), values=True)))
    reader.watched = watch_thread(reader.replay.trace.setup, (0, 0, 0), (0, 0, 0))
    return reader


def steps_of(reader: Reader) -> dict[str, int]:
    """The first, a load in the middle, one that multiplies, and the last."""
    track = reader.replay.timeline.track.tolist()
    half = len(track) // 2
    load = next((step for step in range(half, len(track)) if track[step] == LOAD_A), 0)
    compute = next((step for step in range(half, len(track)) if track[step] == COMPUTE), half)
    return {"first": 0, "load": load, "compute": compute, "last": len(track) - 1}


def views() -> list[str]:
    return [name for name in views_of(Moment) if name != "pair"]


@pytest.mark.parametrize(
    ("kernel", "step"),
    sampled([(kernel, step) for kernel in kernel_names() for step in ("first", "load", "compute", "last")], 5),
)
def test_every_view_of_every_kernel(kernel: str, step: str) -> None:
    reader = reader_of(kernel)
    now = reader.at(steps_of(reader)[step])
    wrong = {}
    for name in views():
        if view_named(name).chart is None:
            wrong[name] = wrong_with(view_named(name).scene(now, ViewOptions()))
    assert {name: each[:3] for name, each in wrong.items() if each} == {}


@pytest.mark.parametrize(("kernel", "frame"), sampled([(kernel, frame) for kernel in kernel_names() for frame in FRAMES], 5))
def test_the_stage_in_every_shape(kernel: str, frame: tuple[float, float]) -> None:
    reader = reader_of(kernel)
    wrong = {}
    for step, at in steps_of(reader).items():
        for lens in ("whole", "lens"):
            options = ViewOptions(width=frame[0], height=frame[1], lens=lens, code=step == "load")  # type: ignore[arg-type]
            wrong[step, lens] = wrong_with(view_named("stage").still(reader.at(at), options))
    assert {name: each[:3] for name, each in wrong.items() if each} == {}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("frame", [FRAMES[0], FRAMES[4]])
def test_the_legend_of_every_layer(layer: str, frame: tuple[float, float]) -> None:
    for kernel in ("04_tiled", "08_register_tiled"):
        reader = Reader(reader_of(kernel).replay, Focus(everyone=True))
        options = ViewOptions(width=frame[0], height=frame[1], layer=layer)  # type: ignore[arg-type]
        assert wrong_with(view_named("stage").still(reader.at(9), options)) == []


@cache
def part_of_large() -> Reader:
    return Reader(Replay.of(trace_of("08_register_tiled", 256, 256, 256, blocks="0:1,0:1")))


@pytest.mark.parametrize("frame", [*FRAMES, CARD])
def test_a_launch_of_which_a_part_is_traced(frame: tuple[float, float]) -> None:
    reader = part_of_large()
    for step in (0, reader.replay.steps // 2):
        assert wrong_with(view_named("stage").still(reader.at(step), ViewOptions(width=frame[0], height=frame[1]))) == []


@pytest.mark.parametrize("size", [8, 512, 4096])
@pytest.mark.parametrize(
    ("kernel", "frame"), [("02_naive", FRAMES[5]), ("04_tiled", FRAMES[0]), ("08_register_tiled", FRAMES[5]), ("08_register_tiled", CARD)]
)  # fmt: skip
def test_cards(kernel: str, frame: tuple[float, float], size: int) -> None:
    shot = Shot(setup_for(load_kernel(kernel), Problem(size, size, size)))
    options = ViewOptions(width=frame[0], height=frame[1])
    for tried in (Trial(), Trial(registers=200, threads=1024)):
        case = sure(occupancy_case(Shot(shot.setup, trial=tried)))
        assert wrong_with(view_named("occupancy").still(case, options)) == []
    assert wrong_with(view_named("occupancy").still(case, ViewOptions(height=240, words=False))) == []
    elsewhere = structs.replace(shot, against=Against(structs.replace(shot.setup, device="rtx4090")))
    for grid in filter(None, (grid_case(shot), grid_case(elsewhere))):
        assert wrong_with(view_named("grid").still(grid, options)) == []


@pytest.mark.parametrize(("kernel", "parameters"), [("02_naive", {"BLOCK": 32}), ("07_tiled_transposed", {"TILE_WIDTH": 32})])
def test_why(kernel: str, parameters: dict[str, int]) -> None:
    setup = setup_of(kernel, 1024, **parameters)
    case = speed_case_of(Shot(setup), counted(setup), RecordedTimes().time(setup))
    for frame in (FRAMES[0], FRAMES[1], CARD):
        assert wrong_with(view_named("why").still(case, ViewOptions(width=frame[0], height=frame[1]))) == []


def test_two_at_once() -> None:
    for other in ("02_naive", "08_register_tiled"):
        left, right = reader_of(other), reader_of("04_tiled")
        for frame in (FRAMES[0], FRAMES[1], CARD):
            scene = view_named("pair").still(
                Pair(left.at(3), right.at(9), "phase", times_ms=(1.0, 2.0), marked=("A", 0, 1)),
                ViewOptions(width=frame[0], height=frame[1]),
            )
            assert wrong_with(scene) == []


def test_two_through_lenses() -> None:
    parts = (("04_tiled", {"TILE_WIDTH": 32}), ("08_register_tiled", {"TILE_WIDTH": 32, "PER_THREAD": 4, "DEPTH": 8}))
    left, right = (
        Reader(Replay.of(trace_of(kernel, 256, 256, 256, blocks="0:1,0:1", phases="1-4", **parameters)), Focus(warp=0))
        for kernel, parameters in parts
    )
    for frame in (FRAMES[0], CARD):
        for step in (0, 120):
            scene = view_named("pair").still(
                Pair(left.at(min(step, left.replay.steps - 1)), right.at(step), "k"),
                ViewOptions(width=frame[0], height=frame[1]),
            )
            assert wrong_with(scene) == []


def test_what_is_wrong_is_found() -> None:
    scene = view_named("stage").still(reader_of("04_tiled").at(0), ViewOptions())
    assert len(texts_of(scene)) > 40
    title = piece(scene, "title", Labels)
    over, beyond = (
        dataclasses.replace(title, key="over", at=title.at + 5),
        dataclasses.replace(title, key="beyond", at=title.at - 60),
    )
    assert any("overlap" in each for each in wrong_with(dataclasses.replace(scene, words=(*scene.words, over))))
    assert any("leaves" in each for each in wrong_with(dataclasses.replace(scene, words=(beyond,))))


def test_the_stored_widths_are_those_of_the_fonts() -> None:
    assert {face: advances_of(face) for face in FONT_FILES} == _advances(), "run make record WHAT=advances"


def test_widths_need_no_font() -> None:
    bundled_font.cache_clear()
    text_width.cache_clear()
    assert text_width("letters", 12.5) > text_width("letters", 12.0) > 0
    assert bundled_font.cache_info().misses == 0
