"""Recordings of hardware counters by Nsight Compute: levels of memory, files in every style, and single accesses to shared
memory.
"""

import csv
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.cli.commands.verify import AS_WRITTEN, profiled_on, verified
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel, pattern_kernel_names
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.legality import can_run, device_for, launch_for, legal_choices, setup_for
from gemmviz.files.codec import read_json
from gemmviz.files.recordings import recording_text, write_recording
from gemmviz.files.resources import write_text
from gemmviz.model.device import Gpu
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.model.recording import row_of
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Counters, LaunchCounters, RecordedCounters
from gemmviz.run.choosing import engine_for
from gemmviz.run.loader import open_kernel
from gemmviz.run.worker import tools
from gemmviz.run.worker.remote import RemoteGpu
from recording import DATA, MEASUREMENTS, ROOT, device_and_driver, measurement, printed, rows_text
from recording.launches import TENSOR, TRACES, gpu_here, schedules, tensor_speeds, traces

Row = dict[str, Any]


def _record(
    path: Path,
    gpu: Gpu,
    metrics: dict[str, str],
    wanted: Iterable[tuple[str, list[Setup]]],
    row_for: Callable[[Setup, Counters], LaunchCounters],
) -> None:
    """Count the setups that a recording doesn't have yet, and save it after each part. ``wanted``: titles and their setups."""
    record = profiled_on(gpu, read_json(path, RecordedCounters).rows if path.is_file() else (), metrics)
    for title, every in wanted:
        setups = [each for each in every if row_of(each, record.rows) is None]
        if not setups:
            continue
        try:
            counted = tools.counters_of(setups, metrics)
            rows = tuple(row_for(setup, each) for setup, each in zip(setups, counted, strict=True))
        except GemmvizError as error:
            print(f"{title}: {error}", flush=True)
            continue
        record = structs.replace(record, rows=(*record.rows, *rows))
        (write_recording if path.is_relative_to(MEASUREMENTS) else write_text)(path, recording_text(record))
        print(f"{title}: {len(setups)} launches", *map(verdict, rows), sep="\n", flush=True)


def _counted_row(setup: Setup, counters: Counters) -> LaunchCounters:
    """Counters that aren't compared with ours."""
    kernel, problem = setup.kernel, setup.problem
    return LaunchCounters(
        counters.counters, counters.duration_ns, kernel=kernel.name, source_hash=kernel.text_hash, problem=problem,
        parameters=setup.parameters,
    )  # fmt: skip


def verdict(row: LaunchCounters) -> str:
    """One line: as written, as compiled, or the counters that differ."""
    label = f"{row.kernel} {row.problem}" + (" WRONG RESULT" if row.passed is False else "")
    if not row.ours or row.as_compiled == AS_WRITTEN:
        return f"{label}: {row.as_compiled or 'counted'}"
    off = [f"{name} {ours} / {row.counters[name]}" for name, ours in row.ours.items() if ours != row.counters[name]]
    return f"{label}: {row.as_compiled or 'UNEXPLAINED'}; ours / hardware: {', '.join(off)}"


# Levels of memory

LEVEL_SIZES = (512, 1024, 2048, 4096)
OF_LESSONS = (
    "one_element", "early_return", "many_blocks", "column_first", "phases_by_ceil", "reads_c", "hip_form", "rolled", "unrolled",
    "linear_block", "cube_block",
)  # fmt: skip
LESSON_SIZES = (512, 1024)
MOST_OF_A_LESSONS = 3
MOST_AT_LARGE = 4  # setups per kernel at the largest sizes


def level_setups(name: str, size: int) -> list[Setup]:
    """Setups of a kernel at a size, one per choice of its parameters; at large sizes those with the largest blocks."""
    setups = list(legal_choices(load_kernel(name), Problem(size, size, size)))
    most = MOST_OF_A_LESSONS if name in OF_LESSONS else MOST_AT_LARGE if size > 1024 else 12
    return sorted(setups, key=lambda setup: -launch_for(setup).threads_per_block)[:most]


def levels() -> None:
    """Record launches' traffic between memory levels and their limits of occupancy. Continues an unfinished record."""
    wanted = [(name, size) for size in LEVEL_SIZES for name in (*kernel_names(), *(OF_LESSONS if size in LESSON_SIZES else ()))]
    _count_levels((f"{name} {size}", level_setups(name, size)) for name, size in wanted)


