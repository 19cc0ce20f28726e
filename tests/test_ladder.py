"""Every shipped kernel: right for sizes that do and don't divide its tile, free of hazards, and compiled untouched."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gemmviz.analysis.hazards import find_hazards
from gemmviz.model.device import load_device
from gemmviz.model.problem import Problem
from gemmviz.source.catalog import kernel_names, load_kernel
from gemmviz.source.header import broken_limit, settings_for
from gemmviz.source.instrument import instrument
from tests.conftest import trace_of

SIZES = [(8, 8, 8), (16, 32, 16), (5, 7, 3), (33, 17, 9), (1, 1, 1), (64, 16, 32)]
NVCC = shutil.which("nvcc")


@pytest.mark.parametrize("name", kernel_names())
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_right_for_every_legal_setting(name: str, size: tuple[int, int, int]) -> None:
    spec = load_kernel(name)
    values = [p.choices or (p.default,) for p in spec.parameters] or [(None,)]
    ran = 0
    for value in values[0]:
        parameters = {spec.parameters[0].name: value} if spec.parameters else {}
        limit = broken_limit(spec, settings_for(spec, Problem(*size), parameters), load_device())
        if limit is not None:
            assert re.search(r"multiples|at most", limit)
            continue
        trace = trace_of(spec, *size, **parameters)
        assert trace.check.passed, (parameters, str(trace.check))
        assert trace.check.compared == size[0] * size[1]
        assert find_hazards(trace) == []
        ran += 1
    assert ran or name in ("05_tiled_unguarded", "06_tiled_unrolled", "01_single_block")


@pytest.mark.parametrize("name", kernel_names())
def test_file_teaches(name: str) -> None:
    spec = load_kernel(name)
    assert spec.title
    assert len(spec.description.split()) > 30
    assert all(parameter.description for parameter in spec.parameters)
    assert spec.function == f"sgemm_{name.partition('_')[2]}"


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@pytest.mark.parametrize("name", kernel_names())
def test_nvcc_compiles_kernel_and_twin(name: str, tmp_path: Path) -> None:
    spec = load_kernel(name)
    kernel, twin = tmp_path / "kernel.cu", tmp_path / "twin.cu"
    kernel.write_text(spec.text)
    twin.write_text(instrument(spec, spec.defaults))
    defines = [f"-D{parameter}={value}" for parameter, value in spec.defaults.items()]
    for source, flags in ((kernel, defines), (twin, [])):
        command = [str(NVCC), "-ptx", "-std=c++17", *flags, "-o", str(tmp_path / "out.ptx"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
