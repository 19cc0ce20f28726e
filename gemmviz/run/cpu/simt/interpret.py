"""Runs a Program over a space of threads, with values or by tags, and reports every access to a sink."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.launch.legality import evaluated, shapes_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.element_types import ElementType
from gemmviz.model.errors import KernelFault, SourceError
from gemmviz.model.kernel import KernelSpec, Launch, place_in
from gemmviz.model.layouts import vector
from gemmviz.model.problem_kind import Shape
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import LoopInfo, MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.words import listed
from gemmviz.run.cpu.simt.carriers import brings_nothing, carriers
from gemmviz.run.cpu.simt.expressions import Compiler
from gemmviz.run.cpu.simt.machine import Machine, step_budget
from gemmviz.run.cpu.simt.memory import GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.numbers import number_slots
from gemmviz.run.cpu.simt.statements import statement
from gemmviz.run.cpu.simt.symbolic import SymbolicCompiler, TagMemory, UnseenMatrix, UnseenShared, constant_tag
from gemmviz.run.cpu.simt.values import constant
from gemmviz.source import fold
from gemmviz.source.nodes import FunctionParameter, Loop, Program, SharedArray, Unrolled
from gemmviz.source.types import PointerType, Scalar, VectorType, scalar_of

Matrices = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Binding:
    """A setup's program with its arguments: the value of each kernel parameter, and the arrays that the trace names.

    Arrays are numbered: first the matrices, in the order of ``matrices``, then the shared arrays in declaration order.
    """

    setup: Setup
    launch: Launch
    program: Program
    matrices: tuple[tuple[str, Scalar], ...]
    arrays: tuple[MemoryArray, ...]

    @property
    def shapes(self) -> dict[str, Shape]:
        """Shapes of the matrices, by name."""
        return {array.name: array.shape for array in self.arrays[: len(self.matrices)]}

    def number(self, matrix: str) -> int:
        return [name for name, _ in self.matrices].index(matrix)

    @property
    def element_types(self) -> dict[str, ElementType]:
        """Element types of the matrices, by name."""
        return {name: scalar.element for name, scalar in self.matrices}

    def site(self, access: int, array: int) -> Site:
        """The site of an access to an array; ``array`` is -1 for a site that touches none."""
        at = self.program.accesses[access]
        operands = () if array < 0 else (Operand(array, "read" if at.kind == "load" else "write", vector(at.width)),)
        return Site(at.place, at.text, at.loops, at.kind, operands, at.calls, at.statement)

    @property
    def phase_loop(self) -> int:
        return self.program.phase_loop

    @property
    def loops(self) -> tuple[LoopInfo, ...]:
        return tuple(LoopInfo(loop.outer, loop.place, loop.holds_barrier) for loop in self.program.loops)


def bind(setup: Setup, launch: Launch, program: Program) -> Binding:
    """Binds the header's args to the kernel's parameters. Raises SourceError if they don't match."""
    spec, shapes = setup.kernel, shapes_for(setup)
    if len(spec.args) != len(program.parameters):
        raise SourceError(
            f"{program.name} takes {len(program.parameters)} arguments; the header's args has {len(spec.args)}", file=spec.file
        )
    matrices: dict[str, Scalar] = {}
    for argument, parameter in zip(spec.args, program.parameters, strict=True):
        if isinstance(parameter.type, PointerType) != (argument in shapes):
            names = listed([*setup.problem.numbers, "parameters"])
            kind = "a pointer" if isinstance(parameter.type, PointerType) else "no pointer"
            raise SourceError(
                f"the parameter {parameter.name} is {kind}; the header passes {argument}", file=spec.file,
                remedy=f"pointers take {listed(shapes, 'or')}; numbers take formulas of {names}",
            )  # fmt: skip
        if (
            isinstance(parameter.type, Scalar)
            and not parameter.type.is_float
            and not math.isfinite(number_argument(setup, argument))
        ):
            raise SourceError(
                f"the parameter {parameter.name} is {parameter.type}; the header passes {argument}",
                place_in(spec.text, argument), file=spec.file, remedy="pass a whole number",
            )  # fmt: skip
        if isinstance(parameter.type, PointerType):
            matrices[argument] = scalar_of(parameter.type.to)
    arrays = [
        MemoryArray(name, "global", shapes[name], scalar.element.name, name in spec.column_major)
        for name, scalar in matrices.items()
    ]
    arrays += [_shared_info(array, launch.shared_bytes, spec) for array in program.shared]
    return Binding(setup, launch, program, tuple(matrices.items()), tuple(arrays))


