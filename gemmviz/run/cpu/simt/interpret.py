"""Runs a Program over a space of threads, with values or by tags, and reports every access to a sink."""

import math
from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from gemmviz.cuda.granularity import declared_scalar, recorded_scalar, scalars_in, types_of_memories
from gemmviz.cuda.launch.launch_form import judged_fault
from gemmviz.cuda.launch.legality import evaluated_formula, shapes_for
from gemmviz.cuda.nodes import FunctionParameter, Program, SharedArray, Touch
from gemmviz.cuda.types import PointerType, Scalar, VectorType, scalar_of, size_bytes
from gemmviz.cuda.walk import diverging, touches_of
from gemmviz.model.arrays import AnyArray, vector
from gemmviz.model.element_types import ElementType
from gemmviz.model.kernel import NULL_POINTER, KernelSpec, Launch, place_in
from gemmviz.model.messages import KernelFault, SourceError, listed
from gemmviz.model.problem_kind import Shape
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import LoopInfo, MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt.accesses import AddressMap
from gemmviz.run.cpu.simt.compiler import Compiler
from gemmviz.run.cpu.simt.instructions import Barriers
from gemmviz.run.cpu.simt.local import Domain
from gemmviz.run.cpu.simt.machine import Machine, Tracks, step_budget
from gemmviz.run.cpu.simt.memory import NULL, GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.sums import RepeatedTags
from gemmviz.run.cpu.simt.tags import Tags

Matrices = Mapping[str, AnyArray]


