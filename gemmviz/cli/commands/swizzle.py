"""The command ``swizzle``: padding, or an XOR of the columns, that rids a tile of bank conflicts, as patches of the source."""

import argparse
from difflib import unified_diff
from pathlib import Path

from gemmviz.cli.command import Command
from gemmviz.cuda.launch.legality import launch_for
from gemmviz.model.setup import kernel_title
from gemmviz.model.threads import BlockRange
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.engine import Recording
from gemmviz.shots.arguments import add_setup, setup_from
from gemmviz.shots.rearranging import rearranged

_ONE_BLOCK = BlockRange((0, 1), (0, 1), (0, 1))


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)


def _run(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    launch_for(setup)
    found = list(rearranged(setup, trace_kernel(setup, _ONE_BLOCK, Recording(origins=False)).whole))
    name = Path(setup.kernel.file).name
    for each in found:
        took = f"{each.wavefronts:,} wavefronts of a block instead of {each.before:,}"
        if each.setup is None:
            print(f"{each.array}, {each.arrangement}: {took}, but no patch: {each.reason}")
            continue
        print(f"{each.array}, {each.arrangement}: {took}; the result is right")
        before, after = (kernel.text.splitlines(keepends=True) for kernel in (setup.kernel, each.setup.kernel))
        print("".join(unified_diff(before, after, f"a/{name}", f"b/{name}")))
    if not found:
        print(f"{kernel_title(setup)}: no padding and no XOR of columns takes fewer wavefronts")
    return 0


COMMAND = Command("find padding or a swizzle that rids shared tiles of bank conflicts", _add, _run, order=7)
