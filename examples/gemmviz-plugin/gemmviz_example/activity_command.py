"""The command ``activity``: prints the active lanes of each access of a kernel, on average over the run."""

import argparse
from contextlib import closing

import numpy as np

from gemmviz.cli.command import Command
from gemmviz.run.choosing import engine_for, run
from gemmviz.shots.arguments import add_setup, setup_from
from gemmviz.shots.knowledge import replay_of
from gemmviz_example.activity import active_lanes


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu")


def _run(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    with closing(engine_for("cpu")) as engine:
        trace = replay_of(run(setup, (0, 0, 0), engine), hazards=False).trace
    block = slice(0, trace.space.threads_per_block)
    for number, site in enumerate(trace.sites):
        steps = np.flatnonzero(trace.site == number)
        if site.operands and len(steps):
            lanes = np.concatenate([active_lanes(trace, step, block) for step in steps.tolist()])
            print(f"line {site.place.line:4}  {lanes.mean():5.1f} lanes  {site.text}")
    return 0


COMMAND = Command("print the active lanes of each access", _add, _run)
