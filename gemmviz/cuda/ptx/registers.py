"""Instructions of an asm statement, and its registers as variables of the kernel."""

import re
import struct
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct, field

from gemmviz.cuda import walk
from gemmviz.cuda.nodes import (
    Address,
    Assign,
    Barrier,
    Binary,
    Call,
    Const,
    Convert,
    Declare,
    Evaluate,
    Expr,
    Extent,
    Index,
    Read,
    Stmt,
)
from gemmviz.cuda.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, AddressSpace, PointerType, Scalar, named_type
from gemmviz.model.messages import Place, SourceError
from gemmviz.model.outline import COMMENT, SiteKind

# Special registers of PTX to expressions of the thread's indices.

_WARP = 32
_ALL_LANES = (1 << _WARP) - 1


def special_register(name: str, place: Place) -> Expr | None:
    """What a special register such as ``%tid.x`` or ``%laneid`` holds; None for an unknown one."""
    base, _, axis = name.removeprefix("%").removeprefix("%").partition(".")
    if axis in ("x", "y", "z"):
        return _of_axis(base, "xyz".index(axis))
    thread = _thread(place)
    lane = Binary(UINT, "&", thread, Const(UINT, _WARP - 1), place)
    below = Binary(UINT, "-", Binary(UINT, "<<", Const(UINT, 1), lane, place), Const(UINT, 1), place)
    own = Binary(UINT, "<<", Const(UINT, 1), lane, place)
    match base:
        case "laneid":
            return lane
        case "warpid":
            return Binary(UINT, ">>", thread, Const(UINT, _WARP.bit_length() - 1), place)
        case "lanemask_eq":
            return own
        case "lanemask_lt":
            return below
        case "lanemask_le":
            return Binary(UINT, "|", below, own, place)
        case "lanemask_gt":
            return Binary(UINT, "^", Binary(UINT, "|", below, own, place), Const(UINT, _ALL_LANES), place)
        case "lanemask_ge":
            return Binary(UINT, "^", below, Const(UINT, _ALL_LANES), place)
        case "WARP_SZ":
            return Const(UINT, _WARP)
    return None


def _of_axis(base: str, axis: int) -> Expr | None:
    match base:
        case "tid" | "ctaid":
            return Index(UINT, base == "ctaid", axis)
        case "ntid" | "nctaid":
            return Extent(UINT, base == "nctaid", axis)
    return None


def numbered_barrier(access: int, place: Place, number: Expr | None, count: Expr | None, waits: bool) -> Barrier:
    """A barrier of the block with a number; barrier 0 of all threads is a __syncthreads()."""
    if isinstance(number, Const) and number.value == 0 and count is None:
        number = None
    return Barrier(access, place, True, number, count, waits)


def _thread(place: Place) -> Expr:
    """The number of a thread in its block."""
    x, y, z = (Index(UINT, False, axis) for axis in range(3))
    wide, high = Extent(UINT, False, 0), Extent(UINT, False, 1)
    row = Binary(UINT, "+", y, Binary(UINT, "*", high, z, place), place)
    return Binary(UINT, "+", x, Binary(UINT, "*", wide, row, place), place)


def _scalar_named(name: str) -> Scalar:
    found = named_type(name)
    assert isinstance(found, Scalar)
    return found


USHORT, SHORT, HALF = _scalar_named("unsigned short"), _scalar_named("short"), _scalar_named("half")
PTX_TYPES = {
    "pred": BOOL, "b8": _scalar_named("unsigned char"), "u8": _scalar_named("unsigned char"),
    "s8": _scalar_named("signed char"),
    "b16": USHORT, "u16": USHORT, "s16": SHORT, "f16": HALF, "b32": UINT, "u32": UINT, "s32": INT, "f32": FLOAT,
    "tf32": UINT,
    "b64": ULONG, "u64": ULONG, "s64": LONG, "f64": DOUBLE,
}  # fmt: skip
CONSTRAINTS = {"h": USHORT, "r": UINT, "l": ULONG, "f": FLOAT, "d": DOUBLE}
_BITS_OF = {"float": "__float_as_uint", "double": "__double_as_longlong", "half": "__half_as_ushort"}
_FROM_BITS = {
    "float": ("__uint_as_float", UINT), "double": ("__longlong_as_double", LONG), "half": ("__ushort_as_half", USHORT),
}  # fmt: skip


