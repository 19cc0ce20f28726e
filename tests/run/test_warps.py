"""What threads do together: shuffles, votes, matches, reductions and groups, against each thread computed alone."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gemmviz.model.messages import KernelFault
from tests.run.warp_runs import SIDE, run

GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"


def _source(way: str, lane: int, by: int, width: int) -> int:
    """The lane that a lane reads, by the description of the functions in the CUDA C++ Programming Guide."""
    first = lane // width * width
    match way:
        case "_up":
            return lane - by if lane - by >= first else lane
        case "_down":
            return lane + by if lane + by < first + width else lane
        case "_xor":
            return lane ^ by if (lane ^ by) < first + width else lane
    return first + by % width


@pytest.mark.parametrize("way", ["", "_up", "_down", "_xor"])
def test_shuffles_of_all_types(way: str) -> None:
    chosen, body, expected, block = random.Random(way), "int t = threadIdx.x;", list[list[int]](), 96
    for ctype in ("float", "int", "unsigned", "double", "long long", "unsigned long long"):
        for mask, name in (("0xffffffff, ", f"__shfl{way}_sync"), ("", f"__shfl{way}")):
            width = chosen.choice([4, 8, 16, 32])
            by = chosen.randrange(width)
            body += f"\nC[t] = (float){name}({mask}({ctype})A[t], {by}, {width}); C += {block};"
            expected.append([lane // 32 * 32 + _source(way, lane % 32, by, width) for lane in range(block)])
    found = run(body, block=block)[: block * len(expected)].reshape(-1, block)
    assert found.tolist() == expected


def test_a_lane_that_the_mask_names_must_arrive() -> None:
    body = "int t = threadIdx.x; if (t < 8) C[t] = __shfl_down_sync({}, A[t], 4); else C[t] = 1;"
    with pytest.raises(KernelFault, match="reads lane 8 of the warp, which its mask names but which doesn't arrive here"):
        run(body.format("0xffffffff"), block=32)
    found = run(body.format("0xff"), block=32)
    assert found[:4].tolist() == [4, 5, 6, 7]
    assert np.isnan(found[4:8]).all()  # undefined: nothing arrives there
    with pytest.raises(KernelFault, match=r"doesn't name the lane that calls it, by thread \(4, 0, 0\)"):
        run(body.format("0xf"), block=32)


VOTES: list[tuple[str, Callable[[npt.NDArray[Any]], list[int]]]] = [
    ("__ballot_sync(m, p)", lambda p: [int(sum(1 << i for i in range(32) if p[i]))] * 32),
    ("__any_sync(m, p)", lambda p: [int(p.any())] * 32),
    ("__all_sync(m, p)", lambda p: [int(p.all())] * 32),
    ("__reduce_add_sync(m, p)", lambda p: [int(p.sum())] * 32),
    ("__reduce_max_sync(m, p)", lambda p: [int(p.max())] * 32),
    ("__reduce_min_sync(m, p)", lambda p: [int(p.min())] * 32),
    ("__match_any_sync(m, p)", lambda p: [sum(1 << i for i in range(32) if p[i] == each) for each in p]),
    ("(__ballot(p) ^ __ballot_sync(m, p)) + __any(p)", lambda p: [int(p.any())] * 32),
]


@pytest.mark.parametrize(("call", "expected"), VOTES)
def test_votes(call: str, expected: Callable[[npt.NDArray[Any]], list[int]]) -> None:
    for factor in (0, 7):
        body = f"unsigned m = 0xffffffff; int t = threadIdx.x, p = t * {factor} % 5; unsigned r = {call};"
        found = run(f"{body} C[t] = r >> 16; C[{SIDE} + t] = r & 0xffff;")
        for warp in (0, 1):
            values = np.arange(32 * warp, 32 * warp + 32) * factor % 5
            lanes = slice(32 * warp, 32 * warp + 32)
            got = found[lanes].astype(np.int64) << 16 | found[SIDE:][lanes].astype(np.int64)
            assert got.tolist() == expected(values)


def test_values_that_all_blocks_share_where_their_masks_differ() -> None:
    before = "__device__ float summed(float s) { for (int o = 16; o; o /= 2) s += __shfl_down_sync(~0u, s, o); return s; }"
    body = """int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x % 32; if (w >= 3) return;
    float s = summed(l) + summed(reinterpret_cast<const float4*>(A)[l].x);
    unsigned named = w == 1 ? 0xffffffffu : ~0u; s += __shfl_xor_sync(named, (float)l, 1); if (l == 0) C[w] = s;"""
    found = run(body, block=64, grid=2, before=before)
    assert found[:4].tolist() == [sum(range(32)) * 5 + 1] * 3 + [0]


def test_only_active_lanes_vote() -> None:
    body = "int t = threadIdx.x; if (t % 32 < 4) { C[t] = __activemask(); C[64 + t] = __ballot_sync(0xf, t & 1); }"
    found = run(body)
    assert found[[0, 3, 35, 64, 99]].tolist() == [15, 15, 15, 10, 10]


def test_a_block_counts_at_its_barrier() -> None:
    body = (
        "int t = threadIdx.x; C[t] = __syncthreads_count(t > 60) * 100 + __syncthreads_or(t == 9) * 10 + __syncthreads_and(t);"
    )
    assert set(run(body)[:64].tolist()) == {310}


GROUP_BODIES = [
    ("auto b = cg::this_thread_block(); C[b.thread_rank()] = b.size() + b.group_index().x;", lambda t: 64),
    ("auto w = cg::tiled_partition<16>(cg::this_thread_block()); C[threadIdx.x] = w.thread_rank() * 100 + w.meta_group_rank();",
     lambda t: t % 16 * 100 + t // 16),
    ("auto w = cg::tiled_partition<8>(cg::this_thread_block()); C[threadIdx.x] = cg::reduce(w, A[threadIdx.x], cg::plus<float>());",
     lambda t: sum(range(t // 8 * 8, t // 8 * 8 + 8))),
    ("cg::thread_block_tile<4> w = cg::tiled_partition<4>(cg::this_thread_block()); C[threadIdx.x] = w.shfl_down(A[threadIdx.x], 1)"
     " + w.any(threadIdx.x == 5) * 1000 + w.ballot(threadIdx.x & 1) * 10000;",
     lambda t: (t + 1 if t % 4 < 3 else t) + (t // 4 == 1) * 1000 + 100000),
    ("int t = threadIdx.x; if (t % 2) { auto g = cg::coalesced_threads(); C[t] = g.thread_rank() * 100 + g.size() + g.shfl(t, 0); }",
     lambda t: t % 32 // 2 * 100 + 16 + t // 32 * 32 + 1 if t % 2 else 0),
    ("cg::thread_group g = cg::this_thread_block(); auto h = cg::tiled_partition(g, 4); h.sync(); g.sync(); C[g.thread_rank()] = h.size();",
     lambda t: 4),
    ("float v = A[threadIdx.x]; auto w = cg::tiled_partition<32>(cg::this_thread_block()); for (int o = w.size() / 2; o; o /= 2)"
     " v += w.shfl_xor(v, o); C[threadIdx.x] = v;", lambda t: sum(range(t // 32 * 32, t // 32 * 32 + 32))),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), GROUP_BODIES)
def test_groups(body: str, expected: Callable[[int], float]) -> None:
    assert run(body, include=GROUPS)[:64].tolist() == [expected(t) for t in range(64)]


def test_a_grid_waits_for_all_its_blocks() -> None:
    body = "auto g = cg::this_grid(); int t = g.thread_rank(); C[t] = t; g.sync(); float v = C[(t + 64) % 128]; g.sync(); C[t] = v;"
    assert run(body, include=GROUPS, grid=2)[:128].tolist() == [(t + 64) % 128 for t in range(128)]
