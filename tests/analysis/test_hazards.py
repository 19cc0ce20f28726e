import itertools
from typing import Any

import pytest

from gemmviz.analysis.launch_hazards import HazardSink, LaunchHazards, ordering_of
from gemmviz.analysis.shared_hazards import HazardFinder
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.executor import stream_launch
from gemmviz.shots.knowledge import replay_of
from tests.conftest import kernel_from, outcome_of, sampled, trace_of

BARRIERS = ("        __syncthreads();   // no thread reads", "        __syncthreads();   // no thread overwrites")


def without_barrier(number: int) -> KernelSpec:
    spec = load_kernel("04_tiled")
    return parse_kernel(spec.text.replace(BARRIERS[number], "        // nobody"), "broken.cu")


@pytest.mark.parametrize(("number", "kind"), [(0, "read after write"), (1, "write after read")])
def test_a_missing_barrier_is_named(number: int, kind: str) -> None:
    hazards = ordering_of(trace_of(without_barrier(number), 8, 8, 8, TILE_WIDTH=4)).hazards
    assert {hazard.kind for hazard in hazards} == {kind}
    assert {hazard.array for hazard in hazards} == {"tileA", "tileB"}
    first = hazards[0]
    assert first.threads[0] != first.threads[1]
    assert "broken.cu" in str(first.fault("broken.cu"))


@pytest.mark.parametrize("sizes", [(8, 8, 12), (7, 9, 12), (13, 5, 9)])
def test_streaming_finds_the_same(sizes: tuple[int, int, int]) -> None:
    spec = without_barrier(1)
    trace = trace_of(spec, *sizes, TILE_WIDTH=4)
    finder = LaunchHazards()
    stream_launch(trace.setup, finder)
    streamed = {(h.kind, h.earlier.text, h.later.text, h.array, h.count) for h in finder.hazards}
    assert streamed == {(h.kind, h.earlier.text, h.later.text, h.array, h.count) for h in ordering_of(trace).hazards}
    assert streamed


@pytest.mark.parametrize("reads", [3, 700])
def test_a_write_after_any_number_of_reads_is_found(reads: int) -> None:
    """Reads are compared late, but none is lost: neither few nor more than are put off."""
    body = f"""__shared__ float s[4]; s[threadIdx.x] = 1.0f; __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < {reads}; ++k) sum += s[(threadIdx.x + k) % 4];
    s[threadIdx.x] = sum; C[threadIdx.x] = s[threadIdx.x];"""
    found = ordering_of(trace_of(kernel_from(body))).hazards
    assert [(hazard.kind, hazard.earlier.kind, hazard.later.kind) for hazard in found] == [
        ("write after read", "load", "store")
    ]
    finder = LaunchHazards()
    stream_launch(trace_of(kernel_from(body)).setup, finder)
    assert [(hazard.kind, hazard.count) for hazard in finder.hazards] == [(hazard.kind, hazard.count) for hazard in found]


def test_two_threads_write_one_element() -> None:
    hazards = ordering_of(trace_of(kernel_from("__shared__ float s[4]; s[threadIdx.x / 2] = 1.0f;"))).hazards
    assert [hazard.kind for hazard in hazards] == ["write after write"]


def test_a_thread_may_reread_its_own_element() -> None:
    body = "__shared__ float s[4]; s[threadIdx.x] = A[threadIdx.x]; C[threadIdx.x] = s[threadIdx.x];"
    assert ordering_of(trace_of(kernel_from(body))).hazards == ()


def test_syncwarp_orders_a_warp_but_not_two() -> None:
    body = "__shared__ float s[64]; s[threadIdx.x] = 1.0f; __syncwarp(); C[threadIdx.x] = s[threadIdx.x ^ {}];"
    assert ordering_of(trace_of(kernel_from(body.format(1), block='["64"]'), 8, 8, 8)).hazards == ()
    across = ordering_of(trace_of(kernel_from(body.format(32), block='["64"]'), 8, 8, 8)).hazards
    assert [hazard.kind for hazard in across] == ["read after write"]
    assert across[0].threads == (32, 0)
    assert across[0].count == 64