class Surroundings(Protocol):
    """What an asm statement needs of the reader of the kernel around it."""

    place: Place
    instruction: str  # the text of the instruction being translated

    def new_slot(self) -> int: ...
    def access(
        self, kind: SiteKind, space: AddressSpace | None, width: int, is_async: bool = False, instruction: str = ""
    ) -> int: ...
    def fixed(self, value: Expr) -> int | None: ...
    def error(self, message: str, remedy: str | None = None) -> SourceError: ...


class AsmOperand(Struct, frozen=True):
    """An operand of an asm statement. ``value``: what it holds before, None for one that is only written; ``assign`` gives the
    statement that writes it, None for one that is only read.
    """

    constraint: str
    value: Expr | None
    assign: Callable[[Expr], Stmt] | None = None


class Register(Struct, frozen=True):
    slot: int
    name: str
    type: Scalar | PointerType


class Registers(Struct):
    """The registers of one asm statement: its operands, as ``%0`` and on, and those that it declares."""

    around: Surroundings
    known: dict[str, Register] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)  # of the constraint n
    given: dict[str, Expr] = field(default_factory=dict)  # what operands hold at first

    def declare(self, name: str, ctype: Scalar | PointerType, value: Expr | None = None) -> Stmt:
        slot = self.around.new_slot()
        if value is not None:
            self.given[name] = value
        self.known[name] = Register(slot, name, ctype)
        return Declare(slot, value)

    def __getitem__(self, name: str) -> Register:
        if name not in self.known:
            raise self.around.error(f"the PTX register {name} is not known")
        return self.known[name]

    def variable(self, name: str) -> Read:
        register = self[name]
        return Read(register.type, register.slot, name, True, self.around.place)

    def number(self, name: str) -> Expr:
        """What a register holds, as a number; a pointer as its address."""
        read = self.variable(name)
        return Address(ULONG, read, "generic") if isinstance(read.type, PointerType) else read

    def value(self, name: str, to: Scalar) -> Expr:
        """An operand of an instruction: a register, a constant or a special register, as a value of type ``to``."""
        if name in self.constants:
            return Const(to, self.constants[name])
        if name in self.known:
            return self.converted(self.number(name), to)
        if (number := immediate(name)) is not None:
            return self.converted(number, to)
        special = special_register(name, self.around.place)
        if special is None:
            raise self.around.error(f"the PTX operand {name} is not known")
        return self.converted(special, to)

    def assign(self, name: str, value: Expr) -> Stmt:
        """The statement that gives a register a value of the same size."""
        register, target = self[name], self.variable(name)
        if isinstance(register.type, PointerType):
            raise self.around.error(f"writing the pointer {name} in PTX is not supported", "write a number instead")
        return assigned(target, self.converted(value, register.type))

    def converted(self, value: Expr, to: Scalar) -> Expr:
        """The bits of a value as one of another type; an integer is cut or widened to another size."""
        source = value.type
        assert isinstance(source, Scalar)
        if source == to:
            return value
        if isinstance(value, Const) and not source.is_float and not to.is_float:
            return Const(to, walk.converted(value.value, source, to))
        if isinstance(value, Const) and source.is_float and to.is_float:
            return Const(to, walk.converted(value.value, source, to))
        if source.is_float:
            call = Call(_bits_type(source), _BITS_OF[source.name], (value,), self.around.place)
            return self.converted(call, to)
        if to.is_float:
            name, bits = _FROM_BITS[to.name]
            if source.bits != to.bits:
                raise self.around.error(f"the PTX uses {source.bits} bits as {to}")
            return Call(to, name, (self.converted(value, bits),), self.around.place)
        return Convert(to, value)


