"""Sentences about a step: their numbers are counted again here, in the record of the trace."""

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import all_kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.engine import Recording
from gemmviz.scenes.kit.sentence import beat, stage_of_run
from tests.conftest import kernel_from, outcome_of, sampled, sure, trace_of


def moments(trace: Trace, focus: Focus | None = None) -> list[Moment]:
    reader = Reader(Replay.of(trace), focus)
    return [reader.at(step) for step in range(trace.steps)]


def texts(trace: Trace, focus: Focus | None = None) -> list[str]:
    return [beat(each).text for each in moments(trace, focus)]


_UNFINISHED = {"piece_1", "piece_2", "piece_3", "wide_block"}  # nothing in them can be run
_UNFINISHED |= {name for name in all_kernel_names() if load_kernel(name).blanks and name != "missing_barriers"}


@pytest.mark.parametrize("name", sampled(sorted({*all_kernel_names()} - _UNFINISHED), 2))
def test_every_number_is_that_of_the_trace(name: str) -> None:
    """The number is the count of active threads, the verb that of the site, and the array one that the step touches."""
    trace = trace_kernel(setup_for(load_kernel(name)), None, Recording(values=True)).trace
    assert trace is not None
    verbs = {
        "load": ("fetch", "read", "multipl"),
        "store": ("store",),
        "copy": ("cop",),
        "atomic": ("update",),
        "barrier": ("wait",),
    }
    for now in moments(trace):
        said, block = beat(now), now.scope.of_block
        active = int((trace.element[int(trace.row[now.step]), block] >= 0).sum())
        if not active:
            assert said.text == "No thread of the block takes part"
            continue
        assert said.number == str(active)
        after = said.text.removeprefix(said.number)
        assert after.startswith(" threads " if active > 1 else " thread ")
        assert any(verb in after for verb in verbs.get(now.site.kind, ("",))), said.text
        names = {each.array.name for each in now.touched}
        if "multipl" in after and now.site.kind != "product":
            assert (sure(now.replay.terms(now.scope)).steps == now.step).any()
        elif names:
            assert any(name in after.replace(",", " ").split() for name in names)
        widths = {each.operand.width for each in now.touched if each.operand.width > 1 and "multipl" not in after}
        for width in widths if now.site.kind != "matrix" else ():
            assert str(width) in after


def test_products_are_counted_where_the_second_factor_arrives() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)
    said = texts(trace)
    assert said.count("16 threads each multiply one pair from the tiles") == 8
    assert said.count("16 threads each read one element of A from tileA") == 8
    assert said.count("16 threads wait at the barrier") == 4
    assert said[-1] == "16 threads each store one element of C"
    assert "64 threads each multiply 2 pairs from the tiles" not in said
    assert "16 threads each multiply 2 pairs from the tiles" in texts(trace_of("08_register_tiled", 16, 16, 16))


def test_a_followed_thread_is_told_by_its_elements() -> None:
    trace = trace_of("04_tiled", 7, 7, 7, values=True, TILE_WIDTH=4)
    said = [beat(each) for each in moments(trace, Focus(thread=3))]
    assert {each.number for each in said} == {""}
    text = [each.text for each in said if "finds" not in each.text]
    assert text[:2] == ["Thread (3, 0) fetches A[0, 3]", "Thread (3, 0) stores A[0, 3] into tileA"]
    assert "Thread (3, 0) multiplies A[0, 2] by B[2, 3]" in text
    assert "Thread (3, 0) stores 0 into tileA" in text  # the row of A has seven elements
    absent = next(each for each in said if each.text == "Thread (3, 0) takes no part")
    assert absent.details[1] == "12 threads of the block do"


def test_threads_that_take_no_part_are_counted() -> None:
    spec = kernel_from("if (threadIdx.x < 3) C[threadIdx.x] = A[threadIdx.x];")
    test, first = map(beat, moments(trace_of(spec))[:2])
    assert test.text == "4 threads test threadIdx.x < 3: it holds for 3"
    assert "1 of 1 warp parts" in test.details
    assert first.text == "3 threads each fetch one element of A"
    assert "1 of 4 threads takes no part" in first.details


def test_constants_stored_into_a_tile_are_no_elements() -> None:
    trace = trace_of("04_tiled", 6, 6, 6, values=True, TILE_WIDTH=4)
    stores = [beat(each) for each in moments(trace) if each.site.text.startswith("tileA[y][x]") and each.phase == 1]
    assert stores[0].text == "16 threads each store one element of A or 0 into tileA"
    assert "8 of 16 are constants outside A" in stores[0].details


def test_atomics_waits_and_fences_have_their_own_words() -> None:
    spec = kernel_from("__shared__ float s[4]; s[threadIdx.x] = A[0]; __syncwarp(); __threadfence(); atomicAdd(&C[0], s[0]);")
    said = texts(trace_of(spec, values=True))
    assert said[0] == "4 threads each fetch one element of A"
    assert "4 threads wait for their warp" in said
    assert "4 threads order memory accesses" in said
    assert said[-1] == "4 threads each update one element of C, one after the other"


def test_collisions_are_told_at_the_step_at_which_they_happen() -> None:
    trace = trace_of(load_kernel("missing_barriers"), 4, 4, 4, values=True)
    found = structs.replace(Replay.of(trace), ordering=ordering_of(trace))
    reader, conflicts = Reader(found), found.conflicts
    told = [step for step in range(trace.steps) if any("collide" in each for each in beat(reader.at(step)).details)]
    assert told
    assert set(told) <= set(conflicts.steps)
    number = reader.at(told[0]).touched[0].operand.array
    assert f"{len(conflicts.cells(told[0], number, 0))} element" in beat(reader.at(told[0])).details[-1]


def test_a_loop_without_barriers_counts_no_phases() -> None:
    naive = moments(trace_of("02_naive", 5, 5, 5, BLOCK=4))
    assert [stage_of_run(each) for each in naive[1:4]] == ["k = 0 of 5", "k = 0 of 5", "k = 1 of 5"]
    tiled = moments(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    assert stage_of_run(tiled[4]) == "phase 1 of 2"
    assert stage_of_run(tiled[21]) == "phase 2 of 2, K-index 5"
    assert np.unique([stage_of_run(each) for each in tiled[-1:]]).tolist() == ["after the phases"]


def test_a_loop_with_too_many_trips_has_no_k() -> None:
    """Its last trip reads the next row of A, whose column is no k."""
    body = "float s = 0; int j = threadIdx.x; if (j < N) for (int k = 0; k <= K; ++k) s += A[{row} * K + k] * B[j]; C[0] = s;"
    whole = moments(trace_of(kernel_from(body.format(row=0)), 5, 7, 3))
    assert {stage_of_run(each) for each in whole if each.phase == 3} == {"pass 4 of 4"}
    trace = sure(outcome_of(kernel_from(body.format(row=4)), 5, 7, 3).trace)
    assert trace.stop is not None
    assert stage_of_run(Reader(Replay.of(trace)).at(trace.steps - 1)) == "pass 4"


def test_a_run_that_stopped_doesnt_say_how_many_phases_there_are() -> None:
    trace = sure(outcome_of("no_else", 5, 7, 3).trace)
    assert trace.stop is not None
    assert stage_of_run(Reader(Replay.of(trace)).at(trace.steps - 1)).startswith("phase 1")
    assert " of " not in stage_of_run(Reader(Replay.of(trace)).at(0))
