"""An asm statement to nodes: its operands become variables, each of its instructions a statement."""

from collections.abc import Iterator, Sequence

from gemmviz.model.errors import SourceError
from gemmviz.source.nodes import (
    Address,
    AtAddress,
    Barrier,
    Binary,
    Block,
    Const,
    Convert,
    Expr,
    Fence,
    If,
    Stmt,
    Unary,
)
from gemmviz.source.ptx.arithmetic import compare_values, computed, is_arithmetic, operand_types, result_type, types_of
from gemmviz.source.ptx.instructions import Instruction, RegisterNames, instructions, vector_elements
from gemmviz.source.ptx.memory import MemoryInstructions, unknown
from gemmviz.source.ptx.registers import CONSTRAINTS, PTX_TYPES, USHORT, AsmOperand, Registers, Surroundings
from gemmviz.source.types import BOOL, UINT, ULONG, PointerType, Scalar

_BARRIERS = {"bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync", "barrier.sync.aligned", "barrier.cta.sync.aligned"}
_WARP_BARRIERS = {"bar.warp.sync"}
_NO_EFFECT = {"prefetch", "prefetchu", "applypriority", "discard", "createpolicy", "pragma", "nanosleep", "griddepcontrol"}


def asm_block(template: str, operands: Sequence[AsmOperand], around: Surroundings) -> Block:
    """The statements of an asm statement. ``template``: its text, with escapes resolved; ``operands``: first those written,
    then those read. Raises SourceError for an instruction that is not in the subset.
    """
    return Block(tuple(_Asm(around).statements(template, operands)))


