"""Races are run: the order that spoils C is found, and a kernel with its barriers has none."""

import gc
import itertools
import threading
import time

import numpy as np
import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import Cancelled, GemmvizError, cancellable
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.race import race_of
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.orders_view import race_scene
from tests.conftest import kernel_from, sampled, sure


def race(kernel: str, size: int = 4, **parameters: int):  # type: ignore[no-untyped-def]
    return race_of(setup_for(load_kernel(kernel), Problem(size, size, size), parameters))


def test_without_the_first_barrier_a_cell_is_read_before_it_is_written() -> None:
    found = race("no_first_barrier")
    assert (found.kind, found.units, found.ahead, found.lead) == ("threads", 4, 2, 3)
    early, late = (found.turns[place] for place in sure(found.pair))
    assert (early.unit, early.action, early.what, early.value) == (2, "read", "sh_B[0][0]", 0.0)
    assert (late.unit, late.action, late.what) == (0, "write", "sh_B[0][0]")
    assert [turn for turn in found.turns if turn.is_spoilt] == [early]
    assert found.spoilt.sum() == 1


def test_without_the_second_barrier_a_cell_is_overwritten_while_it_is_needed() -> None:
    found = race("no_second_barrier")
    early, late = (found.turns[place] for place in sure(found.pair))
    assert (early.unit, early.action, early.what) == (found.ahead, "write", "sh_A[0][1]")
    assert (late.action, late.what) == ("read", "sh_A[0][1]")
    assert late.is_spoilt
    writes = [turn for turn in found.turns[: sure(found.pair)[1]] if (turn.action, turn.what) == (early.action, early.what)]
    assert len(writes) == 2  # for its own phase, and for the next one already
    assert found.spoilt.sum() == 1
    assert all(turn.array == "" for turn in found.turns[found.begin : found.begin + 1])  # the barrier


@pytest.mark.parametrize(("kernel", "lead"), [("no_first_barrier", 3), ("no_second_barrier", 4)])
def test_a_lead_counts_from_the_last_common_barrier(kernel: str, lead: int) -> None:
    """At the access that comes too early, its unit has made so many more steps than the one that comes too late."""
    found = race(kernel)
    assert found.lead == lead
    early, late = sure(found.pair)
    since = [turn.unit for turn in found.turns[found.begin : early + 1]]
    assert since.count(found.ahead) - since.count(found.turns[late].unit) == lead


@pytest.mark.parametrize("kernel", sampled(["no_first_barrier", "no_second_barrier"]))
def test_no_order_with_a_shorter_lead_spoils_c(kernel: str) -> None:
    """All orders of the four threads are run by an emulation of its own: none with a shorter lead gives another C."""
    lead = race(kernel).lead
    events = _events(kernel)
    assert len(_results(events, lead - 1)) == 1
    assert len(_results(events, lead)) > 1


Step = tuple[str, int, int]  # what a step does, the cell that it touches, and the value that it stores (a number of its own)


def _events(kernel: str) -> list[list[Step]]:
    """The steps of each thread of the first block, written down by hand."""
    has_first, has_second = kernel != "no_first_barrier", kernel != "no_second_barrier"
    wait: list[Step] = [("wait", 0, 0)]
    steps: list[list[Step]] = []
    for y, x in itertools.product(range(2), repeat=2):
        of_thread: list[Step] = []
        for phase in range(2):
            value = 100 * (phase + 1) + 10 * y + x
            of_thread += [("load", 0, 0), ("write", 2 * y + x, value), ("load", 0, 0), ("write", 4 + 2 * y + x, value + 50)]
            of_thread += wait if has_first else []
            of_thread += [("read", cell, 0) for k in range(2) for cell in (2 * y + k, 4 + 2 * k + x)]
            of_thread += wait if has_second else []
        steps.append(of_thread)
    return steps


State = tuple[tuple[int, ...], ...]


