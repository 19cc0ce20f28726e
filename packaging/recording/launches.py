"""Recordings of launches on a machine with a GPU: traces, speeds, counters, schedules and registers of the included kernels.

Speeds, counters, schedules and registers are written to assets/measurements, small traces for the tests to tests/data/device.
Needs CuPy; counters need Nsight Compute, and registers nvcc.
"""

import itertools
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path

from msgspec import structs

from gemmviz.cli.main import main as gemmviz
from gemmviz.cuda.launch.catalog import kernel_names, lesson_names, load_kernel, pattern_kernel_names
from gemmviz.cuda.launch.legality import launch_for, legal_choices, parse_sizes, setup_for, square_problems
from gemmviz.cuda.program import program_for
from gemmviz.cuda.walk import diverging
from gemmviz.files.codec import read_json, to_plain
from gemmviz.files.devices import device_of
from gemmviz.files.recordings import (
    CompiledKernel,
    benchmark_text,
    parameter_key,
    read_benchmark,
    read_schedules,
    recording_text,
    seal,
    text_of_rows,
    write_recording,
    write_schedules,
)
from gemmviz.files.trace_file import write_trace
from gemmviz.model.device import Gpu
from gemmviz.model.kernel import KernelSpec, text_hash
from gemmviz.model.messages import GemmvizError, SourceError
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Benchmark, GridCase, MachineCode, RecordedCounters, RecordedLaunch, RecordedSchedules
from gemmviz.run.benchmarking import Case, cases_for, run_benchmark
from gemmviz.run.cuda.toolkit import machine_code
from gemmviz.run.engine import Recording
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.run.worker.tools import METHODS
from gemmviz.scenes.catalog import view_named
from gemmviz.teaching.lesson_file import shipped_lesson
from recording import DATA, MEASUREMENTS, measurement, nvcc_version, printed

TRACES = DATA / "device"
DEVICE = "h200"
TENSOR = kernel_names()[kernel_names().index("08_register_tiled") :]  # what leads to tensor cores
SMALL = (Problem(9, 7, 5), Problem(8, 8, 8), Problem(8, 16, 8), Problem(16, 8, 8), Problem(32, 32, 32))
SPEED_SIZES, TENSOR_SIZES, LESSON_SIZES = "128:8192", "512:4096", "768,1536,3072"
PATTERN_SIDES = (32, 128, 512, 1024, 2048, 4096)
OF_DIVERGENCE = ("odd_even", "early_return", "reduction_tree", "strided_reduction")
OF_LESSONS = ("many_blocks", "rolled", "unrolled")
SCHEDULE_SIZES, LARGE = (256, 512, 1024, 2048), 4096
MOST_BLOCKS, LARGE_BLOCKS = 4096, 16_384
ARCHITECTURES = ("8.0", "8.6", "8.9", "9.0")


def gpu_here() -> Gpu:
    """The GPU of this machine."""
    with closing(RemoteGpu()) as remote:
        return remote.gpu()


def kernels(*names: str) -> int:
    """Record traces, speeds and counters."""
    traces(*names)
    return speeds(*names) | counters(*names)


# Traces


def traces(*names: str) -> None:
    """Record a small trace of every kernel, or of those named, with values, and one of some blocks and phases."""
    TRACES.mkdir(exist_ok=True)
    some = setup_for(load_kernel("04_tiled"), Problem(17, 15, 22), {"TILE_WIDTH": 4}, blocks="1:3,4:5", phases="2-3")
    with closing(RemoteGpu()) as gpu:
        for name in names or kernel_names():
            _trace(gpu, small_setup(load_kernel(name)), name)
        if not names:
            _trace(gpu, some, "some-blocks-and-phases")


def small_setup(kernel: KernelSpec) -> Setup:
    """A setup of the first small problem that the kernel can run, with its smallest block."""
    for problem in SMALL:
        setups = list(legal_choices(kernel, problem))
        if setups:
            return min(setups, key=lambda setup: launch_for(setup).threads_per_block)
    return setup_for(kernel)


def _trace(gpu: RemoteGpu, setup: Setup, name: str) -> None:
    write_trace(gpu.trace(setup, recording=Recording(values=True)).whole, TRACES / f"{name}.gvt")


# Speeds and counters


def speeds(*names: str) -> int:
    """Record speeds of all kernels, or replace those of the named ones."""
    path = measurement("benchmark-GPU.json", gpu_here())
    before = read_benchmark(path) if names and path.is_file() else None
    code = _written(path, "bench", *names, "--sizes", SPEED_SIZES)
    if before is not None:
        after = read_benchmark(path)
        others = [row for row in before.rows if row.kernel not in names]
        merged = structs.replace(after, rows=(*others, *(row for row in after.rows if row.kernel in names)))
        write_recording(path, benchmark_text(merged))
    return code


