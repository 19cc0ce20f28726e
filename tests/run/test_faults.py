"""What a memory checker would say: with line, block and thread."""

import threading
import time

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import Cancelled, GemmvizError, KernelFault, cancellable
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.executor import trace_kernel
from tests.conftest import kernel_from, outcome_of, sure, trace_of
from tests.pseudo import plain_words, pseudo

LINE = 10


@pytest.mark.parametrize(
    ("body", "message", "thread", "id"),
    [
        ("C[0] = A[threadIdx.x * 6];", r"A\[18\] is out of range: it has 16 elements", 3, "out-of-range"),
        ("C[(int)threadIdx.x - 1] = 0.0f;", r"C\[-1\] is out of range", 0, "out-of-range"),
        ("C[threadIdx.x - 1] = 0.0f;", r"C\[4294967295\] is out of range", 0, "out-of-range"),
        ("__shared__ float s[4][4]; C[0] = s[9223372036854775807][threadIdx.x];", r"s\[.*\] is out of range: it has 16 elements", 0, "out-of-range"),
        ("__shared__ float s[2]; s[threadIdx.x] = 1.0f;", r"s\[2\] is out of range: it has 2 elements", 2, "out-of-range"),
        ("float r[2]; r[threadIdx.x] = 1.0f;", r"r\[2\] is out of range", 2, "out-of-range"),
        ("__shared__ float s[4]; if (threadIdx.x < 3) s[threadIdx.x] = 1.0f; __syncthreads(); C[0] = s[threadIdx.x];", r"s\[3\] is read before it is written", 3, "uninitialised-read"),
        ("float r[2]; r[0] = 1.0f; C[0] = r[1];", r"r\[1\] is read before it is written", 0, "uninitialised-read"),
        ("float x; if (threadIdx.x > 0) x = 1.0f; C[threadIdx.x] = x;", "x is read before it is written", 0, "uninitialised-read"),
        ("if (threadIdx.x < 2) __syncthreads();", "divergent flow", 2, "divergent-barrier"),
        ("C[0] = 10 / (threadIdx.x - 2u);", "integer division by zero", 2, "division-by-zero"),
        ("C[0] = 10 % (int)(threadIdx.x / 2 * 2 - threadIdx.x + 1);", "integer division by zero", 1, "division-by-zero"),
        ("float4 v = *(float4*)(&C[threadIdx.x]); C[0] = v.x;", "not aligned to 16 bytes", 1, "misaligned-access"),
        ("assert(threadIdx.x < 3);", "assertion fails", 3, "assertion"),
    ],
)  # fmt: skip
def test_reported_with_line_block_and_thread(body: str, message: str, thread: int, id: str) -> None:
    with pytest.raises(KernelFault, match=message) as caught:
        trace_of(kernel_from(body))
    assert sure(caught.value.place).line == LINE
    assert caught.value.thread == (thread, 0, 0)
    assert caught.value.id == id
    assert caught.value.block == (0, 0, 0)
    assert str(caught.value).startswith(f"kernel.cu:{LINE}:")


@pytest.mark.parametrize(
    ("store", "remedy"),
    [
        ("if (threadIdx.x < 3) s[threadIdx.x] = 1.0f;", "Where a condition skips the store, store 0 instead"),
        ("__pipeline_memcpy_async(&s[threadIdx.x], &A[threadIdx.x], 4); __pipeline_commit();", "wait for the asynchronous copy of line 10 first"),
    ],
)  # fmt: skip
def test_what_to_do_about_an_unwritten_element(store: str, remedy: str) -> None:
    body = f"__shared__ float s[4]; {store} __syncthreads(); C[0] = s[threadIdx.x];"
    with pytest.raises(KernelFault) as caught:
        trace_of(kernel_from(body, before="#include <cuda_pipeline.h>"))
    assert remedy in str(caught.value)


def test_the_first_faulty_block_is_named() -> None:
    spec = kernel_from("C[0] = A[blockIdx.x * 8 + threadIdx.x];", grid='["3"]')
    with pytest.raises(KernelFault) as caught:
        trace_of(spec)
    assert (caught.value.block, caught.value.thread) == ((2, 0, 0), (0, 0, 0))


def test_returned_threads_need_not_reach_a_barrier() -> None:
    assert trace_of(kernel_from("if (threadIdx.x > 1) return; __syncthreads(); C[threadIdx.x] = 1.0f;")).steps == 3


def test_whole_blocks_may_skip_a_barrier() -> None:
    trace = trace_of(kernel_from("if (blockIdx.x == 1) __syncthreads(); C[threadIdx.x] = 1.0f;", grid='["2"]'))
    assert (trace.element[0] >= 0).tolist() == [False] * 4 + [True] * 4


