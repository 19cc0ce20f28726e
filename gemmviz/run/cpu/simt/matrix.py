"""Compiles what whole warps do with matrices: products, transposition, loads and stores of 8 rows of 16 bytes each.

A product computes D = A . B + C for all warps at once, bit for bit as an H100 does.

Floats: all products of an element and its element of C are added at once. Products are exact. Every term is cut off, towards
zero, at 25 bits below the largest exponent among the terms, where the exponent of a product is the sum of its factors'. The sum
of what is left is exact, and is cut off to a float32, where zero has no sign, or rounded to the nearest float16. Found by
fitting recorded results of an H100: of 1,459,200 in float32 and 486,400 in float16, among them denormals and what isn't finite,
all are equal (``tests/data/h100-matrix-products.npz`` holds some of them).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.cuda.nodes import LoadMatrix, MatrixProduct, MoveMatrix, StoreMatrix
from gemmviz.cuda.types import MATRIX_INSTRUCTIONS, UINT, USHORT, MatrixInstruction, VectorType
from gemmviz.model.arrays import BITS, COLUMNS, LANES, ROWS, AnyArray, Floats, Longs, MatrixName, fragment_of
from gemmviz.model.messages import Place, tr
from gemmviz.run.cpu.simt.accesses import over_memories
from gemmviz.run.cpu.simt.local import Compiling
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import access_type, elements_of_bytes
from gemmviz.run.cpu.simt.values import outer_of, over_threads, over_warps

_LaneRegisters = list[AnyArray]  # each (blocks, warps, lanes)
_KEPT_BITS = 25  # below the largest exponent
_FLOAT_BITS, _LEAST_BIT = 23, -149  # of a float32: those of its fraction; the exponent of its smallest number
_LEAST_EXPONENT = {"f16": -14, "bf16": -126, "tf32": -126, "f32": -126}
_ZERO = -100_000  # the exponent of zero
_NO_HALF, _NO_FLOAT = 0x7FFF, 0x7FFFFFFF  # the bits of what is no number


def multiply_matrices(compiler: Compiling, node: MatrixProduct) -> Closure:
    """The registers of D."""
    access, place, domain = node.access, node.place, compiler.domain
    instruction = MATRIX_INSTRUCTIONS[node.instruction]
    values = [domain.operand(compiler, value) for value in node.values]

    def run(machine: Machine) -> list[Any]:
        given = [value(machine) for value in values]
        check_whole_warps(machine, place)
        machine.touch(access, -1, 0, place)
        return domain.multiplied(lambda: _multiplied(machine, instruction, given), instruction.registers[-1])

    return run


def _multiplied(machine: Machine, instruction: MatrixInstruction, given: list[Any]) -> _LaneRegisters:
    space = machine.space
    of_a, of_b, _ = instruction.registers
    arrays = [np.asarray(each, scalar.dtype) for each, scalar in zip(given, instruction.parameters, strict=True)]
    outer = outer_of(space, machine.mask, *arrays)
    held = [np.ascontiguousarray(over_warps(each, outer, space)) for each in arrays]
    found = product(instruction, held[:of_a], held[of_a : of_a + of_b], held[of_a + of_b :])
    return [over_threads(each, outer, space) for each in found]


def check_whole_warps(machine: Machine, place: Place) -> None:
    """Raises KernelFault unless all lanes of each warp take part, or none."""
    space = machine.space
    if space.threads_per_block % LANES:
        remedy = tr("use a multiple of 32 threads in a block")
        raise machine.fault(tr("a matrix instruction needs whole warps"), place, remedy=remedy)
    if machine.mask is not None:
        outer = outer_of(space, machine.mask)
        active = over_warps(machine.mask, outer, space)
        torn = active.any(axis=-1, keepdims=True) & ~active
        if torn.any():
            message = tr("a matrix instruction is not reached by all lanes of the warp")
            raise machine.fault(message, place, over_threads(torn, outer, space), id="divergent-barrier")


def product(instruction: MatrixInstruction, a: _LaneRegisters, b: _LaneRegisters, c: _LaneRegisters) -> _LaneRegisters:
    """The registers of D, from those of A, B and C."""
    left, right = _held_matrix("a", instruction.a, instruction, a), _held_matrix("b", instruction.b, instruction, b)
    added = _held_matrix("c", instruction.d, instruction, c)
    if instruction.d == "s32":
        result = (left.astype(np.int64) @ right.astype(np.int64) + added.astype(np.int64)).astype(np.int32)
    else:
        result = _accumulated(instruction, left, right, added)
    found = fragment_of("c", instruction.k, 32)
    elements = result[..., found.row, found.column]
    if instruction.d == "f16":
        packed = np.ascontiguousarray(elements).view(np.uint32)
        return [packed[..., each] for each in range(packed.shape[-1])]
    return [elements[..., each] for each in range(elements.shape[-1])]


def _held_matrix(use: MatrixName, kind: str, instruction: MatrixInstruction, registers: _LaneRegisters) -> AnyArray:
    """The matrix that the lanes of each warp hold: (blocks, warps, rows, columns), floats as float64."""
    held = np.ascontiguousarray(np.stack(registers, axis=-1))
    found = fragment_of(use, instruction.k, BITS[kind])
    shape = {"a": (ROWS, instruction.k), "b": (instruction.k, COLUMNS), "c": (ROWS, COLUMNS)}[use]
    elements = _ELEMENTS[kind](held)
    matrix = np.empty((*held.shape[:2], *shape), elements.dtype)
    matrix[..., found.row, found.column] = elements
    return matrix


_ELEMENTS: dict[str, Callable[[AnyArray], AnyArray]] = {
    "f16": lambda held: held.view(np.float16).astype(np.float64),
    "bf16": lambda held: (held.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64),
    "tf32": lambda held: (held & ~np.uint32((1 << 13) - 1)).view(np.float32).astype(np.float64),
    "f32": lambda held: held.astype(np.float64),
    "s8": lambda held: held.view(np.int8),
    "u8": lambda held: held.view(np.uint8),
    "s32": lambda held: held,
}


def _accumulated(instruction: MatrixInstruction, a: Floats, b: Floats, c: Floats) -> AnyArray:
    turned = np.swapaxes(b, -1, -2)[..., None, :, :]
    terms = a[..., :, None, :] * turned
    of_factors = _exponent(a, instruction.a)[..., :, None, :] + _exponent(turned, instruction.b)
    largest = np.maximum(of_factors.max(axis=-1), _exponent(c, instruction.d))
    kept = np.maximum(largest - _KEPT_BITS, -1000)
    exact = _cut_off(terms, kept[..., None]).sum(axis=-1) + _cut_off(c, kept)
    plain = terms.sum(axis=-1) + c
    total = np.where(np.isfinite(plain), exact, plain)  # what isn't finite follows IEEE's rules
    if instruction.d == "f16":
        return np.where(np.isnan(total), np.uint16(_NO_HALF).view(np.float16), total.astype(np.float16))
    floats = _cut_off(total, np.maximum(_exponent(total, "f32") - _FLOAT_BITS, _LEAST_BIT)).astype(np.float32) + np.float32(0)
    return np.where(np.isnan(total), np.uint32(_NO_FLOAT).view(np.float32), floats)


def _exponent(values: Floats, kind: str) -> Longs:
    """The exponents of floats: those of their type's smallest normal number for smaller ones."""
    found = np.frexp(np.where(np.isfinite(values), values, 0.0))[1].astype(np.int64) - 1
    return np.asarray(np.where(values == 0, _ZERO, np.maximum(found, _LEAST_EXPONENT[kind])))


