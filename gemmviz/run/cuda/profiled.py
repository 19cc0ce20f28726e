"""Launches kernels under a profiler."""

from pathlib import Path

from gemmviz.files.codec import read_json
from gemmviz.model.setup import Setup
from gemmviz.run.cuda.discovery import open_runner
from gemmviz.run.protocol import PROFILED_LAUNCHES


def launch_all(listed: Path) -> int:
    """Launches the kernels listed in a file, each PROFILED_LAUNCHES times. Returns the exit code."""
    runner = open_runner()
    for setup in read_json(listed, tuple[Setup, ...]):
        runner.use(setup, lambda work: runner.launch_real(work, PROFILED_LAUNCHES))
    return 0
