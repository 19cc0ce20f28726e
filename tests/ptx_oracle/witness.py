"""What a kernel does by NVIDIA's reader, beside a trace: the accesses of every thread in its own order, and C."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.cuda.program import macros_of
from gemmviz.cuda.twin.units import real_source
from gemmviz.cuda.types import PointerType, Scalar
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.simt.interpret import number_argument
from gemmviz.run.cuda.toolkit import without_includes
from gemmviz.run.data import matrices
from tests.conftest import sure
from tests.nvrtc import NvrtcError, cuda_include, nvrtc
from tests.ptx_oracle.machine import Machine
from tests.ptx_oracle.memory import Array, array_of
from tests.ptx_oracle.module import program

_ALWAYS = (
    "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;\n"
)
_INTEGERS = "".join(
    f"typedef signed {name} int{size}_t; typedef unsigned {name} uint{size}_t;\n"
    for name, size in (("char", 8), ("short", 16), ("int", 32), ("long long", 64))
)
_HEADERS = {"always.h": _ALWAYS + _INTEGERS} | dict.fromkeys(("cuda_runtime.h", "stdio.h", "math.h", "stdint.h", "cstdint"), "")
_OPTIONS = ("--gpu-architecture=sm_80", "--std=c++17", "-G", "--pre-include=always.h")
_COLUMNS = ("line", "writes", "array", "element")


@dataclass(frozen=True)
class Witness:
    """The accesses of each thread, (n, 4) of line, whether it writes, array (-1 shared) and byte, one row for each element of
    the access; and the matrices afterwards.
    """

    accesses: list[Array]
    matrices: dict[str, Array]


def compiled(setup: Setup) -> tuple[str, str]:
    """PTX of the real kernel as written, and the name of its entry."""
    spec = setup.kernel
    source = real_source(spec, bound(setup).program, macros_of(spec, setup.definitions))
    given = [str(setup.definitions.get(each, each)) for each in spec.template_arguments]
    entry = f"{spec.function}<{', '.join(given)}>" if given else spec.function
    include = [f"-I{cuda_include()}"] if cuda_include() else []
    headers = _HEADERS | dict(source.headers)
    text = source.text
    while True:
        try:
            ptx, names = sure(nvrtc()).compiled(text, [*_OPTIONS, *include], headers=headers, names=[entry])
            return ptx.decode(), names[entry]
        except NvrtcError as error:
            missing = re.search(r'cannot open source file "([^"]+)"', str(error))
            if missing is None:
                raise
            text = without_includes(text, [missing[1]])


def witness(setup: Setup) -> Witness:
    """The run of a whole launch."""
    binding = bound(setup)
    data = matrices(setup.problem, binding.shapes, binding.element_types, setup.filling)
    launch = binding.launch
    machine = Machine(program(*compiled(setup), setup.kernel.file), launch.grid, launch.block, launch.shared_bytes)
    first = len(machine.memory.arrays)
    address = {name: machine.memory.add(data[name]) for name, _ in binding.matrices}
    arguments: list[Any] = []
    for argument, parameter in zip(setup.kernel.args, binding.program.parameters, strict=True):
        if isinstance(parameter.type, PointerType):
            arguments.append(np.int64(address[argument]))
        else:
            assert isinstance(parameter.type, Scalar)
            number = number_argument(setup, argument)
            arguments.append(parameter.type.dtype.type(number if parameter.type.is_float else int(number)))
    machine.run(arguments)
    after = {name: machine.memory.arrays[first + n].view(data[name].dtype) for n, (name, _) in enumerate(binding.matrices)}
    return Witness(_by_thread(machine, first), after)


def _by_thread(machine: Machine, first: int) -> list[Array]:
    """The accesses of each thread. Arrays before the ``first`` are the compiler's constants."""
    table = (
        np.stack([touch.address for touch in machine.touches]) if machine.touches else np.zeros((0, machine.count), np.int64)
    )
    line = np.array([touch.line for touch in machine.touches])
    writes = np.array([touch.writes for touch in machine.touches])
    size = np.array([touch.bytes for touch in machine.touches])
    threads = []
    for thread in range(machine.count):
        here = np.flatnonzero(table[:, thread] >= 0)
        number, offset = array_of(table[here, thread])
        here, number, offset = (each[(number < 0) | (number >= first)] for each in (here, number, offset))
        rows = np.stack([line[here], writes[here], np.where(number >= 0, number - first, -1), offset], axis=1)
        threads.append(_ordered(_in_words(rows, size[here])))
    return threads