def _cut_off(values: Floats, bit: Longs) -> Floats:
    """Values cut off, towards zero, to multiples of two to the power of ``bit``."""
    return np.ldexp(np.trunc(np.ldexp(values, -bit)), bit)


def transpose_matrix(compiler: Compiling, node: MoveMatrix) -> Closure:
    """The register of a transposed matrix of 8 x 8 elements."""
    access, place, domain = node.access, node.place, compiler.domain
    value = domain.operand(compiler, node.value)

    def transposed(machine: Machine, given: Any) -> _LaneRegisters:
        space = machine.space
        outer = outer_of(space, machine.mask, given)
        held = np.ascontiguousarray(over_warps(np.asarray(given, np.uint32), outer, space))
        elements = held.view(np.uint16).reshape(*held.shape[:2], 8, 8).swapaxes(-1, -2)
        return [over_threads(np.ascontiguousarray(elements).reshape(*held.shape[:2], -1).view(np.uint32), outer, space)]

    def run(machine: Machine) -> Any:
        given = value(machine)
        check_whole_warps(machine, place)
        machine.touch(access, -1, 0, place)
        return domain.multiplied(lambda: transposed(machine, given), 1)[0]

    return run


# Matrices of 8 rows of 16 bytes, which the lanes of a warp load and store together.

