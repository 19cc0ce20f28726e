"""Many multiplications timed in one run, with device, driver, compiler, host and date."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gemmviz.model.gpu import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.timing import Measured

CUBLAS = "cuBLAS"


@dataclass(frozen=True)
class Benchmark:
    """``recorded``: these are not of this machine. ``host`` is the CPU that ran the host's rows."""

    gpu: Gpu
    host: str
    date: str
    rows: tuple[Measured, ...]
    recorded: bool = False

    @property
    def source(self) -> str:
        """What every picture of it says."""
        return f"{'recorded' if self.recorded else 'measured'} on {self.gpu.label}, {self.date}"

    def share_of_cublas(self, row: Measured) -> float | None:
        """The rate of a row over that of cuBLAS for the same problem; None where either is missing."""
        beside = self._cublas.get(row.problem)
        return None if not beside or row.gflops is None else row.gflops / beside

    @cached_property
    def _cublas(self) -> dict[Problem, float | None]:
        return {row.problem: row.gflops for row in self.rows if row.kernel == CUBLAS}

    def find(self, source_hash: str, parameters: Mapping[str, int], problem: Problem) -> Measured | None:
        """The row of exactly this kernel text, these parameters and this problem."""
        wanted = (source_hash, dict(parameters), problem)
        return next((row for row in self.rows if (row.source_hash, dict(row.parameters), row.problem) == wanted), None)

    def with_row(self, row: Measured) -> "Benchmark":
        return replace(self, rows=(*self.rows, row))
