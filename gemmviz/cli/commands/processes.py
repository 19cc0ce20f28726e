"""Commands that are processes of gemmviz, which it starts itself. Each loads only what it does."""

import argparse
from pathlib import Path

from gemmviz.cli.command import Command, no_arguments

# The command ``grader``: the process that judges hand-ins for ``grade``.


def _run_grader(args: argparse.Namespace) -> int:
    from gemmviz.teaching.grading.pool import serve_grader

    return serve_grader()


# The command ``worker``: the process that runs GPU code for the window.


def _run_worker(args: argparse.Namespace) -> int:
    from gemmviz.run.worker.worker import serve

    return serve()


# The command ``launches``: launches kernels under a profiler.


def _add_launches(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.json")


def _run_launches(args: argparse.Namespace) -> int:
    from gemmviz.run.cuda.discovery import launch_all  # needs a GPU

    return launch_all(args.file)


COMMANDS = {
    "grader": Command("", no_arguments, _run_grader),
    "launches": Command("", _add_launches, _run_launches),
    "worker": Command("", no_arguments, _run_worker),
}
