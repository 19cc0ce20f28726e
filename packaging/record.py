"""Records what only a GPU can tell, on a machine that has one: make record.

Speeds and counters go to assets/measurements, small traces for the tests to tests/data/device. Needs CuPy; counters need Nsight
Compute.
"""

import re
import sys
from pathlib import Path

from gemmviz.cli import main as gemmviz
from gemmviz.model.lanes import Window
from gemmviz.model.problem import Problem
from gemmviz.model.trace_file import write_trace
from gemmviz.run.remote import RemoteGpu
from gemmviz.source.catalog import kernel_names, load_kernel
from gemmviz.source.launching import settings_for

ROOT = Path(__file__).resolve().parent.parent
MEASUREMENTS, TRACES = ROOT / "assets" / "measurements", ROOT / "tests" / "data" / "device"
SIZES = "128:8192"
SMALL = {
    "01_single_block": ((5, 7, 3), {}),
    "02_naive": ((9, 7, 5), {"BLOCK": 4}),
    "03_coalesced": ((7, 9, 5), {"BLOCK": 4}),
    "04_tiled": ((9, 7, 5), {"TILE_WIDTH": 4}),
    "05_tiled_unguarded": ((8, 8, 12), {"TILE_WIDTH": 4}),
    "06_tiled_unrolled": ((8, 4, 8), {"TILE_WIDTH": 4}),
    "07_tiled_transposed": ((8, 16, 8), {"TILE_WIDTH": 8, "PAD": 1}),
    "08_register_tiled": ((16, 8, 8), {"TILE_WIDTH": 8, "PER_THREAD": 2, "DEPTH": 4}),
}


def main() -> int:
    what = sys.argv[1:] or ["traces", "speeds", "counters"]
    gpu = RemoteGpu()
    name = re.sub(r"\W+", "-", gpu.gpu().name.lower())
    if "traces" in what:
        record_traces(gpu)
    gpu.close()
    code = 0
    if "speeds" in what:
        code |= gemmviz(["bench", "--sizes", SIZES, "-o", str(MEASUREMENTS / f"benchmark-{name}.json")])
    if "counters" in what:
        code |= gemmviz(["verify", "-o", str(MEASUREMENTS / f"counters-{name}.json")])
    return code


def record_traces(gpu: RemoteGpu) -> None:
    """One small trace of every kernel, with values; and one of some blocks and phases."""
    TRACES.mkdir(exist_ok=True)
    for kernel in kernel_names():
        spec, (size, parameters) = load_kernel(kernel), SMALL[kernel]
        settings = settings_for(spec, Problem(*size), parameters)
        write_trace(gpu.trace(spec, settings, device="h200", values=True), TRACES / f"{kernel}.gvt")
    spec = load_kernel("04_tiled")
    settings = settings_for(spec, Problem(17, 15, 22), {"TILE_WIDTH": 4})
    some = gpu.trace(spec, settings, Window((1, 3), (4, 5)), device="h200", phases=(1, 3), values=True)
    write_trace(some, TRACES / "some-blocks-and-phases.gvt")


if __name__ == "__main__":
    sys.exit(main())
