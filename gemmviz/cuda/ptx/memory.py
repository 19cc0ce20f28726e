"""Loads, stores, asynchronous copies and atomics of PTX to nodes."""

from collections.abc import Sequence

from gemmviz.cuda import nodes as n
from gemmviz.cuda.ptx.registers import PTX_TYPES, AsmInstruction, Registers, address_parts, vector_elements
from gemmviz.cuda.types import (
    BOOL,
    CHAR,
    INT,
    MATRIX_INSTRUCTIONS,
    UINT,
    ULONG,
    VOID,
    AddressSpace,
    CType,
    MatrixInstruction,
    PointerType,
    Scalar,
    VectorType,
)
from gemmviz.model.outline import SiteKind

_PTX_SPACES: dict[str, AddressSpace] = {"global": "global", "shared": "shared"}
_CACHED = {
    "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "volatile", "relaxed", "weak", "cta", "gpu", "sys", "noftz",
    "L1::no_allocate", "L1::evict_first", "L1::evict_last", "L1::evict_normal", "L1::evict_unchanged",
    "L2::64B", "L2::128B", "L2::256B", "shared::cta", "shared", "global", "async",
}  # fmt: skip
_BULK_SPACES = {"global", "shared::cta", "shared::cluster"}
_PTX_ATOMICS: dict[str, n.AtomicOp] = {
    "add": "add", "min": "min", "max": "max", "exch": "exch", "cas": "cas", "and": "and", "or": "or", "xor": "xor",
    "inc": "inc", "dec": "dec",
}  # fmt: skip
_COPY_TYPES: dict[int, CType] = {
    4: UINT, 8: VectorType(UINT, 2), 16: VectorType(UINT, 4),
}  # fmt: skip


