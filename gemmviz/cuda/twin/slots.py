"""Variables of a program as the twin declares them: the type and the name of each slot."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gemmviz.cuda import nodes as n
from gemmviz.cuda.types import ArrayType, CType, PointerType, Scalar, StructType, VectorType, Void, unit_bytes
from gemmviz.cuda.walk import inner_parts, nodes_of
from gemmviz.model.element_types import DeviceSpelling


def slot_types(program: n.Program) -> dict[int, CType]:
    """The type of each variable that holds a value or a pointer."""
    types: dict[int, CType] = {each.slot: each.type for each in program.parameters}
    for part in nodes_of(program):
        match part:
            case n.Read(slot=slot, type=ctype):
                types[slot] = ctype
            case n.Declare(slot=slot, value=value) | n.Return(slot=int(slot), value=value) if value is not None:
                types.setdefault(slot, value.type)
            case n.Inline(bindings=bindings, result=result):
                for slot, value in bindings:
                    types.setdefault(slot, value.type)
                if result is not None:
                    types[result] = part.type
            case n.Assign(target=n.Read(slot=slot), type=ctype):
                types.setdefault(slot, ctype)
    return types


def slots_used_outside(program: n.Program) -> frozenset[int]:
    """Variables that are declared in the body of an inlined call and used behind it, such as the members of what it returns."""
    homes: dict[int, int] = {}  # the call in whose body a variable is declared
    uses: list[tuple[int, frozenset[int]]] = []
    waiting: list[tuple[Any, int, frozenset[int]]] = [(program.body, 0, frozenset((0,)))]
    while waiting:
        node, call, around = waiting.pop()
        match node:
            case n.Declare(slot=slot) | n.DeclareArray(slot=slot):
                homes[slot] = call
            case n.Read(slot=slot) | n.Base(slot=slot):
                uses.append((slot, around))
            case n.Inline():
                call = id(node)
                around |= {call}
        waiting += ((each, call, around) for each in inner_parts(node))
    return frozenset(slot for slot, around in uses if homes.get(slot, 0) not in around)


def aligned_slots(program: n.Program) -> frozenset[int]:
    """Local arrays that may be accessed in wider pieces than their elements, and so need the alignment of the widest."""
    arrays = {each.slot for each in nodes_of(program) if isinstance(each, n.DeclareArray)}
    roots = [_root(each.pointer) for each in nodes_of(program) if isinstance(each, n.Reinterpret)]
    through_variable = any(isinstance(root, n.Read) and getattr(root.type, "space", None) == "local" for root in roots)
    return frozenset(arrays if through_variable else arrays & {root.slot for root in roots if isinstance(root, n.Base)})


def _root(pointer: n.Expr) -> n.Expr:
    """The array or variable from which a pointer is computed."""
    while isinstance(pointer, n.Offset | n.Reinterpret):
        pointer = pointer.pointer
    return pointer


def first_values(program: n.Program) -> dict[int, n.Expr]:
    """The first value that each variable, parameter or result of an inlined call is given."""
    values: dict[int, n.Expr] = {}
    for part in nodes_of(program):
        match part:
            case n.Declare(slot=slot, value=value) | n.Return(slot=int(slot), value=value) if value is not None:
                values.setdefault(slot, value)
            case n.Inline(bindings=bindings):
                for slot, value in bindings:
                    values.setdefault(slot, value)
    return values


def pointed_array(pointer: n.Expr, values: Mapping[int, n.Expr]) -> CType | None:
    """What the array is of into which a pointer, or a number made of one, points: followed through casts, calls and the first
    values of variables to a parameter or an array. None if it leads to neither.
    """
    seen: set[int] = set()
    while True:
        match pointer:
            case n.Offset(pointer=inner) | n.Reinterpret(pointer=inner) | n.Address(pointer=inner):
                pointer = inner
            case n.AtAddress(address=inner) | n.Convert(operand=inner) | n.Binary(left=inner):
                pointer = inner
            case n.Inline(result=int(slot)) | n.Read(slot=slot) if slot in values and slot not in seen:
                seen.add(slot)
                pointer = values[slot]
            case n.Read(type=PointerType(to=to)) | n.Base(type=PointerType(to=to)):
                return to
            case _:
                return None


def slot_names(program: n.Program) -> Mapping[int, str]:
    """A unique C name for each slot: its name in the source, if it has one, and its number."""
    named: list[n.FunctionParameter | n.NamedSlot | n.SharedArray] = [*program.parameters, *program.variables, *program.shared]
    names = {each.slot: each.name for each in named}
    for part in nodes_of(program):
        match part:
            case n.Read(slot=slot, name=name) | n.DeclareArray(slot=slot, name=name):
                names.setdefault(slot, name)
    return {slot: _identifier(name, slot) for slot, name in names.items()}


def _identifier(name: str, slot: int) -> str:
    plain = re.sub(r"\W", "", name, flags=re.ASCII).lstrip("_0123456789")
    return f"{plain or 'v'}_{slot}"


# Types and constants of the nodes as CUDA C spells them, independent of the user's own names and of the platform.


def c_type(ctype: CType) -> str:
    """A type as spelled in the twin. A struct or void behind a pointer is bytes, since its members are reached by offsets."""
    match ctype:
        case Scalar():
            return ctype.element.device.type
        case VectorType(is_bulk=True, bytes=size):
            return f"gv_bytes<{size}>"
        case VectorType(scalar=scalar, count=count):
            spelling = scalar.element.device
            return spelling.pair or f"{spelling.vector}{count}"
        case PointerType(to=to):
            return f"{target_type(to)}*"
        case ArrayType(element=element):
            return f"{target_type(element)}*"
        case Void():
            return "void"
    raise AssertionError(ctype)


def target_type(to: CType) -> str:
    """The type behind a pointer to ``to``; an array's elements behind one to an array."""
    while isinstance(to, ArrayType):
        to = to.element
    return "unsigned char" if isinstance(to, StructType | Void | PointerType) else c_type(to)


