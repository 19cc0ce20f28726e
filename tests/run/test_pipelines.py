"""Pipelines of copies: right ones are never accused, and each planted fault is reported where it is.

Each adds up eight tiles of A, of which each thread reads another thread's element: C[t] = sum of A[64 i + 63 - t].
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gemmviz.analysis.hazard import Hazard
from gemmviz.analysis.launch_hazards import HazardSink, ordering_of
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.model.trace import Outcome
from gemmviz.run.cpu.executor import bound, trace_kernel
from gemmviz.run.cpu.simt.interpret import interpret
from gemmviz.run.engine import Recording
from tests.conftest import DATA, kernel_from, sampled
from tests.run.twin_on_host import GXX, HostTwins, assert_same
from tests.run.warp_runs import SIDE

HEADERS = """#include <cuda_pipeline.h>
#include <cuda/pipeline>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
"""
FUNCTIONS = r"""
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy4(float* to, const float* from) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(to)), "l"(from)); }
__device__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int n> __device__ void pending() { asm volatile("cp.async.wait_group %0;" :: "n"(n)); }
__device__ void init_bar(unsigned long long* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n)); }
__device__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(at(b)) : "memory"); }
__device__ void expect(unsigned long long* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n)); }
__device__ void arrive_copies(unsigned long long* b) { asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(b))); }
__device__ void bulk(float* to, const float* from, int n, unsigned long long* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
    :: "r"(at(to)), "l"(from), "r"(n), "r"(at(b)) : "memory");
}
__device__ void wait(unsigned long long* b, int parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra.uni DONE;\nbra.uni LAB_WAIT;\nDONE:\n}\n"
    :: "r"(at(b)), "r"(parity) : "memory");
}
__device__ void meet(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }
__device__ void leave(int id, int n) { asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(n) : "memory"); }
"""
END = "if (t < 64) C[t] = sum;"
FILLED = (
    "int t = threadIdx.x; float sum = 0; for (int i = t; i < sizeof(s) / 4; i += blockDim.x) s[0][i] = -1; __syncthreads();"
)
TWO = f"__shared__ alignas(16) float s[2][64]; {FILLED}"
FOUR = f"__shared__ alignas(16) float s[4][64]; {FILLED}"
BARS = "__shared__ alignas(8) unsigned long long full[2], empty[2];"
BULK = f"{TWO} {BARS} if (t == 0) {{ init_bar(&full[0], 1); init_bar(&full[1], 1); }} __syncthreads();"
SPLIT = f"{TWO} {BARS} if (t == 0) for (int i = 0; i < 2; ++i) {{ init_bar(&full[i], 32); init_bar(&empty[i], 64); }} __syncthreads();"
RIGHT: dict[str, tuple[int, str]] = {
    "one buffer": (64, f"""{TWO} for (int i = 0; i < 8; ++i) {{
        __pipeline_memcpy_async(&s[0][t], &A[64 * i + t], 4); __pipeline_commit(); __pipeline_wait_prior(0);
        __syncthreads(); sum += s[0][63 - t]; __syncthreads(); }}"""),
    "two buffers": (64, f"""{TWO} __pipeline_memcpy_async(&s[0][t], &A[t], 4); __pipeline_commit();
        for (int i = 0; i < 8; ++i) {{
          if (i < 7) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &A[64 * (i + 1) + t], 4);
          __pipeline_commit(); __pipeline_wait_prior(1); __syncthreads();
          sum += s[i % 2][63 - t]; __syncthreads(); }}"""),
    "two buffers, other waits": (64, f"""{TWO} copy4(&s[0][t], &A[t]); commit();
        for (int i = 0; i < 8; ++i) {{
          if (i < 7) {{ copy4(&s[(i + 1) & 1][t], &A[64 * (i + 1) + t]); commit(); pending<1>(); }} else {{ pending<0>(); }}
          __syncthreads(); sum += s[i & 1][63 - t]; __syncthreads(); }}"""),
    "four stages, one barrier": (64, f"""{FOUR} for (int i = 0; i < 3; ++i) {{ copy4(&s[i][t], &A[64 * i + t]); commit(); }}
        for (int i = 0; i < 8; ++i) {{ pending<2>(); __syncthreads();
          if (i + 3 < 8) copy4(&s[(i + 3) % 4][t], &A[64 * (i + 3) + t]);
          commit(); sum += s[i % 4][63 - t]; }}"""),
    "wide copies": (64, f"""{FOUR} for (int i = 0; i < 8; i += 4) {{
        __pipeline_memcpy_async(&s[t / 16][t % 16 * 4], &A[64 * i + 4 * t], 16); __pipeline_commit(); __pipeline_wait_prior(0);
        __syncthreads(); for (int j = 0; j < 4; ++j) sum += s[j][63 - t]; __syncthreads(); }}"""),
    "wait_all": (64, f"""{TWO} for (int i = 0; i < 8; ++i) {{ copy4(&s[0][t], &A[64 * i + t]);
        asm volatile("cp.async.wait_all;"); __syncthreads(); sum += s[0][63 - t]; __syncthreads(); }}"""),
    "a warp's own elements": (64, f"""{TWO} for (int i = 0; i < 8; ++i) {{ copy4(&s[0][t], &A[64 * i + (63 - t)]); commit();
        pending<0>(); sum += s[0][t]; }}"""),
    "a warp's own tile": (64, f"""{TWO} for (int i = 0; i < 8; ++i) {{ copy4(&s[0][t ^ 1], &A[64 * i + (63 - (t ^ 1))]); commit();
        pending<0>(); __syncwarp(); sum += s[0][t]; __syncwarp(); }}"""),
    "pipeline of a thread": (64, f"""{TWO} auto pipe = cuda::make_pipeline();
        for (int i = 0, f = 0; i < 8; ++i) {{
          for (; f < 8 && f < i + 2; ++f) {{ pipe.producer_acquire();
            cuda::memcpy_async(&s[f % 2][t], &A[64 * f + t], sizeof(float), pipe); pipe.producer_commit(); }}
          pipe.consumer_wait(); __syncthreads(); sum += s[i % 2][63 - t]; __syncthreads(); pipe.consumer_release(); }}"""),
    "pipeline of a block": (64, f"""{TWO} __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
        auto block = cg::this_thread_block(); auto pipe = cuda::make_pipeline(block, &state);
        for (int i = 0, f = 0; i < 8; ++i) {{
          for (; f < 8 && f < i + 2; ++f) {{ pipe.producer_acquire();
            cuda::memcpy_async(block, s[f % 2], &A[64 * f], 256, pipe); pipe.producer_commit(); }}
          pipe.consumer_wait(); sum += s[i % 2][63 - t]; pipe.consumer_release(); }}"""),
    "groups of a block": (64, f"""{TWO} auto block = cg::this_thread_block(); cg::memcpy_async(block, s[0], A, 256);
        for (int i = 0; i < 8; ++i) {{
          if (i < 7) {{ cg::memcpy_async(block, s[(i + 1) % 2], &A[64 * (i + 1)], 256); cg::wait_prior<1>(block); }}
          else cg::wait(block);
          sum += s[i % 2][63 - t]; block.sync(); }}"""),
    "cuda::barrier with tokens": (64, f"""{TWO} __shared__ barrier bar[2]; if (t < 2) init(&bar[t], 64); __syncthreads();
        cuda::memcpy_async(&s[0][t], &A[t], 4, bar[0]);
        for (int i = 0; i < 8; ++i) {{
          if (i < 7) cuda::memcpy_async(&s[(i + 1) % 2][t], &A[64 * (i + 1) + t], 4, bar[(i + 1) % 2]);
          auto token = bar[i % 2].arrive(); bar[i % 2].wait(std::move(token));
          sum += s[i % 2][63 - t]; __syncthreads(); }}"""),
    "cuda::barrier, twice a tile": (64, f"""{TWO} __shared__ barrier bar; if (t == 0) init(&bar, 64); __syncthreads();
        for (int i = 0; i < 8; ++i) {{ cuda::memcpy_async(&s[0][t], &A[64 * i + t], 4, bar); bar.arrive_and_wait();
          sum += s[0][63 - t]; bar.arrive_and_wait(); }}"""),
    "mbarriers in C": (64, f"""{TWO} __shared__ __mbarrier_t bar; if (t == 0) __mbarrier_init(&bar, 64); __syncthreads();
        for (int i = 0; i < 8; ++i) {{ __pipeline_memcpy_async(&s[0][t], &A[64 * i + t], 4); __pipeline_arrive_on(&bar);
          __mbarrier_token_t token = __mbarrier_arrive(&bar); while (!__mbarrier_test_wait(&bar, token)) {{}}
          sum += s[0][63 - t]; __syncthreads(); }}"""),
    "bulk copies": (64, f"""{BULK} if (t == 0) {{ expect(&full[0], 256); bulk(s[0], A, 256, &full[0]); }}
        for (int i = 0; i < 8; ++i) {{
          if (t == 0 && i < 7) {{ expect(&full[(i + 1) % 2], 256); bulk(s[(i + 1) % 2], &A[64 * (i + 1)], 256, &full[(i + 1) % 2]); }}
          wait(&full[i % 2], i / 2 % 2); sum += s[i % 2][63 - t]; __syncthreads(); }}"""),
    "bulk copies of libcu++": (64, f"""{TWO} __shared__ barrier bar; if (t == 0) {{ init(&bar, 64); cde::fence_proxy_async_shared_cta(); }}
        __syncthreads();
        for (int i = 0; i < 8; ++i) {{ barrier::arrival_token token;
          if (t == 0) {{ cde::cp_async_bulk_global_to_shared(s[0], &A[64 * i], 256, bar);
            token = cuda::device::barrier_arrive_tx(bar, 1, 256); }} else {{ token = bar.arrive(); }}
          bar.wait(std::move(token)); sum += s[0][63 - t]; __syncthreads(); }}"""),
    "bulk copies of cuda::ptx": (64, f"""{TWO} __shared__ uint64_t full; namespace ptx = cuda::ptx;
        if (t == 0) {{ ptx::mbarrier_init(&full, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }} __syncthreads();
        for (int i = 0; i < 8; ++i) {{
          if (t == 0) {{ ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[0], &A[64 * i], 256, &full);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 256); }}
          while (!ptx::mbarrier_try_wait_parity(&full, i % 2)) {{}}
          sum += s[0][63 - t]; __syncthreads(); }}"""),
    "bulk copies back": (64, f"""{TWO} for (int i = 0; i < 8; ++i) sum += A[64 * i + 63 - t];
        s[0][t] = sum; asm volatile("fence.proxy.async.shared::cta;"); __syncthreads();
        if (t == 0) {{
          asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(C), "r"(at(s[0])) : "memory");
          asm volatile("cp.async.bulk.commit_group;"); asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }}
        __syncthreads(); sum = s[0][t];"""),
    "producer warp, numbered barriers": (96, f"""{TWO} if (t >= 64) {{ for (int i = 0; i < 8; ++i) {{
            if (i >= 2) meet(3 + i % 2, 96);
            s[i % 2][t - 64] = A[64 * i + t - 64]; s[i % 2][t - 32] = A[64 * i + t - 32]; leave(1 + i % 2, 96); }} }}
        else {{ for (int i = 0; i < 8; ++i) {{ meet(1 + i % 2, 96); sum += s[i % 2][63 - t]; if (i < 6) leave(3 + i % 2, 96); }} }}"""),
    "consumer warps first, one buffer": (96, f"""{TWO} if (t < 64) {{ for (int i = 0; i < 8; ++i) {{
            meet(1, 96); sum += s[0][63 - t]; leave(3, 96); }} }}
        else {{ for (int i = 0; i < 8; ++i) {{ if (i) meet(3, 96);
            s[0][t - 64] = A[64 * i + t - 64]; s[0][t - 32] = A[64 * i + t - 32]; leave(1, 96); }} }}"""),
    "producer warp that returns": (96, f"""{TWO} if (t >= 64) {{ for (int i = 0; i < 8; ++i) {{
            if (i >= 2) meet(3 + i % 2, 96);
            copy4(&s[i % 2][t - 64], &A[64 * i + t - 64]); copy4(&s[i % 2][t - 32], &A[64 * i + t - 32]); commit(); pending<0>();
            leave(1 + i % 2, 96); }} return; }}
        for (int i = 0; i < 8; ++i) {{ meet(1 + i % 2, 96); sum += s[i % 2][63 - t]; if (i < 6) leave(3 + i % 2, 96); }}"""),
    "producer warp, mbarriers": (96, f"""{SPLIT} if (t >= 64) {{ for (int i = 0; i < 8; ++i) {{
            wait(&empty[i % 2], (i / 2 + 1) % 2);
            copy4(&s[i % 2][t - 64], &A[64 * i + t - 64]); copy4(&s[i % 2][t - 32], &A[64 * i + t - 32]);
            arrive_copies(&full[i % 2]); }} }}
        else {{ for (int i = 0; i < 8; ++i) {{ wait(&full[i % 2], i / 2 % 2); sum += s[i % 2][63 - t]; arrive(&empty[i % 2]); }} }}"""),
    "an elected thread frees a stage": (96, f"""{SPLIT.replace("init_bar(&empty[i], 64)", "init_bar(&empty[i], 1)")}
        if (t >= 64) {{ for (int i = 0; i < 8; ++i) {{ wait(&empty[i % 2], (i / 2 + 1) % 2);
            copy4(&s[i % 2][t - 64], &A[64 * i + t - 64]); copy4(&s[i % 2][t - 32], &A[64 * i + t - 32]);
            arrive_copies(&full[i % 2]); }} }}
        else {{ for (int i = 0; i < 8; ++i) {{ wait(&full[i % 2], i / 2 % 2); sum += s[i % 2][63 - t];
            meet(1, 64); if (t == 0) arrive(&empty[i % 2]); }} }}"""),
    "one lane waits, and frees a stage": (96, f"""{SPLIT.replace("init_bar(&empty[i], 64)", "init_bar(&empty[i], 2)")}
        if (t >= 64) {{ for (int i = 0; i < 8; ++i) {{ wait(&empty[i % 2], (i / 2 + 1) % 2);
            copy4(&s[i % 2][t - 64], &A[64 * i + t - 64]); copy4(&s[i % 2][t - 32], &A[64 * i + t - 32]);
            arrive_copies(&full[i % 2]); }} }}
        else {{ for (int i = 0; i < 8; ++i) {{ if (t % 32 == 0) wait(&full[i % 2], i / 2 % 2);
            __syncwarp(); sum += s[i % 2][63 - t]; __syncwarp(); if (t % 32 == 0) arrive(&empty[i % 2]); }} }}"""),
    "producer thread, bulk copies": (96, f"""{SPLIT.replace("init_bar(&full[i], 32)", "init_bar(&full[i], 1)")}
        unsigned is_one; asm volatile("{{ .reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p; }}" : "=r"(is_one) : "r"(0xffffffff));
        if (t >= 64) {{ if (is_one) for (int i = 0; i < 8; ++i) {{ wait(&empty[i % 2], (i / 2 + 1) % 2);
            expect(&full[i % 2], 256); bulk(s[i % 2], &A[64 * i], 256, &full[i % 2]); }} }}
        else {{ for (int i = 0; i < 8; ++i) {{ wait(&full[i % 2], i / 2 % 2); sum += s[i % 2][63 - t]; arrive(&empty[i % 2]); }} }}"""),
    "roles of a pipeline": (96, f"""{TWO} __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
        auto block = cg::this_thread_block(); bool fills = t >= 64;
        auto pipe = cuda::make_pipeline(block, &state, fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
        if (fills) {{ for (int i = 0; i < 8; ++i) {{ pipe.producer_acquire();
            cuda::memcpy_async(&s[i % 2][2 * (t - 64)], &A[64 * i + 2 * (t - 64)], 8, pipe); pipe.producer_commit(); }} }}
        else {{ for (int i = 0; i < 8; ++i) {{ pipe.consumer_wait(); sum += s[i % 2][63 - t]; pipe.consumer_release(); }} }}"""),
    "one loop, two roles": (96, f"""{TWO} for (int i = 0; i < 8; ++i) {{
          if (t >= 64) {{ s[i % 2][t - 64] = A[64 * i + t - 64]; s[i % 2][t - 32] = A[64 * i + t - 32]; meet(1, 96); }}
          else {{ meet(1, 96); sum += s[i % 2][63 - t]; }} }}"""),
    "barriers of two branches": (64, f"""{TWO} for (int i = 0; i < 8; ++i) {{
          if (t < 32) {{ s[0][t] = A[64 * i + t]; __syncthreads(); }} else {{ s[0][t] = A[64 * i + t]; __syncthreads(); }}
          sum += s[0][63 - t]; __syncthreads(); }}"""),
}  # fmt: skip


def body_of(name: str, old: str = "", new: str = "") -> tuple[int, str]:
    block, body = RIGHT[name]
    assert old in body
    return block, f"{body.replace(old, new, 1)} {END}" if old else f"{body} {END}"


def setup_of(block: int, body: str) -> Setup:
    spec = kernel_from(body, before=HEADERS + FUNCTIONS, block=f'["{block}"]', grid='["1", "1"]')
    return setup_for(spec, Problem(SIDE, SIDE, SIDE))


@cache
def outcome_of(block: int, body: str, origins: bool = True) -> Outcome:
    return trace_kernel(setup_of(block, body), None, Recording(origins=origins))


def both_ways(block: int, body: str, origins: bool = True) -> tuple[list[Hazard], list[float]]:
    """The hazards that the trace shows, those of the launch being the same, and what C holds."""
    binding = bound(setup_of(block, body))
    space = ThreadSpace(binding.launch, BlockRange.all(binding.launch), 32)
    values, sink = np.arange(SIDE * SIDE, dtype=np.float32), HazardSink(binding.arrays, space)
    after = interpret(binding, space, sink, {"A": values, "B": values, "C": np.zeros_like(values)})
    hazards = list(ordering_of(outcome_of(block, body, origins).whole).hazards)
    streamed = list(sink.hazards_by_pair().values())
    assert [(each.kind, each.count) for each in streamed] == [(each.kind, each.count) for each in hazards]
    return hazards, after["C"].elements()[:64].tolist()


QUICK = {  # one of each kind of copies, waits and roles
    "two buffers", "four stages, one barrier", "a warp's own tile", "pipeline of a block", "groups of a block",
    "cuda::barrier with tokens", "mbarriers in C", "bulk copies of libcu++", "bulk copies back",
    "producer warp that returns", "one lane waits, and frees a stage", "roles of a pipeline", "barriers of two branches",
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.nightly] * (name not in QUICK)) for name in RIGHT])
def test_right_pipelines_are_not_accused(name: str) -> None:
    hazards, result = both_ways(*body_of(name))
    assert [str(each) for each in hazards] == []
    assert result == [sum(64 * i + 63 - t for i in range(8)) for t in range(64)]


@pytest.mark.nightly
@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_the_twin_records_the_same_steps(tmp_path: Path) -> None:
    names = [name for name in RIGHT if name != "roles of a pipeline"]  # whose count of roles needs all threads at once
    traces = [outcome_of(*body_of(name)).whole for name in names]
    twins = HostTwins([trace.setup for trace in traces], tmp_path)
    for number, trace in enumerate(traces):
        assert_same(twins.run(number), trace)


FAULTS: list[tuple[str, str, str, str]] = [  # a pipeline, what is replaced, by what, and what is reported
    ("one buffer", "__pipeline_wait_prior(0);", "", "read after write"),
    ("one buffer", "__pipeline_wait_prior(0);", "__pipeline_wait_prior(1);", "read after write"),
    ("one buffer", "__syncthreads(); sum", "sum", "read after write"),
    ("one buffer", "t]; __syncthreads(); }", "t]; }", "write after read"),
    ("one buffer", "__pipeline_commit();", "", "read after write"),
    ("two buffers", "__pipeline_wait_prior(1)", "__pipeline_wait_prior(2)", "read after write"),
    ("two buffers", "&s[(i + 1) % 2][t]", "&s[i % 2][t]", "write after write"),
    ("two buffers", "t]; __syncthreads(); }", "t]; }", "write after read"),
    ("two buffers", "sum += s[i % 2]", "sum += s[(i + 1) % 2]", "read after write"),
    ("two buffers, other waits", "pending<0>();", "pending<1>();", "read after write"),
    ("four stages, one barrier", "pending<2>();", "pending<3>();", "read after write"),
    ("four stages, one barrier", "pending<2>(); __syncthreads();", "pending<2>();", "read after write"),
    ("four stages, one barrier", "s[(i + 3) % 4][t]", "s[(i + 2) % 4][t]", "write after write"),
    ("four stages, one barrier", "(i + 3) % 4", "i % 4", "read after write"),
    ("wait_all", 'asm volatile("cp.async.wait_all;");', "", "read after write"),
    ("a warp's own elements", "pending<0>();", "", "read after write"),
    ("a warp's own tile", "pending<0>(); __syncwarp();", "pending<0>();", "read after write"),
    ("a warp's own tile", "s[0][t]; __syncwarp();", "s[0][t];", "write after read"),
    ("pipeline of a thread", "pipe.consumer_wait();", "", "read after write"),
    ("pipeline of a thread", "f < i + 2", "f < i + 3", "write after"),
    ("pipeline of a block", "pipe.consumer_wait();", "", "read after write"),
    ("groups of a block", "wait_prior<1>", "wait_prior<2>", "read after write"),
    ("groups of a block", "t]; block.sync();", "t];", "write after read"),
    ("cuda::barrier with tokens", "bar[i % 2].wait(std::move(token));", "", "read after write"),
    ("cuda::barrier with tokens", "&s[(i + 1) % 2][t]", "&s[i % 2][t]", "write after write"),
    ("cuda::barrier, twice a tile", "t]; bar.arrive_and_wait();", "t];", "write after read"),
    ("cuda::barrier, twice a tile", "if (t == 0) init(&bar, 64);", "if (t == 0) init(&bar, 65);", "never opens"),
    ("mbarriers in C", "while (!__mbarrier_test_wait(&bar, token)) {}", "", "read after write"),
    ("mbarriers in C", "__pipeline_arrive_on(&bar);", "", "read after write"),
    ("bulk copies", "wait(&full[i % 2], i / 2 % 2);", "", "read after write"),
    ("bulk copies", "wait(&full[i % 2], i / 2 % 2);", "wait(&full[i % 2], (i / 2 + 1) % 2);", "read after write"),
    ("bulk copies", "t]; __syncthreads(); }", "t]; }", "write after read"),
    ("bulk copies", "expect(&full[(i + 1) % 2], 256);", "expect(&full[(i + 1) % 2], 260);", "never opens"),
    ("producer warp, numbered barriers", "if (i >= 2) meet(3 + i % 2, 96);", "", "write after read"),
    ("producer warp, numbered barriers", "{ meet(1 + i % 2, 96); sum", "{ sum", "read after write"),
    ("producer warp, numbered barriers", "leave(1 + i % 2, 96);", "leave(1, 96);", "never opens"),
    ("producer warp that returns", "pending<0>();", "pending<1>();", "read after write"),
    ("consumer warps first, one buffer", "if (i) meet(3, 96);", "if (i == 2) return;", "read after write"),
    ("producer warp, mbarriers", "wait(&empty[i % 2], (i / 2 + 1) % 2);", "", "write after read"),
    ("producer warp, mbarriers", "arrive_copies(&full[i % 2]);", "arrive(&full[i % 2]);", "read after write"),
    ("producer warp, mbarriers", "wait(&empty[i % 2], (i / 2 + 1) % 2);", "wait(&empty[i % 2], i / 2 % 2);", "never opens"),
    ("an elected thread frees a stage", "meet(1, 64); ", "", "write after read"),
    ("producer thread, bulk copies", "wait(&full[i % 2], i / 2 % 2);", "", "read after write"),
    ("roles of a pipeline", "pipe.producer_acquire();", "", "write after read"),
    ("one loop, two roles", "s[i % 2][63 - t]", "s[(i + 1) % 2][63 - t]", "write after read"),
    ("barriers of two branches", "t]; __syncthreads(); } else", "t]; } else", "divergent"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "expected"), sampled(sorted(FAULTS, key=lambda each: each[3]), every=4))
def test_a_planted_fault_is_reported(name: str, old: str, new: str, expected: str) -> None:
    outcome = outcome_of(*body_of(name, old, new), origins=False)
    assert outcome.trace is not None
    hazards = ordering_of(outcome.trace).hazards
    found = [each.kind for each in hazards] + ([outcome.fault.message] if outcome.fault else [])
    assert any(expected in each for each in found), found
    if outcome.fault is None:
        assert len(both_ways(*body_of(name, old, new), origins=False)[0]) == len(hazards)


# What compute-sanitizer's racecheck reports of the same programs (tests/data/h200-pipelines.json), and where it differs.

ACCUSED = {  # right: it orders a barrier's arrivals by the threads that arrive, not by those that these waited for
    "consumer warps first, one buffer", "an elected thread frees a stage", "one lane waits, and frees a stage",
}  # fmt: skip
MISSED = {  # wrong: it takes a copy for complete where its barrier is, also if nobody waits there
    ("pipeline of a block", "pipe.consumer_wait();"),
    ("cuda::barrier with tokens", "bar[i % 2].wait(std::move(token));"),
    ("cuda::barrier with tokens", "&s[(i + 1) % 2][t]"),
    ("mbarriers in C", "while (!__mbarrier_test_wait(&bar, token)) {}"),
}


def test_racecheck_agrees_on_right_pipelines_and_on_faults() -> None:
    rows = json.loads((DATA / "h200-pipelines.json").read_text("utf-8"))["programs"]
    ended = {(row["pipeline"], row["old"], row["new"]): row["errors"] + row["warnings"] for row in rows if "errors" in row}
    right = {name: ended[name, "", ""] for name in RIGHT}
    assert {name for name, reports in right.items() if reports} == ACCUSED
    faults = {(name, old): ended[name, old, new] for name, old, new, _ in FAULTS if (name, old, new) in ended}
    assert {fault for fault, reports in faults.items() if not reports} == MISSED
    assert len(right) - len(ACCUSED) >= 20
    assert len(faults) - len(MISSED) >= 20


def test_a_fault_names_both_lines() -> None:
    block, body = body_of("two buffers", "__pipeline_wait_prior(1)", "__pipeline_wait_prior(2)")
    text = body.replace("; ", ";\n")
    hazard = both_ways(block, text)[0][0]
    lines = ["", *program_lines(text)]
    assert "__pipeline_memcpy_async" in lines[hazard.earlier.place.line]
    assert "sum += " in lines[hazard.later.place.line]
    assert f"line {hazard.earlier.place.line}" in str(hazard)
    assert hazard.is_under_way


def program_lines(body: str) -> list[str]:
    spec = kernel_from(body, before=HEADERS + FUNCTIONS)
    return spec.text.split("\n")


def test_an_unwritten_element_names_the_copy_that_will_write_it() -> None:
    body = "__shared__ float s[64]; int t = threadIdx.x;\n__pipeline_memcpy_async(&s[t], &A[t], 4); __pipeline_commit();\nC[t] = s[t];"
    fault = outcome_of(64, body).fault
    assert fault is not None
    assert fault.remedy == f"wait for the asynchronous copy of line {(fault.place.line if fault.place else 0) - 1} first"


def test_barriers_of_several_branches_get_a_warning() -> None:
    remarks = ordering_of(outcome_of(*body_of("barriers of two branches")).whole).remarks
    assert all("CUDA leaves this undefined" in each for each in remarks)
    assert len(remarks) == 2
    assert ordering_of(outcome_of(*body_of("producer warp, numbered barriers")).whole).remarks == ()


def test_warps_that_wait_in_turn_in_one_place_are_not_accused() -> None:
    body = """int t = threadIdx.x, mine = 1 + t / 64; if (mine == 2) leave(1, 128);
        for (int i = 0; i < 4; ++i) { meet(mine, 128); C[t] = A[t]; leave(3 - mine, 128); } if (mine == 1) meet(1, 128);"""
    fault = outcome_of(128, body).fault
    assert fault is not None
    assert fault.id == "unsupported"
    assert "wait for each other in turn" in fault.message
