"""Serves the window: runs what needs a GPU, in a process of its own."""

import argparse

from gemmviz.cli.command import Command, nothing
from gemmviz.run.worker.worker import serve


def _run(args: argparse.Namespace) -> int:
    return serve()


COMMAND = Command("", nothing, _run)
