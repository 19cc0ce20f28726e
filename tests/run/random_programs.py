"""Compares what the interpreter and g++ make of random programs, bit for bit: ``python -m tests.run.random_programs 5000``."""

import argparse
import contextlib
import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.arrays import Ints
from gemmviz.model.messages import GemmvizError
from gemmviz.run.cpu.executor import bound, inputs, traced_space
from gemmviz.run.cpu.recorder import StepCounter
from gemmviz.run.cpu.simt.interpret import interpret
from gemmviz.run.cpu.simt.machine import NeedsValues
from tests.run.program_writer import BLOCKS, PRELUDE, THREADS, WORDS, Writer, kernel_text

GXX = shutil.which("g++")
HOST = Path(__file__).with_name("cuda_on_host.h")
_FLAGS = (
    "-std=c++17",
    "-O0",
    "-fwrapv",
    "-ffp-contract=off",
    "-frounding-math",
    "-w",
    "-shared",
    "-fPIC",
)  # without -frounding-math
# g++ 12 takes 0.0 - i for -(double)i, which is -0.0 where i is 0
_BATCH = 250  # programs that are compiled together

Program = tuple[str, str]


def compiled(programs: list[Program], folder: Path) -> ctypes.CDLL:
    """A library with a function ``runN(C)`` for each program."""
    text = f'#include "{HOST}"\n#define __device__ static\n#define __shared__ static\nstatic struct {{ unsigned x; }} threadIdx, blockIdx;\n{PRELUDE}'
    for number, (functions, body) in enumerate(programs):
        text += f"namespace n{number} {{ {functions}\nvoid kernel(int* C) {{ {body} }} }}\n"
        text += (
            f'extern "C" void run{number}(int* C) {{ for (int b = 0; b < {BLOCKS}; b++) for (int t = 0; t < {THREADS}; t++)\n'
        )
        text += f"{{ blockIdx.x = b; threadIdx.x = t; n{number}::kernel(C); }} }}\n"
    source, library = folder / "programs.cpp", folder / "programs.so"
    source.write_text(text)
    subprocess.run([str(GXX), *_FLAGS, "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library))


def expected(library: ctypes.CDLL, number: int) -> Ints:
    result = (ctypes.c_int * (WORDS * THREADS * BLOCKS))()
    getattr(library, f"run{number}")(result)
    return np.array(result, np.int32)


def interpreted(program: Program) -> Ints:
    """What the program leaves in C. It is run by tags too, as far as that goes."""
    binding = bound(setup_for(parse_kernel(kernel_text(*program), "random.cu")))
    space = traced_space(binding, None)
    with contextlib.suppress(NeedsValues):
        interpret(binding, space, StepCounter(), None)
    found = interpret(binding, space, StepCounter(), inputs(binding))["C"].data
    return np.asarray(found[: WORDS * THREADS * BLOCKS], np.int32)


def differences(seeds: range) -> list[tuple[int, str]]:
    """The seeds of the programs that end differently, and how."""
    found = []
    programs = [Writer(seed).program() for seed in seeds]
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(programs, Path(folder))
        for number, (seed, program) in enumerate(zip(seeds, programs, strict=True)):
            try:
                if not np.array_equal(interpreted(program), expected(library, number)):
                    found.append((seed, "another result"))
            except (GemmvizError, ArithmeticError, LookupError, TypeError, ValueError, AssertionError, AttributeError) as error:
                found.append((seed, f"{type(error).__name__}: {error}"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=int, nargs="?", default=5000)
    parser.add_argument("--seed", type=int, default=0, help="the first program's")
    parser.add_argument("--show", action="store_true", help="print the first program instead")
    options = parser.parse_args()
    if options.show:
        print(kernel_text(*Writer(options.seed).program()))
        return 0
    start, found = time.perf_counter(), []
    for first in range(options.seed, options.seed + options.programs, _BATCH):
        new = differences(range(first, min(first + _BATCH, options.seed + options.programs)))
        found += new
        for seed, how in new:
            print(f"seed {seed}: {how}")
        done = min(first + _BATCH, options.seed + options.programs) - options.seed
        print(f"{done} programs, {len(found)} differences, {time.perf_counter() - start:.0f} s", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