GROUPS = (1, 4, 8, 16)  # rows of blocks


def block_order() -> None:
    """Record the traffic between memory levels of one kernel whose blocks come in groups of rows, into the record of levels."""
    large = [setup_for(load_kernel("grouped_blocks"), Problem(n, n, n), {"TILE_WIDTH": 32}) for n in (4096, 8192)]
    _count_levels([("grouped_blocks", [each.changed(GROUP=n) for each in large for n in GROUPS])])


def _count_levels(wanted: Iterable[tuple[str, list[Setup]]]) -> None:
    gpu = gpu_here()
    _record(measurement("levels-GPU.json", gpu), gpu, tools.LEVELS, wanted, _counted_row)


# Files in every style

STYLES, REFERENCE = DATA / "kernels" / "styles", DATA / "h200-counters.json"
COUNTED = ROOT / "build" / "styles"
STYLE_SIZES = (
    {"M": 100, "N": 70, "K": 50},
    {"M": 97, "N": 65, "K": 64},
    {"M": 128, "N": 64, "K": 192},
    dict.fromkeys("MNK", 96),
)
MOST_OF_A_STYLE = 2  # setups of a kernel
GIVEN = {"pipeline_memcpy": GivenLaunch(args=("C", "A", "B", "K", "N"), block=("16", "16"), grid=("N / 16", "M / 16"))}
_GLOBAL, _RUN = "l1tex__t_{}_pipe_lsu_mem_global_op_", "smsp__inst_executed_op_"
_SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
_COPIES = ("ldgsts", "ldgsts_cache_access", "ldgsts_cache_bypass")
# Counters of atomics, asynchronous copies and matrix instructions: those that this machine's profiler lists are recorded too.
_TENSOR = ("op_ldsm", "pipe_tensor_op_hmma", "op_shared_ld")
MORE = (
    *(f"smsp__{kind}_executed_{name}" for kind in ("inst", "sass_inst") for name in _TENSOR),
    *(_GLOBAL.format(what) + op for what in ("requests", "sectors") for op in ("atom", "red", *_COPIES)),
    *(_RUN + op for op in ("shared_atom", "global_atom", "global_red", *_COPIES)),
    *(_SHARED + op for op in ("ld", "st", "atom", *_COPIES)),
)  # fmt: skip


def style_kernels() -> dict[str, str]:
    """The name or path of each kernel to open, by its name here."""
    return {path.stem: str(path) for path in sorted(STYLES.glob("*.cu"))} | {name: name for name in pattern_kernel_names()}


def style_setups(kernel: KernelSpec) -> list[Setup]:
    """Setups that can be counted: sizes that no tile divides first, as far as the kernel allows them."""
    own, problem = setup_for(kernel), kernel.problem
    odd = {name: 4 * size - 3 for name, size in problem.sizes.items() if name != "radius"}
    found: list[Setup] = []
    for sizes in (*(STYLE_SIZES if problem.is_multiply else (odd,)), {}):
        try:
            setup = own.changed(**sizes)
            if can_run(setup) and len(found) < MOST_OF_A_STYLE:
                engine_for("cpu").count(setup, LaunchCounter(device_for(setup).rules))
                found.append(setup)
        except GemmvizError as error:
            print(f"  {kernel.name} {sizes}: {error}", flush=True)
    return found


def metrics() -> dict[str, str]:
    """The counters to record, by name."""
    listed = printed(tools.find_profiler(), "--query-metrics")
    known = {line.split()[0] for line in listed.splitlines() if "__" in line}
    return tools.METRICS | {name: f"{name}.sum" for name in MORE if name in known}


def read_again() -> list[str]:
    """A line for each launch of the tests' reference whose counters are others than those recorded."""
    launches = json.loads(REFERENCE.read_text(encoding="utf-8"))["launches"]
    kernels = [open_kernel(str(STYLES.parent / f"{launch['kernel']}.cu")) for launch in launches]
    setups = [setup_for(kernel, Problem(**x["problem"]), x["defines"]) for kernel, x in zip(kernels, launches, strict=True)]
    lines = [f"{len(launches)} launches of the reference were counted again"]
    for launch, counters in zip(launches, tools.counters_of(setups), strict=True):
        found, before = counters.counters, launch["counters"]
        off = [f"{name} {before[name]} now {found[name]}" for name in found if name in before and found[name] != before[name]]
        lines += [f"{launch['kernel']} {launch['problem']} {launch['defines']}: {', '.join(off)}"] if off else []
    return lines


