"""Counts of whole launches leave nothing out and add nothing: they are those of every single access."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.analysis.costs import request_rows
from gemmviz.analysis.counts import Counts, LaunchCounter, count_rows, count_steps
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import device_for, legal_choices, setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.arrays import vector
from gemmviz.model.device import MemoryRules
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import Place
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import MemoryArray, Operand, Site
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.run.cpu.executor import bound, stream_launch, trace_kernel
from gemmviz.run.cpu.simt.interpret import interpret
from tests.conftest import kernel_from, sampled
from tests.run.program_writer import Writer, kernel_text

RULES = MemoryRules()
LAUNCH = Launch((3, 4, 1), (5, 2, 1))
SPACE = ThreadSpace(LAUNCH, BlockRange.all(LAUNCH), 32)
AXES = len(SPACE.shape)


def operand_of(space: str, width: int) -> tuple[MemoryArray, Operand, Site]:
    array = MemoryArray("X", space, (1 << 20,), "float32")  # type: ignore[arg-type]
    operand = Operand(0, "read", vector(width))
    return array, operand, Site(Place(1, 1, 1, 2), "X", (), "load", (operand,))


@st.composite
def offsets(draw: Any) -> Any:
    """Sums of what varies along some axes, most of it linear: as the interpreter makes them."""
    total: Any = np.full((1,) * AXES, draw(st.integers(0, 100)))
    for axis in range(AXES):
        if SPACE.shape[axis] > 1 and draw(st.booleans()):
            shape = [1] * AXES
            shape[axis] = SPACE.shape[axis]
            line = np.arange(SPACE.shape[axis]) * draw(st.sampled_from([0, 1, 3, 8, 32, 64, 1000]))
            if draw(st.integers(0, 4)) == 0:
                line = np.array(draw(st.lists(st.integers(0, 3000), min_size=len(line), max_size=len(line))))
            total = total + line.reshape(shape)
    return total


MASKS = st.none() | st.lists(st.booleans(), min_size=5, max_size=5).map(
    lambda row: np.array(row).reshape(1, 1, 1, 1, 1, 5)[..., :]
)


def dense(offset: Any, mask: Any, array: MemoryArray, operand: Operand) -> Counts:
    values = np.broadcast_to(offset, SPACE.shape)
    if mask is not None:
        values = np.where(mask, values, -1)
    return count_rows(request_rows(values.reshape(SPACE.blocks.count, -1), RULES), operand, array, RULES)


@given(st.lists(st.tuples(offsets(), st.booleans()), min_size=1, max_size=6), st.sampled_from([1, 4]), st.booleans(), st.data())
@settings(max_examples=20, deadline=None)
def test_every_access_is_counted_as_if_alone(found: Any, width: int, shared: bool, data: Any) -> None:
    array, operand, site = operand_of("shared" if shared else "global", width)
    counter = LaunchCounter(RULES)
    sink = counter.sink(SPACE, (array,), -1)
    sink.site(site)
    lanes = SPACE.shape[-1]
    expected = Counts()
    for offset, masked in found:
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=lanes, max_size=lanes))) if masked else None
        offset = offset // width * width
        sink.access(0, 0, offset, mask, (), 0)
        expected += dense(offset, mask, array, operand)
    assert counter.counts.total() == expected


def test_a_part_that_comes_again_is_counted_again_in_its_phase() -> None:
    array, operand, _ = operand_of("global", 1)
    site = Site(Place(1, 1, 1, 2), "X", (0, 1), "load", (operand,))
    counter = LaunchCounter(RULES)
    sink = counter.sink(SPACE, (array,), 0)
    sink.site(site)
    offset = np.arange(5).reshape((1,) * (AXES - 1) + (5,))
    sink.begin()
    sink.access(0, 0, offset, None, (0, 0), 0)
    sink.access(0, 0, offset * 9, None, (0, 1), 0)
    part = sink.end()
    sink.again(part, (3,))
    counts = counter.counts
    assert counts.phases[0] == counts.phases[3]
    assert counts.phases[0] == dense(offset, None, array, operand) + dense(offset * 9, None, array, operand)


def assert_all_counted(setup: Setup) -> None:
    counter = LaunchCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    trace = trace_kernel(setup).whole
    every = count_steps(trace, range(trace.steps))
    assert counter.counts.accesses == every.accesses
    inside = {phase: counts for phase, counts in every.phases.items() if 0 <= phase < max(counter.counts.phases) + 1}
    assert {phase: counts for phase, counts in counter.counts.phases.items() if phase >= 0} == inside


_NIGHTLY = [pytest.param(size, marks=pytest.mark.nightly) for size in ((33, 17, 19), (24, 40, 12), (64, 64, 32))]


@pytest.mark.parametrize("size", [(17, 9, 11), *_NIGHTLY], ids=str)
@pytest.mark.parametrize("name", sampled(kernel_names(), every=3))
def test_every_kernel_with_every_choice(name: str, size: tuple[int, int, int]) -> None:
    for setup in legal_choices(load_kernel(name), Problem(*size)):
        assert_all_counted(setup)


@pytest.mark.parametrize(("seed", "least_kept"), sampled(itertools.product(range(25), (1, 1 << 12)), every=9))
def test_random_kernels_with_loops_and_branches(seed: int, least_kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.run.cpu.simt.sums._LEAST_KEPT", least_kept)
    assert_all_counted(setup_for(parse_kernel(kernel_text(*Writer(seed).program()), f"random{seed}.cu")))


@pytest.mark.parametrize(
    "body",
    [
        "int at = 0; for (int p = 0; p < 4; ++p) { for (int i = 0; i < 3; ++i) at += threadIdx.x; C[0] = A[at]; }",
        "int at[2]; at[0] = 0; for (int p = 0; p < 4; ++p) { for (int i = 0; i < 2; ++i) at[0] += i; C[0] = A[at[0]]; }",
        "const float* p = A; for (int q = 0; q < 4; ++q) { for (int i = 0; i < 2; ++i) C[i] = p[i]; p += 2; }",
        "for (int q = 0; q < 4; ++q) for (int i = 0; i < 2; ++i) { if (threadIdx.x > q) C[i] = A[q + i]; }",
        "for (int q = 0; q < 4; ++q) { int w = q & 1; for (int i = 0; i < 2; ++i) C[i] = A[w + i]; }",
        "int w = 9; for (int q = 0; q < 4; ++q) { for (int i = 0; i < 2; ++i) { C[i] = A[w]; w = i; } }",
        "for (int q = 0; q < 4; ++q) { for (int i = 0; i < 4; ++i) { if (i > q) break; C[i] = A[i]; } }",
        "for (int q = 0; q < 4; ++q) { if ((int)threadIdx.x == q) return; for (int i = 0; i < 2; ++i) C[i] = A[i]; }",
        "float4 v; for (int q = 0; q < 3; ++q) { for (int i = 0; i < 2; ++i) v = *(const float4*)(A + 4 * i); C[q] = v.x; }",
        "float x; for (int q = 0; q < 3; ++q) { for (int i = 0; i < 2; ++i) x = A[i]; C[q] = x; }",
    ],
)
def test_what_changes_from_one_time_to_the_next_is_not_taken_for_the_same(body: str) -> None:
    assert_all_counted(setup_for(kernel_from(body)))


@pytest.mark.parametrize(
    "index",
    sampled([
        "x + 16 * k", "(k + x) * 4 - x", "x * x - k * x + k", "(x + k) * (x + 1)", "(int)(x * 3u + k)", "(size_t)(x - k + 4) * 8",
        "(x + 2147483600 + 16 * k) & 255", "(unsigned)(2147483600 + x + 64 * k) % 256", "-x + 64 - 8 * k",
        "(long long)x * 4 + (3 - k) * 16ll", "x + (k << 4)",
    ]),
)  # fmt: skip
def test_indices_that_a_number_shifts_from_trip_to_trip(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.run.cpu.simt.sums._LEAST_KEPT", 1)
    body = f"int x = threadIdx.x + 4 * blockIdx.x; for (int k = 0; k < 4; ++k) C[x] = A[{index}];"
    assert_all_counted(setup_for(kernel_from(body, grid='["4"]'), Problem(16, 16, 64)))


def test_blocks_in_groups_are_counted_once_for_all_phases() -> None:
    """The offsets of a phase are those of the phase before plus a number, though each block has its own."""
    setup = setup_for(load_kernel("grouped_blocks"), Problem(128, 128, 32))
    assert_all_counted(setup)
    offsets = list[Any]()

    class Offsets(AccessSink):
        wants = "sums"

        def access(self, site: int, place: int, offset: Any, mask: Any, visits: tuple[int, ...], epoch: int) -> None:
            if np.size(offset) > 1 << 12:
                offsets.append(offset)

    binding = bound(setup)
    interpret(binding, ThreadSpace(binding.launch, BlockRange.all(binding.launch), 32), Offsets(), None)
    assert len(offsets) == 8 + 8 + 1
    assert len({id(each.base) for each in offsets}) == 3
