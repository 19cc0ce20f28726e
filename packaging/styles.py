"""Records hardware counters of files in every style and of other problems, on a machine with a GPU: make styles.

    python packaging/styles.py FOLDER [KERNEL ...]

One JSON file per kernel is written into the folder as it comes; kernels that have one are left out. Without names of kernels
the launches of tests/data/h200-counters.json are counted again too. Needs CuPy and Nsight Compute.
"""

import json
import subprocess
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

from gemmviz.analysis.memory.banks import profiled_wavefronts
from gemmviz.analysis.memory.counts import totals
from gemmviz.cli.commands.verify import AS_WRITTEN, _as_compiled
from gemmviz.files.codec import to_plain
from gemmviz.launch.catalog import pattern_kernel_names
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.legality import can_run, setup_for
from gemmviz.loading.loader import open_kernel
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.choosing import engine_for
from gemmviz.run.worker import profiler
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.subjects.counting import launch_counts

STYLES = Path(__file__).resolve().parent.parent / "tests" / "data" / "kernels" / "styles"
REFERENCE = STYLES.parent.parent / "h200-counters.json"
SIZES = ({"M": 100, "N": 70, "K": 50}, {"M": 97, "N": 65, "K": 64}, {"M": 128, "N": 64, "K": 192}, dict.fromkeys("MNK", 96))
MOST = 2  # setups of a kernel
GIVEN = {"pipeline_memcpy": GivenLaunch(args=("C", "A", "B", "K", "N"), block=("16", "16"), grid=("N / 16", "M / 16"))}
_GLOBAL, _RUN = "l1tex__t_{}_pipe_lsu_mem_global_op_", "smsp__inst_executed_op_"
_SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
_COPIES = ("ldgsts", "ldgsts_cache_access", "ldgsts_cache_bypass")
# Counters of atomics and of asynchronous copies: those that this machine's profiler lists are recorded too.
MORE = (
    *(_GLOBAL.format(what) + op for what in ("requests", "sectors") for op in ("atom", "red", *_COPIES)),
    *(_RUN + op for op in ("shared_atom", "global_atom", "global_red", *_COPIES)),
    *(_SHARED + op for op in ("ld", "st", "atom", *_COPIES)),
)  # fmt: skip
Row = dict[str, Any]


def kernels() -> dict[str, str]:
    """The name or path of each kernel to open, by its name here."""
    return {path.stem: str(path) for path in sorted(STYLES.glob("*.cu"))} | {name: name for name in pattern_kernel_names()}


def setups_of(kernel: KernelSpec) -> list[tuple[Setup, dict[str, int]]]:
    """Setups with their counts: sizes that no tile divides first, as far as the kernel allows them."""
    own, problem = setup_for(kernel), kernel.problem
    odd = {name: 4 * size - 3 for name, size in problem.sizes.items() if name != "radius"}
    found: list[tuple[Setup, dict[str, int]]] = []
    for sizes in (*(SIZES if problem.is_multiply else (odd,)), {}):
        try:
            setup = own.changed(**sizes)
            if can_run(setup) and len(found) < MOST:
                counts = launch_counts(setup, engine_for("cpu"), passes=profiled_wavefronts)
                found.append((setup, totals(counts)))
        except GemmvizError as error:
            print(f"  {kernel.name} {sizes}: {error}", flush=True)
    return found


def metrics() -> dict[str, str]:
    """The counters to record, by name."""
    command = [str(profiler.find_profiler()), "--query-metrics"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout
    known = {line.split()[0] for line in listed.splitlines() if "__" in line}
    return profiler.METRICS | {name: f"{name}.sum" for name in MORE if name in known}


def rows_of(gpu: RemoteGpu, name: str, wanted: dict[str, str]) -> list[Row]:
    setups = setups_of(open_kernel(name, GIVEN.get(Path(name).stem, GivenLaunch())))
    rows = []
    for (setup, every), hardware in zip(setups, profiler.counters_of([each for each, _ in setups], wanted), strict=True):
        ours = {name: value for name, value in every.items() if name in profiler.METRICS}
        check = gpu.time_kernel(setup).check
        rows.append({
            "kernel": setup.kernel.name, "sha256": setup.kernel.text_hash, "problem": to_plain(setup.problem),
            "parameters": dict(setup.parameters), "passed": check is not None and check.passed, "ours": ours,
            "atomics": {name: value for name, value in every.items() if "atomic" in name}, **to_plain(hardware),
            "as_compiled": _as_compiled(setup, ours, hardware.counters),
        })  # fmt: skip
    return rows


def verdict(row: Row) -> str:
    """One line: as written, as compiled, or the counters that differ."""
    label = f"{row['kernel']} {row['problem']}"
    if not row["passed"]:
        label += " WRONG RESULT"
    if row["as_compiled"] == AS_WRITTEN:
        return f"{label}: as written"
    counters = row["counters"]
    off = [f"{name} {ours} / {counters[name]}" for name, ours in row["ours"].items() if ours != counters[name]]
    return f"{label}: {row['as_compiled'] or 'UNEXPLAINED'}; ours / hardware: {', '.join(off)}"


def read_again() -> list[str]:
    """A line for each launch of the tests' reference whose counters are others than those recorded."""
    launches = json.loads(REFERENCE.read_text(encoding="utf-8"))["launches"]
    kernels = [open_kernel(str(STYLES.parent / f"{launch['kernel']}.cu")) for launch in launches]
    setups = [setup_for(kernel, Problem(**x["problem"]), x["defines"]) for kernel, x in zip(kernels, launches, strict=True)]
    lines = [f"{len(launches)} launches of the reference were counted again"]
    for launch, counters in zip(launches, profiler.counters_of(setups), strict=True):
        found, before = counters.counters, launch["counters"]
        off = [f"{name} {before[name]} now {found[name]}" for name in found if name in before and found[name] != before[name]]
        lines += [f"{launch['kernel']} {launch['problem']} {launch['defines']}: {', '.join(off)}"] if off else []
    return lines


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [name for name in kernels() if name in (sys.argv[2:] or kernels())]
    wanted = metrics()
    with closing(RemoteGpu()) as gpu:
        about = gpu.gpu()
        tool = f"{profiler.profiler_version(profiler.find_profiler())}, clock control none, caches warm"
        head = {"device": about.name, "driver": about.driver, "compiler": about.compiler, "tool": tool, "metrics": wanted}
        for name in chosen:
            path = folder / f"{name}.json"
            if path.is_file():
                continue
            try:
                rows = rows_of(gpu, kernels()[name], wanted)
            except GemmvizError as error:
                print(f"{name}: {error}", flush=True)
                continue
            record = head | {"date": str(date.today()), "launches": rows}
            path.write_text(json.dumps(record, indent=0) + "\n", encoding="utf-8")
            print("\n".join(map(verdict, rows)), flush=True)
    if not sys.argv[2:]:
        print("\n".join(read_again()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
