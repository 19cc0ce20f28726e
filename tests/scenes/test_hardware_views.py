"""Views of what the hardware does: fetching, reaching memories, changing warps, delivering words, multiplying tiles."""

from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recordings
from gemmviz.model.cases import TF32_TILE, TripCase
from gemmviz.model.recording import AccessTimes
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Cells, Labels, Rects, Scene, Squares
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.subject import value_of
from tests.conftest import moment_of, piece, sure, trace_of
from tests.legible import wrong_with
from tests.scenes.test_device_views import FRAMES, launched, occupied, shot_of

MOMENTS = (0.0, 0.25, 0.5, 0.75, 1.0)


def trip(device: str) -> TripCase:
    return value_of(TripCase, Knowledge(shot_of("03_coalesced", device=device), Interpreter()))


@cache
def subjects() -> dict[str, Any]:
    """A subject for each of the views."""
    trace = trace_of("03_coalesced", 32, 32, 32, BLOCK=32)
    return {
        "fetch": moment_of(trace, 1, Focus(warp=0)), "mapping": moment_of(trace, 1, Focus(warp=0)),
        "reach": launched("04_tiled", device="a100"), "device": launched("04_tiled", device="a100"),
        "switch": occupied(256, 32), "trip": trip("h200"),
        "tensor_tile": launched("03_coalesced"),
    }  # fmt: skip


def drawn(name: str, moment: float = 1.0, **options: Any) -> Scene:
    return view_named(name).scene(subjects()[name], ViewOptions(moment=moment, **options))


def texts(scene: Scene) -> list[str]:
    return [text for each in scene.all if isinstance(each, Labels) for text in each.texts]


@pytest.mark.parametrize("name", ["fetch", "reach", "switch", "trip", "tensor_tile", "device"])
def test_text_can_be_read(name: str) -> None:
    for frame, moment in product(FRAMES, MOMENTS):
        assert wrong_with(drawn(name, moment, width=frame[0], height=frame[1])) == [], (frame, moment)


@pytest.mark.parametrize("name", ["fetch", "mapping", "reach", "switch", "trip", "tensor_tile", "device"])
def test_every_part_of_the_motion_shows_something_else(name: str) -> None:
    pictures = [drawn(name, moment) for moment in (0.0, 0.3, 0.6, 1.0)]
    assert all(one != other for one, other in pairwise(pictures))


def test_one_instruction_becomes_one_for_each_lane() -> None:
    before, after = drawn("fetch", 0.0), drawn("fetch")
    chips = piece(before, "instruction", Rects).boxes
    assert len(chips) == 32
    assert len(np.unique(chips, axis=0)) == 1
    assert after.find("instruction") is None
    assert piece(after, "lanes-names", Labels).texts[:2] == ("0: B[0, 0]", "1: B[0, 1]")


def test_idle_lanes_stay_dark() -> None:
    """The last warp of a block of 48 threads."""
    moment = moment_of(trace_of("linear_block", 16, 16, 16, BLOCK=48), 0, Focus(warp=1))
    scene = view_named("fetch").scene(moment, ViewOptions())
    assert len(piece(scene, "lanes", Rects).boxes) == 16
    assert len(piece(scene, "lanes-idle", Rects).boxes) == 16


def test_lanes_end_at_their_elements() -> None:
    """Chips that read B lie in one row of cells just before they arrive, as the elements that this kernel reads do."""
    scene = drawn("mapping", 0.849)
    chips, cells = piece(scene, "flying-B", Rects).boxes, piece(scene, "mapping-B", Cells)
    assert len(chips) == 32
    assert np.allclose(chips[:, 1], cells.y, atol=1.0)
    assert np.allclose(chips[:, 0], cells.x + np.arange(32) * cells.size, atol=1.0)


def test_a_word_for_the_neighbour_turns_back() -> None:
    first, last = (piece(drawn("reach", moment), "words", Squares).boxes for moment in (0.0, 1.0))
    own, shared = last[0], piece(drawn("reach"), "shared-0-box", Rects).boxes[0]
    assert shared[0] < own[0] < shared[0] + shared[2]
    assert shared[1] < own[1] < shared[1] + shared[3]
    assert np.allclose(first[2], last[2])
    edge = piece(drawn("reach"), "sm-0-box", Rects).boxes[0]
    furthest = max(float(piece(drawn("reach", m), "words", Squares).boxes[2, 0]) for m in np.linspace(0, 1, 40))
    assert furthest <= edge[0] + edge[2]