_ROW_REGISTERS, _LANE = 4, np.arange(LANES)


class _MatrixRows:
    """The rows of matrices to which the lanes of whole warps point: ``at`` (blocks, warps, lanes), in registers of 32 bits."""

    def __init__(self, machine: Machine, place: Place, offset: Any) -> None:
        self.space = machine.space
        check_whole_warps(machine, place)
        given = np.asarray(offset)
        self.outer = outer_of(self.space, machine.mask, given)
        self.at = over_warps(given, self.outer, self.space)
        if (self.at % _ROW_REGISTERS).any():
            bad = over_threads(self.at % _ROW_REGISTERS != 0, self.outer, self.space)
            message = tr("the address of a row of a matrix is not a multiple of 16 bytes")
            raise machine.fault(message, place, bad, id="misaligned-access")

    def registers(self, matrix: int) -> Any:
        """The offset of each lane's own register of a matrix."""
        return over_threads(self.at[..., 8 * matrix + _LANE // 4] + _LANE % 4, self.outer, self.space)

    def halves(self, matrix: int) -> list[Any]:
        """The offsets of each lane's two elements of a transposed matrix, in elements of 16 bits."""
        rows = (8 * matrix + _LANE % 4 * 2 + each for each in range(2))
        return [over_threads(2 * self.at[..., row] + _LANE // 4, self.outer, self.space) for row in rows]


def load_matrices(compiler: Compiling, node: LoadMatrix) -> Closure:
    address, place, access, domain = compiler.address(node.row.pointer), node.place, node.access, compiler.domain
    register, half = access_type(UINT), access_type(USHORT)

    def one(machine: Machine, memory: Any, offset: Any) -> list[Any]:
        rows, found = _MatrixRows(machine, place, offset), []
        for matrix in range(node.count):
            own = memory.checked(machine, rows.registers(matrix), register, place)
            machine.step(access, (memory.number,) * node.count, matrix, memory.recorded(own, register), machine.mask, place)
            if node.is_transposed:
                found.append(domain.packed([memory.load(machine, each, half, place) for each in rows.halves(matrix)]))
            else:
                found.append(memory.load(machine, own, register, place))
            if machine.wants_values:
                machine.sink.value(_first_element(machine, memory, own, place))
        return found

    def run(machine: Machine) -> Any:
        found = over_memories(machine, *address(machine), None, one)
        return found if isinstance(node.type, VectorType) else found[0]

    return run


def _first_element(machine: Machine, memory: Any, register: Any, place: Place) -> Any:
    """The first of the elements that lie where a register does."""
    kind = elements_of_bytes(memory.info.element_type, UINT.bytes)
    return memory.load(machine, register * (UINT.bytes // kind.bytes), kind, place)


def store_matrices(compiler: Compiling, node: StoreMatrix) -> Closure:
    address, place, access, domain = compiler.address(node.row.pointer), node.place, node.access, compiler.domain
    values = [domain.given(compiler, node.row, value) for value in node.values]
    register, half = access_type(UINT), access_type(USHORT)

    def one(machine: Machine, memory: Any, offset: Any) -> None:
        rows = _MatrixRows(machine, place, offset)
        for matrix, value in enumerate(values):
            given = value(machine)
            own = memory.checked(machine, rows.registers(matrix), register, place)
            machine.step(access, (memory.number,) * len(values), matrix, memory.recorded(own, register), machine.mask, place)
            halves = domain.halves(given) if node.is_transposed else []
            if not machine.wants_values:
                domain.announce(machine, memory, [domain.packed(halves) if halves else given], register)
            for at, part in zip(rows.halves(matrix), halves, strict=False):
                memory.store(machine, at, part, half, place)
            if not halves:
                memory.store(machine, own, given, register, place)
            if machine.wants_values:
                machine.sink.value(_first_element(machine, memory, own, place))

    return lambda machine: over_memories(machine, *address(machine), None, one)
