"""The rows of a benchmark that charts plot: of which width, of the CPU or of the GPU, and in which precision."""

from gemmviz.model.chart import Opens
from gemmviz.model.records import replace
from gemmviz.model.timing import CUBLAS, Benchmark, Measured

WIDTHS = ("BLOCK", "TILE_WIDTH")


def opens_of(row: Measured) -> Opens | None:
    """Return the launch of a row, None if the row is not of a kernel as it can be opened."""
    is_kernel = row.source_hash and not variant_of(row)
    return (row.kernel, row.problem.N, tuple(row.parameters.items())) if is_kernel else None


def narrowed(benchmark: Benchmark, width: int = 0, with_host: bool = True) -> Benchmark:
    """Return the benchmark with only the rows of one width of tiles or blocks (0 for all), with or without rows of the CPU."""

    def is_kept(row: Measured) -> bool:
        widths = [value for name, value in row.parameters.items() if name in WIDTHS]
        return (not width or not widths or width in widths) and (with_host or not is_of_host(row))

    return replace(benchmark, rows=tuple(row for row in rows_of(benchmark) if is_kept(row)))


def is_of_host(row: Measured) -> bool:
    """Whether the CPU ran a row."""
    return not row.source_hash and row.base != CUBLAS


def variant_of(row: Measured) -> str:
    """Return how a GPU's row differs from the kernel in float32; "" if it doesn't."""
    return "" if is_of_host(row) else row.variant


def rows_of(benchmark: Benchmark) -> list[Measured]:
    """Return the rows of multiplications, which alone have an N."""
    return [row for row in benchmark.rows if row.problem.is_multiply]


def widths_of(benchmark: Benchmark) -> list[int]:
    """Return all measured widths of tiles and blocks."""
    widths = {value for row in rows_of(benchmark) for name, value in row.parameters.items() if name in WIDTHS}
    return sorted(widths)