def _results(events: list[list[Step]], lead: int) -> set[tuple[int, ...]]:
    """What the threads read, in all orders in which no thread is ever further ahead of another since the last barrier: states
    are the steps made, the steps since the barrier, memory, and what each thread has read, folded into one number.
    """
    start: State = (0, 0, 0, 0), (0, 0, 0, 0), (0,) * 8, (0, 0, 0, 0)
    seen, ready, results = {start}, [start], set[tuple[int, ...]]()
    while ready:
        done, since, memory, read = ready.pop()
        kinds = [events[t][done[t]][0] if done[t] < len(events[t]) else "end" for t in range(4)]
        if all(kind == "end" for kind in kinds):
            results.add(read)
            continue
        if all(kind in ("wait", "end") for kind in kinds):
            past = tuple(n + (kind == "wait") for n, kind in zip(done, kinds, strict=True))
            following: list[State] = [(past, (0, 0, 0, 0), memory, read)]
        else:
            following = [_after((done, since, memory, read), t, events[t][done[t]]) for t in range(4)
                         if kinds[t] not in ("wait", "end") and since[t] + 1 - min(since) <= lead]  # fmt: skip
        for state in following:
            if state not in seen:
                seen.add(state)
                ready.append(state)
    return results


def _after(state: State, t: int, step: Step) -> State:
    """The state after one step of thread ``t``."""
    done, since, memory, read = (list(each) for each in state)
    kind, cell, value = step
    if kind == "write":
        memory[cell] = value
    elif kind == "read":
        read[t] = hash((read[t], memory[cell]))
    done[t] += 1
    since[t] += 1
    return tuple(done), tuple(since), tuple(memory), tuple(read)


def test_where_no_accesses_race_no_order_is_found() -> None:
    found = race("phases_by_ceil")
    assert (found.ahead, found.lead, found.pair) == (-1, 0, None)
    assert not found.spoilt.any()
    assert found.tried == found.units == 4  # each unit as far ahead as the barriers let it


