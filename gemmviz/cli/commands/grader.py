"""The command ``grader``: the process that judges hand-ins for ``grade``."""

import argparse

from gemmviz.cli.command import Command, no_arguments
from gemmviz.teaching.grading.pool import serve_grader


def _run(args: argparse.Namespace) -> int:
    return serve_grader()


COMMAND = Command("", no_arguments, _run)