def _shared_info(array: SharedArray, shared_bytes: int, spec: KernelSpec) -> MemoryArray:
    dims = array.dims
    if dims is None:
        if shared_bytes <= 0:
            raise SourceError(f"extern __shared__ {array.name} needs shared_bytes in the header", array.place, file=spec.file)
        dims = (shared_bytes // array.element.bytes,)
    if isinstance(array.element, VectorType):
        dims = (*dims, array.element.count)
    return MemoryArray(array.name, "shared", dims, scalar_of(array.element).element.name)


def interpret(
    binding: Binding,
    space: ThreadSpace,
    sink: AccessSink,
    matrices: Matrices | None,
    *,
    wants_values: bool = False,
    budget: int | None = None,
    cancelled: Callable[[], bool] = is_cancelled,
) -> dict[str, GlobalMemory]:
    """Runs the program over ``space``, without ``matrices`` by tags, and returns the matrices after the run.

    Raises KernelFault, which names the file, Cancelled, or NeedsValues if tags don't suffice.
    """
    symbolic = matrices is None
    sums_only = symbolic and sink.wants == "sums"
    compiler = (SymbolicCompiler if symbolic else Compiler)(space, statement)
    if symbolic:
        compiler.numbers = number_slots(binding.program)
        compiler.may_repeat = _may_repeat(binding.program, sink)
    run = statement(compiler, binding.program.body)
    budget = step_budget(binding.setup.problem.depth) if budget is None else budget
    machine = Machine(
        space, binding.program.slots, sink, binding.site, budget=budget, cancelled=cancelled, wants_values=wants_values
    )
    memories = {name: _matrix(binding, name, scalar, matrices, sums_only) for name, scalar in binding.matrices}
    for argument, parameter in zip(binding.setup.kernel.args, binding.program.parameters, strict=True):
        machine.slots[parameter.slot] = _argument(
            binding.setup, argument, parameter, memories, symbolic and parameter.slot not in compiler.numbers
        )
    _allocate_shared(binding, machine, UnseenShared if sums_only else SharedMemory, symbolic)
    sink.started(machine)
    try:
        with np.errstate(all="ignore"):
            run(machine)
    except KernelFault as fault:
        _note_last_access(binding, machine, fault)
        fault.place = fault.place or machine.place
        fault.in_file(binding.setup.kernel.file)
        raise
    finally:
        sink.ended()
    return memories


def _allocate_shared(binding: Binding, machine: Machine, kind: type[SharedMemory], symbolic: bool) -> None:
    """Creates the shared arrays of the program in their slots."""
    first = len(binding.matrices)
    threads, blocks = len(machine.space.thread_shape), len(machine.space.block_shape)
    for number, array in enumerate(binding.program.shared, first):
        memory = kind(binding.arrays[number], number, scalar_of(array.element), blocks, threads, symbolic)
        machine.slots[array.slot] = memory, 0


def _may_repeat(program: Program, sink: AccessSink) -> Callable[[Loop | Unrolled], bool]:
    match sink.wants:
        case "sums":
            return lambda node: True
        case "origins":
            reaching = carriers(program)
            return lambda node: brings_nothing(node, reaching)
    return lambda node: False


def _note_last_access(binding: Binding, machine: Machine, fault: KernelFault) -> None:
    """Reports to the sink the access that ended the run, for the lanes whose elements were valid."""
    if fault.unmade is None or fault.array < 0:
        return
    offset, bad = (np.asarray(each) for each in fault.unmade)
    access = next((n for n, each in enumerate(binding.program.accesses) if each.place == fault.place), None)
    if access is not None and fault.place is not None:
        machine.mask = ~bad if machine.mask is None else machine.mask & ~bad
        machine.touch(access, fault.array, np.where(bad, 0, offset), fault.place)


def _matrix(binding: Binding, name: str, scalar: Scalar, matrices: Matrices | None, sums_only: bool) -> GlobalMemory:
    if matrices is None:
        return (UnseenMatrix if sums_only else TagMemory)(
            name, binding.number(name), scalar, binding.arrays[binding.number(name)].size
        )
    return GlobalMemory(name, binding.number(name), scalar, matrices[name])


def _argument(
    setup: Setup,
    argument: str,
    parameter: FunctionParameter,
    memories: Mapping[str, GlobalMemory],
    by_tag: bool,
) -> Any:
    if isinstance(parameter.type, PointerType):
        return memories[argument], 0
    assert isinstance(parameter.type, Scalar)
    value = number_argument(setup, argument)
    if parameter.type.is_float:
        with np.errstate(over="ignore"):
            return constant_tag(value) if by_tag else constant(float(value), parameter.type)
    return fold.wrap(int(value), parameter.type)


def number_argument(setup: Setup, argument: str) -> float:
    """The value of a header's arg that is a number, a factor of the problem, or a formula."""
    try:
        return float(argument)
    except ValueError:
        factors = setup.problem.factors
        return factors[argument] if argument in factors else evaluated(setup.kernel, argument, setup.sizes_and_parameters)
