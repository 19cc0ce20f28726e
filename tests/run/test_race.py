"""Races are run: the order that spoils C is found, and a kernel with its barriers has none."""

import gc
import itertools
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.cancelling import cancellable
from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.race import race_of
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.views.race_view import race_scene
from tests.conftest import kernel_from


def race(kernel: str, size: int = 4, **parameters: int):  # type: ignore[no-untyped-def]
    return race_of(setup_for(load_kernel(kernel), Problem(size, size, size), parameters))


def test_without_the_first_barrier_a_cell_is_read_before_it_is_written() -> None:
    found = race("no_first_barrier")
    assert (found.kind, found.units, found.ahead, found.lead) == ("threads", 4, 1, 5)
    spoilt = next(turn for turn in found.turns if turn.is_spoilt)
    assert (spoilt.unit, spoilt.action, spoilt.value) == (1, "read sh_A[0][0]", 0.0)
    place = found.turns.index(spoilt)
    assert all(turn.action != "write sh_A[0][0]" for turn in found.turns[:place])
    assert any(turn.action == "write sh_A[0][0]" and turn.unit == 0 for turn in found.turns[place:])
    assert found.spoilt.sum() == 1


def test_without_the_second_barrier_a_cell_is_overwritten_while_it_is_needed() -> None:
    found = race("no_second_barrier")
    spoilt = next(turn for turn in found.turns if turn.is_spoilt)
    place = found.turns.index(spoilt)
    cell = spoilt.action.removeprefix("read ")
    writes = [turn for turn in found.turns[:place] if turn.action == f"write {cell}"]
    assert len(writes) == 2  # for its own phase, and for the next one already
    assert found.spoilt.sum() == 1


def test_with_both_barriers_every_order_gives_the_same_c() -> None:
    found = race("phases_by_ceil")
    assert found.ahead == -1
    assert not found.spoilt.any()
    assert found.tried == 4 * (max(turn.step for turn in found.turns) + 1)


def test_no_shorter_lead_spoils_c() -> None:
    """Every order that was tried before has a shorter lead, or the same one of an earlier unit."""
    found = race("no_first_barrier")
    assert found.tried == (found.lead - 1) * found.units + found.ahead + 1


def test_a_block_of_several_warps_races_by_warps() -> None:
    found = race("no_first_barrier", 16, TILE_WIDTH=8)
    assert (found.kind, found.units) == ("warps", 2)
    assert found.spoilt.sum() == 32  # all that the warp that ran ahead computes
    assert race("phases_by_ceil", 16, TILE_WIDTH=8).ahead == -1


def test_in_lockstep_c_is_right() -> None:
    setup = setup_for(load_kernel("no_first_barrier"), Problem(4, 4, 4))
    found = race_of(setup, (1, 1, 0))
    assert found.corner == (2, 2)
    generator = [np.random.default_rng(seed) for seed in (0, 1)]
    a, b = ((each.random(16, np.float32) * 2 - 1).reshape(4, 4).astype(np.float64) for each in generator)
    assert np.allclose(found.right, (a @ b)[2:, 2:], atol=1e-5)


def test_a_barrier_of_the_warp_holds_threads_of_one_warp() -> None:
    kernel = load_kernel("phases_by_ceil")
    by_warps = replace(kernel, text=kernel.text.replace("__syncthreads()", "__syncwarp()"), is_shipped=False)
    assert race_of(setup_for(by_warps, Problem(4, 4, 4), {})).ahead == -1


def test_what_c_held_before_is_known() -> None:
    """A kernel that adds to C reads what is there, not what marks elements that nobody stores."""
    found = race_of(setup_for(kernel_from("C[threadIdx.x] += A[threadIdx.x];"), Problem(4, 4, 4)))
    assert np.isfinite(found.right).any()
    assert all(np.isfinite(turn.value) for turn in found.turns if turn.value is not None)


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.run.cpu.race.MOST_TRIES", 3)
    found = race("phases_by_ceil")
    assert (found.ahead, found.tried) == (-1, 3)
    assert found.orders == 4 * (max(turn.step for turn in found.turns) + 1)
    assert f"{found.orders - 3} more were not tried" in str(race_scene(found, ViewOptions()))


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
        action, _, cell = turn.action.partition(" ")
        if action == "read" and turn.array == "s":
            reads += 1
            assert turn.value == held.get(cell, 0.0)
        elif action == "write":
            held[cell] = turn.value
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
