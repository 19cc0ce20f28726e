"""Asynchronous copies, fragments, matrix operations, atomics and half, in runs made by hand: counted, drawn, saved, read again,
and searched for hazards.
"""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.counts import Counts, LaunchCounter, count_steps, totals
from gemmviz.analysis.global_hazards import global_hazards
from gemmviz.analysis.hazard import Hazard
from gemmviz.analysis.launch_hazards import LaunchHazards
from gemmviz.analysis.merging import MergingCounter
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.shared_hazards import examined
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.model.arrays import SCALAR, Layout, box, fragment, vector
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import TraceFileError
from gemmviz.model.records import fields
from gemmviz.model.sites import Operand
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.recorder import PhaseFilter, Recorder
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.kit.primitives import Cells
from gemmviz.scenes.kit.theme import TOUCHED
from gemmviz.scenes.kit.view import ViewOptions
from tests.conftest import piece, sampled, sure
from tests.hand_made import LANES, TILE, A, C, HandMade

RULES = MemoryRules()
READ_TILE = Operand(TILE, "read")
FROM_A, TO_TILE = Operand(A, "read", vector(4)), Operand(TILE, "write", vector(4))


def copied(*between: str, begins: Any = LANES, **wait: Any) -> HandMade:
    """Each lane copies 4 halves from A to the tile; then what is named happens; then lane n reads what lane n + 1 copied."""
    run = HandMade()
    run.step("copy", (FROM_A, 4 * begins), (TO_TILE, 4 * begins), is_async=True)
    for what in between:
        if what == "wait":
            run.step("wait", completes=(0,), **wait)
        elif what == "own read":
            run.step("load", (READ_TILE, 4 * LANES))
        else:
            run.step("barrier")
    run.step("load", (READ_TILE, 4 * ((LANES + 1) % 32)))
    return run


def fragments(pitch: int = 8, matrices: tuple[int, ...] = (0,)) -> HandMade:
    run = HandMade()
    run.step("store", (Operand(TILE, "write", vector(4)), 4 * LANES))
    run.step("barrier")
    run.step("load", (Operand(TILE, "read", fragment(8, 8, pitch, 2, matrices)), np.zeros(32, int)))
    return run


def multiplied(waits: bool = True) -> HandMade:
    """One product in registers, and one whose factor is read from shared memory until a wait says that it is done."""
    run = fragments()
    run.step("barrier")
    run.step("product")
    run.step("matrix", (Operand(TILE, "read", fragment(8, 8, 8, 2)), np.zeros(32, int)), is_async=True)
    if waits:
        run.step("wait", completes=(0,), visible_to="block")
    run.step("store", (Operand(TILE, "write"), LANES))
    return run


