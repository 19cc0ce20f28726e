"""Tensor-core and asynchronous kernels in many people's habits: they open as they stand and run, and C is right."""

from functools import cache
from pathlib import Path

import pytest

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.loader import open_kernel

TENSOR = Path(__file__).parent / "tensor"
NAMES = sorted(path.stem for path in TENSOR.glob("*.cu"))
NOT_YET: dict[str, str] = {  # files that don't open yet, and what they need
    "double_dmma": "matrix instructions of doubles",
}
SLOW = (  # half a second or more each
    "bf16_wmma", "bias_relu_epilogue", "blog_colmajor", "cg_memcpy_async", "half_accumulator", "macro_heavy", "persistent_tiles", "producer_consumer",
    "register_prefetch", "sample_gemm", "split_k_wmma", "thread_pipeline", "warp_tiles_macros", "xor_swizzle_cp_async",
)  # fmt: skip
TYPES = {  # of the elements of arrays, as they are declared
    "policy_templates": {"C": "float32", "smem": "float16"},
    "ldmatrix_padded": {"C": "float16", "s_a": "float16"},
    "shared_tiles_wmma": {"As": "float16", "Bs": "float16"},
}
PROBLEMS = {"bias_relu_epilogue": "linear_relu", "gelu_bf16": "linear_gelu"}  # of those that are no plain multiplication


@cache
def opened(name: str) -> KernelSpec:
    return open_kernel(str(TENSOR / f"{name}.cu"))


def all_files() -> list[object]:
    """All files; some of the quick ones are opened in the fast tests."""
    quick = [name for name in NAMES if name not in SLOW]
    slow = {name: [pytest.mark.nightly] for name in NAMES if name not in {*quick[::40], *TYPES}}
    fails = {name: [pytest.mark.xfail(reason=reason, strict=True)] for name, reason in NOT_YET.items()}
    return [pytest.param(name, marks=[*slow.get(name, ()), *fails.get(name, ())]) for name in NAMES]


def test_there_are_sixty() -> None:
    assert len(NAMES) >= 60
    assert len(NAMES) - len(NOT_YET) >= 60
    assert not set(NOT_YET) - set(NAMES)


@pytest.mark.parametrize("name", all_files())
def test_it_opens_as_it_stands_and_c_is_right(name: str) -> None:
    kernel = opened(name)
    assert (kernel.launch_from, kernel.unconfirmed) == ("read", "")
    assert kernel.problem.kind.name == PROBLEMS.get(name, "multiply")
    trace = trace_kernel(setup_for(kernel)).whole
    assert trace.check.is_checked
    assert trace.check.passed, str(trace.check)
    assert trace.check.unwritten == 0
    assert not ordering_of(trace).hazards
    arrays = {each.name: each.element_type for each in trace.arrays}
    assert {each: arrays[each] for each in TYPES.get(name, ())} == TYPES.get(name, {})


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        pytest.param("half_accumulator", "k<K;", "k<K-16;", marks=pytest.mark.nightly),
        ("half_operators", "b[i * n + col]", "b[i * n]"),
    ],
)
def test_a_wrong_sum_in_half_is_no_other_problem(name: str, right: str, wrong: str, tmp_path: Path) -> None:
    """What long sums in half may err by is more than a result of another problem is."""
    text = (TENSOR / f"{name}.cu").read_text(encoding="utf-8")
    assert right in text
    (tmp_path / "wrong.cu").write_text(text.replace(right, wrong), encoding="utf-8")
    kernel = open_kernel(str(tmp_path / "wrong.cu"))
    assert kernel.problem.kind.name in ("multiply", "none")
    check = trace_kernel(setup_for(kernel)).whole.check
    assert not (check.is_checked and check.passed)