def tensor_speeds() -> None:
    """Record speeds of the kernels of the tensor cores and of those that lead to them. Continues an unfinished record."""
    with closing(RemoteGpu(timeout_s=60)) as remote:
        path = measurement("tensor-speeds-GPU.json", remote.gpu())
        rows = read_benchmark(path).rows if path.is_file() else ()
        done = {(row.kernel, row.problem, parameter_key(row.parameters)) for row in rows}
        device = device_of(remote.gpu()) or DEVICE
        cases = cases_for([load_kernel(name) for name in TENSOR], square_problems(parse_sizes(TENSOR_SIZES)), device)
        left = [each for each in cases if each.name not in METHODS and _key_of_case(each) not in done]
        left.sort(key=lambda case: case.series)  # each is compiled once

        def save(benchmark: Benchmark, number: int) -> None:
            write_recording(path, benchmark_text(structs.replace(benchmark, rows=(*rows, *benchmark.rows))))
            print(f"{number} of {len(left)}: {benchmark.rows[-1].label}, {benchmark.rows[-1].problem}", flush=True)

        run_benchmark(remote, left, device, on_row=save)


def _key_of_case(case: Case) -> tuple[str, Problem, str]:
    return case.name, case.problem, parameter_key({} if case.setup is None else case.setup.parameters)


def lesson_speeds() -> int:
    """Record speeds of the lessons' kernels."""
    path = measurement("lesson-speeds-GPU.json", gpu_here())
    return _written(path, "bench", *OF_LESSONS, "--sizes", LESSON_SIZES)


def counters(*names: str) -> int:
    """Record hardware counters of all kernels, or replace those of the named ones."""
    path = measurement("counters-GPU.json", gpu_here())
    old = read_json(path, RecordedCounters).rows if names and path.is_file() else ()
    code = _written(path, "verify", *names)
    record = read_json(path, RecordedCounters)
    rows = (*(row for row in old if row.kernel not in names), *record.rows)
    write_recording(path, recording_text(structs.replace(record, rows=rows)))
    return code


def _written(path: Path, *command: str) -> int:
    """Run a command that writes a file, and copy it to ``path``: commands don't overwrite files that ship with gemmviz."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, path.name)
        code = gemmviz([*command, "-o", str(made)])
        if made.is_file():
            write_recording(path, made.read_text("utf-8"))
    return code


def patterns() -> int:
    """Record traces, speeds and counters of the kernels of other problems than the multiplication of matrices."""
    specs = [load_kernel(name) for name in pattern_kernel_names()]
    problems = [(spec, spec.problem.at_side(side)) for side in PATTERN_SIDES for spec in specs]  # smaller ones first
    setups = [setup for spec, problem in problems for setup in legal_choices(spec, problem, device=DEVICE)]
    with closing(RemoteGpu()) as remote:
        gpu = remote.gpu()
        for spec in specs:
            _trace(remote, setup_for(spec), spec.name)

        def save(benchmark: Benchmark, done: int) -> None:
            write_recording(measurement("pattern-speeds-GPU.json", gpu), benchmark_text(benchmark))
            print(f"{date.today()} {done}: {benchmark.rows[-1].label}, {benchmark.rows[-1].problem}", flush=True)

        run_benchmark(remote, [Case(each.kernel.name, each.problem, each) for each in setups], DEVICE, on_row=save)
    return _written(measurement("counters-GPU-patterns.json", gpu), "verify", *pattern_kernel_names())


# Schedules


def schedules(*names: str) -> None:
    """Record where and when each block of some launches ran, or add those of the named kernels."""
    with closing(RemoteGpu(timeout_s=60)) as remote:
        gpu = remote.gpu()
        path = measurement("schedules-GPU.npz", gpu)
        before = read_schedules(path) if names and path.is_file() else RecordedSchedules(gpu, str(date.today()), ())
        _add_schedules(remote, before, scheduled_launches(names or kernel_names()))


def lesson_schedules() -> None:
    """Add the schedules of all launches on this GPU that a lesson shows block by block and that aren't recorded yet."""
    with closing(RemoteGpu(timeout_s=60)) as remote:
        recorded = read_schedules(measurement("schedules-GPU.npz", remote.gpu()))
        shots = [stop.shot for name in lesson_names() for stop in shipped_lesson(name).steps]
        shown = [shot.setup for shot in shots if view_named(shot.view).subject is GridCase and shot.setup.device == DEVICE]
        _add_schedules(remote, recorded, shown)


def scheduled_launches(names: Iterable[str]) -> Iterator[Setup]:
    """Setups of kernels at their own sizes, and with their largest blocks at other sizes."""
    for kernel in map(load_kernel, names):
        yield setup_for(kernel)
        for size in (*SCHEDULE_SIZES, LARGE):
            most, number = (LARGE_BLOCKS, 1) if size == LARGE else (MOST_BLOCKS, 2)
            choices = legal_choices(kernel, Problem(size, size, size))
            fitting = [each for each in choices if launch_for(each).block_count <= most]
            yield from sorted(fitting, key=lambda each: launch_for(each).block_count)[:number]


