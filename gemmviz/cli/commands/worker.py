"""The command ``worker``: the process that runs GPU code for the window."""

import argparse

from gemmviz.cli.command import Command, no_arguments
from gemmviz.run.worker.worker import serve


def _run(args: argparse.Namespace) -> int:
    return serve()


COMMAND = Command("", no_arguments, _run)