def styles(*names: str) -> None:
    """Record counters of files in every style and of other problems, one file for each kernel; kernels that have one are left
    out. Without names, the launches of the tests' reference are counted again, too.
    """
    COUNTED.mkdir(parents=True, exist_ok=True)
    with closing(RemoteGpu()) as gpu:
        for name, kernel in style_kernels().items():
            if not (COUNTED / f"{name}.json").is_file() and (not names or name in names):
                try:
                    setups = style_setups(open_kernel(kernel, GIVEN.get(Path(kernel).stem, GivenLaunch())))
                except GemmvizError as error:
                    print(f"{name}: {error}", flush=True)
                    continue
                _record(COUNTED / f"{name}.json", gpu.gpu(), metrics(), [(name, setups)], partial(verified, gpu))
    if not names:
        print("\n".join(read_again()), flush=True)


# Tensor cores

TENSOR_COUNTERS = "tensor-counters-GPU.json"
COUNTED_PROBLEMS = (Problem(128, 256, 192), Problem(1024, 1024, 1024))


def tensor_cores() -> None:
    """Record traces, schedules, speeds and counters of the kernels of the tensor cores and of those that lead to them. Results
    are saved as they come; those that are saved already are left out.
    """
    for name in TENSOR:
        if not (TRACES / f"{name}.gvt").is_file():
            traces(name)
    tensor_counters()
    schedules(*TENSOR[2:])
    tensor_speeds()


def tensor_counters() -> None:
    """Record counters at two sizes, with the smallest and with the largest tiles."""
    with closing(RemoteGpu(timeout_s=60)) as remote:
        gpu = remote.gpu()
        wanted = ((name, _counted(name)) for name in TENSOR)
        _record(measurement(TENSOR_COUNTERS, gpu), gpu, metrics(), wanted, partial(verified, remote))


def _counted(name: str) -> list[Setup]:
    setups: list[Setup] = []
    for problem in COUNTED_PROBLEMS:
        by_tile = sorted(legal_choices(load_kernel(name), problem), key=lambda each: each.parameters["TILE_WIDTH"])
        setups += [by_tile[0], by_tile[-1]]
    return setups


# Branches at which lanes of a warp part

PARTING = DATA / "kernels" / "parting"
_SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
OF_BRANCHES = tools.METRICS | {
    "instructions": "smsp__inst_executed.sum",
    "branch_instructions": "smsp__inst_executed_op_branch.sum",
    "branch_targets": "smsp__sass_branch_targets.sum",
    "divergent_targets": "smsp__sass_branch_targets_threads_divergent.sum",
    "uniform_targets": "smsp__sass_branch_targets_threads_uniform.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "thread_instructions_on": "smsp__thread_inst_executed_pred_on.sum",
    "memory_thread_instructions_on": _SASS.format("memory"),
    "control_thread_instructions_on": _SASS.format("control"),
}


def parting_setups() -> Iterator[Setup]:
    """Launches whose warps part at guards, branches, loops and returns, of kernels that ship and of the tests."""
    cases: list[tuple[str, dict[str, int], tuple[tuple[int, ...], ...]]] = [
        ("odd_even", {"BY_WARP": by_warp}, ((4, 64, 8), (6, 100, 9), (64, 128, 32))) for by_warp in (0, 1)
    ]
    cases += [("02_naive", {"BLOCK": block}, ((20, 20, 8), (33, 65, 16), (64, 64, 64))) for block in (8, 16, 32)]
    cases += [("03_coalesced", {"BLOCK": block}, ((20, 20, 8), (33, 65, 16))) for block in (8, 16, 32)]
    cases += [("early_return", {"BLOCK": block}, ((9, 9, 9), (20, 20, 20), (33, 33, 33))) for block in (4, 8, 16)]
    cases += [("04_tiled", {"TILE_WIDTH": tile}, ((20, 20, 20), (33, 65, 17))) for tile in (8, 16)]
    for name, parameters, sizes in cases:
        own = setup_for(load_kernel(name), None, parameters)
        yield from (own.changed(**dict(zip("MNK", each, strict=True))) for each in sizes)
    for name in ("reduction_tree", "strided_reduction"):
        for block in (64, 256):
            own = setup_for(load_kernel(name), None, {"BLOCK": block})
            yield from (own.changed(n=n) for n in (100, 500, 4096))
    for path in sorted(PARTING.glob("*.cu")):
        own = setup_for(open_kernel(str(path)))
        yield from (own.changed(**dict(zip("MNK", each, strict=True))) for each in ((8, 32, 8), (7, 45, 19), (64, 64, 64)))