def test_clusters_are_mentioned_where_blocks_may_form_them() -> None:
    notes = [texts(view_named("reach").scene(launched("04_tiled", device=name), ViewOptions())) for name in ("a100", "h200")]
    assert [any("clusters" in text for text in note) for note in notes] == [False, True]


def test_registers_of_warps_stay_and_those_of_threads_move() -> None:
    places = {moment: drawn("switch", moment) for moment in np.linspace(0, 0.85, 30).tolist()}
    for key in ("warp-0", "warp-15"):
        assert len({piece(scene, key, Rects).boxes.tobytes() for scene in places.values()}) == 1
    core = piece(drawn("switch", 0.0), "thread-0", Rects).boxes
    for scene in places.values():
        inside = [number for number in range(4) if np.allclose(piece(scene, f"thread-{number}", Rects).boxes, core)]
        assert len(inside) <= 1
    assert np.allclose(piece(drawn("switch"), "thread-3", Rects).boxes, core)
    assert "one scheduler: 16 warps, 4 KiB of registers each" in texts(drawn("switch"))


def test_words_follow_from_time_and_bandwidth() -> None:
    times = recordings("access-times", AccessTimes)[0]
    case = TripCase(times, sure(times.cycles("DRAM")), load_device("h200").bandwidth_gb_s)
    assert case == subjects()["trip"]
    assert case.trip_ns == pytest.approx(700.72 / 1.98, abs=0.01)
    assert case.words == pytest.approx(4.8e12 * 700.72 / 1.98e9 / 4, rel=1e-6)
    grid = piece(drawn("trip"), "words", Cells)
    assert (grid.fill == 1).sum() == case.words // 4096
    assert (piece(drawn("trip", 0.0), "words", Cells).fill == 1).sum() == 0


def test_a_trip_is_of_the_recorded_gpu() -> None:
    case = trip("8800gtx")
    assert isinstance(case, TripCase)
    assert case.bandwidth_gb_s == load_device("h200").bandwidth_gb_s


def test_an_instruction_multiplies_its_tile() -> None:
    assert TF32_TILE.products == 16 * 8 * 8
    scene = drawn("tensor_tile")
    for name, count in (("A", 16 * 8), ("B", 8 * 8), ("C", 16 * 8)):
        cells = piece(scene, name, Cells)
        strongest = [place for place, colour in enumerate(cells.palette) if colour == load_theme("dark").accent(name)]
        assert np.isin(cells.fill, strongest).sum() == count
    assert "instruction 4 of 4 for this tile of C" in texts(scene)


def test_a_device_without_the_instruction_says_so() -> None:
    scene = view_named("tensor_tile").scene(launched("03_coalesced", size=16, device="8800gtx", BLOCK=16), ViewOptions())
    assert any("compute capability 8.0" in text for text in texts(scene))


def test_the_chip_fills_with_multiprocessors() -> None:
    counts = [(piece(drawn("device", moment), "sms", Cells).fill != 1).sum() for moment in MOMENTS]
    assert counts[0] == 1
    assert counts == sorted(counts)
    assert counts[-1] == 108
    assert "the chip: 108 SMs, 6912 cores" in texts(drawn("device"))


def test_slots_that_stay_empty_are_counted() -> None:
    """Two blocks of 22 warps in 64 slots; 8 blocks of 8 warps fill them."""
    scenes = {threads: view_named("occupancy").scene(occupied(threads), ViewOptions()) for threads in (700, 256)}
    assert "20 of 64 slots stay empty" in texts(scenes[700])
    assert scenes[256].find("empty-name") is None


@pytest.mark.parametrize("threads", [700, 1024])
def test_blocks_that_fall_stay_below_the_title(threads: int) -> None:
    """A block of several rows comes from behind the heading, row by row."""
    view = view_named("occupancy")
    tray = piece(view.scene(occupied(threads), ViewOptions()), "slots", Cells)
    for moment in np.linspace(0, 1, 25):
        motion = view.motion(occupied(threads), ViewOptions(moment=float(moment)))
        falling = [each.boxes for each in motion if isinstance(each, Rects) and each.key.startswith("block-")]
        assert all((boxes[:, 1] > tray.y - tray.pitch).all() for boxes in falling)
