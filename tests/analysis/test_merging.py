"""What compilers make of neighbouring accesses."""

from typing import Any

import pytest

from gemmviz.analysis.counts import totals
from gemmviz.analysis.merging import Explanation, MergingCounter, explained
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import stream_launch
from tests.conftest import kernel_from

TURNED = """__shared__ float as[4][16]; __shared__ float bs[16][4];
int t = threadIdx.x;
for (int i = 0; i < 4; ++i) as[i][t] = A[t * 4 + i];
for (int i = 0; i < 4; ++i) bs[t][i] = B[t * 4 + i];
__syncthreads();
float sum = 0;
for (int i = 0; i < 4; ++i) sum += as[i][t] * bs[t][i];
C[t] = sum;"""


def counted(body: str, block: int = 16) -> tuple[Setup, MergingCounter]:
    setup = setup_for(kernel_from(body, block=f'["{block}"]'))
    counter = MergingCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    return setup, counter


def with_changes(counter: MergingCounter, **changes: int) -> dict[str, int]:
    return {**totals(counter.written.counts), **changes}


def test_what_is_written_needs_no_explanation() -> None:
    _, counter = counted(TURNED)
    assert explained(counter, with_changes(counter)) == Explanation((), 0)
    assert str(explained(counter, with_changes(counter))) == "as written"


def test_stores_of_one_tile_merged() -> None:
    """A turned tile is stored element by element, the other four at a time: 8 stores are 5, as 65 536 are 40 960."""
    _, counter = counted(TURNED)
    written = totals(counter.written.counts)
    assert written["shared_store_instructions"] == 8
    found = explained(counter, with_changes(counter, shared_store_instructions=5, **wavefronts(counter, "bs", "write")))
    assert str(found) == "stores of bs merged, up to 16 bytes at a time"


def test_loads_of_one_array_of_two_merged() -> None:
    _, counter = counted(TURNED)
    merged = totals(counter.merged[16].counts)
    found = explained(
        counter,
        with_changes(counter, global_load_requests=5, global_load_sectors=merged["global_load_sectors"] // 2 + 32,
                     global_load_sectors_ideal=totals(counter.written.counts)["global_load_sectors_ideal"]),
    )  # fmt: skip
    assert found is not None
    assert [(each.access, each.bytes) for each in found.merged] == [("read", 16)]
    assert found.merged[0].array in "AB"


def wavefronts(counter: MergingCounter, array: str, access: str) -> dict[str, int]:
    """The wavefronts of a launch with one array's accesses merged, 16 bytes at a time."""
    number = [each.name for each in counter.written.arrays].index(array)
    found = {"shared_wavefronts": 0, "shared_wavefronts_ideal": 0}
    for counts, wanted in ((counter.written.counts, False), (counter.merged[16].counts, True)):
        for (_, operand), each in counts.accesses.items():
            if (
                counts.arrays[operand.array].space == "shared"
                and ((operand.array, operand.access) == (number, access)) == wanted
            ):
                found["shared_wavefronts"] += each.wavefronts
                found["shared_wavefronts_ideal"] += each.ideal_wavefronts
    return found


def test_stores_that_are_switched_off_are_counted_and_cost_nothing() -> None:
    _, counter = counted(TURNED)
    found = explained(counter, with_changes(counter, shared_store_instructions=11))
    assert found == Explanation((), 3)
    assert str(found) == "3 shared stores with all threads switched off"


def test_what_no_compiler_does_is_not_explained() -> None:
    _, counter = counted(TURNED)
    assert explained(counter, with_changes(counter, shared_load_instructions=1)) is None
    assert explained(counter, with_changes(counter, global_store_sectors=99)) is None


@pytest.mark.parametrize(
    ("body", "widths"),
    [
        ("for (int i = 0; i < 8; ++i) C[i] = A[i];", {4: 2}),
        ("for (int i = 0; i < 7; ++i) C[i] = A[i];", {4: 1, 2: 1, 1: 1}),
        ("for (int i = 0; i < 4; ++i) C[i] = A[i + 2];", {2: 2}),
        ("for (int i = 0; i < 4; ++i) C[i] = A[i + 1];", {1: 2, 2: 1}),
        ("for (int i = 0; i < 4; ++i) { C[i] = A[i]; __syncthreads(); }", {1: 4}),
        ("float* a = (float*)A; for (int i = 0; i < 4; ++i) { float x = a[i]; a[i + 8] = x; } C[0] = 0;", {1: 4}),
        ("for (int i = 0; i < 4; ++i) if (threadIdx.x > i) C[i] = A[i];", {1: 3}),
        ("for (int i = 0; i < 4; ++i) { C[i] = A[i] + A[i + 16]; }", {4: 2}),
    ],
)
def test_runs_of_neighbours(body: str, widths: dict[int, int]) -> None:
    """Also of two runs at once; not across barriers, stores to the same array, or other threads."""
    _, counter = counted(body, block=4)
    found: dict[int, Any] = {}
    for (_, operand), counts in counter.merged[16].counts.accesses.items():
        if (operand.array, operand.access) == (0, "read"):
            found[operand.width] = found.get(operand.width, 0) + counts.requests
    assert found == widths
