"""State of lowering one kernel: scopes, slots, accesses and loops, and the dispatch from syntax to nodes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Literal

from tree_sitter import Node

from gemmviz.model.cancelling import checkpoint
from gemmviz.model.errors import Place
from gemmviz.source import fold
from gemmviz.source.nodes import (
    AccessPlace,
    Base,
    Component,
    Const,
    Convert,
    Deref,
    Expr,
    LoopPlace,
    NamedSlot,
    Offset,
    Read,
    Reinterpret,
    Sequence,
    SharedArray,
    Stmt,
)  # fmt: skip
from gemmviz.source.scope import ArrayVariable, FunctionScope, Symbol, SymbolTable, Variable
from gemmviz.source.syntax import Tree, bare
from gemmviz.source.types import BOOL, INT, VOID, ArrayType, CType, PointerType, Scalar, VectorType

_MOST_NODES = 300_000
_RECORDS = ("accesses", "loops", "shared", "variables", "notes", "local_bytes", "local_elements")
_SCOPES = ("compound_statement", "for_statement", "function_definition")
LoweringTable = Mapping[str, Callable[["Lowering", Node], Expr]]
Statements = Mapping[str, Callable[["Lowering", Node], Stmt]]


@dataclass(slots=True)
class Activation:
    """The function being lowered: the slot of its result, and the calls through which it was reached."""

    function: FunctionScope
    result: int | None
    result_type: CType | None
    calls: tuple[Place, ...]
    outer: "Activation | None"


@dataclass
class Lowering:
    """Lowers syntax to nodes. The tables map each kind of syntax to the function that lowers it."""

    tree: Tree
    expressions: LoweringTable
    statements: Statements
    scope: SymbolTable = field(default_factory=SymbolTable)
    slots: int = 0
    accesses: list[AccessPlace] = field(default_factory=list)
    loops: list[LoopPlace] = field(default_factory=list)
    shared: list[SharedArray] = field(default_factory=list)
    variables: list[NamedSlot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    loop_stack: list[int] = field(default_factory=list)
    activation: Activation | None = None
    statement_place: Place | None = None
    inlined: int = 0  # calls, by now
    local_bytes: int = 0  # of a thread's own arrays, by now
    local_elements: int = 0  # in them
    read: int = 0  # expressions and statements, by now
    is_unevaluated: bool = False

    def expression(self, node: Node) -> Expr:
        """The node of a piece of syntax; memory that it designates is not read yet."""
        self._count(node)
        handler = self.expressions.get(node.type)
        if handler is None:
            raise self.tree.unsupported(node)
        return handler(self, node)

    def value(self, node: Node) -> Expr:
        """The value of a piece of syntax: memory is read, arrays become pointers."""
        node = bare(node)
        return self.loaded(self.expression(node), node)

    def discarded(self, node: Node) -> Expr:
        """The node of a piece of syntax evaluated for its effects; memory that it designates is not read."""
        match self.expression(node):
            case Deref(access=None, pointer=pointer) | Component(of=Deref(access=None, pointer=pointer)):
                return pointer
            case Read():
                return Sequence(VOID, ())
            case expr:
                return expr

    def statement(self, node: Node) -> Stmt:
        self._count(node)
        handler = self.statements.get(node.type)
        if handler is None:
            raise self.tree.unsupported(node)
        self.statement_place = self.tree.place(node)
        return handler(self, node)

    def _count(self, node: Node) -> None:
        """Counts a node. Raises SourceError for too large a kernel, Cancelled if the task was cancelled."""
        checkpoint()
        self.read += 1
        if self.read > _MOST_NODES:
            raise self.tree.error(f"the kernel with its calls inlined has more than {_MOST_NODES:,} expressions", node)

    def scalar(self, node: Node) -> Expr:
        """The node of a value that must be one number. Raises SourceError otherwise."""
        value = self.value(node)
        if not isinstance(value.type, Scalar):
            raise self.tree.error(f"a {value.type} can't be used as a number", node)
        return value

    def condition(self, node: Node) -> Expr:
        node = bare(node)
        if node.type == "string_literal":  # assert(... && "why")
            return Const(BOOL, True)
        return self.converted(self.scalar(node), BOOL, node)

    def constant(self, node: Node, what: str) -> Const:
        """The value of an integer constant expression. Raises SourceError for anything else."""
        value = self.value(node)
        if not isinstance(value, Const):
            raise self.tree.error(f"{what} must be known before the kernel runs", node, "use a macro or a constexpr")
        if value.type.is_float:
            raise self.tree.error(f"{what} must be a whole number, not a {value.type}", node)
        return value

    def loaded(self, expr: Expr, node: Node) -> Expr:
        match expr:
            case Deref(access=None, pointer=pointer) if _space(pointer) != "local":
                return replace(expr, access=self.access("load", expr, node))
            case Component(of=Deref() as of):
                return self.loaded(component_of(of, expr), node)
            case Base(type=PointerType(to=to)) | Offset(type=ArrayType(element=to)):
                return replace(expr, type=PointerType(to, _space(expr)))
        return expr

    def access(self, kind: Literal["load", "store"], deref: Deref, node: Node, whole: Node | None = None) -> int:
        space = _space(deref.pointer)
        if space is None:
            raise self.tree.error("this pointer is used before it is assigned", node)
        width = deref.type.count if isinstance(deref.type, VectorType) else 1
        return self.add_access(kind, space, node, width, whole)

    def add_access(
        self,
        kind: Literal["load", "store", "barrier", "warp barrier"],
        space: Literal["global", "shared", "local"] | None,
        node: Node,
        width: int,
        whole: Node | None = None,
    ) -> int:
        calls = self.activation.calls if self.activation else ()
        self.accesses.append(
            AccessPlace(
                kind, space, self.tree.place(node), self.tree.written(node), width, tuple(self.loop_stack), calls,
                (node.start_byte, node.end_byte), self.statement_place, (whole.start_byte, whole.end_byte) if whole else (0, 0),
            )
        )  # fmt: skip
        return len(self.accesses) - 1

    def converted(self, expr: Expr, to: CType, node: Node) -> Expr:
        """The node of ``expr`` converted to ``to``. Raises SourceError if C has no such conversion."""
        source = expr.type
        match source, to:
            case Scalar(), Scalar():
                if isinstance(expr, Const):
                    return self.converted_constant(expr, to)
                return expr if _same(source, to) else Convert(to, expr)
            case PointerType(to=have), PointerType(to=want) if have == want:
                return expr
            case _ if source == to:
                return expr
        raise self.tree.error(f"a {source} can't become a {to}", node)

    def converted_constant(self, constant: Const, to: Scalar) -> Const:
        return Const(to, fold.converted(constant.value, constant.type, to))

    def declare(self, name: str, symbol: Symbol, node: Node) -> None:
        """Adds a name to the present scope. Raises SourceError if it is declared there already."""
        if name in self.scope.names:
            raise self.tree.error(f"{name} is declared twice", node)
        self.scope.names[name] = symbol
        match symbol:
            case Variable(slot=slot, is_reference=False) | ArrayVariable(slot=slot, type=ArrayType(space="local")):
                scope = node
                while scope.parent is not None and scope.type not in _SCOPES:
                    scope = scope.parent
                place = self.tree.place(node)
                self.variables.append(NamedSlot(slot, name, place.line, max(place.line, self.tree.place(scope).end_line)))

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    @contextmanager
    def unevaluated(self) -> Iterator[None]:
        """Context for an unevaluated operand, of which only the type counts: no accesses are added, division by zero is
        allowed.
        """
        before = {name: copy(getattr(self, name)) for name in _RECORDS}
        outer, self.is_unevaluated = self.is_unevaluated, True
        try:
            yield
        finally:
            self.is_unevaluated = outer
            for name, value in before.items():
                setattr(self, name, value)

    @contextmanager
    def inner_scope(self) -> Iterator[None]:
        outer = self.scope
        self.scope = outer.inner()
        try:
            yield
        finally:
            self.scope = outer


def component_of(deref: Deref, field: Component) -> Deref:
    """A component of a vector in memory as an access to that component alone."""
    scalar = field.type
    first = Reinterpret(PointerType(scalar, _space(deref.pointer)), deref.pointer, deref.place)
    return Deref(scalar, Offset(first.type, first, Const(INT, field.index), 1), field.place)


def _space(expr: Expr) -> Literal["global", "shared", "local"] | None:
    match expr.type:
        case PointerType(space=space) | ArrayType(space=space):
            return space
    return None


def _same(a: Scalar, b: Scalar) -> bool:
    return a.element is b.element


def read_variable(slot: int, name: str, ctype: CType, checked: bool, place: Place) -> Read:
    return Read(ctype, slot, name, checked, place)
