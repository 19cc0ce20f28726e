"""Benchmark results: timed multiplications with their device, driver, compiler, host and date."""

from functools import cached_property

from msgspec import field

from gemmviz.model.problem import Problem
from gemmviz.model.recording import Recorded
from gemmviz.model.records import replace
from gemmviz.model.timing import Measured
from gemmviz.model.translation import tr

CUBLAS = "cuBLAS"
DOUBLE = ", double"  # ends the name of a row in double precision


class Benchmark(Recorded[Measured], frozen=True, dict=True):
    """The rows of one benchmark run. ``recorded``: read from a file. ``host``: the CPU that ran the host's rows."""

    recorded: bool = field(default=True, name="")

    @property
    def source(self) -> str:
        """Source of the figures: "measured on GPU, driver, compiler, DATE"."""
        return super().source if self.recorded else tr("measured on {label}, {date}", label=self.gpu.label, date=self.date)

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

    def with_row(self, row: Measured) -> "Benchmark":
        return replace(self, rows=(*self.rows, row))
