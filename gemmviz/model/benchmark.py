"""Benchmark results: timed multiplications with their device, driver, compiler, host and date."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from gemmviz.model.device import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.model.timing import Measured
from gemmviz.model.translation import tr

CUBLAS = "cuBLAS"
DOUBLE = ", double"  # ends the name of a row in double precision


class Benchmark(Struct, frozen=True, dict=True):
    """The rows of one benchmark run. ``recorded``: measured on another machine. ``host``: the CPU that ran the host's rows."""

    gpu: Gpu
    host: str
    date: str
    rows: tuple[Measured, ...]
    recorded: bool = False

    @property
    def source(self) -> str:
        """Source of the figures, shown in every picture of them: "measured on GPU, driver, compiler, DATE"."""
        return (
            tr("recorded on {label}, {date}", label=self.gpu.label, date=self.date)
            if self.recorded
            else tr("measured on {label}, {date}", label=self.gpu.label, date=self.date)
        )

    def share_of_cublas(self, row: Measured) -> float | None:
        """Rate of a row relative to cuBLAS for the same problem, in double precision for a row in double precision; None if
        either is missing.
        """
        beside = self._cublas.get((DOUBLE if row.kernel.endswith(DOUBLE) else "", row.problem))
        return None if not beside or row.gflops is None else row.gflops / beside

    @cached_property
    def _cublas(self) -> dict[tuple[str, Problem], float | None]:
        kinds = {CUBLAS: "", CUBLAS + DOUBLE: DOUBLE}
        return {(kinds[row.kernel], row.problem): row.gflops for row in self.rows if row.kernel in kinds}

    def find(self, source_hash: str, parameters: Mapping[str, int], problem: Problem) -> Measured | None:
        """The row with exactly this kernel text, these parameters and this problem; None if there is none."""
        key = (source_hash, dict(parameters), problem)
        return next((row for row in self.rows if (row.source_hash, dict(row.parameters), row.problem) == key), None)

    def with_row(self, row: Measured) -> "Benchmark":
        return replace(self, rows=(*self.rows, row))
