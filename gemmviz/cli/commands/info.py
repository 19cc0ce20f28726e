"""The command ``info``: prints the contents of a trace file."""

import argparse
from pathlib import Path

from gemmviz.cli.command import Command, add_json, print_json
from gemmviz.files.trace_file import describe, read_trace
from gemmviz.model.messages import GemmvizError, many
from gemmviz.model.threads import phases_text


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.gvt")
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    try:
        facts = describe(args.file)
    except GemmvizError as error:
        if args.json:
            print_json({"error": str(error)})
        raise
    if args.json:
        print_json(facts)
        return 0
    trace = read_trace(args.file)
    numbers = ", ".join(f"{name} = {value}" for name, value in trace.setup.sizes_and_parameters.items())
    print(f"{trace.setup.kernel.name}: {numbers}")
    print(f"format version {facts['version']}, {facts['bytes']:,} bytes, recorded by {trace.by}")
    grid, block = (" x ".join(map(str, extents)) for extents in (trace.launch.grid, trace.launch.block))
    print(f"grid {grid}, block {block}, blocks traced {trace.blocks}")
    if trace.phases is not None:
        print(f"phases traced: {phases_text(trace.phases)}, counted from 1, and the steps before and after the phases")
    arrays = ", ".join(facts["arrays"])
    print(f"{many(trace.steps, 'step')} of {many(trace.space.thread_count, 'thread')}, arrays: {arrays}")
    print(str(trace.check))
    return 0


COMMAND = Command("print what a trace file contains", _add, _run, order=6)
