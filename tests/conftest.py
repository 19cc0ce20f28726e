"""Shared fixtures: kernels from text, quick traces, golden files."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.trace import Trace
from gemmviz.run.executor import trace_kernel
from gemmviz.spec.catalog import load_kernel
from gemmviz.spec.header import parse_kernel
from gemmviz.spec.legality import settings_for

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    try:
        import cupy

        has_gpu = cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        has_gpu = False
    for item in items:
        if "gpu" in item.keywords and not has_gpu:
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU and CuPy"))


def kernel_from(
    body: str, *, block: str = '["4"]', grid: str = '["1"]', before: str = "", parameters: str = "", pointer: str = "float*"
) -> KernelSpec:
    """A kernel of this body; its first line is line 9 of the file (plus the lines of ``before``)."""
    text = (
        f'// gemmviz = 1\n// entry = "kernel"\n// args = ["A", "B", "C", "M", "N", "K"]\n// block = {block}\n// grid = {grid}\n'
        f"{parameters}\n{before}\n"
        f'extern "C" __global__ void kernel(const {pointer} A, const {pointer} B, {pointer} C, int M, int N, int K)\n{{\n{body}\n}}\n'
    )
    return parse_kernel(text, "kernel.cu")


def trace_of(spec: KernelSpec | str, m: int = 4, n: int = 4, k: int = 4, **options: object) -> Trace:
    """A trace of a kernel (or a shipped one by name); names in capitals are parameters."""
    if isinstance(spec, str):
        spec = load_kernel(spec)
    parameters = {name: options.pop(name) for name in list(options) if name.isupper()}
    return trace_kernel(spec, settings_for(spec, Problem(m, n, k), parameters), **options)  # type: ignore[arg-type]


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compares text with a file under ``tests/golden``, or writes it with --update-golden."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text, f"{name} changed: look at it, then make golden"

    return compare


@pytest.fixture(autouse=True, scope="session")
def _one_application(request: pytest.FixtureRequest) -> None:
    """A QApplication serves windows and images alike; the reverse would not. The engine is tested where there is no Qt, too."""
    if request.config.pluginmanager.hasplugin("pytest-qt"):
        request.getfixturevalue("qapp")