def _add_schedules(remote: RemoteGpu, recorded: RecordedSchedules, setups: Iterable[Setup]) -> None:
    """Add the schedules of setups that aren't recorded yet. The file is written after each."""
    path = measurement("schedules-GPU.npz", recorded.gpu)
    for setup in setups:
        if recorded.find(setup) is not None:
            continue
        kernel, parameters = setup.kernel, dict(setup.parameters)
        try:
            schedule = remote.schedule(setup)
        except GemmvizError as error:
            print(f"{kernel.name} {setup.problem}: {error}")
            continue
        row = RecordedLaunch(kernel.name, kernel.text_hash, setup.problem, schedule.tick_ns, parameters)
        recorded = structs.replace(recorded, rows=(*recorded.rows, row), schedules=(*recorded.schedules, schedule))
        write_schedules(recorded, path)
        seal(path)
        about = f"{schedule.blocks} blocks, {schedule.duration_ns} ns"
        print(f"{kernel.name} {setup.problem} {parameters}: {about}", flush=True)


# Registers


def registers(*names: str) -> None:
    """Record the registers that nvcc allocates for each choice of parameters of all kernels, and where branches are jumps, or
    replace the rows of the named kernels.
    """
    path = MEASUREMENTS / "registers.json"
    specs = [load_kernel(name) for name in names or (*kernel_names(), *OF_DIVERGENCE)]
    before = json.loads(path.read_text(encoding="utf-8"))["rows"] if names else []
    others = [row for row in before if row["source_hash"] not in {text_hash(spec.text) for spec in specs}]
    head = {
        "what": "registers of one thread, as ptxas -v reports them, by compute capability; jumps, exits: lines of branches "
        "where lanes may part that became conditional jumps, or only exits, as nvdisasm lists them",
        "compiler": f"nvcc {nvcc_version()}",
        "date": str(date.today()),
    }
    rows = [to_plain(row, brief=True) for spec in specs for row in _compiled_choices(spec)]
    write_recording(path, text_of_rows(head, [*others, *rows]))


def _compiled_choices(spec: KernelSpec) -> list[CompiledKernel]:
    """What is compiled for each choice of parameters for which there is a kernel."""
    names = [parameter.name for parameter in spec.parameters]
    values = [parameter.choices or (parameter.default,) for parameter in spec.parameters]
    combinations = [dict(zip(names, each, strict=True)) for each in itertools.product(*values)]
    with ThreadPoolExecutor() as pool:
        compiled = list(pool.map(lambda job: _compiled(spec, *job), itertools.product(combinations, ARCHITECTURES)))
    rows = []
    for number, parameters in enumerate(combinations):
        here = dict(zip(ARCHITECTURES, compiled[number * len(ARCHITECTURES) :], strict=False))
        found = {architecture: each for architecture, each in here.items() if each is not None}
        registers = {architecture: count for architecture, (count, _) in found.items()}
        jumps = {architecture: code.jumps for architecture, (_, code) in found.items() if code.jumps}
        exits = {architecture: code.exits for architecture, (_, code) in found.items() if code.exits}
        rows += [CompiledKernel(text_hash(spec.text), parameters, registers, jumps, exits)] if found else []
    assert rows, f"{spec.name} does not compile"
    return rows


def _compiled(spec: KernelSpec, parameters: dict[str, int], architecture: str) -> tuple[int, MachineCode] | None:
    """Registers of a thread, and what became of branches where lanes may part; None if these parameters make no kernel."""
    macros = [f"-D{name}={value}" for name, value in parameters.items()]
    options = ["-cubin", f"-arch=sm_{architecture.replace('.', '')}", "--std=c++17", "-lineinfo", "-Xptxas", "-v"]
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "kernel.cu", Path(folder) / "kernel.cubin"
        source.write_text(spec.text, encoding="utf-8")
        output = printed("nvcc", *options, *macros, "-o", made, source)
        used = re.search(r"Used (\d+) registers", output)
        if used is None:
            return None
        if not made.is_file():  # a block takes more shared memory than this architecture has
            return int(used[1]), MachineCode(architecture)
        code = machine_code(made.read_bytes(), source.name, architecture)
    assert code is not None, "nvdisasm is missing: pip install nvidia-cuda-nvdisasm"
    return int(used[1]), code.on_lines(_parting_lines(setup_for(spec, None, parameters)))


def _parting_lines(setup: Setup) -> set[int]:
    """The lines of the conditions at which lanes of a warp may part; none for parameters that the kernel can't run with."""
    try:
        program = program_for(setup.kernel, setup.definitions)
    except SourceError:
        return set()
    places = [program.accesses[number].place for number in diverging(program)]
    return {line for place in places for line in range(place.line, place.end_line + 1)}
