"""Which threads of a run work, and which elements they exchange in global memory."""

import numpy as np

from gemmviz.analysis.replay.private import exchanged_elements, threads_at_work
from tests.conftest import kernel_from, trace_of


def test_threads_beyond_the_matrix_return() -> None:
    trace = trace_of("early_return", 5, 5, 5, BLOCK=4)
    works = threads_at_work(trace)
    x, y = (
        np.array([trace.space.indices(n)[0][axis] * 4 + trace.space.indices(n)[1][axis] for n in range(64)]) for axis in (0, 1)
    )
    assert (works == ((x < 5) & (y < 5))).all()
    assert (int(works.sum()), int((~works).sum())) == (25, 39)


def test_a_multiplication_exchanges_nothing() -> None:
    assert exchanged_elements(trace_of("hip_naive", 4, 4, 4)) == 0
    assert exchanged_elements(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)) == 0


def exchanged(body: str) -> int:
    """Of 32 threads, in matrices of 64 elements."""
    return exchanged_elements(trace_of(kernel_from(body, block='["32"]'), 8, 8, 8))


def test_elements_that_another_thread_reads_or_writes_are_counted() -> None:
    own = "int x = threadIdx.x; C[x] = A[x];"
    assert exchanged(own) == 0
    assert exchanged(own + "C[x + 32] = C[0];") == 1  # thread 0 writes it, all others read it
    assert exchanged(own + "C[x + 32] = C[(x + 1) % 32];") == 32
    assert exchanged("C[threadIdx.x / 2] = A[threadIdx.x];") == 16
    assert exchanged(own + "C[x + 32] = A[0] + B[0];") == 0  # what all read and nobody writes
