"""Benchmark results: timed multiplications with their device, driver, compiler, host and date."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gemmviz.model.gpu import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.timing import Measured

CUBLAS = "cuBLAS"


@dataclass(frozen=True)
class Benchmark:
    """The rows of one benchmark run. ``recorded``: measured on another machine. ``host``: the CPU that ran the host's rows."""

    gpu: Gpu
    host: str
    date: str
    rows: tuple[Measured, ...]
    recorded: bool = False

    @property
    def source(self) -> str:
        """Source of the figures, shown in every picture of them: "measured on GPU, driver, compiler, DATE"."""
        return f"{'recorded' if self.recorded else 'measured'} on {self.gpu.label}, {self.date}"

    def share_of_cublas(self, row: Measured) -> float | None:
        """Rate of a row relative to cuBLAS for the same problem; None if either is missing."""
        beside = self._cublas.get(row.problem)
        return None if not beside or row.gflops is None else row.gflops / beside

    @cached_property
    def _cublas(self) -> dict[Problem, float | None]:
        return {row.problem: row.gflops for row in self.rows if row.kernel == CUBLAS}

    def find(self, source_hash: str, parameters: Mapping[str, int], problem: Problem) -> Measured | None:
        """The row with exactly this kernel text, these parameters and this problem; None if there is none."""
        key = (source_hash, dict(parameters), problem)
        return next((row for row in self.rows if (row.source_hash, dict(row.parameters), row.problem) == key), None)

    def with_row(self, row: Measured) -> "Benchmark":
        return replace(self, rows=(*self.rows, row))
