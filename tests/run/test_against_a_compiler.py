"""Random programs do for every thread what g++ makes that thread do; and nvcc takes them for CUDA."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.run.program_writer import PRELUDE, Writer
from tests.run.random_programs import GXX, differences

PROGRAMS = 300
NVCC = shutil.which("nvcc")


@pytest.mark.nightly
@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_random_programs() -> None:
    assert differences(range(PROGRAMS)) == []


@pytest.mark.nightly
@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
def test_random_programs_are_cuda(tmp_path: Path) -> None:
    text = PRELUDE
    for seed in range(PROGRAMS, PROGRAMS + 40):
        functions, body = Writer(seed).program()
        text += f"namespace n{seed} {{ {functions}\n__global__ void kernel(int* C) {{ {body} }} }}\n"
    (tmp_path / "programs.cu").write_text(text)
    command = [str(NVCC), "-w", "-ptx", "-std=c++17", "-o", str(tmp_path / "programs.ptx"), str(tmp_path / "programs.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