class MemoryInstructions:
    """Translates the instructions that touch memory, for one asm statement."""

    def __init__(self, registers: Registers) -> None:
        self.registers, self.around, self.place = registers, registers.around, registers.around.place

    def translated(self, instruction: AsmInstruction) -> n.Stmt | None:
        """The node of an instruction that touches memory; None for any other."""
        match instruction.opcode, instruction.modifiers:
            case "ld", _:
                return self._load(instruction)
            case "st", _:
                return self._store(instruction)
            case (("atom" | "red"), _):
                return self._atomic(instruction)
            case "cp", ("async", "commit_group"):
                return n.Commit(self.place)
            case "cp", ("async", "wait_all"):
                return n.Block((n.Commit(self.place), self._wait(n.Const(INT, 0))))
            case "cp", ("async", "wait_group"):
                return self._wait(self._value(instruction.operands[0], INT))
            case "cp", ("async", ("ca" | "cg"), *_):
                return self._copy(instruction)
            case "cp", ("async", "mbarrier", "arrive", *_):
                return self._at_mbarrier("copies", instruction.operands[0], n.Const(INT, int(not instruction.has("noinc"))))
            case "cp", ("async", "bulk", "prefetch", "L2", *_):
                return n.Block(())
            case "cp", ("async", "bulk", "commit_group"):
                return n.Commit(self.place)
            case "cp", ("async", "bulk", "wait_group", *_):
                return self._wait(self._value(instruction.operands[0], INT))
            case "cp", ("async", "bulk", to, of, *_) if {to, of} <= _BULK_SPACES:
                return self._bulk_copy(instruction)
            case "mbarrier", (op, *_):
                return self._mbarrier(instruction, op)
            case (("ldmatrix" | "stmatrix"), ("sync", "aligned", *_)):
                return self._matrices(instruction)
            case "movmatrix", ("sync", "aligned", "m8n8", "trans", "b16"):
                target, given = instruction.operands
                access = self.around.access("matrix", None, 1, instruction="movmatrix")
                return self.registers.assign(target, n.MoveMatrix(UINT, self.place, access, self._value(given, UINT)))
            case "mma", ("sync", "aligned", shape, "row", "col", d, a, b, _):
                matrix = MATRIX_INSTRUCTIONS.get(f"mma_{shape}_{d}_{a}_{b}")
                return None if matrix is None else self._product(instruction, matrix)
        return None

    def _matrices(self, instruction: AsmInstruction) -> n.Stmt | None:
        """Ldmatrix and stmatrix of 8 x 8 matrices of 16 bits."""
        count = {"x1": 1, "x2": 2, "x4": 4}.get(instruction.one_of("x1", "x2", "x4"), 0)
        known = {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"}
        if not count or not instruction.has("m8n8") or not known.issuperset(instruction.modifiers):
            return None
        is_load, is_transposed = instruction.opcode == "ldmatrix", instruction.has("trans")
        registers, address = instruction.operands if is_load else instruction.operands[::-1]
        names = vector_elements(registers)
        if len(names) != count:
            raise self.around.error(f"{instruction.name} takes {count} registers", "write one for each matrix")
        row = n.Deref(UINT, self._pointed(address, UINT, "shared"), self.place)
        name = f"{instruction.opcode}.trans" if is_transposed else instruction.opcode
        access = self.around.access("matrix", "shared", count, instruction=name)
        if not is_load:
            values = tuple(self._value(name, UINT) for name in names)
            return n.Evaluate(n.StoreMatrix(VOID, self.place, access, row, values, is_transposed))
        ctype = UINT if count == 1 else VectorType(UINT, count)
        return self._given(names, n.LoadMatrix(ctype, self.place, access, row, count, is_transposed), UINT)

    def _product(self, instruction: AsmInstruction, matrix: MatrixInstruction) -> n.Stmt:
        targets, *given = (vector_elements(each) for each in instruction.operands)
        names = [name for each in given for name in each]
        if (*map(len, given), len(targets)) != (*matrix.registers, matrix.registers[-1]):
            of_a, of_b, of_c = matrix.registers
            message = f"{instruction.name} takes {of_a} registers of A, {of_b} of B, and {of_c} of C and D each"
            raise self.around.error(message, "write as many as it takes")
        values = tuple(self._value(name, scalar) for name, scalar in zip(names, matrix.parameters, strict=True))
        access = self.around.access("product", None, 1, instruction=matrix.name)
        return self._given(
            targets, n.MatrixProduct(matrix.result, self.place, access, matrix.name, values), matrix.result.scalar
        )

    def _given(self, names: Sequence[str], value: n.Expr, scalar: Scalar) -> n.Stmt:
        """Assigns the components of a value to registers."""
        slot = self.around.new_slot()
        whole = n.Read(value.type, slot, "", False, self.place)
        parts: list[n.Expr] = (
            [whole] if len(names) == 1 else [n.Component(scalar, whole, i, self.place) for i in range(len(names))]
        )
        assigned = (self.registers.assign(name, part) for name, part in zip(names, parts, strict=True))
        return n.Block((n.Declare(slot, value), *assigned))

    def _wait(self, pending: n.Expr) -> n.Stmt:
        return n.Wait(self.around.access("wait", None, 1), pending, self.place, False)

    def _load(self, instruction: AsmInstruction) -> n.Stmt:
        names = vector_elements(instruction.operands[0])
        scalar = self._scalar(instruction, names[0])
        deref, space = self._target(instruction, instruction.operands[1], scalar, len(names))
        access = self.around.access("load", space, len(names))
        return self._given(names, n.Deref(deref.type, deref.pointer, self.place, access), scalar)

    def _store(self, instruction: AsmInstruction) -> n.Stmt:
        names = vector_elements(instruction.operands[1])
        scalar = self._scalar(instruction, names[0])
        deref, space = self._target(instruction, instruction.operands[0], scalar, len(names))
        parts = tuple(self._value(name, scalar) for name in names)
        value = n.MakeVector(deref.type, parts) if isinstance(deref.type, VectorType) else parts[0]
        access = self.around.access("store", space, len(names))
        return n.Evaluate(n.Assign(deref.type, deref, value, None, None, access, False, self.place))

    def _atomic(self, instruction: AsmInstruction) -> n.Stmt:
        op = _PTX_ATOMICS.get(instruction.one_of(*_PTX_ATOMICS))
        known = {*_CACHED, *_PTX_ATOMICS, *PTX_TYPES, "acquire", "release", "acq_rel"}
        if op is None or not known.issuperset(instruction.modifiers):
            raise self._unknown(instruction)
        given = instruction.operands if instruction.opcode == "atom" else ("", *instruction.operands)
        scalar = next(PTX_TYPES[each] for each in instruction.modifiers if each in PTX_TYPES)
        deref, space = self._target(instruction, given[1], scalar, 1)
        args = tuple(self._value(name, scalar) for name in given[2:])
        node = n.Atomic(scalar, self.place, self.around.access("atomic", space, 1), op, deref, args)
        return self.registers.assign(given[0], node) if given[0] else n.Evaluate(node)

    def _copy(self, instruction: AsmInstruction) -> n.Stmt:
        target, source, size, *rest = instruction.operands
        count = int(size, 0) if size.isdigit() else self._constant(size)
        ctype = _COPY_TYPES.get(count)
        if ctype is None or not {*_CACHED}.issuperset(instruction.modifiers) or len(rest) > 1:
            raise self._unknown(instruction)
        assert isinstance(ctype, Scalar | VectorType)
        taken = self._value(rest[0], UINT) if rest else None
        to, of = self._pointed(target, ctype, "shared"), self._pointed(source, ctype, "global")
        access = self.around.access("copy", "shared", count // 4, is_async=True)
        return n.Evaluate(
            n.Copy(VOID, self.place, access, n.Deref(ctype, to, self.place), n.Deref(ctype, of, self.place), taken)
        )

    def _bulk_copy(self, instruction: AsmInstruction) -> n.Stmt:
        """A copy of any multiple of 16 bytes, from or to shared memory."""
        target, source, size, *rest = instruction.operands
        into: AddressSpace = "global" if instruction.modifiers[2] == "global" else "shared"
        of: AddressSpace = "shared" if into == "global" else "global"
        count = int(size, 0) if size.isdigit() else self._constant(size)
        at = None if into == "global" else self._word(rest[0])
        ctype = VectorType(UINT, count // UINT.bytes)
        to, start = (
            n.Deref(ctype, self._pointed(name, ctype, space), self.place) for name, space in ((target, into), (source, of))
        )
        access = self.around.access("copy", into, count // UINT.bytes, is_async=True)
        return n.Evaluate(n.Copy(VOID, self.place, access, to, start, None, at))

    def _mbarrier(self, instruction: AsmInstruction, op: str) -> n.Stmt | None:
        operands = instruction.operands
        at = next((number for number, each in enumerate(operands) if each.startswith("[")), 0)
        given, rest = operands[at], [self._value(each, UINT) for each in operands[at + 1 :]]
        one, none = n.Const(UINT, 1), n.Const(UINT, 0)
        match op:
            case "init":
                return self._at_mbarrier("init", given, *rest)
            case "arrive" if instruction.has("expect_tx"):
                return self._at_mbarrier("arrive", given, one, *rest)
            case "arrive":
                return self._at_mbarrier("arrive", given, *(rest or [one]), none)
            case "arrive_drop":
                return self._at_mbarrier("drop", given)
            case "expect_tx":
                return self._at_mbarrier("arrive", given, none, *rest)
            case "test_wait" | "try_wait":
                wait = self._at_mbarrier("wait", given, *(rest[:1] if instruction.has("parity") else ()))
                return n.Block((wait, self.registers.assign(operands[0], n.Const(BOOL, True))))
            case "inval":
                return n.Block(())
        return None

    def _at_mbarrier(self, op: n.MbarrierOp, address: str, *args: n.Expr) -> n.Stmt:
        kind: SiteKind = "init" if op == "init" else "wait" if op == "wait" else "arrive"
        return n.Mbarrier(self.around.access(kind, "shared", 1), self.place, op, self._word(address), args)

    def _word(self, address: str) -> n.Deref:
        return n.Deref(ULONG, self._pointed(address, ULONG, "shared"), self.place)

    def _constant(self, name: str) -> int:
        given = self.registers.given.get(name)
        value = self.registers.constants.get(name) if given is None else self.around.fixed(given)
        if value is None:
            raise self.around.error("the size of a copy must be known before the kernel runs", "pass it with the constraint n")
        return value

    def _scalar(self, instruction: AsmInstruction, name: str) -> Scalar:
        """The type of the accessed elements: for bits without a type, that of the register."""
        spelled = next((each for each in instruction.modifiers if each in PTX_TYPES), "")
        vector = {2: "v2", 4: "v4"}.get(len(vector_elements(self._vector(instruction))), "")
        known = {*_CACHED, *PTX_TYPES, *([vector] if vector else [])}
        if not spelled or not known.issuperset(instruction.modifiers):
            raise self._unknown(instruction)
        scalar = PTX_TYPES[spelled]
        register = self.registers.known.get(name)
        of_register = register.type if register is not None else scalar
        is_untyped = spelled.startswith("b") or not scalar.is_float
        if is_untyped and isinstance(of_register, Scalar) and of_register.is_float and of_register.bits == scalar.bits:
            return of_register
        return scalar

    @staticmethod
    def _vector(instruction: AsmInstruction) -> str:
        return next((each for each in instruction.operands if each.startswith("{")), "")

    def _target(self, instruction: AsmInstruction, operand: str, scalar: Scalar, width: int) -> tuple[n.Deref, AddressSpace]:
        """What an address of an instruction designates, and the memory that it is in."""
        space = _PTX_SPACES.get(instruction.one_of("global", "shared"))
        if "shared::cta" in instruction.modifiers:
            space = "shared"
        ctype = scalar if width == 1 else VectorType(scalar, width)
        pointer = self._pointed(operand, ctype, space)
        found = pointer.type.space if isinstance(pointer.type, PointerType) else None
        return n.Deref(ctype, pointer, self.place), space or found or "global"

    def _pointed(self, operand: str, ctype: CType, space: AddressSpace | None) -> n.Expr:
        """The pointer to ``ctype`` that an address operand means."""
        parts = address_parts(operand)
        if parts is None:
            raise self.around.error(f"the PTX address {operand} is not supported", "write [register] or [register + number]")
        name, distance = parts
        register = self.registers[name]
        if isinstance(register.type, PointerType):
            return self._moved(self.registers.variable(name), distance, ctype)
        address: n.Expr = self.registers.number(name)
        assert isinstance(address.type, Scalar)
        if distance:
            address = n.Binary(address.type, "+", address, n.Const(address.type, distance), self.place)
        return n.AtAddress(PointerType(ctype, space), address, self.place)

    def _moved(self, pointer: n.Read, distance: int, ctype: CType) -> n.Expr:
        """A pointer moved by some bytes, as one to another type."""
        assert isinstance(pointer.type, PointerType)
        result, moved = PointerType(ctype, pointer.type.space), pointer
        if not distance:
            return pointer if pointer.type == result else n.Reinterpret(result, pointer, self.place)
        chars = PointerType(CHAR, pointer.type.space)
        moved = n.Reinterpret(chars, pointer, self.place)  # type: ignore[assignment]
        return n.Reinterpret(result, n.Offset(chars, moved, n.Const(INT, distance), 1), self.place)

    def _value(self, name: str, scalar: Scalar) -> n.Expr:
        return self.registers.value(name, scalar)

    def _unknown(self, instruction: AsmInstruction) -> Exception:
        return unknown(self.registers, instruction)


def unknown(registers: Registers, instruction: AsmInstruction) -> Exception:
    """The error for an instruction that is not in the subset."""
    if instruction.opcode in ("mma", "wmma", "ldmatrix", "stmatrix", "wgmma", "movmatrix", "tcgen05"):
        return registers.around.error(
            f"the matrix instruction {instruction.name} is not supported yet", "use mma.sync, ldmatrix, stmatrix or movmatrix"
        )
    return registers.around.error(
        f"the PTX instruction {instruction.name} is not supported", "write it as CUDA C, or with an intrinsic function"
    )
