"""Who reads the same element, and where elements move: the pictures against the trace."""

from collections import defaultdict

import numpy as np
import pytest

from gemmviz.analysis.models import occupancy_limits
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.files.devices import load_device
from gemmviz.model.device import Needs
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Rects, Scene, Squares
from gemmviz.scenes.kit.view import ARRIVAL, ViewOptions
from gemmviz.scenes.views.accesses_view import accesses_motion, accesses_scene
from gemmviz.scenes.views.block_tiles_view import tiles_motion
from gemmviz.scenes.views.on_chip_view import sm_memory_motion, sm_memory_scene
from gemmviz.scenes.views.sum_view import sum_motion
from tests.conftest import piece, sure, trace_of

OPTIONS = ViewOptions()
BEFORE, HALF = ViewOptions(moment=0.0), ViewOptions(moment=ARRIVAL / 2)


def moment_at(
    step: int, kernel: str = "one_element", size: int = 4, focus: Focus | None = None, **options: int | str
) -> Moment:
    reader = Reader(Replay.of(trace_of(kernel, size, size, size, values=True, **options)), focus or Focus())
    reader.replay.terms(reader.scope)
    return reader.at(step)


def joined(scene: Scene, name: str) -> set[tuple[int, ...]]:
    """Rows of the table that a bracket joins."""
    cells = piece(scene, "accesses-0", Cells)
    found = set()
    for each in scene.primitives:
        if isinstance(each, Lines) and each.key.startswith(f"sharing-{name}"):
            noses = [y0 for _, y0, _, y1 in each.segments.tolist() if y0 == y1]
            found.add(tuple(round((y - cells.y) / cells.pitch - 0.5) for y in noses))
    return found


@pytest.mark.parametrize("step", range(8))
def test_brackets_join_the_threads_that_read_the_same_element(step: int) -> None:
    moment = moment_at(step, BLOCK=2)
    trace, scene = moment.trace, accesses_scene(moment, OPTIONS)
    for name, at in (("A", step - step % 2), ("B", step - step % 2 + 1)):
        readers = defaultdict(list)
        for thread in range(4 if at <= step else 0):
            readers[int(trace.element[trace.row[at], thread])].append(thread)
        assert joined(scene, name) == {tuple(each) for each in readers.values() if len(each) > 1}


def test_nothing_is_joined_where_each_element_is_copied_once() -> None:
    moment = moment_at(12, "phases_by_ceil", TILE_WIDTH=2)
    assert not joined(accesses_scene(moment, OPTIONS), "A") | joined(accesses_scene(moment, OPTIONS), "B")


def test_an_element_parts_on_its_way_to_two_threads() -> None:
    moment = moment_at(5, BLOCK=2)
    at = [next(each for each in accesses_motion(moment, o) if isinstance(each, Squares)).boxes[:, :2] for o in (BEFORE, HALF)]
    assert [len(np.unique(np.round(each, 6), axis=0)) for each in at] == [2, 4]
    assert accesses_motion(moment, OPTIONS) == ()
    so_far = [piece(accesses_scene(moment, o), "accesses-9-0", Labels).texts for o in (HALF, OPTIONS)]
    assert so_far == [("5",), ("6",)]


def test_elements_move_to_the_threads_of_the_watched_block() -> None:
    moment = moment_at(5, focus=Focus((1, 0, 0)), BLOCK=2)
    start, end = (sure(tiles_motion(moment, o))[0] for o in (BEFORE, ViewOptions(moment=ARRIVAL - 1e-6)))
    assert isinstance(start, Rects)
    assert isinstance(end, Rects)
    assert len(np.unique(start.boxes, axis=0)) == 2  # two elements of B
    assert len(np.unique(np.round(end.boxes, 2), axis=0)) == 4  # at four elements of C
    assert tiles_motion(moment, OPTIONS) == ()


def test_a_bar_of_a_product_grows_to_its_place() -> None:
    moment = moment_at(5, BLOCK=2)
    heights = [float(sum_motion(moment, ViewOptions(moment=m))[0].boxes[0, 3]) for m in (0.1, 0.4, 0.7)]  # type: ignore[union-attr]
    assert heights == sorted(heights)
    assert sum_motion(moment, OPTIONS) == ()
    assert sum_motion(moment_at(4, BLOCK=2), HALF) == ()  # a factor alone is no product


def test_parts_of_shared_memory_are_to_scale() -> None:
    moment = moment_at(0, "04_tiled", 32, TILE_WIDTH=16, device="8800gtx")
    scene = sm_memory_scene(moment, OPTIONS)
    bar = piece(scene, "shared memory-bar", Rects).boxes[0]
    limits = occupancy_limits(load_device("8800gtx"), Needs(256, None, 2048))
    parts = [each for each in scene.primitives if each.key.startswith("shared memory-part-")]
    assert len(parts) == limits.blocks_per_sm == 3
    assert isinstance(parts[1], Rects)
    assert isinstance(parts[0], Rects)
    assert parts[1].boxes[0, 0] - parts[0].boxes[0, 0] == pytest.approx(bar[2] * 2560 / 16384)
    assert "8.5 KiB" in piece(scene, "shared memory-free", Labels).texts[0]


def test_copies_pass_through_registers() -> None:
    bars = [piece(sm_memory_scene(moment_at(0, "04_tiled", 32, TILE_WIDTH=16, device="8800gtx"), OPTIONS), key, Rects).boxes[0]
            for key in ("registers-bar", "shared memory-bar", "outer-bar")]  # fmt: skip
    inside = []
    for step in (0, 1):
        moment = moment_at(step, "04_tiled", 32, TILE_WIDTH=16, device="8800gtx")
        for share in (0.0, 1.0):
            (chips,) = sm_memory_motion(moment, ViewOptions(moment=share))
            assert isinstance(chips, Rects)
            y = float((chips.boxes[:, 1] + chips.boxes[:, 3] / 2).mean())
            inside.append(next(place for place, bar in enumerate(bars) if bar[1] <= y <= bar[1] + bar[3]))
    assert inside == [2, 0, 0, 1]  # global memory to registers, registers to shared memory
