"""NVIDIA's compiler accepts the twin of every kernel, and the real kernel with its host functions blanked."""

import pytest

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.cuda.program import program_for
from gemmviz.cuda.twin.units import TWIN_ENTRY, probed_source, twin_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from tests.conftest import kernel_from, sampled, sure
from tests.nvrtc import cuda_include, nvrtc
from tests.run.program_writer import Writer, kernel_text
from tests.run.test_matrix_instructions import MMA, MOVED, TILES, wmma_kernel
from tests.run.test_pipelines import RIGHT, body_of, setup_of

pytestmark = pytest.mark.skipif(nvrtc() is None, reason="needs the wheel nvidia-cuda-nvrtc")
OPTIONS = ("--gpu-architecture=sm_90", "--std=c++17")


def compile_twin(setup: Setup, *options: str) -> bytes:
    include = [f"-I{cuda_include()}"] if cuda_include() else []
    text = twin_for(setup.kernel, setup.definitions).text
    code, _ = sure(nvrtc()).compiled(text, [*OPTIONS, *include, *options], form="CUBIN")
    return code


@pytest.mark.parametrize("name", sampled(kernel_names()[::-1], 15))
@pytest.mark.parametrize("flags", [pytest.param((), marks=pytest.mark.nightly), ("-DGV_VALUES", "-DGV_PHASES")])
def test_the_twin_of_every_shipped_kernel(name: str, flags: tuple[str, ...]) -> None:
    assert TWIN_ENTRY.encode() in compile_twin(setup_for(load_kernel(name)), *flags)


@pytest.mark.parametrize("count", [1, pytest.param(10, marks=pytest.mark.nightly)])
def test_twins_of_random_kernels(count: int) -> None:
    for seed in range(count):
        compile_twin(setup_for(parse_kernel(kernel_text(*Writer(seed, reads_a=True).program()), f"random{seed}.cu")))


OF_MATRICES = [
    parse_kernel(MMA.replace("PITCH", "24"), "tile.cu"),
    MOVED,
    *(wmma_kernel(*TILES[each]) for each in (15, 0, 1, 2, 8, 14)),
]


@pytest.mark.parametrize("flags", [pytest.param((), marks=pytest.mark.nightly), ("-DGV_VALUES", "-DGV_PHASES")])
@pytest.mark.parametrize("kernel", sampled(OF_MATRICES, len(OF_MATRICES)))
def test_twins_with_matrix_instructions(kernel: KernelSpec, flags: tuple[str, ...]) -> None:
    compile_twin(setup_for(kernel, Problem(32, 32, 32)), *flags)


def test_the_probed_kernel_without_its_host_functions() -> None:
    spec = kernel_from("C[threadIdx.x] = A[0] + B[0];")
    text = spec.text + "void go(float* a) {\n kernel<<<1, 4>>>(a, a, a, 1, 1, 1);\n}\n"
    spec = parse_kernel(text, "kernel.cu")
    source = probed_source(spec, program_for(spec, {}), {})
    assert "<<<" not in source.text
    code, _ = sure(nvrtc()).compiled(source.text, OPTIONS, form="CUBIN")
    assert b"gv_book" in code


@pytest.mark.parametrize("name", sampled(RIGHT, 14))
def test_twins_of_pipelines(name: str) -> None:
    compile_twin(setup_of(*body_of(name)), "-DGV_VALUES", "-DGV_PHASES")
