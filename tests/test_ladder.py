"""Every shipped kernel: right for sizes that do and don't divide its tile, free of hazards, and compiled untouched."""

import ctypes
import ctypes.util
import itertools
import random
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import broken_limit, setup_for
from gemmviz.cuda.twin.units import twin_for
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import trace_kernel
from tests.conftest import sampled
from tests.nvrtc import cuda_include

SIZES = [(8, 8, 8), (16, 32, 16), (5, 7, 3), (33, 17, 9), (1, 1, 1), (64, 16, 32)]
NVCC = shutil.which("nvcc")


def nvrtc() -> ctypes.CDLL | None:
    """The run-time compiler: a system library, or the one that pip installs with CuPy."""
    installed = [
        path for root in map(sysconfig.get_path, ("purelib", "platlib")) for path in Path(root).glob("nvidia/**/libnvrtc.so.*")
    ]
    for name in (ctypes.util.find_library("nvrtc"), *map(str, installed)):
        if name and "builtins" not in name:
            return ctypes.CDLL(name)
    return None


NVRTC = nvrtc()


def compile_at_run_time(text: str, flags: list[str]) -> str:
    """NVRTC's log; empty where it compiles."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert NVRTC is not None
    NVRTC.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    options = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
    failed = NVRTC.nvrtcCompileProgram(program, len(flags), options)
    NVRTC.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    NVRTC.nvrtcGetProgramLog(program, log)
    NVRTC.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or f"error {failed}" if failed else ""


@pytest.mark.parametrize("share", [48, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", kernel_names())
def test_right_for_every_legal_setting(name: str, share: int) -> None:
    """Where a size can't be, a sentence says which it must be. ``share``: one in how many of those that can be is run."""
    kernel, legal = load_kernel(name), list[Setup]()
    for size in (*SIZES, tuple(kernel.problem.sizes.values())):
        for values in itertools.product(*(each.choices or (each.default,) for each in kernel.parameters)):
            setup = setup_for(kernel, Problem(*size), dict(zip(kernel.defaults, values, strict=True)))
            limit = broken_limit(setup)
            if limit is None:
                legal.append(setup)
            else:
                assert re.search(r"multiple|at most", limit.sentence)
    for setup in random.Random(name).sample(legal, -(-len(legal) // share)):
        trace = trace_kernel(setup).whole
        assert trace.check.passed, (setup.problem, setup.parameters, str(trace.check))
        assert trace.check.compared == setup.problem.sizes["M"] * setup.problem.sizes["N"]
        assert ordering_of(trace).hazards == ()
    assert legal


@pytest.mark.parametrize("name", kernel_names())
def test_file_teaches(name: str) -> None:
    spec = load_kernel(name)
    assert spec.title
    assert spec.description
    assert all(parameter.description for parameter in spec.parameters)


@pytest.mark.nightly
@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@pytest.mark.parametrize("name", kernel_names())
def test_nvcc_compiles_kernel_and_twin(name: str, tmp_path: Path) -> None:
    spec = load_kernel(name)
    kernel, twin = tmp_path / "kernel.cu", tmp_path / "twin.cu"
    kernel.write_text(spec.text)
    twin.write_text(twin_for(spec, spec.defaults).text)
    defines = [f"-D{parameter}={value}" for parameter, value in spec.defaults.items()]
    for source, flags in ((kernel, defines), (twin, [])):
        command = [str(NVCC), "-ptx", "-std=c++17", *flags, "-o", str(tmp_path / "out.ptx"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(NVRTC is None, reason="needs NVRTC")
@pytest.mark.parametrize("name", sampled(kernel_names(), 5))
def test_nvrtc_compiles_kernel_and_twin(name: str) -> None:
    spec = load_kernel(name)
    defines = [f"-D{parameter}={value}" for parameter, value in spec.defaults.items()]
    options = ["--std=c++17", "-arch=compute_90", *(f"-I{folder}" for folder in (cuda_include(),) if folder)]
    assert compile_at_run_time(spec.text, [*options, *defines]) == ""
    assert compile_at_run_time(twin_for(spec, spec.defaults).text, options) == ""