def divergence() -> None:
    """Record the counters of launches whose warps part, one line for each launch; those that are recorded are left out."""
    gpu = gpu_here()
    path = DATA / (re.sub(r"\W+", "-", gpu.name.lower()) + "-divergence.json")
    wanted: dict[str, list[Setup]] = {}
    for setup in parting_setups():
        wanted.setdefault(setup.kernel.name, []).append(setup)
    _record(path, gpu, OF_BRANCHES, wanted.items(), _counted_row)


# Single accesses to shared memory

ACCESSES = DATA / "h200-shared-wavefronts.json"
PROFILED = "memory_l1_wavefronts_shared"
TAKEN = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
IDEAL = "memory_l1_wavefronts_shared_ideal"
WHAT = (
    "one warp, one shared-memory instruction; words = index of the first 4-byte word that lane 0..31 touches; active = mask of "
    f"active lanes; threads = of the block, 32 where it isn't said; wavefronts = {TAKEN.format(op='{ld,st}')}; "
    f"profiled = {PROFILED}; ideal = {IDEAL}"
)
SHARED_BYTES = 48 * 1024


def kernel_text(op: str, bits: int) -> str:
    """CUDA text of a kernel with one access that no compiler merges, moves or removes."""
    width = bits // 32
    names = ", ".join(f"%{i}" for i in range(width))
    kind = {32: "f32", 64: "v2.f32", 128: "v4.f32"}[bits]
    braces = names if width == 1 else f"{{{names}}}"
    if op == "ld":
        values = ", ".join(f'"=f"(v[{i}])' for i in range(width))
        access = f'asm volatile("ld.shared.{kind} {braces}, [%{width}];" : {values} : "r"(address));'
    else:
        values = ", ".join(f'"f"(v[{i}])' for i in range(width))
        access = f'asm volatile("st.shared.{kind} [%{width}], {braces};" :: {values}, "r"(address));'
    return f"""
extern "C" __global__ void {op}{bits}(const int *words, unsigned active, float *out) {{
    extern __shared__ float4 tile[];
    unsigned address = (unsigned)__cvta_generic_to_shared(tile) + 4 * words[threadIdx.x];
    float v[4] = {{1, 2, 3, 4}};
    if (active >> threadIdx.x & 1) {{
        {access}
        out[threadIdx.x] = v[0] + v[1] + v[2] + v[3];
    }}
}}
"""