@pytest.mark.parametrize(
    ("kernel", "width", "lead"),
    sampled(
        ((name, width, lead) for name, lead in (("no_first_barrier", 3), ("no_second_barrier", 5)) for width in (8, 16, 32)), 4
    ),
)
def test_tiles_of_usual_width_race_by_warps(kernel: str, width: int, lead: int) -> None:
    found = race(kernel, 2 * width, TILE_WIDTH=width)
    assert (found.kind, found.units, found.lead) == ("warps", width * width // 32, lead)
    assert found.tried == 1
    assert found.spoilt.any()


@pytest.mark.nightly
def test_a_race_among_32_warps_is_found_in_seconds() -> None:
    race("no_first_barrier", 8, TILE_WIDTH=4)
    start = time.thread_time()  # other threads of this process may work for other tests
    race("no_second_barrier", 64, TILE_WIDTH=32)
    assert time.thread_time() - start < 5.0


def test_a_race_that_spoils_nothing_is_still_a_race() -> None:
    """Two threads store the same value: they race, but no order makes C wrong."""
    body = "__shared__ float s[1]; s[0] = 1.0f; C[threadIdx.x] = A[threadIdx.x];"
    found = race_of(setup_for(kernel_from(body), Problem(4, 4, 4)))
    assert (found.ahead, found.lead) == (-1, 0)
    early, late = (found.turns[place] for place in sure(found.pair))
    assert {(each.action, each.what) for each in (early, late)} == {("write", "s[0]")}
    scene = str(race_scene(found, ViewOptions()))
    assert "Two threads race, though no order was found that makes C wrong" in scene
    assert "every order" not in scene


def test_in_lockstep_c_is_right() -> None:
    setup = setup_for(load_kernel("no_first_barrier"), Problem(4, 4, 4))
    found = race_of(setup, (1, 1, 0))
    assert found.corner == (2, 2)
    generator = [np.random.default_rng(seed) for seed in (0, 1)]
    a, b = ((each.random(16, np.float32) * 2 - 1).reshape(4, 4).astype(np.float64) for each in generator)
    assert np.allclose(found.right, (a @ b)[2:, 2:], atol=1e-5)


def test_a_barrier_of_the_warp_holds_threads_of_one_warp() -> None:
    kernel = load_kernel("phases_by_ceil")
    by_warps = structs.replace(kernel, text=kernel.text.replace("__syncthreads()", "__syncwarp()"), is_shipped=False)
    assert race_of(setup_for(by_warps, Problem(4, 4, 4), {})).ahead == -1


def test_what_c_held_before_is_known() -> None:
    """A kernel that adds to C reads what is there, not what marks elements that nobody stores."""
    found = race_of(setup_for(kernel_from("C[threadIdx.x] += A[threadIdx.x];"), Problem(4, 4, 4)))
    assert np.isfinite(found.right).any()
    assert all(np.isfinite(turn.value) for turn in found.turns if turn.value is not None)


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.run.cpu.race.MOST_TRIES", 3)
    found = race("phases_by_ceil")
    assert (found.ahead, found.tried, found.orders) == (-1, 3, 4)
    assert "1 more was not tried" in str(race_scene(found, ViewOptions()))


def test_a_block_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.run.cpu.race.MOST_S", 0.05)
    with pytest.raises(GemmvizError, match="one order of this block's 16 threads takes longer than"):
        race("08_register_tiled", 256)


def test_a_race_is_called_off_in_the_middle_of_an_order() -> None:
    turns = 0

    def cancelled() -> bool:
        nonlocal turns
        turns += 1
        return turns > 200

    with cancellable(cancelled), pytest.raises(Cancelled):
        race("08_register_tiled", 256)
    assert turns < 1000


def test_a_kernel_that_fails_says_so() -> None:
    setup = setup_for(kernel_from("C[threadIdx.x + 99] = 1.0f;"), Problem(4, 4, 4))
    with pytest.raises(GemmvizError, match="out of range"):
        race_of(setup)


CHAIN = (
    "__shared__ float s[4]; int t = threadIdx.x; s[t] = A[t];"
    " for (int i = 0; i < 4; i++) { s[t] = s[t] + s[(t + 3) % 4]; } C[t] = s[t];"
)
BRANCH = (
    "__shared__ float s[4]; int t = threadIdx.x; s[t] = t;"
    " if (s[(t + 1) % 4] > 0.0f) { s[t] = 5.0f; } else { C[t + 4] = s[t]; } C[t] = s[t];"
)


@pytest.mark.parametrize("body", [CHAIN, BRANCH])
def test_what_a_thread_reads_is_what_was_stored_last(body: str) -> None:
    """Each order that is reported is a possible one: every read gives what the last store before it has left there."""
    found = race_of(setup_for(kernel_from(body), Problem(4, 4, 4)))
    assert found.ahead >= 0
    held: dict[str, float | None] = {}
    reads = 0
    for turn in found.turns:
        if turn.action == "read" and turn.array == "s":
            reads += 1
            assert turn.value == held.get(turn.what, 0.0)
        elif turn.action == "write":
            held[turn.what] = turn.value
    assert reads > 3


def test_a_search_starts_no_thread_and_gives_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise AssertionError("a thread was started")

    setup = setup_for(kernel_from(CHAIN), Problem(4, 4, 4))
    monkeypatch.setattr(threading.Thread, "start", start)
    first, second = race_of(setup), race_of(setup)
    assert first.turns == second.turns
    assert (first.ahead, first.lead, first.tried) == (second.ahead, second.lead, second.tried)
    assert np.array_equal(first.wrong, second.wrong, equal_nan=True)


@pytest.mark.nightly
def test_a_search_asks_often_whether_it_is_cancelled() -> None:
    """No 50 ms pass between two questions, neither while a unit is interpreted nor while an order is checked."""
    asked: list[float] = []

    def cancelled() -> bool:
        asked.append(time.thread_time())
        return len(asked) > 60_000

    gc.collect()
    gc.disable()  # with all that other tests have left it takes longer
    try:
        with cancellable(cancelled), pytest.raises(Cancelled):
            race("04_tiled", 64)
    finally:
        gc.enable()
    assert max(after - before for before, after in itertools.pairwise(asked[10:])) < 0.05


def test_warps_that_wait_at_barriers_of_their_own_are_refused() -> None:
    body = 'if (threadIdx.x < 32) asm("bar.sync 1, 64;"); else asm("bar.sync 1, 64;"); C[threadIdx.x] = A[threadIdx.x];'
    with pytest.raises(GemmvizError, match="numbered barriers are not searched"):
        race_of(setup_for(kernel_from(body, block='["64"]'), Problem(8, 8, 8)))
