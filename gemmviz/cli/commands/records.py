"""Commands that record a run."""

import argparse
import json
from contextlib import closing

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.cli.command import Command, add_json, add_output
from gemmviz.cli.running import add_on, add_timeout, engine_of, print_fallback, report_hazards, report_outcome
from gemmviz.files.codec import to_plain
from gemmviz.files.trace_file import write_trace
from gemmviz.model.messages import many
from gemmviz.run.choosing import run
from gemmviz.run.engine import record_limit
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.shots.arguments import add_setup, setup_from

# The command ``trace``: runs a kernel and saves its trace.

_LARGEST_HAZARD_SEARCH = 1 << 26


def _add_trace(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu")
    add_on(parser, "auto")
    add_timeout(parser)
    parser.add_argument("--values", action="store_true", help="also record the values read and written")
    add_output(parser, (".gvt",), "output file", required=True)


def _run_trace(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    with engine_of(args, setup.kernel) as engine:
        outcome = run(setup, (0, 0, 0), engine, values=args.values, most_bytes=record_limit())
    print_fallback(outcome.instead_of)
    trace = outcome.whole
    write_trace(trace, args.output)
    share = f"{trace.blocks.count} of {many(trace.launch.block_count, 'block')}" + (
        f", phases {setup.phases}" if trace.phases is not None else ""
    )
    ordering = ordering_of(trace, None if trace.element.size <= _LARGEST_HAZARD_SEARCH else 0)
    verdict = f"{trace.check}{', in the order of this run' if trace.check.passed and ordering.hazards else ''}"
    print(f"{args.output}: {many(trace.steps, 'step')} of {many(trace.space.thread_count, 'thread')} ({share}); {verdict}")
    if not trace.is_whole and not setup.blocks:
        print("Use --blocks all to record all blocks")
    for sentence in (*ordering.remarks, *trace.notes):
        print(sentence)
    return report_hazards(list(ordering.hazards), setup) or report_outcome(outcome)


# The command ``schedule``: where and when the blocks of a launch ran.


def _add_schedule(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)
    add_timeout(parser)
    add_json(parser)


def _run_schedule(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    with closing(RemoteGpu(timeout_s=args.timeout)) as engine:
        gpu, record = engine.gpu(), engine.schedule(setup)
    if args.json:
        print(json.dumps({
            "kernel": setup.kernel.name, "problem": to_plain(setup.problem), "parameters": dict(setup.parameters),
            "gpu": to_plain(gpu), "tick_ns": record.tick_ns, "sm": record.sm.tolist(), "start_ns": record.start_ns.tolist(),
            "stop_ns": record.stop_ns.tolist(),
        }))  # fmt: skip
        return 0
    resident = record.resident()
    used = int((resident > 0).sum())
    print(f"{setup.kernel.name}, {setup.problem}: {many(record.blocks, 'block')} on {used} of {gpu.sms} SMs of {gpu.name}")
    total_us = record.duration_ns / 1e3
    print(f"  at most {many(int(resident.max()), 'block')} on one SM at once; {total_us:,.1f} µs from first start to last end")
    times = record.stop_ns - record.start_ns
    print(
        f"  a block takes {times.min() / 1e3:,.1f} to {times.max() / 1e3:,.1f} µs (the clock ticks every {record.tick_ns} ns)"
    )
    return 0


COMMANDS = {
    "schedule": Command("record where and when each block ran on the GPU", _add_schedule, _run_schedule, order=9),
    "trace": Command("run a kernel and save a trace of every access", _add_trace, _run_trace, order=2),
}