def chosen_accesses() -> Iterator[Row]:
    """Wide accesses of whole and partial warps, with equal and unequal neighbouring lanes."""
    chance = random.Random(9)
    for op, bits in (("ld", 128), ("ld", 64), ("st", 128), ("st", 64)):
        wide = bits // 32
        regular = {
            f"lane % {count} × {step}": [lane % count * step for lane in range(32)]
            for count in (2, 4, 8, 16) for step in (wide, 2 * wide, 4 * wide, 32)
        } | {
            f"lane / {count} × {step}": [lane // count * step for lane in range(32)]
            for count in (2, 4, 8) for step in (wide, 2 * wide, 4 * wide, 32)
        }  # fmt: skip
        for name, words in regular.items():
            for active, threads in ((0xFFFFFFFF, 32), (0xFFFF, 32), (0xFFFF, 16), (0xFF, 8)):
                if op == "ld" or (threads == 16 and "%" in name):
                    yield {"op": op, "bits": bits, "pattern": name, "active": active, "words": words, "threads": threads}
        for number in range(60 if op == "ld" else 10):
            few = [wide * chance.randrange(16) for _ in range(chance.choice((2, 3, 4)))]
            words = [chance.choice(few) for _ in range(32)]
            active = (0xFFFF, 0xFFFF0000, 0x00FF00FF, 0xF0F0F0F0, 0x0F0F, 0xFFFFFF, 0xFFFFFFFF)[number % 7]
            yield {"op": op, "bits": bits, "pattern": f"few words #{number}", "active": active, "words": words, "threads": 32}
        for quarters in range(1, 16):
            active = sum(0xFF << 8 * quarter for quarter in range(4) if quarters >> quarter & 1)
            for name in (f"lane % 4 × {wide}", f"lane % 8 × {wide}", f"lane / 2 × {wide}") if op == "ld" else ():
                yield {"op": op, "bits": bits, "pattern": name, "active": active, "words": regular[name], "threads": 32}
        for number in range(60 if op == "ld" else 0):
            few = [wide * chance.randrange(8) for _ in range(chance.choice((2, 3)))]
            words = [chance.choice(few) for _ in range(32)]
            active = chance.getrandbits(32) & (0xFFFFFFFF, 0xFFFFFF, 0xFFFF, 0x00FFFFFF, 0xFF00FFFF)[number % 5]
            yield {"op": op, "bits": bits, "pattern": f"some lanes #{number}", "active": active, "words": words, "threads": 32}


def all_accesses() -> list[Row]:
    before: list[Row] = json.loads(ACCESSES.read_text(encoding="utf-8"))["accesses"]
    return list({key_of(access): access for access in (*chosen_accesses(), *before)}.values())


def key_of(access: Row) -> tuple[Any, ...]:
    return access["op"], access["bits"], access["active"], access.get("threads", 32), tuple(access["words"])


def launch(listed: Path) -> None:
    """Launches one kernel per access, for the profiler to count."""
    import cupy

    out, kernels = cupy.zeros(32, cupy.float32), {}
    for access in json.loads(listed.read_text(encoding="utf-8")):
        name = f"{access['op']}{access['bits']}"
        if name not in kernels:
            kernels[name] = cupy.RawKernel(kernel_text(access["op"], access["bits"]), name)
        words = cupy.asarray(access["words"], cupy.int32)
        active = cupy.uint32(access["active"])
        kernels[name]((1,), (access.get("threads", 32),), (words, active, out), shared_mem=SHARED_BYTES)
    cupy.cuda.Device().synchronize()


def wavefronts(listed_file: str = "") -> None:
    """Record the wavefronts of the chosen accesses, and again of every access recorded before. The profiler calls this with a
    file that lists them.
    """
    if listed_file:
        return launch(Path(listed_file))
    requested = all_accesses()
    with tempfile.TemporaryDirectory() as folder:
        listed, log = Path(folder) / "accesses.json", Path(folder) / "counters.csv"
        listed.write_text(json.dumps(requested), encoding="utf-8")
        metrics = ",".join([TAKEN.format(op="ld"), TAKEN.format(op="st"), PROFILED, IDEAL])
        command = [str(tools.find_profiler()), "--clock-control", "none", "--csv", "--page", "raw", "--log-file", str(log)]
        command += ["--kernel-name", r"regex:^(ld|st)\d+$", "--metrics", metrics, sys.executable]
        command += [str(ROOT / "packaging" / "record.py"), "wavefronts", str(listed)]
        subprocess.run(command, check=True)
        lines = [line for line in log.read_text(encoding="utf-8").splitlines() if line and not line.startswith("==")]
    rows = list(csv.DictReader(lines))[1:]  # without the row of units
    assert len(rows) == len(requested), f"{len(rows)} of {len(requested)} launches were profiled"
    for access, row in zip(requested, rows, strict=True):
        access["wavefronts"] = int(row[TAKEN.format(op=access["op"])].replace(",", ""))
        access["profiled"] = int(row[PROFILED].replace(",", ""))
        access["ideal"] = int(row[IDEAL].replace(",", ""))
    tool = f"{tools.profiler_version()}, clock control off, {date.today()}"
    head = {
        "what": WHAT, "device": ", driver ".join(device_and_driver()), "tool": tool,
    }  # fmt: skip
    ACCESSES.write_text(rows_text(head, "accesses", requested), encoding="utf-8")