def test_conflicts_are_counted_between_the_sites_that_they_are_between() -> None:
    body = (
        "__shared__ float s[8]; int t = threadIdx.x;\nif (t < 2) s[t] = 1.0f;\nelse s[t] = 2.0f;\n"
        "float sum = 0; for (int i = 0; i < 4; ++i)\nsum += s[(t + i) % 4];\nC[t] = sum;"
    )
    hazards = ordering_of(trace_of(kernel_from(body))).hazards
    assert [(hazard.earlier.place.line, hazard.later.place.line, hazard.count) for hazard in hazards] == [
        (11, 14, 6),
        (12, 14, 6),
    ]


_REDUCED = """__shared__ float s[64]; int t = threadIdx.x; s[t] = 1.0f; __syncthreads();
if (t < 32) { for (int half = 32; half > 0; half /= 2) { if (t < half) s[t] += s[t + half]; __syncwarp(); } }
if (t == 0) C[0] = s[0];"""


@pytest.mark.parametrize(
    ("body", "block", "kinds"),
    [
        (_REDUCED, 64, []),  # by one of two warps
        (_REDUCED.replace("__syncwarp();", ""), 64, ["read after write"]),
        ("int t = threadIdx.x; __shared__ float s[64]; if (t > 50) return; s[t] = 1.0f; __syncwarp(); C[t] = s[t / 2 * 2];", 64, []),
        ("int t = threadIdx.x; __shared__ float s[64]; s[t] = 1.0f; if (t % 2) __syncwarp(); C[t] = s[t ^ 1];", 64, ["read after write"]),
        ("int t = threadIdx.x; __shared__ float s[64]; s[t] = 1.0f; if (t < 32) __syncwarp(); C[t] = s[t ^ 1];", 64, ["read after write"]),
    ],
)  # fmt: skip
def test_syncwarp_orders_warps_of_which_all_arrive_that_are_left(body: str, block: int, kinds: list[str]) -> None:
    trace = trace_of(kernel_from(body, block=f'["{block}"]'), 8, 8, 8)
    hazards = ordering_of(trace).hazards
    assert [hazard.kind for hazard in hazards] == kinds
    finder = LaunchHazards()
    stream_launch(trace.setup, finder)
    assert [(hazard.kind, hazard.count) for hazard in finder.hazards] == [(hazard.kind, hazard.count) for hazard in hazards]
    assert all("if (t < 32) __syncwarp" not in body or min(hazard.threads) >= 32 for hazard in hazards)


class _Thorough(HazardFinder):
    """Looks at every access."""

    def _is_doubtful(self, *_: Any) -> bool:
        return True


class _Direct(HazardSink):
    """Passes every access on at once, and is told of every access."""

    def __init__(self, arrays: tuple[MemoryArray, ...], space: ThreadSpace) -> None:
        super().__init__(arrays, space)
        self.finder = _Thorough(arrays, space, 1)

    def access(self, *args: Any) -> None:
        super().access(*args)
        self._interrupt()

    def end(self) -> None:
        super().end()


class _Unheld(LaunchHazards):
    """Searches every access anew."""

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        self._groups.append(_Direct(arrays, space))
        return self._groups[-1]


_PHASES = """__shared__ float s[64]; int t = threadIdx.x; float sum = 0;
for (int k = 0; k < K; ++k) {{
  s[t] = A[k];{barrier}
  for (int i = 0; i < 4; ++i) sum += s[(t + i {shift}) % 64];
  if (k % 2 == 0) sum += s[t / 2];
  {closing}
}}
C[t % 4] = sum;"""


