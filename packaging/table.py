"""Writes the table of recorded speeds into the documentation: make table."""

import re
from pathlib import Path

from gemmviz.files.benchmark_file import recorded_benchmarks
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.words import number
from gemmviz.scenes.charts.speeds import rates

PAGE = Path(__file__).resolve().parent.parent / "docs" / "speeds.md"
_BEGIN, _END = "<!-- recorded speeds: made by make table -->\n", "<!-- end of recorded speeds -->\n"
_COMPARED = 4096  # size whose share of cuBLAS is given


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tables = "\n".join(table(benchmark) for benchmark in recorded_benchmarks())
    PAGE.write_text(with_tables(text, tables), encoding="utf-8")


def with_tables(text: str, tables: str) -> str:
    return re.sub(f"{re.escape(_BEGIN)}.*{re.escape(_END)}", lambda _: f"{_BEGIN}{tables}{_END}", text, flags=re.DOTALL)


def table(benchmark: Benchmark) -> str:
    """A Markdown table of each kernel's GFLOP/s by size, at its fastest parameters, and its share of cuBLAS at one size."""
    curves = [curve for curve in rates(benchmark) if curve.main]
    sizes = sorted({x for curve in curves for x, _ in curve.points})
    base = dict(next(curve for curve in curves if curve.name == "cuBLAS").points)
    lines = [f"| N = | {' | '.join(f'{size:g}' for size in sizes)} | share |", f"|---|{'---:|' * (len(sizes) + 1)}"]
    for curve in curves:
        at = dict(curve.points)
        cells = [number(at[size]) if size in at else "" for size in sizes]
        share = percent(at[_COMPARED] / base[_COMPARED]) if _COMPARED in at else ""
        lines.append(f"| {curve.family} | {' | '.join([*cells, share])} |")
    return "\n".join([*lines, "", f"{benchmark.source[:1].upper()}{benchmark.source[1:]}; CPU: {benchmark.host}.", ""])


def percent(share: float) -> str:
    """A percentage with two significant digits, or without decimals from 10 % on."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


if __name__ == "__main__":
    main()
