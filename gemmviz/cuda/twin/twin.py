"""Prints the instrumented twin of a program: a complete CUDA translation unit that computes what the kernel computes and
records every access.

The program's nodes are printed, not the user's text: templates are resolved and calls inlined, so that the twin includes
nothing of the user's. Loops are recorded too, so that the events of a thread determine its accesses and the trips in which it
made them.
"""

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.cuda.nodes import Copy
from gemmviz.cuda.program import program_for
from gemmviz.cuda.program_parts import Program, SharedArray
from gemmviz.cuda.twin.slots import c_type, headers, slot_types
from gemmviz.cuda.twin.statements import Printer, storage
from gemmviz.cuda.types import CType
from gemmviz.cuda.walk import parts
from gemmviz.model.arrays import Ints
from gemmviz.model.kernel import KernelSpec

TWIN_ENTRY = "gv_twin"
_PRELUDE = Path(__file__).with_name("twin.cuh")
_POOL = "gv_pool"


class Twin(Struct, frozen=True, dict=True):
    """The twin's text, and the program whose accesses it records."""

    text: str
    program: Program

    @cached_property
    def depth(self) -> int:
        """Number of loops around the innermost access."""
        return max((len(access.loops) for access in self.program.accesses), default=0)

    def path(self, events: npt.NDArray[np.uint32]) -> tuple[Ints, Ints, npt.NDArray[np.bool_], Ints]:
        """The accesses of a thread, from its events.

        Returns numbers of the program's accesses, (n,); the trips of the loops around them, (n, depth), padded with -1; whether
        each was recorded, (n,): barriers are reported even where they aren't recorded; and the index of the wait that
        completes each asynchronous copy, (n,), -1 for what is none or isn't completed.
        """
        rows: list[tuple[int, ...]] = []
        recorded: list[bool] = []
        visits: list[int] = []
        batch, under_way = 0, list[tuple[int, int]]()  # batch and row of each copy
        completes: dict[int, int] = {}
        is_async = [access.is_async for access in self.program.accesses]
        tests_first = [loop.tests_first for loop in self.program.loops]
        for code in events.tolist():
            match code & 7:
                case 0 | 4:
                    recorded.append(code & 7 == 0)
                    if is_async[code >> 3]:
                        under_way.append((batch, len(rows)))
                    rows.append((code >> 3, *visits))
                case 2:
                    visits[-1] += 1
                case 1:
                    visits.append(-1 if tests_first[code >> 3] else 0)
                case 3:
                    visits.pop()
                case 5:
                    batch += 1
                case 6:
                    done = [row for of, row in under_way if of < batch - (code >> 3)]
                    completes |= dict.fromkeys(done, len(rows) - 1)
                    under_way = [each for each in under_way if each[1] not in completes]
        table = np.full((len(rows), 1 + self.depth), -1, np.int32)
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        completed = np.array([completes.get(row, -1) for row in range(len(rows))], np.int32)
        return table[:, 0], table[:, 1:], np.array(recorded, bool), completed


def twin_for(spec: KernelSpec, parameters: Mapping[str, int]) -> Twin:
    """The twin of a kernel with its parameters set. Raises SourceError as reading the kernel does."""
    return printed_twin(program_for(spec, parameters), spec.file)


@lru_cache(maxsize=64)
def printed_twin(program: Program, file: str) -> Twin:
    """The twin of a program, whose entry is ``TWIN_ENTRY``. Its constant ``gv_book`` says where to record what."""
    printer = Printer(program)
    parameters = [f"{c_type(each.type)} {printer.name(each.slot)}" for each in program.parameters]
    includes = [f"#include <{each}>" for each in headers(_types(program))]
    lines = [
        f"// The instrumented twin of {file}. Derived; edit the kernel instead.",
        *includes,
        _PRELUDE.read_text(encoding="utf-8"),
        f'extern "C" __global__ void {TWIN_ENTRY}({", ".join(parameters)})',
        "{",
        "    gv_thread gv_self;",
        *(f"    {line}" for line in (*_shared(program, printer), *printer.first())),
        *printer.block(program.body),
        "}",
        "",
    ]
    return Twin("\n".join(lines), program)


@lru_cache(maxsize=64)
def copied_bytes(program: Program) -> Mapping[int, int]:
    """The number of bytes that each copy moves, by the number of its access."""
    return {each.access: each.target.type.bytes for each in parts(program.body) if isinstance(each, Copy)}


def shared_numbers(program: Program) -> list[int]:
    """The twin's number of each shared array: that of the first array of the same declaration."""
    return _firsts((each.place, each.name, each.element, each.dims) for each in program.shared)


def _firsts(keys: Iterable[Hashable]) -> list[int]:
    """For each key, the index of the first equal key."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, number) for number, key in enumerate(keys)]


def _shared(program: Program, printer: Printer) -> Iterable[str]:
    """Declarations of the shared arrays, each reported to the host."""
    if any(array.dims is None for array in program.shared):
        yield f"extern __shared__ __align__(128) unsigned char {_POOL}[];"
    for number, same in enumerate(shared_numbers(program)):
        array = program.shared[number]
        name, first = printer.name(array.slot), printer.name(program.shared[same].slot)
        if number == same:
            yield f"{_declaration(array, name)} gv_declare_shared({number}, {name});"
        else:
            yield f"auto* {name} = &{first}[0];"


def _declaration(array: SharedArray, name: str) -> str:
    element, declarator = storage(array.element, prod(array.dims or ()), name)
    return (
        f"{element}* {name} = ({element}*){_POOL};"
        if array.dims is None
        else f"__shared__ __align__(16) {element} {declarator};"
    )


def _types(program: Program) -> Iterable[CType]:
    """Types that occur in a program."""
    yield from slot_types(program).values()
    yield from (array.element for array in program.shared)
    yield from (each.type for each in parts(program.body) if hasattr(each, "type"))
