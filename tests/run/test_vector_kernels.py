"""Kernels on vectors and simple ones on matrices: their kind and roles are found within a few runs."""

from pathlib import Path
from typing import Any

import pytest

from gemmviz.cuda.types import DOUBLE, FLOAT, VectorType
from gemmviz.run import trial, trying
from gemmviz.run.loader import open_kernel
from tests.conftest import sampled

_MOST_RUNS = 8
_INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n)"
_BY_256 = "<<<(n + 255) / 256, 256>>>"
VECTORS = {
    "daxpy": ("axpy", ("n", "alpha", "x", "y"), "int n, double a, double* x, double* y", f"{_INDEX} y[i] += a * x[i];"),
    "addTo": ("axpy", ("y", "x", "n"), "float* dst, const float* src, int n", f"{_INDEX} dst[i] += src[i];"),
    "plus": ("vector_add", ("A", "B", "C", "n"), "float* u, float* v, float* r, int n", f"{_INDEX} r[i] = u[i] + v[i];"),
    "copyKernel": ("scale", ("out", "in", "n"), "float* dst, const float* src, int n", f"{_INDEX} dst[i] = src[i];"),
    "times": ("scale", ("in", "out", "alpha", "n"), "float* u, float* v, float s, int n", f"{_INDEX} v[i] = s * u[i];"),
    "scal": ("scale_in_place", ("x", "alpha", "n"), "float* v, float s, int n", f"{_INDEX} v[i] *= s;"),
    "activate": ("relu", ("in", "out", "n"), "const float* in, float* out, int n", f"{_INDEX} out[i] = max(in[i], 0.f);"),
    "inner": (
        "dot_product", ("A", "B", "out", "n"), "float* u, float* v, float* r, int n", f"{_INDEX} atomicAdd(r, u[i] * v[i]);",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sampled(VECTORS))
def test_a_vector_kernel_is_found_in_a_few_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, args, parameters, body = VECTORS[name]
    names = [each.split()[-1] for each in parameters.split(", ")]
    run, runs = trial.trial_of, list[str]()

    def counted(*arguments: Any) -> Any:
        runs.append(name)
        return run(*arguments)

    monkeypatch.setattr("gemmviz.run.loader.Remembered.roles", lambda *_: None)
    monkeypatch.setattr(trying, "trial_of", counted)
    path = tmp_path / "kernel.cu"
    launch = f"void host({parameters}) {{ {name}{_BY_256}({', '.join(names)}); }}"
    path.write_text(f"__global__ void {name}({parameters}) {{ {body} }}\n{launch}\n", encoding="utf-8")
    spec = open_kernel(str(path))
    assert (spec.problem.kind.name, spec.args, spec.launch_from) == (kind, args, "read")
    assert spec.problem.factors == ({"alpha": 2.0} if "alpha" in args else {})
    assert len(runs) <= _MOST_RUNS


def test_vectors_are_aligned_to_their_size_but_those_of_three() -> None:
    sizes = {(FLOAT, 2): 8, (FLOAT, 3): 4, (FLOAT, 4): 16, (DOUBLE, 2): 16, (DOUBLE, 3): 8, (DOUBLE, 4): 16}
    assert {each: VectorType(*each).alignment for each in sizes} == sizes
