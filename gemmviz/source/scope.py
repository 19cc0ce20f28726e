"""Symbol tables: the meaning of names by scope, as variables, arrays, constants, types and functions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from gemmviz.source.nodes import Const
from gemmviz.source.types import ArrayType, CType


@dataclass(slots=True)
class Variable:
    """A variable. ``is_reference``: its slot holds a pointer to the object that the name designates."""

    slot: int
    type: CType
    checked: bool = False
    is_reference: bool = False
    is_const: bool = False


@dataclass(frozen=True, slots=True)
class ArrayVariable:
    slot: int
    type: ArrayType


@dataclass(frozen=True, slots=True)
class Constant:
    """A name with a known value: constexpr, a const with a known value, or a template argument."""

    node: Const


@dataclass(frozen=True, slots=True)
class LazyConstant:
    """A global constant that is evaluated on first use."""

    declaration: Node
    declarator: Node


@dataclass(frozen=True, slots=True)
class TypeName:
    type: CType


@dataclass(frozen=True, slots=True)
class LazyType:
    descriptor: Node


@dataclass(frozen=True, slots=True)
class FunctionScope:
    """A function definition; ``template`` is its template parameter list."""

    name: str
    definition: Node
    template: Node | None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A function name with several definitions: overloads, or the same name in several namespaces."""

    name: str


Symbol = Ambiguous | Variable | ArrayVariable | Constant | LazyConstant | TypeName | LazyType | FunctionScope


@dataclass(slots=True)
class SymbolTable:
    """The names of one block, and a link to the blocks around it."""

    outer: "SymbolTable | None" = None
    names: dict[str, Symbol] = field(default_factory=dict)

    def find(self, name: str) -> Symbol | None:
        scope: SymbolTable | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    @property
    def outermost(self) -> "SymbolTable":
        return self if self.outer is None else self.outer.outermost

    def all_names(self) -> Iterator[str]:
        yield from self.names
        if self.outer is not None:
            yield from self.outer.all_names()

    def inner(self, names: Mapping[str, Symbol] | None = None) -> "SymbolTable":
        return SymbolTable(self, dict(names or {}))
