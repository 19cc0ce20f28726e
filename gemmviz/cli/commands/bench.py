"""The command ``bench``: measures how fast the kernels are."""

import argparse
import sys
from contextlib import closing

from msgspec import structs

from gemmviz.cli.command import Command, add_json, add_output
from gemmviz.cli.running import add_device, add_timeout, seconds
from gemmviz.cuda.launch.catalog import kernel_names
from gemmviz.cuda.launch.legality import parse_sizes, square_problems
from gemmviz.files.recordings import benchmark_text, recordings
from gemmviz.files.resources import write_text
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import SettingError, number
from gemmviz.model.timing import CUBLAS, Benchmark
from gemmviz.run.benchmarking import LONGEST_S, Case, cases_for, run_benchmark
from gemmviz.run.loader import open_kernel
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.run.worker.tools import METHODS


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernels", nargs="*", metavar="KERNEL|FILE.cu", help="default: all included kernels")
    parser.add_argument("--sizes", default="128:4096", help="sizes N, as 128:8192 (doubling) or 100,200 (default: %(default)s)")
    parser.add_argument(
        "--longest",
        type=seconds,
        default=LONGEST_S,
        metavar="S",
        help="skip sizes at which a launch takes longer than S seconds",
    )
    add_device(parser)
    add_timeout(parser)
    parser.add_argument("--recorded", action="store_true", help="print the included measurements instead of measuring")
    add_json(parser)
    add_output(parser, (".json",))


def _run(args: argparse.Namespace) -> int:
    kernels = [open_kernel(name) for name in args.kernels or kernel_names()]
    if args.recorded:
        for benchmark in recordings("benchmark", Benchmark):
            selected = structs.replace(
                benchmark, rows=tuple(row for row in benchmark.rows if row.kernel in _measured_names(kernels))
            )
            print(benchmark_text(selected) if args.json else benchmark_table(selected))
            if args.output is not None:
                write_text(args.output, benchmark_text(selected))
        return 0
    cases = cases_for(kernels, square_problems(parse_sizes(args.sizes)), args.device)
    if not any(case.setup for case in cases):
        raise SettingError("none of these kernels can run at these sizes", remedy="choose other sizes")
    benchmark = _measured(args, cases)
    print(benchmark_text(benchmark) if args.json else benchmark_table(benchmark))
    return 0 if any(row.timing for row in benchmark.rows) else 1


def _measured(args: argparse.Namespace, cases: list[Case]) -> Benchmark:
    """Measure all cases and return the benchmark; after Ctrl+C, the rows measured so far."""
    latest: list[Benchmark] = []

    def measured(benchmark: Benchmark, done: int) -> None:
        latest[:] = [benchmark]
        row = benchmark.rows[-1]
        rate = f"{row.gflops:10,.1f} GFLOP/s" if row.gflops else f"  {row.failure}"
        print(f"{done:4} of {len(cases)}  {row.label:38} {row.problem!s:20} {rate}", file=sys.stderr)
        if args.output is not None:
            write_text(args.output, benchmark_text(benchmark))  # an interrupted benchmark keeps its results

    with closing(RemoteGpu(timeout_s=args.timeout)) as gpu:
        try:
            return run_benchmark(gpu, cases, args.device, longest_s=args.longest, on_row=measured)
        except KeyboardInterrupt:
            if not latest:
                raise
            return latest[0]


def _measured_names(kernels: list[KernelSpec]) -> set[str]:
    return {CUBLAS, *METHODS, *(kernel.name for kernel in kernels)}


def benchmark_table(benchmark: Benchmark) -> str:
    """Return GFLOP/s by kernel and size as a Markdown table, with the source of the numbers."""
    rows = [row for row in benchmark.rows if row.problem.is_multiply]
    sizes = sorted({row.problem.M for row in rows})
    labels = list(dict.fromkeys(row.label for row in rows))
    lines = [f"| GFLOP/s, N = | {' | '.join(map(str, sizes))} |", f"|---|{'---:|' * len(sizes)}"]
    for label in labels:
        cells = []
        for size in sizes:
            row = next((each for each in rows if each.label == label and size == each.problem.M), None)
            cells.append(number(row.gflops) if row is not None and row.gflops else "")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{benchmark.source}; host {benchmark.host}"])


COMMAND = Command("time kernels, cuBLAS and the CPU over a range of sizes", _add, _run, order=7)
