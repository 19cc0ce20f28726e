"""Counters of loops, which name the moments of a run, and the variables that accesses fill and store."""

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.program import program_for
from gemmviz.cuda.walk import loop_counters, variables_of_accesses

_KERNEL = """
extern "C" __global__ void odd(const float* A, const float* B, float* C, int M, int N, int K)
{
    float sum = 0.0f;
    LOOP
        sum += A[K];
    C[0] = sum;
}
"""


def counters(loop: str) -> dict[int, tuple[str, list[int]]]:
    """Name and first values of each counter, by number of the loop."""
    kernel = structs.replace(load_kernel("sequential"), text=_KERNEL.replace("LOOP", loop), entry="odd", is_shipped=False)
    program = program_for(kernel, {})
    return {number: (each.name, [each.at(trip) for trip in range(4)]) for number, each in loop_counters(program).items()}


@pytest.mark.parametrize(
    ("loop", "values"),
    [
        ("for (int k = 0; k < K; ++k)", [0, 1, 2, 3]),
        ("for (unsigned k = 3; k < K; k += 4u)", [3, 7, 11, 15]),
        ("for (int k = 64; k > 0; k /= 2)", [64, 32, 16, 8]),
        ("for (int k = 1; k < K; k *= 2)", [1, 2, 4, 8]),
        ("for (long k = 9; k >= 0; --k)", [9, 8, 7, 6]),
    ],
)
def test_values_of_a_counter(loop: str, values: list[int]) -> None:
    assert counters(loop) == {0: ("k", values)}


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = threadIdx.x; k < K; k += 4)",  # begins differently in each thread
        "for (int k = 0; k < K; k += N)",
        "for (int k = 0; k < K; ++k, ++k)",
        "int k = 0; while (k++ < K)",
        "for (int k = 0; k < K; ++k) if (k == 2) ++k; else",
        "for (float k = 0.5f; k < 4.0f; k += 1.0f)",
    ],
)
def test_a_loop_without_a_counter(loop: str) -> None:
    assert counters(loop) == {}


def test_nested_counters() -> None:
    assert counters("for (int i = 0; i < M; ++i) for (int k = 2; k < K; k += 2)") == {
        0: ("i", [0, 1, 2, 3]),
        1: ("k", [2, 4, 6, 8]),
    }


def test_variables_that_accesses_fill_and_store() -> None:
    body = """float sum = 0.0f, own[4];
    for (int k = 0; k < K; ++k) {
        const float a = A[k]; own[k % 4] = B[k]; // float b = A[0];
        sum += a * own[k % 4] + A[0];
    }
    C[K] = 2.0f * sum + C[M];"""
    text = _KERNEL.replace(_KERNEL[_KERNEL.index("float sum") : _KERNEL.rindex("}")], body + "\n")
    program = program_for(structs.replace(load_kernel("sequential"), text=text, entry="odd", is_shipped=False), {})
    names = {variable.slot: variable.name for variable in program.variables}
    loaded, stored = (
        {program.accesses[access].text: [names[slot] for slot in slots] for access, slots in moved.items()}
        for moved in variables_of_accesses(program)
    )
    assert loaded == {"A[k]": ["a"], "B[k]": ["own"]}
    assert stored == {"C[K]": ["sum"]}