def scale_in_target(pointer: CType, scale: int) -> int:
    """An offset's scale in elements of the type behind a pointer, as the twin prints it: a vector as one element, a struct as
    bytes.
    """
    target = pointer.to if isinstance(pointer, PointerType) else pointer
    while isinstance(target, ArrayType):
        target = target.element
    match target:
        case StructType() as struct:
            return scale * unit_bytes(struct)
        case VectorType(count=count):
            return scale // count
    return scale


def constructor(vector: VectorType) -> str:
    """The function that makes a vector of its components."""
    return vector.scalar.element.device.pair_maker or f"make_{c_type(vector)}"


def literal(constant: n.Const) -> str:
    """A constant with its exact value and type."""
    if isinstance(constant.type, PointerType):
        return f"({c_type(constant.type)}){int(constant.value)}"
    spelling, value = constant.type.element.device, constant.value
    if constant.type.kind == "b":
        return "true" if value else "false"
    if constant.type.is_float:
        return _float(spelling, constant.type, float(value))
    if int(value) == -(2 ** (constant.type.bits - 1)) and spelling.least:
        return spelling.least
    number = f"{int(value)}{spelling.suffix}"
    number = f"({number})" if value < 0 else number
    return number if constant.type.bits >= 32 else f"({spelling.type}){number}"


def _float(spelling: DeviceSpelling, scalar: Scalar, value: float) -> str:
    if scalar.bits >= 32 and math.isfinite(value):
        number = value.hex() + spelling.suffix
        return f"({number})" if number.startswith("-") else number
    with np.errstate(over="ignore"):
        stored = scalar.element.elements(np.array(value))
    return spelling.from_bits.format(int(stored.view(f"uint{scalar.bits}")))


def headers(types: Iterable[CType]) -> list[str]:
    """CUDA's own headers that these types need."""
    return sorted({each for each in map(_header, types) if each})


def _header(ctype: CType) -> str:
    match ctype:
        case Scalar():
            return ctype.element.device.header
        case VectorType(scalar=scalar):
            return scalar.element.device.header
        case PointerType(to=to) | ArrayType(element=to):
            return _header(to)
    return ""
