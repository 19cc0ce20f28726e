"""Runs instrumented twins on the CPU, one thread after the other, as a compiler of the host understands them.

Barriers do nothing there, so this serves kernels whose flow and addresses don't depend on what shared memory holds.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz.cuda.launch.legality import evaluated_formula
from gemmviz.cuda.twin.units import TWIN_ENTRY, shared_numbers, twin_for
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.model.trace import Trace
from gemmviz.run.align import NOTHING, Alignment, PathBook, Region, alignment, check_hashes, outside, without_agreement
from gemmviz.run.cpu.executor import bound
from gemmviz.run.data import matrices

GXX = shutil.which("g++")
SHIM = Path(__file__).with_name("twin_on_host.h")
BOOK = np.dtype(
    [
        *((name, "u8") for name in ("words", "values", "events", "reporter", "used", "reported", "path", "shared_at", "arena")),
        ("arena_bytes", "u8"),
        *((name, "u4") for name in ("capacity", "event_capacity", "threads", "shift")),
        ("first", "u4", 3), ("grid", "u4", 3), ("phase_start", "i4"), ("phase_stop", "i4"),
    ],
    align=True,
)  # fmt: skip


class HostTwins:
    """A library with the twins of several kernels."""

    def __init__(self, setups: list[Setup], folder: Path, *flags: str) -> None:
        self.setups = setups
        text = f'#include "{SHIM}"\nstruct any_pointer {{ void* at; template <class T> operator T*() {{ return (T*)at; }} }};\n'
        for number, setup in enumerate(setups):
            twin = (
                twin_for(setup.kernel, setup.definitions)
                .text.replace('extern "C" {', "inline namespace c {")
                .replace('extern "C"', "")
            )
            binding = bound(setup)
            types = {name: "int" if scalar.dtype.kind == "i" else "float" for name, scalar in binding.matrices}
            values = [_argument(setup, each, types) for each in setup.kernel.args]
            text += f"namespace n{number} {{\n{twin}\n}}\n"
            text += (
                f'extern "C" void run{number}(n{number}::gv_record_book* book, unsigned int* launch, void* A, void* B, void* C)'
                f" {{ n{number}::gv_book = *book; gv_arena_start = (char*)book->arena; gv_arena_size = book->arena_bytes; gridDim = {{launch[0], launch[1], launch[2]}};"
                f" blockDim = {{launch[3], launch[4], launch[5]}}; RUN(n{number}::{TWIN_ENTRY}({', '.join(values)})) }}\n"
            )
            for macro in ("GV_VECTOR", "GV_SHARED", "GV_OUTSIDE"):
                text += f"#undef {macro}\n"
        (folder / "twins.cpp").write_text(text)
        command = [str(GXX), "-std=c++17", "-O0", "-fwrapv", "-w", "-shared", "-fPIC", *flags, "-o", str(folder / "twins.so")]
        subprocess.run([*command, str(folder / "twins.cpp")], check=True)
        self.library = ctypes.CDLL(str(folder / "twins.so"))

    def run(
        self, number: int, blocks: BlockRange | None = None, phases: tuple[int, int] = (0, 0)
    ) -> tuple[Alignment, Any, Any]:
        """The steps of one kernel, their elements (steps, threads), and C."""
        setup = self.setups[number]
        binding = bound(setup)
        launch, twin = binding.launch, twin_for(setup.kernel, setup.definitions)
        blocks = blocks or BlockRange.all(launch)
        space = ThreadSpace(launch, blocks)
        data = matrices(setup.problem, binding.shapes, binding.element_types, setup.filling)
        arena = np.zeros(sum(array.nbytes for array in data.values()) + 4096, np.uint8)
        start = -arena.ctypes.data % 256
        at, placed, regions = start, {}, {}
        for index, (name, scalar) in enumerate(binding.matrices):
            placed[name] = arena[at : at + data[name].nbytes].view(scalar.dtype)
            placed[name][:] = data[name]
            regions[index] = Region((at - start) // 4, scalar.dtype.itemsize // 4)
            at += -(-data[name].nbytes // 256) * 256 + 256
        capacity, threads = 4096, space.thread_count
        words, values = np.zeros((capacity, threads), np.uint32), np.zeros((capacity, threads), np.float32)
        used, reported, path = np.zeros(threads, np.uint32), np.zeros(threads, np.uint32), np.zeros(threads, np.uint64)
        reporter, shared_at = np.full(threads, -1, np.int32), np.zeros(16, np.uint32)
        book, events = PathBook(twin), np.zeros((1, 1), np.uint32)
        for _ in range(2):
            facts = np.zeros((), BOOK)
            for name, array in (("words", words), ("values", values), ("events", events), ("reporter", reporter), ("used", used),
                                ("reported", reported), ("path", path), ("shared_at", shared_at)):  # fmt: skip
                facts[name] = array.ctypes.data
            facts["arena"], facts["arena_bytes"] = arena.ctypes.data + start, at - start
            facts["capacity"], facts["event_capacity"], facts["threads"], facts["shift"] = capacity, events.shape[1], threads, 2
            facts["first"], facts["grid"] = [start for start, _ in blocks.ranges], launch.grid
            facts["phase_start"], facts["phase_stop"] = phases
            grid = (ctypes.c_uint * 6)(*blocks.extents, *launch.block)
            pointers = [placed[name].ctypes.data_as(ctypes.c_void_p) for name in "ABC"]
            getattr(self.library, f"run{number}")(ctypes.c_void_p(facts.ctypes.data), grid, *pointers)
            hashes, first, inverse = np.unique(path, return_index=True, return_inverse=True)
            check_hashes(used, path, first, inverse)
            for thread in np.flatnonzero(reporter >= 0):
                book.learn(int(path[thread]), events[reporter[thread], : reported[thread]])
            reporter[:] = -1
            reporter[first] = np.arange(len(first))
            events = np.zeros((len(first), 16384), np.uint32)
        for index, same in enumerate(shared_numbers(binding.program)):
            regions[len(binding.matrices) + index] = Region(
                int(shared_at[same]), binding.arrays[len(binding.matrices) + index].itemsize
            )
        paths = [book.paths[int(each)] for each in hashes]
        lined_up = alignment(
            binding, paths, inverse.ravel(), lambda threads, slots: words[np.ix_(slots, threads)].min(axis=1), regions, space
        )
        element = _elements(binding, space, lined_up, words)
        lined_up, rows = without_agreement(lined_up, space, element)
        return lined_up, element[rows], placed["C"]


def _elements(binding: Any, space: ThreadSpace, lined_up: Alignment, words: Any) -> Any:
    """As the GPU's own kernel does it."""
    element = np.full((lined_up.rows, space.thread_count), -1, np.int32)
    for slots in lined_up.slots:
        some = words[: len(slots.row), slots.threads]
        found = (some - slots.base[:, None]) // slots.unit[:, None]
        found = np.where(some == NOTHING, np.uint32(NOTHING), found)
        bad = np.argwhere((found > slots.last[:, None]) & (some != NOTHING))
        if len(bad):
            slot, thread = bad[0]
            raise outside(binding, space, slots, int(slot), int(slots.threads[thread]), int(some[slot, thread]))
        element[slots.row[:, None], slots.threads[None, :]] = found.view(np.int32)
    return element


def _argument(setup: Setup, argument: str, types: dict[str, str]) -> str:
    if argument in types:
        return f"any_pointer{{{argument}}}"
    if argument == "nullptr":
        return argument
    try:
        return str(float(argument))
    except ValueError:
        return str(evaluated_formula(setup.kernel, argument, setup.sizes_and_parameters))


def assert_same(run: tuple[Alignment, Any, Any], trace: Trace) -> None:
    """Compares the steps of a twin with the interpreter's."""
    steps, element, _ = run
    assert steps.sites == trace.sites
    for name in ("site", "visits", "epoch", "completes"):
        np.testing.assert_array_equal(getattr(steps, name), getattr(trace, name), err_msg=name)
    np.testing.assert_array_equal(element, trace.element)
