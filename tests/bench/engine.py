"""Speed of the engine: from a kernel's text to its trace, and accesses a second."""

import statistics

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.engine import Recording
from tests.bench.processes import probe
from tests.bench.report import REPEATS, median, show
from tests.conftest import DATA


def run() -> None:
    """Print all figures of the engine."""
    runs = [probe("trace") for _ in range(REPEATS)]
    show("04_tiled 64³ T=16, text to trace, first time", statistics.median(run["first"] for run in runs), "ms", 35)
    show("the same again, after another size", statistics.median(run["again"] for run in runs), "ms", 7)
    show("the same after an edit of the text", statistics.median(run["edited"] for run in runs), "ms", 14)
    throughput("04_tiled", load_kernel("04_tiled"), 200, TILE_WIDTH=16)
    throughput("03_coalesced", load_kernel("03_coalesced"), 40, BLOCK=16)
    path = DATA / "kernels" / "block_tile_2d.cu"
    throughput("register-tiled (8 x 8 a thread)", parse_kernel(path.read_text(encoding="utf-8"), str(path)), 20)
    large = [probe("trace", "4096", "32", "3:4,5:6") for _ in range(3)]
    show("04_tiled 4096³ T=32, one block", statistics.median(run["first"] for run in large), "ms", 1000)
    show("    peak memory of that process", statistics.median(run["peak_mib"] for run in large), "MiB", 300)


def setup_of(kernel: KernelSpec, size: int, **parameters: int) -> Setup:
    return setup_for(kernel, Problem(size, size, size), parameters)


def throughput(name: str, kernel: KernelSpec, promised: float, **parameters: int) -> None:
    setup, recording = setup_of(kernel, 256, **parameters), Recording(origins=False)
    accesses = trace_kernel(setup, recording=recording).whole.element.size
    seconds = median(lambda: trace_kernel(setup, recording=recording))
    show(f"{name} 256³, accesses of one thread", accesses / seconds / 1e6, "M/s", promised, more_is_better=True)