def test_blocks_of_one_row_may_return_and_those_of_a_column_skip_a_barrier() -> None:
    body = "if (blockIdx.y == 1) return;\nif (blockIdx.x > 0) {\n__syncthreads(); }\nC[threadIdx.x] = 1.0f;"
    trace = trace_of(kernel_from(body, grid='["3", "2"]'))
    assert (trace.element[0] >= 0).reshape(6, 4)[:, 0].tolist() == [False, True, True, False, False, False]
    with pytest.raises(KernelFault, match="divergent flow") as caught:
        trace_of(kernel_from(body.replace("blockIdx.x > 0", "blockIdx.x > 0 && threadIdx.x != 2"), grid='["3", "2"]'))
    assert (caught.value.block, caught.value.thread) == ((1, 0, 0), (2, 0, 0))


def test_endless_loops_hit_the_budget() -> None:
    with pytest.raises(KernelFault, match=r"still running after 1000 steps.*does this loop ever end") as caught:
        trace_of(kernel_from("while (true) C[0] = 1.0f;"), budget=1000)
    assert caught.value.id == "step-budget"
    assert sure(caught.value.place).line == LINE


def test_a_trace_that_would_not_fit_says_so() -> None:
    with pytest.raises(GemmvizError, match="choose some blocks"):
        trace_of("02_naive", 32, 32, 64, BLOCK=8, limit_bytes=1 << 16)


@pytest.mark.parametrize("name", ["02_naive", "04_tiled"])
def test_cancelling_takes_effect(name: str) -> None:
    spec, cancel, ended = load_kernel(name), threading.Event(), []

    def work() -> None:
        try:
            with cancellable(cancel.is_set):
                trace_kernel(setup_for(spec, Problem(512, 512, 512)))
        except Cancelled:
            ended.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    cancel.set()
    thread.join(30)
    assert ended


def test_a_wrong_kernel_fails_its_check() -> None:
    spec = load_kernel("03_coalesced")
    spec = structs.replace(spec, text=spec.text.replace("sum +=", "sum -="))
    check = trace_of(spec, 8, 8, 8).check
    assert not check.passed
    assert check.wrong == 64
    assert "C is wrong: 64 of 64" in str(check)


def test_elements_that_nobody_writes_are_missed() -> None:
    spec = kernel_from("float s = 0; for (int k = 0; k < K; ++k) s += A[k] * B[k * N]; if (threadIdx.x == 0) C[0] = s;")
    check = trace_of(spec).check
    assert (check.compared, check.wrong, check.unwritten) == (1, 0, 15)
    assert not check.passed


@pytest.mark.parametrize(
    "body",
    [
        "C[threadIdx.x + 100] = 0.0f;",
        "((char*)C)[threadIdx.x + 1000] = 1;",
        "float r[2]; r[threadIdx.x] = 1.0f;",
        "float r[2]; r[0] = 1.0f; C[0] = r[1];",
        "float x; if (threadIdx.x > 0) x = 1.0f; C[threadIdx.x] = x;",
        "__shared__ float s[4]; if (threadIdx.x < 3) s[threadIdx.x] = 1.0f; __syncthreads(); C[0] = s[threadIdx.x];",
        "if (threadIdx.x < 2) __syncthreads();",
        "C[0] = 10 / (threadIdx.x - 2u);",
        "assert(threadIdx.x < 3);",
    ],
)
def test_common_faults_are_said_in_the_language_of_the_program(body: str) -> None:
    kernel = kernel_from(body)
    with pseudo(), pytest.raises(KernelFault) as caught:
        trace_of(kernel)
    fault = caught.value
    assert plain_words(" ".join((fault.message, fault.remedy or "")), (body,)) == []
    with pseudo():
        assert fault.block is None or fault.message.startswith(f"{fault.what},")


def test_a_vector_that_ends_outside_is_refused() -> None:
    vector = kernel_from("float4 v = reinterpret_cast<const float4*>(A)[1]; C[0] = v.x;")
    assert outcome_of(vector, 1, 1, 8).fault is None
    assert "A[4] is out of range: it has 6 elements" in str(outcome_of(vector, 1, 1, 6).fault)


def test_lanes_that_take_no_part_read_nothing_unwritten() -> None:
    body = "__shared__ float s[4];\nif (threadIdx.x < 2) { s[threadIdx.x + 2] = 1.0f; C[threadIdx.x] = s[threadIdx.x + 2]; }"
    assert outcome_of(kernel_from(body)).fault is None