def traced_accesses(trace: Trace) -> list[Array]:
    """The same of a trace. The offset in shared memory counts from the access's own array, which has its number in place of -1."""
    touches = [touch for touch in trace.touches if touch.operand]
    rows_of: dict[int, Any] = {int(row): touch for touch in touches for row in touch.rows}
    order = sorted(rows_of)
    infos = [rows_of[row] for row in order]
    arrays = trace.arrays
    line = np.array([trace.sites[each.site].place.line for each in infos])
    writes = np.array([each.operand.access == "write" for each in infos])
    number = np.array([each.operand.array for each in infos])
    itemsize = np.array([arrays[each.operand.array].itemsize for each in infos])
    size = itemsize * np.array([each.operand.width for each in infos])
    table = trace.element[order]
    threads = []
    for thread in range(table.shape[1]):
        here = np.flatnonzero(table[:, thread] >= 0)
        rows = np.stack([line[here], writes[here], number[here], table[here, thread] * itemsize[here]], axis=1)
        threads.append(_ordered(_in_words(rows, size[here])))
    return threads


def _in_words(rows: Array, size: Array) -> Array:
    """One row for every four bytes of an access."""
    count = np.maximum(1, size // 4)
    first = np.repeat(np.cumsum(count) - count, count)
    more = np.repeat(rows, count, axis=0)
    more[:, 3] += 4 * (np.arange(len(more)) - first)
    return more


def _ordered(rows: Array) -> Array:
    """Rows with the stores of one line to one array in ascending order where they follow each other: without optimisation, a
    vector may be stored in parts, the last one first.
    """
    changes = np.ones(len(rows), bool)
    changes[1:] = (rows[1:, :3] != rows[:-1, :3]).any(axis=1) | (rows[1:, 1] == 0)
    return rows[np.lexsort((rows[:, 3], np.cumsum(changes)))]


def same_accesses(trace: Trace, seen: Witness) -> None:
    """Asserts that every thread makes the same accesses in the same order. Shared arrays lie at one distance for all accesses."""
    shared: dict[int, int] = {}
    for thread, (ours, theirs) in enumerate(zip(traced_accesses(trace), seen.accesses, strict=True)):
        assert ours.shape == theirs.shape, f"thread {thread}: {len(ours)} accesses, not {len(theirs)}"
        is_shared = np.array([trace.arrays[number].space == "shared" for number in ours[:, 2]], bool)
        for number in set(ours[is_shared, 2].tolist()):
            here = ours[:, 2] == number
            distance = theirs[here, 3] - ours[here, 3]
            shared.setdefault(number, int(distance[0]))
            assert (distance == shared[number]).all(), f"thread {thread} reaches another element of {trace.arrays[number].name}"
        want = np.where(is_shared[:, None], [0, 0, -1, 0], ours)
        got = np.where(is_shared[:, None], theirs * [0, 0, 1, 0], theirs)
        for column, name in enumerate(_COLUMNS[:2]):
            known = theirs[:, 0] != 0
            np.testing.assert_array_equal(ours[known, column], theirs[known, column], err_msg=f"{name} of thread {thread}")
        np.testing.assert_array_equal(got[:, 2:], want[:, 2:], err_msg=f"elements of thread {thread}")
