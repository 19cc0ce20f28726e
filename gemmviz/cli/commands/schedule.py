"""The command ``schedule``: where and when the blocks of a launch ran."""

import argparse
import json
from contextlib import closing

from gemmviz.cli.command import Command, add_json
from gemmviz.cli.running import add_timeout
from gemmviz.files.codec import to_plain
from gemmviz.model.translation import many
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.shots.arguments import add_setup, setup_from


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)
    add_timeout(parser)
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
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


COMMAND = Command("record where and when each block ran on the GPU", _add, _run, order=9)