def immediate(text: str) -> Const | None:
    """The constant that PTX writes so; None if it is none."""
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
        return Const(FLOAT, struct.unpack(">f", bytes.fromhex(text[2:]))[0])
    if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", text):
        return Const(DOUBLE, struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
        number = int(text.rstrip("U"), 0) if text.lstrip("-")[:2].lower() == "0x" else int(text.rstrip("U"))
        return Const(LONG, walk.wrap(number, LONG))
    if re.fullmatch(r"-?\d+\.\d*([eE][-+]?\d+)?", text):
        return Const(DOUBLE, float(text))
    return None


def _bits_type(scalar: Scalar) -> Scalar:
    return {"float": UINT, "double": LONG, "half": USHORT}[scalar.name]


def assigned(target: Read, value: Expr) -> Stmt:
    """The statement ``target = value``."""
    return Evaluate(Assign(target.type, target, value, None, None, None, False, target.place))


# The template to instructions: guards, opcodes and operands, without their meaning.

_LABEL = re.compile(r"(^|[;{}])\s*[A-Za-z_$%][\w$%]*:(?!:)")
_GUARD = re.compile(r"@(!?)\s*([%\w$]+)\s*")
_DECLARATION = re.compile(r"\.reg\s+\.(\w+)\s+(.*)", re.DOTALL)
_RANGE = re.compile(r"([%\w$]+)<(\d+)>$")
_OPERAND_PARTS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+")


class AsmInstruction(Struct, frozen=True):
    """One instruction: ``opcode`` is its first word, ``modifiers`` what follows behind dots. ``guard`` is the predicate that
    must hold, or "".
    """

    text: str
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""
    is_negated: bool = False

    @property
    def name(self) -> str:
        return ".".join((self.opcode, *self.modifiers))

    def has(self, *modifiers: str) -> bool:
        return any(each in self.modifiers for each in modifiers)

    def one_of(self, *modifiers: str) -> str:
        """The first of these modifiers that it has, or ""."""
        return next((each for each in self.modifiers if each in modifiers), "")


class RegisterNames(Struct, frozen=True):
    """A declaration of registers of one type."""

    type: str
    names: tuple[str, ...]


def instructions(template: str) -> Iterator[AsmInstruction | RegisterNames]:
    """The instructions and declarations of a template, in order. Braces around several are left out."""
    for statement in _statements(_LABEL.sub(r"\1", COMMENT.sub(" ", template))):
        declaration = _DECLARATION.match(statement)
        yield RegisterNames(declaration[1], tuple(_register_names(declaration[2]))) if declaration else _instruction(statement)


def _statements(text: str) -> Iterator[str]:
    """The statements of a text, without the braces of blocks; those of vectors follow an opcode."""
    current = ""
    for character in text:
        is_start = not current.strip()
        if character == ";" or (is_start and character in "{}"):
            if not is_start:
                yield " ".join(current.split())
            current = ""
        else:
            current += character
    if current.strip():
        yield " ".join(current.split())


def _register_names(text: str) -> Iterator[str]:
    for name in (each.strip() for each in text.split(",")):
        if several := _RANGE.match(name):
            yield from (f"{several[1]}{number}" for number in range(int(several[2])))
        else:
            yield name


def _instruction(text: str) -> AsmInstruction:
    guard = _GUARD.match(text)
    body = text[guard.end() :] if guard else text
    head, _, rest = body.partition(" ")
    opcode, *modifiers = re.split(r"\.", head)
    operands = tuple(each.strip() for each in _OPERAND_PARTS.findall(rest) if each.strip())
    return AsmInstruction(text, opcode, tuple(modifiers), operands, guard[2] if guard else "", bool(guard and guard[1]))


def vector_elements(operand: str) -> tuple[str, ...]:
    """The operands within braces, or the operand itself."""
    return tuple(each.strip() for each in operand[1:-1].split(",")) if operand.startswith("{") else (operand,)


def address_parts(operand: str) -> tuple[str, int] | None:
    """The register and the distance in bytes of ``[register + 16]``; None if it is no such address."""
    inside = re.fullmatch(r"\[\s*([%\w$]+)\s*(?:\+\s*(-?\w+)\s*)?\]", operand)
    return None if inside is None else (inside[1], int(inside[2] or "0", 0))
