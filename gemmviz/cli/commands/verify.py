"""The command ``verify``: compares the counts with those of the hardware."""

import argparse
import sys
from collections.abc import Mapping
from contextlib import closing
from datetime import date

from gemmviz.analysis.costs import profiled_wavefronts
from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.analysis.merging import MergingCounter, explained
from gemmviz.cli.command import Command, add_json, add_output, print_error
from gemmviz.cli.running import add_device, add_timeout
from gemmviz.cuda.launch.catalog import kernel_names
from gemmviz.cuda.launch.legality import device_for, legal_choices, parse_sizes
from gemmviz.files.recordings import recording_text
from gemmviz.files.resources import write_text
from gemmviz.model.device import Gpu
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Counters, LaunchCounters, RecordedCounters
from gemmviz.run.choosing import engine_for
from gemmviz.run.loader import open_kernel
from gemmviz.run.worker import tools
from gemmviz.run.worker.remote import RemoteGpu

AS_WRITTEN = "as written"
_LAUNCHES_AT_ONCE = 16  # launches that one run of the profiler counts
_VERIFIED = ((8, 8, 8), (24, 16, 32), (128, 128, 128), (100, 70, 50), (192, 64, 128), (512, 512, 512))


def _of_size(kernel: KernelSpec, size: tuple[int, int, int]) -> Problem:
    """The multiplication of these sizes, or the kernel's own problem with sides of the first."""
    return Problem(*size) if kernel.problem.is_multiply else kernel.problem.at_side(size[0])


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernels", nargs="*", metavar="KERNEL|FILE.cu", help="default: all included kernels")
    parser.add_argument("--sizes", help="of square matrices, such as 128,512 (default: six problems, some not square)")
    add_device(parser)
    add_timeout(parser)
    add_json(parser)
    add_output(parser, (".json",))


def _run(args: argparse.Namespace) -> int:
    kernels = [open_kernel(name) for name in args.kernels or kernel_names()]
    problems = _VERIFIED if args.sizes is None else tuple((size, size, size) for size in parse_sizes(args.sizes))
    tools.find_profiler()
    with closing(RemoteGpu(timeout_s=args.timeout)) as engine:
        gpu = engine.gpu()
        rows: list[LaunchCounters] = []
        for kernel in kernels:
            setups = [each for size in problems for each in legal_choices(kernel, _of_size(kernel, size), device=args.device)]
            for start in range(0, len(setups), _LAUNCHES_AT_ONCE):
                some = setups[start : start + _LAUNCHES_AT_ONCE]
                for setup, counters in zip(some, engine.verify(some), strict=True):
                    rows.append(verified(engine, setup, counters))
                    if not args.json:
                        print(_row_report(rows[-1]), flush=True)
                if args.output is not None:  # an interrupted run keeps its results
                    write_text(args.output, recording_text(profiled_on(gpu, tuple(rows))))
    if args.json:
        print(recording_text(profiled_on(gpu, tuple(rows))), end="")
    same = sum(row.as_compiled == AS_WRITTEN for row in rows)
    print(f"{len(rows)} launches on {gpu.label}: {same} match the counts as written", file=sys.stderr)
    unexplained = [row for row in rows if row.as_compiled is None]
    if unexplained:
        what = f"the counts of {len(unexplained)} launches differ, and no merged loads or stores explain them"
        return print_error(GemmvizError(what), 1)
    return 0


def verified(engine: RemoteGpu, setup: Setup, hardware: Counters) -> LaunchCounters:
    """The hardware's counters of a launch beside its counts, and what the compiler did if they differ."""
    counter = LaunchCounter(device_for(setup).rules, passes=profiled_wavefronts)
    engine_for("cpu").count(setup, counter)
    ours = {name: value for name, value in totals(counter.counts).items() if name in tools.METRICS}
    measured = engine.time_kernel(setup)
    assert measured.timing is not None
    assert measured.check is not None
    return LaunchCounters(
        hardware.counters, hardware.duration_ns, kernel=setup.kernel.name, source_hash=setup.kernel.text_hash,
        problem=setup.problem, parameters=setup.parameters, ours=ours,
        as_compiled=_as_compiled(setup, ours, hardware.counters), passed=measured.check.passed,
        largest_error=measured.check.worst_error, measured_ns=round(measured.timing.median_ms * 1e6),
    )  # fmt: skip


def _as_compiled(setup: Setup, ours: Mapping[str, int], counters: Mapping[str, int]) -> str | None:
    """Return how the compiler merged the accesses, in words. None if no merging gives these counters."""
    if all(counters[name] == value for name, value in ours.items()):
        return AS_WRITTEN
    counter = MergingCounter(device_for(setup).rules)
    engine_for("cpu").count(setup, counter)
    merging = explained(counter, counters)
    return None if merging is None else str(merging)


def profiled_on(gpu: Gpu, rows: tuple[LaunchCounters, ...], metrics: Mapping[str, str] = tools.METRICS) -> RecordedCounters:
    """A recording of today."""
    method = f"{tools.profiler_version()}, clock control none, caches warm"
    return RecordedCounters(gpu, str(date.today()), rows, method=method, metrics=metrics)


def _row_report(row: LaunchCounters) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in row.parameters.items())
    lines = [f"{row.kernel}{f' ({values})' if values else ''}, {row.problem}"]
    for name, ours in row.ours.items():
        counter = row.counters[name]
        lines.append(f"  {name.replace('_', ' '):28} {ours:>14,} {counter:>14,} {counter - ours:>+12,}")
    ours_us, profiled_us = row.measured_ns / 1e3, row.duration_ns / 1e3
    share = f"{ours_us / profiled_us - 1:+.1%}"
    lines.append(f"  {'time of a launch, µs':28} {ours_us:>14,.2f} {profiled_us:>14,.2f} {share:>12}")
    if row.as_compiled != AS_WRITTEN:
        lines.append(f"  as compiled: {row.as_compiled or 'no merging of loads or stores explains this'}")
    return "\n".join(lines)


COMMAND = Command("compare the counts with the GPU's counters (needs Nsight Compute)", _add, _run, order=8)