def added(kind: Any = "atomic", to: int = C) -> HandMade:
    run = HandMade()
    run.step(kind, (Operand(to, "write"), np.zeros(32, int)))
    run.step(kind, (Operand(to, "write"), LANES // 2))
    return run


def boxed() -> HandMade:
    """One thread copies 16 rows of 8 elements into the tile, and all wait at an mbarrier."""
    run, one = HandMade(), np.where(LANES == 0, 0, -1)
    box_of_a, whole_tile = Operand(A, "read", box(16, 8, 16)), Operand(TILE, "write", box(16, 8, 8))
    run.step("copy", (box_of_a, one), (whole_tile, one), is_async=True)
    run.step("wait", completes=(0,), visible_to="block")
    run.step("load", (READ_TILE, LANES))
    run.step("fence")
    return run


RUNS = {
    "copy": copied("wait", "barrier"), "fragment": fragments(), "four fragments": fragments(8, (0, 16, 32, 48)),
    "matrix": multiplied(), "atomic": added(), "shared atomic": added(to=TILE), "box": boxed(),
}  # fmt: skip


def costs(run: HandMade, step: int) -> list[Counts]:
    """What each operand of a step costs."""
    return list(count_steps(run.trace(), [step]).accesses.values())


def hazards_of(run: HandMade) -> list[Hazard]:
    """What both the search of the trace and the one of the stream find in shared memory."""
    stream = LaunchHazards()
    run.play(stream.sink(run.space, run.arrays, -1))
    found = examined(run.trace()).hazards
    assert stream.hazards == found
    return found


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_the_stream_is_counted_as_the_trace_is(run: HandMade) -> None:
    counter = LaunchCounter(RULES)
    run.play(counter.sink(run.space, run.arrays, -1))
    trace = run.trace()
    assert counter.counts.accesses == count_steps(trace, range(trace.steps)).accesses
    merging = MergingCounter(RULES)
    run.play(merging.sink(run.space, run.arrays, -1))
    assert merging.written.counts.total().lanes == counter.counts.total().lanes


@pytest.mark.parametrize(
    ("name", "elements"), sampled(itertools.product(RUNS, ("float16", "bfloat16", "float64", "int8")), every=3)
)
def test_saved_and_read_again(name: str, elements: str, tmp_path: Path) -> None:
    run = dataclasses.replace(RUNS[name], elements=elements)
    trace = run.trace()
    write_trace(trace, tmp_path / "t.gvt")
    back = read_trace(tmp_path / "t.gvt")
    for each in fields(Trace):
        a, b = getattr(trace, each.name), getattr(back, each.name)
        assert np.array_equal(a, b) and a.dtype == b.dtype if isinstance(a, np.ndarray) else a == b, each.name


@pytest.mark.parametrize(("name", "focus"), sampled(itertools.product(RUNS, (Focus(), Focus(thread=3))), every=7))
def test_every_view_draws_every_step(name: str, focus: Focus) -> None:
    reader = Reader(Replay.of(RUNS[name].trace()), focus)
    for step in range(reader.replay.steps):
        for view in views_of(Moment).values():
            moment = 1.0 if step % 2 else 0.3
            assert view.scene(reader.at(step), ViewOptions(moment=moment, code=True)).primitives


class TestCopies:
    def test_both_ends_are_counted(self) -> None:
        outer, shared = costs(copied(), 0)
        assert (outer.requests, outer.sectors, outer.ideal_sectors, outer.bytes_asked) == (1, 8, 8, 256)
        assert (shared.requests, shared.wavefronts, shared.bytes_asked) == (1, 2, 256)

    def test_sums_are_those_of_each_memory(self) -> None:
        reader = Reader(Replay.of(copied("wait", "barrier").trace()))
        sums = reader.replay.sums(reader.scope)
        assert sums["global"][0].tolist() == list(structs.astuple(costs(copied(), 0)[0]))
        assert sums["shared"][0].tolist() == list(structs.astuple(costs(copied(), 0)[1]))

    def test_it_completes_at_the_wait(self) -> None:
        assert copied("wait", "barrier").trace().completes.tolist() == [1, 1, 2, 3]
        assert copied("barrier").trace().completes.tolist() == [3, 1, 2]
        assert not len(fragments().trace().completes)

    def test_before_the_wait_nobody_may_read(self) -> None:
        (found,) = hazards_of(copied("barrier"))
        assert (found.kind, found.is_under_way, found.count, found.array) == ("read after write", True, 32, "tile")
        assert "no wait between" in str(found)
        assert hazards_of(copied("own read", "wait", "barrier"))[0].is_under_way

    def test_after_it_the_thread_itself_may(self) -> None:
        (found,) = hazards_of(copied("wait", "own read"))
        assert not found.is_under_way
        assert found.threads[0] != found.threads[1]

    def test_after_it_and_a_barrier_all_may(self) -> None:
        assert hazards_of(copied("wait", "barrier")) == []
        assert hazards_of(copied("wait", visible_to="block")) == []

    def test_it_may_not_begin_while_others_read(self) -> None:
        run = HandMade()
        run.step("store", (TO_TILE, 4 * LANES))
        run.step("barrier")
        run.step("load", (READ_TILE, 4 * ((LANES + 1) % 32)))
        run.step("copy", (FROM_A, 4 * LANES), (TO_TILE, 4 * LANES), is_async=True)
        assert [(each.kind, each.is_under_way) for each in hazards_of(run)] == [("write after read", False)]

    def test_a_copy_over_one_that_is_under_way(self) -> None:
        run = copied("barrier")
        run.step("copy", (FROM_A, 4 * LANES), (TO_TILE, 4 * LANES), is_async=True)
        kinds = {(each.kind, each.is_under_way) for each in hazards_of(run)}
        assert ("write after write", True) in kinds

    def test_a_wait_completes_what_it_says_alone(self) -> None:
        run = HandMade()
        half = np.where(LANES < 16, 4 * LANES, -1), np.where(LANES >= 16, 4 * LANES, -1)
        for part in half:
            run.step("copy", (FROM_A, part), (TO_TILE, part), is_async=True)
        run.step("wait", completes=(1,))
        run.step("load", (READ_TILE, np.where(LANES >= 16, 4 * LANES, -1)))
        assert hazards_of(run) == []
        run.step("load", (READ_TILE, np.where(LANES < 16, 4 * LANES, -1)))
        assert [each.count for each in hazards_of(run)] == [16]

    def test_a_filter_of_phases_numbers_what_it_lets_through(self) -> None:
        run = copied("wait", "barrier")
        recorder = Recorder(run.space, run.arrays, False, 1 << 20)
        run.play(PhaseFilter(recorder, 7, (0, 1)))
        assert recorder.completes().tolist() == [1, 1, 2, 3]

    def test_a_completion_without_a_wait_is_refused(self, tmp_path: Path) -> None:
        trace = copied("wait", "barrier").trace()
        for wrong in ([2, 1, 2, 3], [0, 1, 2, 3], [1, 1, 2, 4], []):
            with pytest.raises(TraceFileError):
                write_trace(dataclasses.replace(trace, completes=np.array(wrong, np.int32)), tmp_path / "t.gvt")

    def test_both_ends_are_drawn(self) -> None:
        moment = Reader(Replay.of(copied("wait", "barrier").trace())).at(0)
        assert "32 threads each copy 4 elements of A into tile" in " ".join(texts_of(moment, "memory"))
        assert "8 sectors of 8 needed" in " ".join(texts_of(moment, "memory"))
        assert "2 wavefronts" in " ".join(texts_of(moment, "banks"))
        assert sorted(moment.touched[0].cells.tolist()) == list(range(128))

    def test_one_thread_copies_a_box(self) -> None:
        outer, shared = costs(boxed(), 0)
        assert (outer.lanes, outer.sectors, outer.bytes_asked, outer.bytes_used) == (1, 16, 256, 256)
        assert (shared.wavefronts, shared.bytes_asked) == (2, 256)
        moment = Reader(Replay.of(boxed().trace())).at(0)
        assert moment.touched[0].cells.tolist() == [16 * row + column for row in range(16) for column in range(8)]
        assert moment.touched[1].cells.tolist() == list(range(128))
        assert hazards_of(boxed()) == []


class TestFragments:
    def test_each_lane_has_its_elements(self) -> None:
        layout = fragment(8, 8, 64, 2)
        assert (layout.lanes, layout.width) == (32, 2)
        assert layout.table[0].tolist() == [0, 1]
        assert layout.table[5].tolist() == [64 + 2, 64 + 3]
        assert sorted(layout.offsets) == [row * 64 + column for row in range(8) for column in range(8)]

    @pytest.mark.parametrize(
        ("layout", "wavefronts"),
        [(fragment(8, 8, 8, 2), 1), (fragment(8, 8, 64, 2), 8), (fragment(8, 8, 8, 2, (0, 16, 32, 48)), 4)],
    )
    def test_wavefronts(self, layout: Layout, wavefronts: int) -> None:
        """Rows side by side take all banks once; rows 128 bytes apart meet in the same ones; each matrix is a pass."""
        run = HandMade()
        array = structs.replace(run.arrays[TILE], shape=(64, 64))
        run.arrays = (*run.arrays[:TILE], array)
        run.step("load", (Operand(TILE, "read", layout), np.zeros(32, int)))
        (found,) = costs(run, 0)
        assert (found.wavefronts, found.requests, found.bytes_asked) == (wavefronts, 1, 32 * layout.width * 2)

    def test_sectors(self) -> None:
        run = HandMade()
        run.step("load", (Operand(A, "read", fragment(8, 8, 16, 2)), np.zeros(32, int)))
        (found,) = costs(run, 0)
        assert (found.sectors, found.ideal_sectors, found.bytes_used) == (8, 4, 128)  # half of each sector of a row

    def test_its_cells_are_drawn(self) -> None:
        moment = Reader(Replay.of(fragments().trace())).at(2)
        assert sorted(moment.touched[0].cells.tolist()) == list(range(64))
        scene = view_named("stage").scene(moment, ViewOptions(moment=1.0))
        lit = np.asarray(piece(scene, "tile-tile", Cells).fill).ravel() % 3 == TOUCHED
        assert lit.tolist() == [True] * 64 + [False] * 64
        card = piece(view_named("banks").scene(moment, ViewOptions()), "banks", Cells)
        assert card.labels is not None
        assert np.asarray(card.labels).ravel().tolist() == [str(lane) for lane in range(32)]

    def test_a_thread_follows_its_own_elements(self) -> None:
        moment = Reader(Replay.of(fragments().trace()), Focus(thread=5)).at(2)
        assert moment.touched[0].cells.tolist() == [8 + 2, 8 + 3]

    def test_a_store_that_no_barrier_orders(self) -> None:
        run = HandMade()
        run.step("store", (Operand(TILE, "write", vector(4)), 4 * LANES))
        run.step("load", (Operand(TILE, "read", fragment(8, 8, 8, 2)), np.zeros(32, int)))
        assert [each.kind for each in hazards_of(run)] == ["read after write"]
        assert hazards_of(fragments()) == []


class TestMatrixOperations:
    def test_in_registers_it_touches_nothing(self) -> None:
        assert costs(multiplied(), 4) == []
        moment = Reader(Replay.of(multiplied().trace())).at(4)
        assert not moment.site.is_barrier
        assert "32 threads together multiply two matrices" in " ".join(texts_of(moment, "stage"))

    def test_two_operands_in_one_array_are_both_drawn(self) -> None:
        run = HandMade()
        factors = (Operand(TILE, "read", fragment(4, 8, 8, 1)), Operand(TILE, "read", Layout((64,))))
        run.step("matrix", *((each, LANES * place) for place, each in enumerate(factors)))
        scene = view_named("stage").scene(Reader(Replay.of(run.trace())).at(0), ViewOptions(moment=1.0))
        lit = np.asarray(piece(scene, "tile-tile", Cells).fill).ravel() % 3 == TOUCHED
        assert np.flatnonzero(lit).tolist() == [*range(32), *range(64, 96)]

    def test_its_factors_may_be_written_after_the_wait(self) -> None:
        assert hazards_of(multiplied()) == []

    def test_and_not_before(self) -> None:
        assert [(each.kind, each.is_under_way) for each in hazards_of(multiplied(waits=False))] == [("write after read", True)]


class TestAtomics:
    def test_counted_by_themselves(self) -> None:
        one, several = costs(added(), 0)[0], costs(added(), 1)[0]
        assert (one.requests, one.lanes, one.sectors) == (1, 32, 1)
        assert several.sectors == 1
        found = totals(count_steps(added().trace(), [0, 1]))
        assert (found["global_atomic_requests"], found["global_store_requests"]) == (2, 0)
        assert totals(count_steps(added(to=TILE).trace(), [0]))["shared_atomic_instructions"] == 1
        assert "global_atomic_requests" not in totals(count_steps(fragments().trace(), [0]))

    def test_they_order_themselves(self) -> None:
        assert global_hazards(added().trace()).hazards == ()
        assert global_hazards(added("store").trace()).hazards != ()
        assert hazards_of(added(to=TILE)) == []
        assert hazards_of(added("store", to=TILE)) != []

    def test_and_nothing_else(self) -> None:
        for to, find in ((C, lambda run: global_hazards(run.trace()).hazards), (TILE, hazards_of)):
            run = added(to=to)
            run.step("load", (Operand(to, "read"), np.zeros(32, int)))
            assert [each.kind for each in find(run)] == ["read after write"]

    def test_in_words(self) -> None:
        moment = Reader(Replay.of(added().trace())).at(0)
        assert "32 threads each update one element of C, one after the other" in " ".join(texts_of(moment, "memory"))


class TestHalf:
    def test_two_bytes_each(self) -> None:
        run = HandMade()
        run.step("load", (Operand(A, "read"), LANES))
        assert costs(run, 0)[0].sectors == 2
        assert costs(dataclasses.replace(run, elements="float64"), 0)[0].sectors == 8

    def test_values_have_as_many_digits_as_it_has(self) -> None:
        run = HandMade()
        run.step("load", (Operand(A, "read"), LANES))
        assert run.arrays[A].element.text(1 / 3, 6) == "0.3333"
        assert sure(run.trace().value)[0, 0] == 0.5


def texts_of(moment: Moment, view: str) -> list[str]:
    """All texts of a view."""
    scene = view_named(view).scene(moment, ViewOptions(moment=1.0))
    return [text for each in scene.primitives for text in getattr(each, "texts", ())] + [
        text for each in scene.words for text in getattr(each, "texts", ())
    ]


def test_a_layout_says_scalars_vectors_boxes_and_fragments() -> None:
    assert [each.is_dense for each in (SCALAR, vector(4), box(2, 2, 8))] == [True, True, False]
    assert box(2, 2, 8).offsets == (0, 1, 8, 9)
    assert [(run.first.tolist(), run.width) for run in box(2, 2, 8).runs] == [([0], 2), ([8], 2)]
    assert len(vector(4).runs) == 1
    assert vector(2).spread(np.array([3, 9]), None).tolist() == [[3, 4], [9, 10]]
    assert fragment(2, 2, 8, 1).spread(np.array([0, 0, 0]), np.array([1, 3, 5])).ravel().tolist() == [1, 9, 1]
