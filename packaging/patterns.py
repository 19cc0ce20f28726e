"""Records the kernels of other problems than the multiplication of matrices, on a machine with a GPU: make patterns.

Speeds are written to assets/measurements/benchmark-GPU-patterns.json, hardware counters to counters-GPU-patterns.json, and
small traces for the tests to tests/data/device. Needs CuPy; counters need Nsight Compute.
"""

import re
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from gemmviz.cli.main import main as gemmviz
from gemmviz.files.benchmark_file import benchmark_text
from gemmviz.files.checksums import write_recording
from gemmviz.files.trace_file import write_trace
from gemmviz.launch.catalog import load_kernel, pattern_kernel_names
from gemmviz.launch.legality import legal_choices, setup_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.setup import Setup
from gemmviz.run.measure.benchmarking import Case, run_benchmark
from gemmviz.run.recording import Recording
from gemmviz.run.worker.remote import RemoteGpu

ROOT = Path(__file__).resolve().parent.parent
MEASUREMENTS, TRACES = ROOT / "assets" / "measurements", ROOT / "tests" / "data" / "device"
SIDES = (32, 128, 512, 1024, 2048, 4096)
DEVICE = "h200"


def setups() -> list[Setup]:
    """Setups of every kernel with each choice of its parameters, smaller problems first."""
    kernels = [load_kernel(name) for name in pattern_kernel_names()]
    pairs = [(kernel, kernel.problem.at_side(side)) for side in SIDES for kernel in kernels]
    return [setup for kernel, problem in pairs for setup in legal_choices(kernel, problem, device=DEVICE)]


def main() -> int:
    with closing(RemoteGpu()) as gpu:
        name = re.sub(r"\W+", "-", gpu.gpu().name.lower())
        for kernel in map(load_kernel, pattern_kernel_names()):
            trace = gpu.trace(setup_for(kernel), recording=Recording(values=True)).whole
            write_trace(trace, TRACES / f"{kernel.name}.gvt")
        path = MEASUREMENTS / f"benchmark-{name}-patterns.json"

        def save(benchmark: Benchmark, done: int) -> None:
            write_recording(path, benchmark_text(benchmark))
            print(f"{date.today()} {done}: {benchmark.rows[-1].label}, {benchmark.rows[-1].problem}", flush=True)

        run_benchmark(gpu, [Case(each.kernel.name, each.problem, each) for each in setups()], DEVICE, on_row=save)
    with TemporaryDirectory() as folder:  # files that ship with gemmviz are not overwritten by its commands
        counters = Path(folder, f"counters-{name}-patterns.json")
        code = gemmviz(["verify", *pattern_kernel_names(), "-o", str(counters)])
        if counters.is_file():
            write_recording(MEASUREMENTS / counters.name, counters.read_text("utf-8"))
    return code


if __name__ == "__main__":
    sys.exit(main())
