"""Runs kernel texts through the reader on libclang and the interpreter, without the files around them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.cuda.nodes import Program
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.reader.read import read_program
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import Site
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.run.cpu.recorder import Recorder
from gemmviz.run.cpu.simt.interpret import Binding, bind, interpret
from tests.conftest import kernel_from

SIDE = 64


class Kinds(AccessSink):
    """The sites of a run in the order of their first steps, and how often each ran."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.runs: list[int] = []

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(self, site: int, place: int, offset: Any, mask: Any, visits: Any, epoch: int) -> None:
        self.runs += [site] if place == 0 else []


def program_of(body: str, before: str = "", include: str = "") -> Program:
    """The program of a kernel ``f(A, B, C, M, N, K)`` of float matrices with this body."""
    text = (
        f"{include}\n{before}\n__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {{ {body} }}\n"
    )
    return read_program(SourceText("f.cu", {"f.cu": text}), "f")


def binding_of(program: Program, block: int = 64, grid: tuple[int, int] = (1, 1), size: int = SIDE) -> Binding:
    spec = kernel_from("", block=f'["{block}"]', grid=f'["{grid[0]}", "{grid[1]}"]')
    setup = Setup(spec, Problem(size, size, size))
    return bind(setup, launch_for(setup), program)


def run(
    body: str,
    *,
    block: int = 64,
    grid: int | tuple[int, int] = 1,
    before: str = "",
    include: str = "",
    sink: AccessSink | None = None,
    size: int = SIDE,
) -> npt.NDArray[Any]:
    """C, flat, after a run whose A and B hold 0, 1, 2 and so on (modulo 7 if they are no 64 x 64) and whose C is 0."""
    blocks = grid if isinstance(grid, tuple) else (grid, 1)
    binding = binding_of(program_of(body, before, include), block, blocks, size)
    space = ThreadSpace(binding.launch, BlockRange.all(binding.launch), device_for(binding.setup).rules.warp_size)
    values = np.arange(size * size, dtype=np.float32)
    values = values if size == SIDE else values % 7
    after = interpret(binding, space, sink or Kinds(), {"A": values, "B": values, "C": np.zeros_like(values)})
    return np.asarray(after["C"].elements())


def recorded(body: str, include: str = "") -> Recorder:
    """The record of a run of one block."""
    binding = binding_of(program_of(body, include=include))
    space = ThreadSpace(binding.launch, BlockRange.all(binding.launch), 32)
    recorder = Recorder(space, binding.arrays, True, 1 << 28)
    values = np.arange(SIDE * SIDE, dtype=np.float32)
    interpret(binding, space, recorder, {"A": values, "B": values, "C": np.zeros_like(values)}, wants_values=True)
    return recorder
