"""Terms of the sums of C, against what each thread reads one after the other."""

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus, scope_of
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.terms import of_thread
from gemmviz.model.trace import Trace
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from tests.conftest import kernel_from, moment_of, outcome_of, sure, trace_of

CASES = [
    ("01_single_block", (4, 4, 4), {}), ("02_naive", (5, 7, 3), {"BLOCK": 4}), ("03_coalesced", (8, 8, 8), {"BLOCK": 8}),
    ("04_tiled", (5, 7, 3), {"TILE_WIDTH": 2}), ("05_tiled_unguarded", (8, 8, 8), {"TILE_WIDTH": 4}),
    ("07_tiled_transposed", (8, 8, 8), {"TILE_WIDTH": 4}), ("08_register_tiled", (16, 16, 8), {}),
    ("09_vectorised", (128, 128, 8), {}), ("sequential", (3, 5, 4), {}),
]  # fmt: skip


def reads_of(trace: Trace, thread: int) -> list[tuple[int, str, int]]:
    """(step, matrix, element) of all that one thread reads, through tiles or not, read off the record cell by cell."""
    found, held = [], {}
    for step in range(trace.steps):
        for place, operand in enumerate(trace.site_of(step).operands):
            row, array = int(trace.row[step]) + place, trace.arrays[operand.array]
            stores = np.flatnonzero(trace.origin_step == step)
            if array.space == "shared" and operand.access == "write":
                for at, offset in zip(stores, operand.layout.offsets, strict=True):
                    for column in np.flatnonzero(trace.element[row] >= 0):
                        cell = (operand.array, int(trace.element[row, column]) + offset)
                        held[cell] = int(trace.origin_array[at, column]), int(trace.origin[at, column])
            first = int(trace.element[row, thread])
            for offset in operand.layout.offsets if first >= 0 and operand.access == "read" else ():
                number, element = operand.array, first + offset
                if array.space == "shared":
                    number, element = held[number, element]
                if number >= 0 and trace.arrays[number].space == "global":
                    found.append((step, trace.arrays[number].name, element))
    return found


@pytest.mark.parametrize(("kernel", "size", "parameters"), CASES)
def test_terms_are_what_the_thread_has_read(kernel: str, size: tuple[int, int, int], parameters: dict[str, int]) -> None:
    trace = trace_of(kernel, *size, blocks="0:1,0:1", **parameters)
    replay = Replay.of(trace)
    terms = sure(replay.terms(scope_of(Focus(), trace)))
    staged = {trace.arrays[int(n)].name for n in np.unique(trace.origin_array) if n >= 0} if len(trace.origin_step) else set()
    thread = int(terms.threads[len(terms.threads) // 2])
    shared = {n for n, array in enumerate(trace.arrays) if array.space == "shared"}
    for step in {0, trace.steps // 3, trace.steps // 2, trace.steps - 1}:
        seen: dict[str, set[tuple[int, int]]] = {"A": set(), "B": set()}
        for at, name, element in reads_of(trace, thread):
            direct = not any(operand.array in shared for operand in trace.site_of(at).operands)
            if at <= step and not (direct and name in staged):
                array = next(array for array in trace.arrays if array.name == name)
                row, column = array.row_column(np.array([element]))
                seen[name].add((int(row[0]), int(column[0])))
        own = sure(of_thread(terms, replay.owners, thread)).after(step)
        for element, done in zip(own.elements.tolist(), own.done.tolist(), strict=True):
            row, column = divmod(element, size[1])
            assert done == sum((row, k) in seen["A"] and (k, column) in seen["B"] for k in range(size[2]))


@pytest.mark.parametrize(("kernel", "size", "parameters"), CASES)
def test_every_sum_is_whole_in_the_end(kernel: str, size: tuple[int, int, int], parameters: dict[str, int]) -> None:
    trace = trace_of(kernel, *size, blocks="0:1,0:1", **parameters)
    terms = sure(Replay.of(trace).terms(scope_of(Focus(), trace)))
    assert (terms.done(trace.steps - 1) == size[2]).all()
    assert (terms.done(-1) == 0).all()


def test_reads_are_looked_through_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trace, pieces = trace_of("sequential", 8, 32, 4), []
    monkeypatch.setattr("gemmviz.analysis.replay.terms.checkpoint", lambda: pieces.append(1))
    assert Replay.of(trace).terms(scope_of(Focus(), trace)) is not None
    assert len(pieces) < 8 < trace.steps


def test_terms_through_many_tiles_take_longer_than_a_frame() -> None:
    few, many = (trace_of("04_tiled", 2, 2, depth, TILE_WIDTH=2) for depth in (4, 256))
    assert Replay.of(few).knows_terms(scope_of(Focus(), few))
    assert not Replay.of(many).knows_terms(scope_of(Focus(), many))


FAULTS = {
    "a tile that is read before it is whole, and stored into later": """__shared__ float s[4]; int t = threadIdx.x; C[t] = 1;
if (t < 2) s[t] = A[t];
__syncthreads();
float x = s[t];
__syncthreads();
s[t] = B[t]; s[t] = A[t]; C[t] = x;""",
    "a phase that reads beyond its tile": """__shared__ float s[8]; int t = threadIdx.x; float x = 0; C[t] = x;
for (int p = 0; p < 2; ++p) { s[t] = A[p * 4 + t]; __syncthreads(); x += s[t + p * 4]; __syncthreads(); s[t] = B[p]; }
C[t] = x;""",
    "beyond a matrix": """__shared__ float s[4]; int t = threadIdx.x; C[t] = 0;
for (int p = 0; p < 4; ++p) { s[t] = A[p * 4 + t]; __syncthreads(); C[t] += s[3 - t] * B[p * 7]; __syncthreads(); }""",
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_run_that_ends_early_has_terms_up_to_there(what: str) -> None:
    """What the run by tags stores after the fault is no part of the trace."""
    outcome = outcome_of(kernel_from(FAULTS[what]))
    trace = sure(outcome.trace)
    assert outcome.fault is not None
    assert (trace.origin_step < trace.steps).all()
    assert len(trace.origin_step) == len(trace.origin) == len(trace.origin_array) > 0
    replay = Replay.of(trace)
    terms = sure(replay.terms(scope_of(Focus(), trace)))
    assert (terms.done(trace.steps) <= terms.length).all()
    assert sure(of_thread(terms, replay.owners, 1)).elements.tolist() == [1]
    for name in views_of(Moment):
        assert view_named(name).scene(moment_of(trace, trace.steps - 1), ViewOptions(load_theme("dark"))) is not None
