"""Atomic operations, against threads that take turns in the order of their numbers."""

import random
from collections.abc import Callable

import numpy as np
import pytest

from gemmviz.model.messages import KernelFault
from tests.run.warp_runs import Kinds, recorded, run

Step = Callable[[int, int], int]
OPERATIONS: dict[str, Step] = {
    "Add": lambda old, x: old + x,
    "Sub": lambda old, x: old - x,
    "Min": min,
    "Max": max,
    "Exch": lambda old, x: x,
    "And": lambda old, x: old & x,
    "Or": lambda old, x: old | x,
    "Xor": lambda old, x: old ^ x,
}


@pytest.mark.parametrize("where", ["shared", "global"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_on_integers(operation: str, where: str) -> None:
    counts, block, step = (1, 3, 64), 64, OPERATIONS[operation]  # one element takes the way for many threads
    target = "s" if where == "shared" else "(int*)C + 1024"
    body = f"__shared__ int s[64]; int t = threadIdx.x, x = t * 7 % 50; int* p = {target};"
    for elements in counts:
        body += f"""p[t] = 21; __syncthreads();
            C[t] = atomic{operation}(&p[t % {elements}], x); __syncthreads(); C[64 + t] = p[t]; C += 128;"""
    for elements, found in zip(counts, run(body, block=block).reshape(-1, 128), strict=False):
        values, olds = [21] * 64, []
        for t in range(block):
            olds.append(values[t % elements])
            values[t % elements] = step(values[t % elements], t * 7 % 50)
        assert found[:64].tolist() == olds, elements
        assert found[64:].tolist() == values, elements


def test_counters_that_wrap() -> None:
    body = """__shared__ unsigned s[2]; int t = threadIdx.x; s[0] = 5; s[1] = 0; __syncthreads();
        C[t] = atomicInc(&s[0], 6); C[64 + t] = atomicDec(&s[1], 3);"""
    found = run(body, block=12)
    assert found[:12].tolist() == [5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2]
    assert found[64:76].tolist() == [0, 3, 2, 1] * 3


def test_floats_are_added_in_the_order_of_the_threads() -> None:
    found = run("int t = blockIdx.x * 64 + threadIdx.x; atomicAdd(&C[t % 3], 1.0f / (1 + t));", grid=3)
    expected = np.zeros(3, np.float32)
    for t in range(192):
        expected[t % 3] += np.float32(1) / np.float32(1 + t)
    assert found[:3].tolist() == expected.tolist()


def test_doubles_by_compare_and_swap() -> None:
    """The loop of the programming guide: one thread of those that collide succeeds in each trip."""
    before = """__device__ double add(double* at, double x) { unsigned long long* p = (unsigned long long*)at; unsigned long long old = *p, seen;
        do { seen = old; old = atomicCAS(p, seen, __double_as_longlong(x + __longlong_as_double(seen))); } while (seen != old);
        return __longlong_as_double(old); }"""
    body = "__shared__ double s[2]; s[0] = 0; s[1] = 0; __syncthreads(); add(&s[threadIdx.x % 2], threadIdx.x); __syncthreads(); C[threadIdx.x] = s[threadIdx.x % 2];"
    assert run(body, before=before, block=32)[:2].tolist() == [sum(range(0, 32, 2)), sum(range(1, 32, 2))]


def test_an_atomic_is_one_access_of_its_own_kind() -> None:
    sink = Kinds()
    run("int t = threadIdx.x; atomicAdd(C + t % 4, 1.0f);", sink=sink)
    assert [site.kind for site in sink.sites] == ["atomic"]
    assert [operand.access for operand in sink.sites[0].operands] == ["write"]
    assert sink.runs == [0]
    element = recorded("int t = threadIdx.x; atomicAdd(C + t % 4, 1.0f);").element.finished()
    assert element.tolist() == [[t % 4 for t in range(64)]]


def test_random_masks_and_elements() -> None:
    chosen = random.Random(5)
    for _ in range(10):
        a, b, c = (chosen.randrange(1, 9) for _ in range(3))
        body = f"int t = blockIdx.x * 32 + threadIdx.x; if (t * {a} % 7 < {b}) C[64 + t] = atomicMax((int*)C + t % {c}, t * {a} % 11) + 1;"
        found = run(body, block=32, grid=2)
        expected, values = np.zeros(64), [0] * c
        for t in range(64):
            if t * a % 7 < b:
                expected[t] = values[t % c] + 1
                values[t % c] = max(values[t % c], t * a % 11)
        assert found[64:128].tolist() == expected.tolist()
        assert found[:c].view(np.int32).tolist() == values


def test_a_variable_of_the_thread_takes_no_atomics() -> None:
    with pytest.raises(Exception, match="works on global and shared memory alone"):
        run("int x[2] = {0, 0}; atomicAdd(&x[0], 1); C[0] = x[0];")
    with pytest.raises(KernelFault, match="out of range"):
        run("atomicAdd(C + 5000, 1.0f);")
