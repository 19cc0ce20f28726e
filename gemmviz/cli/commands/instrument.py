"""The command ``instrument``: prints the instrumented twin of a kernel."""

import argparse

from gemmviz.cli.command import Command
from gemmviz.cuda.twin.units import twin_for
from gemmviz.run.cpu.executor import bound
from gemmviz.shots.arguments import add_setup, setup_from


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)


def _run(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    bound(setup)
    print(twin_for(setup.kernel, setup.definitions).text, end="")
    return 0


COMMAND = Command("print the instrumented twin of a kernel", _add, _run, order=5)
