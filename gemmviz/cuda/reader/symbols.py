"""Meanings of declarations: variables, arrays, constants, objects, functions."""

from collections.abc import Mapping

from msgspec import Struct, field

from gemmviz.cuda.nodes import Const, Expr
from gemmviz.cuda.reader.library import RawCursor
from gemmviz.cuda.types import ArrayType, CType, PointerType, StructType


class Variable(Struct, frozen=True):
    """A variable in a slot. ``is_reference``: the slot holds a pointer to the object that the name designates."""

    slot: int
    type: CType
    name: str
    checked: bool = False
    is_reference: bool = False


class ArrayVariable(Struct, frozen=True):
    """An array. ``is_reference``: its slot holds a pointer to the first element of another one."""

    slot: int
    type: ArrayType
    name: str = ""
    is_reference: bool = False


class Constant(Struct, frozen=True):
    """A name with a known value."""

    node: Const


class Object(Struct, frozen=True):
    """A struct whose members are variables of their own, by the keys of their declarations."""

    type: StructType
    members: "Mapping[int, Symbol]"


class InMemory(Struct, frozen=True):
    """An object in local or shared memory, whose slot holds a pointer to it."""

    slot: int
    type: PointerType


class Alias(Struct, frozen=True):
    """A reference to what an expression designates, which is the same whenever it is evaluated."""

    node: "Expr | Thing"


class Function(Struct, frozen=True):
    """A known function, or a lambda with the variables that it copied, by the keys of the originals."""

    declaration: RawCursor | None
    copies: "Mapping[int, Symbol]" = field(default_factory=dict)


Symbol = Variable | ArrayVariable | Constant | Object | InMemory | Alias | Function


class Thing(Struct, frozen=True):
    """A value that isn't a node: an object or a function, known when reading. ``effects`` are run before it is used."""

    type: CType
    symbol: Object | InMemory | Function
    effects: tuple[Expr, ...] = ()
