"""Asynchronous copies: what they move, when it can be seen, and how a record holds them."""

import numpy as np
import pytest

from gemmviz.analysis.launch_hazards import HazardSink
from gemmviz.model.messages import KernelFault
from gemmviz.model.threads import BlockRange, ThreadSpace
from tests.run.warp_runs import SIDE, Kinds, binding_of, program_of, recorded, run

PIPELINE = """#include <cuda_pipeline.h>
#include <cuda/pipeline>
#include <cuda/barrier>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;"""
START = "__shared__ alignas(16) float s[256]; int t = threadIdx.x; s[t] = -1; __syncthreads();"


def test_what_a_copy_moves_is_seen_after_the_wait() -> None:
    body = f"""{START} __pipeline_memcpy_async(&s[t], &A[t + 5], 4); __pipeline_commit(); C[t] = s[t];
        __pipeline_wait_prior(0); C[64 + t] = s[t]; __syncthreads(); C[128 + t] = s[63 - t];"""
    found = run(body, include=PIPELINE)
    assert set(found[:64].tolist()) == {-1}
    assert found[64:128].tolist() == [t + 5 for t in range(64)]
    assert found[128:192].tolist() == [68 - t for t in range(64)]


@pytest.mark.parametrize("bytes_", [4, 8, 16])
@pytest.mark.parametrize("filled", [0, 4, 16])
def test_sizes_and_zeros(bytes_: int, filled: int) -> None:
    if filled > bytes_:
        return
    n = bytes_ // 4
    body = f"""__shared__ alignas(16) float s[256]; int t = threadIdx.x; __pipeline_memcpy_async(&s[t * {n}], &A[t * {n}], {bytes_},
        t % 2 ? {filled} : 0); __pipeline_commit(); __pipeline_wait_prior(0);
        for (int i = 0; i < {n}; ++i) C[t * {n} + i] = s[t * {n} + i];"""
    expected = [float(e) if not (e // n % 2) or e % n < (bytes_ - filled) // 4 else 0.0 for e in range(64 * n)]
    assert run(body, include=PIPELINE)[: 64 * n].tolist() == expected


def test_only_older_batches_are_waited_for() -> None:
    body = f"""{START} for (int i = 0; i < 3; ++i) {{ __pipeline_memcpy_async(&s[64 * i + t], &A[64 * i + t], 4); __pipeline_commit(); }}
        s[64 + t] = s[128 + t] = -1; __pipeline_wait_prior(2); C[t] = s[t]; C[64 + t] = s[64 + t];
        __pipeline_wait_prior(1); C[128 + t] = s[64 + t]; C[192 + t] = s[128 + t];"""
    found = run(body, include=PIPELINE)
    assert found[:64].tolist() == list(range(64))
    assert set(found[64:128].tolist()) == {-1}
    assert found[128:192].tolist() == list(range(64, 128))
    assert set(found[192:256].tolist()) == {-1}


def test_a_record_names_both_sides_and_the_completing_wait() -> None:
    record = recorded(f"{START} __pipeline_memcpy_async(&s[t * 4], &A[t * 4], 16); __pipeline_commit(); __pipeline_wait_prior(0);",
                      include=PIPELINE)  # fmt: skip
    kinds = [record.sites[site].kind for site in record.step_site]
    assert kinds == ["store", "barrier", "copy", "wait"]
    copy = record.sites[record.step_site[2]]
    assert copy.is_async
    assert [(operand.access, operand.width) for operand in copy.operands] == [("read", 4), ("write", 4)]
    assert record.completes().tolist() == [0, 1, 3, 3]
    element = record.element.finished()
    assert element[2].tolist() == element[3].tolist() == [4 * t for t in range(64)]


def hazards(body: str) -> list[str]:
    binding = binding_of(program_of(body, include=PIPELINE))
    from gemmviz.run.cpu.simt.interpret import interpret

    space = ThreadSpace(binding.launch, BlockRange.all(binding.launch), 32)
    sink = HazardSink(binding.arrays, space)
    values = np.zeros(SIDE * SIDE, np.float32)
    interpret(binding, space, sink, {"A": values, "B": values, "C": values.copy()})
    return [hazard.kind for hazard in sink.hazards_by_pair().values() if hazard.is_under_way]


def test_reading_before_the_wait_is_a_hazard() -> None:
    copy = f"{START} __pipeline_memcpy_async(&s[t], &A[t], 4); __pipeline_commit();"
    assert hazards(f"{copy} __syncthreads(); C[t] = s[t]; __pipeline_wait_prior(0);") == ["read after write"]
    assert hazards(f"{copy} __pipeline_wait_prior(0); __syncthreads(); C[t] = s[63 - t];") == []


def test_a_copy_out_of_range_is_a_fault() -> None:
    with pytest.raises(KernelFault, match=r"A\[4096\] is out of range"):
        run(f"{START} __pipeline_memcpy_async(&s[t], &A[4096 + t], 4);", include=PIPELINE)
    assert run(f"{START} __pipeline_memcpy_async(&s[t], &A[4096 + t], 4, 4); C[0] = 1;", include=PIPELINE)[0] == 1


COPIES = [
    "auto b = cg::this_thread_block(); cg::memcpy_async(b, s, A, sizeof(float) * 256); cg::wait(b);",
    """auto p = cuda::make_pipeline(); p.producer_acquire(); cuda::memcpy_async(&s[4 * t], &A[4 * t], cuda::aligned_size_t<16>(16), p);
       p.producer_commit(); p.consumer_wait(); __syncthreads(); p.consumer_release();""",
    """__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; auto b = cg::this_thread_block();
       auto p = cuda::make_pipeline(b, &state); p.producer_acquire(); cuda::memcpy_async(b, s, A, sizeof(float) * 256, p);
       p.producer_commit(); p.consumer_wait();""",
    """__shared__ cuda::barrier<cuda::thread_scope_block> bar; auto b = cg::this_thread_block();
       if (b.thread_rank() == 0) init(&bar, b.size()); b.sync(); cuda::memcpy_async(b, s, A, sizeof(float) * 256, bar);
       auto token = bar.arrive(); bar.wait(std::move(token));""",
]  # fmt: skip


@pytest.mark.parametrize("copy", COPIES)
def test_copies_of_libraries(copy: str) -> None:
    sink = Kinds()
    found = run(f"{START} {copy} C[t] = s[255 - t];", include=PIPELINE, sink=sink)
    assert found[:64].tolist() == [255 - t for t in range(64)]
    used = {sink.sites[site].kind for site in sink.runs}
    assert {"copy", "wait"} <= used