class _Asm:
    """The translation of one asm statement."""

    def __init__(self, around: Surroundings) -> None:
        self.around, self.place = around, around.place
        self.registers = Registers(around)
        self.memory = MemoryInstructions(self.registers)

    def statements(self, template: str, operands: Sequence[AsmOperand]) -> Iterator[Stmt]:
        for number, operand in enumerate(operands):
            yield from self._bound(f"%{number}", operand)
        for each in instructions(template.replace("%%", "%")):
            if isinstance(each, RegisterNames):
                yield from self._declared(each)
            else:
                yield self._guarded(each)
        for number, operand in enumerate(operands):
            if operand.assign is not None:
                yield operand.assign(self.registers.variable(f"%{number}"))

    def _bound(self, name: str, operand: AsmOperand) -> Iterator[Stmt]:
        kind, value = operand.constraint.strip("=+&"), operand.value
        if kind == "n" and isinstance(value, Const):
            self.registers.constants[name] = int(value.value)
            return
        if kind not in CONSTRAINTS:
            raise self.around.error(f"the asm constraint {operand.constraint!r} is not supported", "use h, r, l, f, d or n")
        ctype: Scalar | PointerType = CONSTRAINTS[kind]
        if value is None:
            yield self.registers.declare(name, ctype)
            return
        if isinstance(value.type, PointerType) and operand.assign is None:
            yield self.registers.declare(name, value.type, value)
            return
        if isinstance(value.type, PointerType):
            value = Address(ULONG, value, "generic")
        yield self.registers.declare(name, ctype, self.registers.converted(value, ctype))  # type: ignore[arg-type]

    def _declared(self, names: RegisterNames) -> Iterator[Stmt]:
        if names.type not in PTX_TYPES:
            raise self.around.error(f"the PTX register type .{names.type} is not supported")
        for name in names.names:
            yield self.registers.declare(name, PTX_TYPES[names.type])

    def _guarded(self, instruction: Instruction) -> Stmt:
        self.around.instruction = instruction.text
        try:
            statement = self._translated(instruction)
        except SourceError:
            raise
        except (IndexError, ValueError):  # too few operands, or a number that is none
            raise self.around.error(f"the PTX instruction {instruction.text} can't be read") from None
        if not instruction.guard:
            return statement
        guard: Expr = self.registers.value(instruction.guard, BOOL)
        return If(Unary(BOOL, "!", guard) if instruction.is_negated else guard, statement, None)

    def _translated(self, instruction: Instruction) -> Stmt:
        statement = self.memory.translated(instruction) or self._synchronised(instruction)
        if statement is not None:
            return statement
        match instruction.opcode:
            case "setp":
                return self._predicate(instruction)
            case "cvta":
                return self._address(instruction)
            case "mov" if any(each.startswith("{") for each in instruction.operands):
                return self._packed(instruction)
        if is_arithmetic(instruction):
            return self._computed(instruction)
        raise unknown(self.registers, instruction)

    def _synchronised(self, instruction: Instruction) -> Stmt | None:
        name = instruction.name
        if name in _BARRIERS and instruction.operands in (("0",), ()):
            return Barrier(self.around.access("barrier", None, 1), self.place, True)
        if name in _WARP_BARRIERS:
            return Barrier(self.around.access("warp barrier", None, 1), self.place, False)
        if instruction.opcode in ("membar", "fence"):
            return Fence(self.around.access("fence", None, 1), self.place)
        return Block(()) if instruction.opcode in _NO_EFFECT else None

    def _computed(self, instruction: Instruction) -> Stmt:
        target, *sources = instruction.operands
        types = operand_types(instruction)
        given = [self.registers.value(name, ctype) for name, ctype in zip(sources, types, strict=False)]
        value, result = computed(instruction, given, self.place), result_type(instruction)
        if value is None or result is None or len(given) != len(sources):
            raise unknown(self.registers, instruction)
        return self.registers.assign(target, self.registers.converted(value, result))

    def _predicate(self, instruction: Instruction) -> Stmt:
        types = types_of(instruction)
        if len(instruction.operands) != 3 or len(types) != 1:
            raise unknown(self.registers, instruction)
        target, *sources = instruction.operands
        left, right = (self.registers.value(name, types[0]) for name in sources)
        value = compare_values(instruction, left, right, self.place)
        if value is None or "|" in target:
            raise unknown(self.registers, instruction)
        return self.registers.assign(target, value)

    def _address(self, instruction: Instruction) -> Stmt:
        """``cvta``: an address in a window as a generic one, or back."""
        target, source = instruction.operands
        window = instruction.one_of("shared", "global")
        if window not in ("shared", "global"):
            raise unknown(self.registers, instruction)
        space = "shared" if window == "shared" else "global"
        register = self.registers.known.get(source)
        pointer: Expr
        if register is not None and isinstance(register.type, PointerType):
            pointer = self.registers.variable(source)
        else:
            in_window = None if instruction.has("to") else space
            number = self.registers.value(source, ULONG)
            pointer = AtAddress(PointerType(_BYTE, in_window), number, self.place)  # type: ignore[arg-type]
        value = Address(ULONG, pointer, space if instruction.has("to") else "generic")  # type: ignore[arg-type]
        return self.registers.assign(target, value)

    def _packed(self, instruction: Instruction) -> Stmt:
        """A ``mov`` between one register and the two halves of it."""
        target, source = instruction.operands
        whole = types_of(instruction)[0]
        half = {64: UINT, 32: USHORT}.get(whole.bits)
        if half is None or max(len(vector_elements(target)), len(vector_elements(source))) != 2:
            raise unknown(self.registers, instruction)
        shift = Const(UINT, half.bits)
        if target.startswith("{"):
            value = self.registers.value(source, whole)
            low, high = vector_elements(target)
            upper = Binary(whole, ">>", value, shift, self.place)
            parts = ((low, Convert(half, value)), (high, Convert(half, upper)))
            return Block(tuple(self.registers.assign(name, part) for name, part in parts))
        low_part, high_part = (Convert(whole, self.registers.value(name, half)) for name in vector_elements(source))
        upper = Binary(whole, "<<", high_part, shift, self.place)
        return self.registers.assign(target, Binary(whole, "|", low_part, upper, self.place))


_BYTE = PTX_TYPES["u8"]
