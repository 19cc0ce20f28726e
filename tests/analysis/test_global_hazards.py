"""Hazards in global memory: between blocks, which nothing orders, and inside a block, between its barriers."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.global_hazards import global_hazards
from gemmviz.analysis.hazard import Hazard
from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import all_kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.model.messages import Cancelled, cancellable
from gemmviz.model.sites import Operand
from gemmviz.model.trace import INACTIVE, Trace
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.engine import Recording
from tests.conftest import kernel_from, sure, trace_of
from tests.hand_made import LANES, HandMade

INDEX = "int i = blockIdx.x * 4 + threadIdx.x;"


def found(body: str, grid: int = 2, **options: Any) -> tuple[Hazard, ...]:
    return global_hazards(traced(body, grid, **options)).hazards


def traced(body: str, grid: int = 2, **options: Any) -> Trace:
    return trace_of(kernel_from(f"{INDEX} {body}", grid=f'["{grid}"]'), **options)


def test_a_block_that_adds_to_what_another_stores() -> None:
    (hazard,) = found("if (blockIdx.x == 0) C[threadIdx.x] = 1.0f; else C[threadIdx.x] += 2.0f;")
    assert (hazard.kind, hazard.element, hazard.count) == ("read after write", 0, 4)
    assert (hazard.earlier_block, hazard.block) == ((0, 0, 0), (1, 0, 0))
    assert "nothing orders the two blocks; 4 such elements" in str(hazard)
    assert "no barrier orders blocks" in str(hazard.fault("x.cu"))


def test_a_block_that_stores_what_another_has_read() -> None:
    (hazard,) = found(
        "float old = 0.0f; if (blockIdx.x == 1) old = C[threadIdx.x]; if (blockIdx.x == 0) C[threadIdx.x] = 1.0f;"
    )
    assert (hazard.kind, hazard.count) == ("write after read", 4)
    assert hazard.earlier_block == (1, 0, 0)


def test_blocks_that_store_different_values() -> None:
    (hazard,) = found("C[threadIdx.x] = blockIdx.x;", grid=3)
    assert (hazard.kind, hazard.count, hazard.block) == ("write after write", 4, (1, 0, 0))


@pytest.mark.parametrize(
    "body",
    [
        "C[i] = 1.0f;",
        "C[threadIdx.x] = 3.0f;",  # the same value, whoever stores it
        "C[i] = 0.0f; for (int k = 0; k < 3; ++k) C[i] += 1.0f;",  # each thread its own
        "C[i] = A[0] + A[i];",  # what nobody writes may be read by all
        "C[blockIdx.x * 4 + 3 - threadIdx.x] = 0.0f; __syncthreads(); C[i] = 1.0f;",  # ordered by the barrier
        "C[i] = 1.0f; __syncthreads(); C[i] = C[blockIdx.x * 4 + 3 - threadIdx.x] * 0.0f + C[i];",
    ],
)
def test_kernels_whose_order_does_not_matter(body: str) -> None:
    # the last one reads its neighbour's element in the same span as that is written again: with the same value, but read
    hazards = found(body)
    assert [hazard.kind for hazard in hazards] == (["write after read"] if "* 0.0f" in body else [])


def test_threads_of_a_block_without_a_barrier() -> None:
    (hazard,) = found("C[blockIdx.x * 4 + 3 - threadIdx.x] = 0.0f; C[i] = 1.0f;")
    assert (hazard.kind, hazard.count, hazard.earlier_block) == ("write after write", 8, None)
    assert "is a __syncthreads() missing?" in str(hazard.fault("x.cu"))
    assert found("C[blockIdx.x * 4 + 3 - threadIdx.x] = 1.0f; C[i] = C[i] + 1.0f;")[0].kind == "read after write"


_IN_TURN = "C[t] = 0.0f; {} for (int n = 0; n < 32; ++n) {{ if (t % 32 == n) C[{}] += 1.0f; {} }}"


@pytest.mark.parametrize(
    ("place", "between", "kinds"),
    [
        ("t / 32 * 32", "__syncwarp();", []),
        ("t / 32 * 32", "", ["read after write"]),
        ("0", "__syncwarp();", ["read after write"]),
        ("0", "__syncthreads();", ["write after read"]),
        ("t / 32 * 32", "if (t % 32 < 9) __syncwarp();", ["read after write"]),
    ],
)
def test_lanes_of_a_warp_in_turn(place: str, between: str, kinds: list[str]) -> None:
    body = f"int t = threadIdx.x; {_IN_TURN.format(between, place, between)}"
    trace = trace_of(kernel_from(body, block='["64"]'), 8, 8, 8)
    assert [hazard.kind for hazard in global_hazards(trace).hazards] == kinds


def test_a_barrier_of_another_block_orders_nothing() -> None:
    body = "C[blockIdx.x * 4 + 3 - threadIdx.x] = 0.0f; if (blockIdx.x == 1) __syncthreads(); C[i] = 1.0f;"
    (hazard,) = found(body)
    assert (hazard.block, hazard.count) == ((0, 0, 0), 4)


def test_wide_stores_touch_all_their_elements() -> None:
    wide = "reinterpret_cast<float4*>(C)[0] = make_float4(blockIdx.x, 1, 1, 1);"
    result = global_hazards(traced(f"if (threadIdx.x == 0) {wide}"))
    assert (result.hazards[0].element, result.hazards[0].count, result.undecided) == (0, 1, 3)
    other = "if (blockIdx.x == 1 && threadIdx.x < 4) C[threadIdx.x] = 2.0f + C[3];"
    assert found(f"if (blockIdx.x == 0 && threadIdx.x == 0) {wide} {other}")[0].count == 1


def test_values_that_nobody_knows_are_said(tmp_path: Path) -> None:
    trace = dataclasses.replace(traced("C[threadIdx.x] = blockIdx.x;"), stored={})
    result = global_hazards(trace)
    assert (result.hazards, result.undecided) == ((), 4)
    assert "The order of writes could matter for 4 elements" in ordering_of(trace).remarks[0]
    values = np.zeros(trace.element.shape, np.float32)
    assert global_hazards(trace, values).hazards == ()
    values[:, 4:] = 1.0
    assert len(global_hazards(trace, values).hazards) == 1


def test_what_is_read_from_a_file_says_so(tmp_path: Path) -> None:
    trace = traced("C[threadIdx.x] = blockIdx.x;")
    path = tmp_path / "t.gvt"
    write_trace(trace, path)
    assert global_hazards(read_trace(path)).undecided == 4
    write_trace(traced("C[threadIdx.x] = blockIdx.x;", values=True), path)
    assert len(global_hazards(read_trace(path)).hazards) == 1


def test_it_can_be_called_off() -> None:
    trace = traced("C[i] = 1.0f;")
    with cancellable(lambda: True), pytest.raises(Cancelled):
        global_hazards(trace)


def test_no_kernel_that_ships_has_any() -> None:
    kernels = [each for each in map(load_kernel, all_kernel_names()) if not each.unfinished and not each.blanks]
    runs = {each.name: trace_kernel(setup_for(each), None, Recording(origins=False)) for each in kernels}
    results = {name: global_hazards(sure(run.trace)) for name, run in runs.items()}
    assert {name: each for name, each in results.items() if each.hazards or each.undecided} == {}
    assert len(results) > 40


def test_recording_few_values_costs_little() -> None:
    trace = trace_kernel(setup_for(load_kernel("04_tiled")), None, Recording()).whole
    assert len(trace.stored) == 1
    assert next(iter(trace.stored.values())).shape == (trace.space.thread_count,)


def test_threads_that_have_returned_before_a_barrier_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "if (threadIdx.x > 1) return;\n__syncthreads();\nC[i] = 1.0f;"
    (sentence,) = ordering_of(traced(body)).remarks
    assert sentence == "Up to 2 threads of a block have returned before the barrier in line 11: it waits only for the others"
    (sentence,) = ordering_of(traced(body, device="8800gtx")).remarks
    assert sentence.endswith("the behaviour is undefined on NVIDIA GeForce 8800 GTX")
    assert ordering_of(traced("__syncthreads(); C[i] = 1.0f;")).remarks == ()
    assert main(["trace", "early_return", "-m", "4", "-n", "4", "-k", "4", "-o", str(tmp_path / "t.gvt")]) == 0


def test_a_right_result_that_hangs_on_the_order_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        '// gemmviz = 1\n// entry = "f"\n// args = ["A", "B", "C", "M", "N", "K"]\n// block = ["4", "4"]\n'
        '// grid = ["ceil_div(N, 4)", "ceil_div(M, 4)", "2"]\n'
        "__global__ void f(const float* A, const float* B, float* C, int M, int N, int K)\n{\n"
        "    int row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x * 4 + threadIdx.x, half = K / 2;\n    float s = 0;\n"
        "    for (int k = blockIdx.z * half; k < (blockIdx.z + 1) * half; ++k) s += A[row * K + k] * B[k * N + col];\n"
        "    if (blockIdx.z == 0) C[row * N + col] = s;\n    else C[row * N + col] += s;\n}\n"
    )
    path = tmp_path / "split.cu"
    path.write_text(text, encoding="utf-8")
    assert main(["trace", str(path), "-o", str(tmp_path / "t.gvt")]) == 1
    out, err = capsys.readouterr()
    assert "C is right: 64 elements" in out
    assert "in the order of this run" in out
    assert "split.cu:12:10: read after write: C[0]: block (0, 0, 1) reads it (line 12) after block (0, 0, 0) writes it" in err


def test_of_wide_stores_only_the_first_values_are_compared() -> None:
    wide = "reinterpret_cast<float4*>(C)[0] = make_float4(1.0f, blockIdx.x, 1.0f, 1.0f);"
    trace = traced(f"if (threadIdx.x == 0) {wide}")
    assert global_hazards(trace).hazards == ()
    assert global_hazards(trace).undecided == 3  # which is said


def test_a_store_that_never_runs_is_no_hazard() -> None:
    trace = traced("C[0] += A[i];")
    silent = dataclasses.replace(trace, element=np.full_like(trace.element, INACTIVE))
    without_stores = dataclasses.replace(trace, site=np.zeros_like(trace.site))
    assert trace.sites[0].operands[0].access == "read"
    assert global_hazards(trace).hazards
    assert not global_hazards(silent).hazards
    assert not global_hazards(without_stores).hazards


GROUPS = "#include <cooperative_groups.h>\n"
OTHERS = "int t = 4 * blockIdx.x + threadIdx.x; C[t] = A[t]; {sync} float x = C[7 - t]; {sync} C[t] = 2.0f * x;"


def in_grid(body: str) -> Trace:
    return trace_of(kernel_from(body, grid='["2"]', before=GROUPS))


def test_a_barrier_of_the_grid_orders_its_blocks() -> None:
    assert global_hazards(in_grid(OTHERS.format(sync="cooperative_groups::this_grid().sync();"))).hazards == ()
    unordered = global_hazards(in_grid(OTHERS.format(sync="__syncthreads();"))).hazards
    assert [each.kind for each in unordered] == ["read after write"]


def test_between_two_barriers_of_the_grid_blocks_are_unordered() -> None:
    sync = "cooperative_groups::this_grid().sync();"
    body = "int t = threadIdx.x; {sync} C[4 * blockIdx.x + t] = 1.0f; float x = C[4 + t]; {sync} if (blockIdx.x == 0) C[t] = x;"
    (hazard,) = global_hazards(in_grid(body.format(sync=sync))).hazards
    assert (hazard.kind, hazard.count, hazard.earlier_block, hazard.block) == ("read after write", 4, (1, 0, 0), (0, 0, 0))


def copied_from_c(*order: str) -> HandMade:
    """A copy of C into shared memory, and a store to C by other threads, with other steps between."""
    run = HandMade()
    copy = run.step("copy", (Operand(2, "read"), LANES), (Operand(3, "write"), LANES), is_async=True)
    for kind in order:
        if kind == "wait":
            run.step("wait", completes=(copy,))
        elif kind == "store":
            run.step("store", (Operand(2, "write"), 31 - LANES))
        else:
            run.step("barrier")
    return run


def test_an_asynchronous_copy_reads_until_a_wait_completes_it() -> None:
    assert global_hazards(copied_from_c("wait", "barrier", "store").trace()).hazards == ()
    for order in (("barrier", "store", "wait"), ("barrier", "barrier", "store"), ("barrier", "store", "barrier", "wait")):
        (hazard,) = global_hazards(copied_from_c(*order).trace()).hazards
        assert (hazard.kind, hazard.is_under_way, hazard.count) == ("write after read", True, 32), order
    (late,) = global_hazards(copied_from_c("barrier", "wait", "store").trace()).hazards
    assert not late.is_under_way
