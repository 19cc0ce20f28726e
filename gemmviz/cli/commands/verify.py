"""Our counts beside those of the hardware."""

import argparse
import json
import sys
from contextlib import closing
from datetime import date
from typing import Any

from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.cli.command import Command, add_device, add_json, add_output, add_timeout, complain
from gemmviz.files.codec import to_plain
from gemmviz.files.whole import write_text
from gemmviz.model.errors import GemmvizError
from gemmviz.model.gpu import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Counters
from gemmviz.run import profiler
from gemmviz.run.executor import stream_launch
from gemmviz.run.remote import RemoteGpu
from gemmviz.spec.catalog import kernel_names, load_kernel
from gemmviz.spec.legality import device_for, legal_choices
from gemmviz.spec.sizes import sizes_of

_WIDE = "  as written, as compiled: wide loads of several"
_OFF = "  as written, as compiled: with stores whose threads are all switched off"
_VERIFIED = ((8, 8, 8), (24, 16, 32), (128, 128, 128), (100, 70, 50), (192, 64, 128), (512, 512, 512))
Row = dict[str, Any]


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernels", nargs="*", metavar="KERNEL|FILE.cu", help="default: all that ship with gemmviz")
    parser.add_argument("--sizes", help="of square matrices, as 128,512 (default: six problems, square and not)")
    add_device(parser)
    add_timeout(parser)
    add_json(parser)
    add_output(parser, "FILE.json")


def _run(args: argparse.Namespace) -> int:
    kernels = [load_kernel(name) for name in args.kernels or kernel_names()]
    asked = _VERIFIED if args.sizes is None else tuple((size, size, size) for size in sizes_of(args.sizes))
    profiler.find_profiler()
    with closing(RemoteGpu(timeout_s=args.timeout)) as engine:
        gpu = engine.gpu()
        setups = [
            each for kernel in kernels for size in asked for each in legal_choices(kernel, Problem(*size), device=args.device)
        ]
        rows = [_row(engine, setup, said) for setup, said in zip(setups, engine.verify(setups), strict=True)]
    record = _record(gpu, rows)
    if args.output is not None:
        write_text(args.output, json.dumps(record, indent=0) + "\n")
    print(json.dumps(record, indent=1) if args.json else "\n".join(map(_verdict, rows)))
    different = [row for row in rows if any(_differences(row).values())]
    same = len(rows) - len(different)
    print(f"{len(rows)} launches on {gpu.label}: {same} count as the source is written", file=sys.stderr)
    unexpected = [row for row in different if not _is_expected(row)]
    if unexpected:
        return complain(GemmvizError(f"{len(unexpected)} launches count otherwise, and no merged loads explain it"), 1)
    return 0


def _row(engine: RemoteGpu, setup: Setup, said: Counters) -> Row:
    counter = LaunchCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    ours = totals(counter.counts)
    measured = engine.time_kernel(setup)
    assert measured.timing is not None
    assert measured.check is not None
    return {
        "kernel": setup.kernel.name, "sha256": setup.kernel.text_hash, "problem": setup.problem.sizes,
        "parameters": dict(setup.parameters), "largest_error": measured.check.worst_error,
        "ours": {name: ours[name] for name in profiler.METRICS if name in ours}, **to_plain(said),
        "measured_ns": round(measured.timing.median_ms * 1e6),
    }  # fmt: skip


def _record(gpu: Gpu, rows: list[Row]) -> Row:
    return {
        "device": gpu.name, "driver": gpu.driver, "compiler": f"{gpu.compiler}, --std=c++17",
        "tool": f"{profiler.profiler_version(profiler.find_profiler())}, clock control none, caches warm",
        "date": str(date.today()), "gpu": to_plain(gpu), "metrics": profiler.METRICS, "launches": rows,
    }  # fmt: skip


def _differences(row: Row) -> dict[str, int]:
    return {name: row["counters"][name] - ours for name, ours in row["ours"].items()}


def _is_expected(row: Row) -> bool:
    """Only shared memory differs: there are fewer loads, since the compiler made wide ones of several; and more stores: those
    beyond ours are executed with all threads switched off and take no wavefront.
    """
    different = {name for name, difference in _differences(row).items() if difference}
    merged = {"shared_load_instructions", "shared_wavefronts", "shared_wavefronts_ideal", "shared_store_instructions"}
    fewer_loads = row["counters"]["shared_load_instructions"] <= row["ours"]["shared_load_instructions"]
    more_stores = row["counters"]["shared_store_instructions"] >= row["ours"]["shared_store_instructions"]
    return different <= merged and fewer_loads and more_stores


def _verdict(row: Row) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in row["parameters"].items())
    lines = [f"{row['kernel']}{f' ({values})' if values else ''}, {Problem(**row['problem'])}"]
    merged = _is_expected(row) and any(_differences(row).values())
    for name, ours in row["ours"].items():
        counter, difference = row["counters"][name], _differences(row)[name]
        why = "" if not difference or not merged else _OFF if name == "shared_store_instructions" else _WIDE
        lines.append(f"  {name.replace('_', ' '):28} {ours:>14,} {counter:>14,} {difference:>+12,}{why}")
    ours_us, profiled_us = row["measured_ns"] / 1e3, row["duration_ns"] / 1e3
    share = f"{ours_us / profiled_us - 1:+.1%}"
    lines.append(f"  {'time of a launch, µs':28} {ours_us:>14,.2f} {profiled_us:>14,.2f} {share:>12}")
    return "\n".join(lines)


COMMAND = Command("hold our counts against the GPU's own (needs Nsight Compute)", _add, _run, order=8)
