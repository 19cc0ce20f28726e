"""Runs kernel texts through the reader on libclang and the interpreter, without the files around them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import Site
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.parser.source_text import SourceText
from gemmviz.run.cpu.recorder import Recorder
from gemmviz.run.cpu.simt.interpret import Binding, bind, interpret
from gemmviz.source.nodes import Program
from gemmviz.source.reader.read import read_program
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


def binding_of(program: Program, block: int = 64, grid: int = 1) -> Binding:
    spec = kernel_from("", block=f'["{block}"]', grid=f'["{grid}"]')
    setup = Setup(spec, Problem(SIDE, SIDE, SIDE))
    return bind(setup, launch_for(setup), program)


def run(
    body: str, *, block: int = 64, grid: int = 1, before: str = "", include: str = "", sink: AccessSink | None = None
) -> npt.NDArray[Any]:
    """C, flat, after a run whose A and B hold 0, 1, 2 and so on and whose C is 0."""
    binding = binding_of(program_of(body, before, include), block, grid)
    space = ThreadSpace(binding.launch, BlockRange.all(binding.launch), device_for(binding.setup).rules.warp_size)
    values = np.arange(SIDE * SIDE, dtype=np.float32)
    matrices = {"A": values, "B": values, "C": np.zeros_like(values)}
    after = interpret(binding, space, sink or Kinds(), matrices)
    return np.asarray(after["C"].elements())


def recorded(body: str, **options: Any) -> Recorder:
    """The record of a run."""
    binding = binding_of(program_of(body, options.get("before", ""), options.get("include", "")), options.get("block", 64))
    space = ThreadSpace(binding.launch, BlockRange.all(binding.launch), 32)
    recorder = Recorder(space, binding.arrays, True, 1 << 28)
    values = np.arange(SIDE * SIDE, dtype=np.float32)
    interpret(binding, space, recorder, {"A": values, "B": values, "C": np.zeros_like(values)}, wants_values=True)
    return recorder