@pytest.mark.parametrize(
    ("barrier", "shift", "closing"),
    sampled(
        itertools.product(
            ["", "__syncthreads();"],
            ["+ k", "", "+ (k == 3 ? (int)blockIdx.x : 0)", "+ blockIdx.x"],
            ["__syncthreads();", "__syncwarp();", "if (blockIdx.x < 1) __syncthreads();", ""],
        ),
        every=3,
    ),
)
def test_what_repeats_between_barriers_counts_as_if_it_were_searched(barrier: str, shift: str, closing: str) -> None:
    spec = kernel_from(_PHASES.format(barrier=barrier, shift=shift, closing=closing), block='["64"]', grid='["2"]')
    held, unheld = LaunchHazards(), _Unheld()
    stream_launch(setup_for(spec, Problem(4, 4, 7)), held)
    stream_launch(setup_for(spec, Problem(4, 4, 7)), unheld)
    assert held.hazards == unheld.hazards
    assert bool(held.hazards) == (not barrier or closing != "__syncthreads();")


_COPIES = """__shared__ float s[2][64]; int t = threadIdx.x; float sum = 0;
s[0][t] = s[1][t] = 0; __syncthreads();
for (int k = 0; k < K; ++k) {{
  __pipeline_memcpy_async(&s[k % 2][t], &A[t], 4); __pipeline_commit();
  __pipeline_wait_prior({late});
  {barrier}
  sum += s[(k + 1) % 2][63 - t];
  {barrier}
}}
C[t] = sum;"""


@pytest.mark.parametrize("late", [0, 1, 2])
@pytest.mark.parametrize("barrier", ["", "__syncthreads();"])
def test_no_epoch_with_a_copy_under_way_is_taken_for_an_equal_one(barrier: str, late: int) -> None:
    spec = kernel_from(_COPIES.format(late=late, barrier=barrier), block='["64"]', before="#include <cuda_pipeline.h>\n")
    held, unheld = LaunchHazards(), _Unheld()
    setup = setup_for(spec, Problem(8, 8, 9))
    stream_launch(setup, held)
    stream_launch(setup, unheld)
    assert held.hazards == unheld.hazards
    found = ordering_of(trace_of(spec, 8, 8, 9)).hazards
    assert [(hazard.kind, hazard.count, hazard.is_under_way) for hazard in held.hazards] == [
        (hazard.kind, hazard.count, hazard.is_under_way) for hazard in found
    ]
    assert bool(found) == (not barrier or late == 2)


@pytest.mark.parametrize(("sizes", "number"), [((8, 8, 32), 0), ((13, 5, 31), 1)])
def test_a_missing_barrier_counts_the_same_with_and_without_repeats(sizes: tuple[int, int, int], number: int) -> None:
    setup = setup_for(without_barrier(number), Problem(*sizes), {"TILE_WIDTH": 4})
    held, unheld = LaunchHazards(), _Unheld()
    stream_launch(setup, held)
    stream_launch(setup, unheld)
    assert held.hazards == unheld.hazards != []


def test_an_epoch_that_repeats_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    original = HazardFinder.access

    def counted(finder: HazardFinder, step: int, *rest: Any) -> None:
        searched.append(step)
        original(finder, step, *rest)

    monkeypatch.setattr(HazardFinder, "access", counted)
    for phases in (4, 64):
        searched.append(-1)
        stream_launch(setup_for(load_kernel("04_tiled"), Problem(8, 8, 4 * phases)), LaunchHazards())
    second = searched.index(-1, 1)
    assert len(searched) - second == second > 0


def test_the_sentence_names_first_who_comes_later() -> None:
    body = "__shared__ float s[4];\ns[threadIdx.x] = 1.0f;\nC[threadIdx.x] = s[3 - threadIdx.x];"
    (hazard,) = replay_of(outcome_of(kernel_from(body), 4, 4, 4)).hazards
    earlier, later = hazard.threads
    assert (hazard.element, 3 - hazard.element) == (earlier, later)
    assert f"thread {later} reads it" in str(hazard)
    assert f"after thread {earlier} writes it" in str(hazard)