class Binding(Struct, frozen=True):
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
        """Shapes of the matrices in their own elements, by name. The record may count smaller pieces than elements."""
        shapes: dict[str, Shape] = {}
        for (name, scalar), array in zip(self.matrices, self.arrays, strict=False):
            pieces, shape = scalar.bytes // array.itemsize, array.shape
            inner = 0 if array.column_major else len(shape) - 1  # the contiguous dimension
            shapes[name] = tuple(extent // pieces if at == inner else extent for at, extent in enumerate(shape))
        return shapes

    def number(self, matrix: str) -> int:
        return [name for name, _ in self.matrices].index(matrix)

    @property
    def element_types(self) -> dict[str, ElementType]:
        """Element types of the matrices, by name."""
        return {name: scalar.element for name, scalar in self.matrices}

    def site(self, access: int, *arrays: int) -> Site:
        """The site of an access to these arrays: one for each operand, or -1 for a site that touches none."""
        at = self.program.accesses[access]
        operands = () if arrays == (-1,) else tuple(map(self._operand, touches_of(self.program)[access], arrays))
        return Site(
            at.place, at.text, at.loops, at.kind, operands, at.calls, at.statement, at.is_async, at.visible_to, at.instruction,
            at.arms,
        )  # fmt: skip

    def _operand(self, touch: Touch, array: int) -> Operand:
        """An operand of an access to an array: its scalars as elements of the record."""
        info, element = self.arrays[array], scalar_of(touch.at.type).element.name
        other = element if touch.is_typed and element != info.element_type else ""
        return Operand(array, touch.how, vector(touch.at.type.bytes // info.itemsize), other)

    @property
    def phase_loop(self) -> int:
        return self.program.phase_loop

    @property
    def loops(self) -> tuple[LoopInfo, ...]:
        return tuple(LoopInfo(loop.outer, loop.place, loop.holds_barrier) for loop in self.program.loops)


def bind(setup: Setup, launch: Launch, program: Program) -> Binding:
    """Binds the header's args to the kernel's parameters. Raises SourceError if they don't match."""
    spec, shapes = setup.kernel, shapes_for(setup)
    variables = [each.name for each in program.parameters[len(spec.args) :] if each.name not in spec.parameter_names]
    if variables and len(spec.parameter_names) == len(spec.args):
        message = f"{program.name} uses {listed(variables)} of the GPU's memory, with values that only the host code knows"
        raise SourceError(message, file=spec.file, remedy="pass such values as parameters of the kernel", id="unsupported")
    if len(spec.args) != len(program.parameters):
        raise SourceError(
            f"{program.name} takes {len(program.parameters)} arguments; the launch passes {len(spec.args)}", file=spec.file
        )
    matrices: dict[str, Scalar] = {}
    used: dict[str, set[Scalar]] = {}
    for argument, parameter in zip(spec.args, program.parameters, strict=True):
        if argument == NULL_POINTER and isinstance(parameter.type, PointerType):
            continue
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
            matrices[argument] = _pointed_to(parameter, spec)
            used.setdefault(argument, set()).update(types_of_memories(program)[parameter.slot])
    arrays = [
        _matrix_info(name, shapes[name], scalar, frozenset(used[name]), name in spec.column_major)
        for name, scalar in matrices.items()
    ]
    arrays += [_shared_info(array, launch.shared_bytes, spec, program) for array in own_memories(program)]
    return Binding(setup, launch, program, tuple(matrices.items()), tuple(arrays))


def _pointed_to(parameter: FunctionParameter, spec: KernelSpec) -> Scalar:
    """The scalar that a parameter points to; of a struct, that of all its members."""
    assert isinstance(parameter.type, PointerType)
    scalars = set(scalars_in(parameter.type.to))
    if len(scalars) != 1:
        message = f"the parameter {parameter.name} points to {parameter.type.to}, which holds no numbers of one type"
        raise SourceError(message, file=spec.file, id="unsupported")
    return scalars.pop()


def own_memories(program: Program) -> tuple[SharedArray, ...]:
    """The shared arrays of a program that have memory of their own: all names of ``extern __shared__`` share the first's."""
    first = next((array for array in program.shared if array.dims is None), None)
    return tuple(array for array in program.shared if array.dims is not None or array is first)


def _matrix_info(name: str, shape: Shape, declared: Scalar, used: frozenset[Scalar], column_major: bool) -> MemoryArray:
    """The array of a matrix; one that is accessed by narrower types has more elements along its contiguous dimension."""
    scalar = recorded_scalar(declared, used, may_widen=False)
    ratio = declared.bytes // scalar.bytes
    shape = (*shape[:-2], shape[-2] * ratio, shape[-1]) if column_major else (*shape[:-1], shape[-1] * ratio)
    return MemoryArray(name, "global", shape, scalar.element.name, column_major)


def _shared_info(array: SharedArray, shared_bytes: int, spec: KernelSpec, program: Program) -> MemoryArray:
    """The array of a shared array, in elements of the narrowest type by which it is accessed."""
    dims, each = array.dims, size_bytes(array.element)
    if dims is None:
        if shared_bytes <= 0:
            raise SourceError(f"extern __shared__ {array.name} needs shared_bytes in the header", array.place, file=spec.file)
        dims = (shared_bytes // each,)
    same = [other.slot for other in program.shared if other is array or (array.dims is None and other.dims is None)]
    used = frozenset(scalar for slot in same for scalar in types_of_memories(program)[slot])
    if isinstance(array.element, VectorType):
        dims, each = (*dims, array.element.count), array.element.scalar.bytes
    row = dims[-1] * each
    scalar = recorded_scalar(declared_scalar(array.element), used, may_widen=True)
    if scalar.bytes > each and row % scalar.bytes:
        scalar = scalar_of(array.element)
    return MemoryArray(array.name, "shared", _in_units(dims, each, scalar.bytes), scalar.element.name)


def _in_units(dims: tuple[int, ...], each: int, unit: int) -> tuple[int, ...]:
    """Extents of an array of elements of ``each`` bytes, in units."""
    if each == unit:
        return dims
    if each > unit and len(dims) == 1:
        return (*dims, each // unit)
    return (*dims[:-1], dims[-1] * each // unit)


def interpret(
    binding: Binding,
    space: ThreadSpace,
    sink: AccessSink,
    matrices: Matrices | None,
    *,
    wants_values: bool = False,
    budget: int | None = None,
) -> dict[str, GlobalMemory]:
    """Runs the program over ``space``, without ``matrices`` by tags, and returns the matrices after the run.

    Raises KernelFault, which names the file, Cancelled, or NeedsValues if tags don't suffice.
    """
    if matrices is not None:
        domain = Domain(matrices)
    else:
        domain = Tags(binding.program) if sink.wants == "all" else RepeatedTags(binding.program, sink.wants)
    run = Compiler(space, domain, diverging(binding.program)).statement(binding.program.body)
    budget = step_budget(binding.setup.problem.depth) if budget is None else budget
    machine = Machine(space, binding.program.slots, sink, binding.site, budget=budget, wants_values=wants_values)
    memories = {name: domain.matrix(name, binding.arrays[number], number) for number, (name, _) in enumerate(binding.matrices)}
    for argument, parameter in zip(binding.setup.kernel.args, binding.program.parameters, strict=True):
        if isinstance(parameter.type, Scalar):
            with np.errstate(over="ignore"):
                value = domain.argument(number_argument(binding.setup, argument), parameter.type, parameter.slot)
        else:
            value = NULL if argument == NULL_POINTER else memories[argument], 0
        machine.slots[parameter.slot] = value
    shared = _allocate_shared(binding, machine, domain)
    machine.addresses, machine.barriers, machine.tracks = AddressMap(memories.values(), shared), Barriers(machine), Tracks()
    sink.started(machine)
    try:
        with np.errstate(all="ignore"):
            run(machine)
    except KernelFault as fault:
        _note_last_access(binding, machine, fault)
        fault.place = fault.place or machine.place
        fault.in_file(binding.setup.kernel.file)
        raise judged_fault(fault, binding.setup) from None
    finally:
        sink.ended()
    return memories


def _allocate_shared(binding: Binding, machine: Machine, domain: Domain) -> list[SharedMemory]:
    """Creates the shared arrays of the program in their slots."""
    pool: SharedMemory | None = None
    memories: dict[int, SharedMemory] = {}
    for number, array in enumerate(own_memories(binding.program), len(binding.matrices)):
        memory = memories[array.slot] = domain.shared(binding.arrays, number, machine.space)
        pool = memory if array.dims is None else pool
    for array in binding.program.shared:
        machine.slots[array.slot] = memories.get(array.slot, pool), 0
    return list(memories.values())


def _note_last_access(binding: Binding, machine: Machine, fault: KernelFault) -> None:
    """Reports to the sink the access that ended the run, for the lanes whose elements were valid."""
    if fault.unmade is None or fault.array < 0:
        return
    offset, bad = (np.asarray(each) for each in fault.unmade)
    access = next((n for n, each in enumerate(binding.program.accesses) if each.place == fault.place), None)
    if access is not None and fault.place is not None and len(touches_of(binding.program).get(access, ())) == 1:
        machine.mask = ~bad if machine.mask is None else machine.mask & ~bad
        machine.touch(access, fault.array, np.where(bad, 0, offset), fault.place)


def number_argument(setup: Setup, argument: str) -> float:
    """The value of a header's arg that is a number, a factor of the problem, or a formula."""
    try:
        return float(argument)
    except ValueError:
        factors = setup.problem.factors
        return (
            factors[argument] if argument in factors else evaluated_formula(setup.kernel, argument, setup.sizes_and_parameters)
        )
