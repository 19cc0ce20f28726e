"""Records what needs a GPU, on a machine with one: make record.

    python packaging/record.py [traces] [speeds] [counters] [KERNEL ...]

Speeds and counters are written to assets/measurements, small traces for the tests to tests/data/device. If kernels are named,
only their rows are replaced. Needs CuPy; counters need Nsight Compute.
"""

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from gemmviz.cli.main import main as gemmviz
from gemmviz.files.benchmark_file import benchmark_text, read_benchmark
from gemmviz.files.checksums import write_recording
from gemmviz.files.trace_file import write_trace
from gemmviz.launch.catalog import kernel_names, load_kernel
from gemmviz.launch.legality import launch_for, legal_choices, setup_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.run.recording import Recording
from gemmviz.run.worker.remote import RemoteGpu

ROOT = Path(__file__).resolve().parent.parent
MEASUREMENTS, TRACES = ROOT / "assets" / "measurements", ROOT / "tests" / "data" / "device"
SIZES = "128:8192"
WHAT = ("traces", "speeds", "counters")
SMALL = (Problem(9, 7, 5), Problem(8, 8, 8), Problem(8, 16, 8), Problem(16, 8, 8), Problem(32, 32, 32))


def main() -> int:
    what = [word for word in sys.argv[1:] if word in WHAT] or list(WHAT)
    kernels = [word for word in sys.argv[1:] if word not in WHAT]
    gpu = RemoteGpu()
    name = re.sub(r"\W+", "-", gpu.gpu().name.lower())
    if "traces" in what:
        record_traces(gpu)
    gpu.close()
    code = 0
    if "speeds" in what:
        path = MEASUREMENTS / f"benchmark-{name}.json"
        before = read_benchmark(path) if kernels and path.is_file() else None
        code |= written(path, ["bench", *kernels, "--sizes", SIZES])
        if before is not None:
            write_recording(path, benchmark_text(merged(before, read_benchmark(path), kernels)))
    if "counters" in what:
        path = MEASUREMENTS / f"counters-{name}.json"
        old = json.loads(path.read_text(encoding="utf-8"))["launches"] if kernels and path.is_file() else []
        code |= written(path, ["verify", *kernels])
        record = json.loads(path.read_text(encoding="utf-8"))
        record["launches"] = [row for row in old if row["kernel"] not in kernels] + record["launches"]
        write_recording(path, json.dumps(record, indent=0) + "\n")
    return code


def written(path: Path, command: list[str]) -> int:
    """Runs a command that writes a file, and copies it to ``path``: commands don't overwrite files that ship with gemmviz."""
    with TemporaryDirectory() as folder:
        code = gemmviz([*command, "-o", str(Path(folder, path.name))])
        if Path(folder, path.name).is_file():
            write_recording(path, Path(folder, path.name).read_text("utf-8"))
    return code


def merged(before: Benchmark, after: Benchmark, kernels: list[str]) -> Benchmark:
    """The benchmark ``before`` with the rows of these kernels replaced by those of ``after``."""
    others = [row for row in before.rows if row.kernel not in kernels]
    return replace(after, rows=(*others, *(row for row in after.rows if row.kernel in kernels)))


def small_setup(kernel: KernelSpec) -> Setup:
    """A setup of the first small problem that the kernel can run, with its smallest block."""
    for problem in SMALL:
        setups = list(legal_choices(kernel, problem))
        if setups:
            return min(setups, key=lambda setup: launch_for(setup).threads_per_block)
    return setup_for(kernel)


def record_traces(gpu: RemoteGpu) -> None:
    """Records a small trace of every kernel, with values, and one of some blocks and phases."""
    TRACES.mkdir(exist_ok=True)
    values = Recording(values=True)
    for name in kernel_names():
        write_trace(gpu.trace(small_setup(load_kernel(name)), recording=values).whole, TRACES / f"{name}.gvt")
    some = setup_for(
        load_kernel("04_tiled"), Problem(17, 15, 22), {"TILE_WIDTH": 4}, blocks="1:3,4:5", phases="2-3",
    )  # fmt: skip
    write_trace(gpu.trace(some, recording=values).whole, TRACES / "some-blocks-and-phases.gvt")


if __name__ == "__main__":
    sys.exit(main())
