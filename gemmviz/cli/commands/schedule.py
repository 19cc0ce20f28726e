"""Where and when the blocks of a launch ran."""

import argparse
import json
from contextlib import closing

from gemmviz.cli.command import Command, add_json, add_timeout
from gemmviz.files.codec import to_plain
from gemmviz.model.words import many
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.state.arguments import add_setup, setup_from


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)
    add_timeout(parser)
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    with closing(RemoteGpu(timeout_s=args.timeout)) as engine:
        gpu, found = engine.gpu(), engine.schedule(setup)
    if args.json:
        print(json.dumps({
            "kernel": setup.kernel.name, "problem": setup.problem.sizes, "parameters": dict(setup.parameters),
            "gpu": to_plain(gpu), "tick_ns": found.tick_ns, "sm": found.sm.tolist(), "start_ns": found.start_ns.tolist(),
            "stop_ns": found.stop_ns.tolist(),
        }))  # fmt: skip
        return 0
    resident = found.resident()
    used = int((resident > 0).sum())
    print(f"{setup.kernel.name}, {setup.problem}: {many(found.blocks, 'block')} on {used} of {gpu.sms} SMs of {gpu.name}")
    total_us = found.duration_ns / 1e3
    print(f"  at most {many(int(resident.max()), 'block')} on one SM at once; {total_us:,.1f} µs from the first to the last")
    times = found.stop_ns - found.start_ns
    print(f"  a block takes {times.min() / 1e3:,.1f} to {times.max() / 1e3:,.1f} µs (the clock ticks every {found.tick_ns} ns)")
    return 0


COMMAND = Command("record where and when each block ran on the GPU", _add, _run, order=9)
