"""The command ``launches``: launches kernels under a profiler."""

import argparse
from pathlib import Path

from gemmviz.cli.command import Command


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.json")


def _run(args: argparse.Namespace) -> int:
    from gemmviz.run.cuda.discovery import launch_all  # needs a GPU

    return launch_all(args.file)


COMMAND = Command("", _add, _run)
