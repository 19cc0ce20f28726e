"""State of reading one kernel: symbols, slots, accesses and loops, and the dispatch from cursors to nodes.

An expression function takes the state and a cursor and returns a node. Memory that a node designates is not read yet: that is
what ``value`` does, and it numbers the access.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from msgspec import Struct, structs

from gemmviz.cuda import nodes as n
from gemmviz.cuda import walk
from gemmviz.cuda.parser.library import RawCursor, RawType
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Cursors, Node, bare, first_error, is_reference_cast, parse_refusal, way_out
from gemmviz.cuda.reader.symbols import Symbol, Thing, Types, UnknownType
from gemmviz.cuda.types import (
    BOOL,
    INT,
    ULONG,
    VOID,
    AddressSpace,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    unit_bytes,
)
from gemmviz.cuda.walk import known_trips, parts
from gemmviz.model.messages import ErrorId, Place, SourceError, checkpoint
from gemmviz.model.outline import SiteKind

# Finds variables whose address is taken, so that they need memory.

_CASTS = (k.REINTERPRET_CAST_EXPR, k.CSTYLE_CAST_EXPR)
_POINTER_KINDS = (k.T_POINTER, k.T_NULL_PTR)


def addressed_in(cursors: Cursors, tree: Node) -> set[int]:
    """Keys of the variables of a function whose address is taken."""
    found, waiting = set[int](), [tree]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if _takes_address(cursors, node):
            target = bare(node.parts[-1])
            while target.kind == k.MEMBER_REF_EXPR and target.parts:
                target = bare(target.parts[0])
            if target.kind == k.DECL_REF_EXPR and (declaration := cursors.referenced(target)) is not None:
                found.add(declaration.first)
    return found


def _takes_address(cursors: Cursors, node: Node) -> bool:
    """Whether an expression takes its operand's address: ``&x``, or a cast to a reference to another type."""
    if node.kind == k.UNARY_OPERATOR:
        return cursors.lib.unary_operator(node.cursor) == "&"
    if node.kind not in _CASTS or not node.parts:
        return False
    have, to = (cursors.lib.getCanonicalType(cursors.type(each)) for each in (bare(node.parts[-1]), node))
    is_of_values = have.kind not in _POINTER_KINDS and to.kind not in _POINTER_KINDS and have.pointer != to.pointer
    return is_of_values and is_reference_cast(cursors, node)


_MOST_NODES = 300_000
_ExpressionTable = Mapping[int, Callable[["Lowering", Node], n.Expr | Thing]]
StatementTable = Mapping[int, Callable[["Lowering", Node], n.Stmt]]


class Activation(Struct):
    """The function being read: where its result goes, and the calls through which it was reached."""

    function: int
    result: "int | Thing | None"
    result_type: CType
    returns_reference: bool
    calls: tuple[Place, ...]
    this: "n.Expr | Thing | None"
    outer: "Activation | None"
    reference: "n.Expr | Thing | None" = None
    end_line: int = 0


@dataclass
class Lowering:
    """Lowers cursors to nodes. The tables map each kind of cursor to the function that lowers it."""

    cursors: Cursors
    expressions: _ExpressionTable
    statements: StatementTable
    types: Types = field(init=False)
    symbols: dict[int, Symbol] = field(default_factory=dict)
    slots: int = 0
    parameters: list[n.FunctionParameter] = field(default_factory=list)
    arguments: list[n.KernelArgument] = field(default_factory=list)
    accesses: list[n.AccessPlace] = field(default_factory=list)
    loops: list[n.LoopPlace] = field(default_factory=list)
    shared: list[n.SharedArray] = field(default_factory=list)
    variables: list[n.NamedSlot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spaces: dict[int, AddressSpace | None] = field(default_factory=dict)  # of pointers assigned after their declaration
    copies: dict[int, str] = field(default_factory=dict)  # of variables of the GPU with first values: their names
    first: list[n.Stmt] = field(default_factory=list)  # statements before the kernel's own: arrays of constants
    loop_stack: list[int] = field(default_factory=list)
    activation: Activation | None = None
    statement_place: Place | None = None
    kernel_place: Place = field(default_factory=lambda: Place(1, 1, 1, 1))
    scope_ends: list[int] = field(default_factory=list)  # last lines of the scopes around
    pointers: dict[int, int] = field(default_factory=dict)  # of pointer variables: the keys of their declarations
    unset: dict[int, int] = field(default_factory=dict)  # loops around members of structs that have no value yet
    mixed: frozenset[int] = frozenset()  # keys of pointers that point into memories of several spaces
    addressed: set[int] = field(default_factory=set)  # keys of variables whose address is taken
    entered: set[int] = field(default_factory=set)  # keys of functions whose errors were looked at
    asm_seen: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # asm statements in the use of each macro
    bound: dict[int, n.Expr] = field(default_factory=dict)  # first values of variables
    relied_on: set[int] = field(default_factory=set)  # variables that must keep their first values
    inlined: int = 0  # calls, by now
    local_bytes: int = 0  # of a thread's own arrays, by now
    local_elements: int = 0  # in them
    read: int = 0  # expressions and statements, by now
    is_unevaluated: bool = False

    def __post_init__(self) -> None:
        self.types = Types(self.cursors)

    # Expressions

    def place_node(self, node: Node) -> "n.Expr | Thing":
        """The node of an expression; memory that it designates is not read yet."""
        self.read += 1
        if self.read > _MOST_NODES:
            raise self.error(f"the kernel with its calls inlined has more than {_MOST_NODES:,} expressions", node)
        if (handler := self.expressions.get(node.kind)) is None:
            raise self.unsupported(node)
        return handler(self, node)

    def expression(self, node: Node) -> n.Expr:
        """The node of an expression that isn't a struct or a function. Raises SourceError for those."""
        return self.expression_of(self.place_node(node), node)

    def expression_of(self, found: "n.Expr | Thing", node: Node) -> n.Expr:
        if isinstance(found, Thing):
            raise self.error(f"a {found.type} can't be used here", node, id="unsupported")
        return found

    def value(self, node: Node) -> n.Expr:
        """The value of an expression: memory is read, arrays become pointers."""
        node = bare(node)
        return self.loaded(self.expression(node), node)

    def discarded(self, node: Node) -> n.Expr:
        """The node of an expression evaluated for its effects; memory that it designates is not read."""
        match self.place_node(node):
            case n.Deref(access=None, pointer=pointer) | n.Component(of=n.Deref(access=None, pointer=pointer)):
                return pointer
            case n.Read():
                return n.Sequence(VOID, ())
            case Thing(effects=effects):
                return effects[0] if len(effects) == 1 else n.Sequence(VOID, effects)
            case expr:
                return expr

    def scalar(self, node: Node) -> n.Expr:
        """The value of an expression that must be one number. Raises SourceError otherwise."""
        value = self.value(node)
        if not isinstance(value.type, Scalar):
            raise self.error(f"a {value.type} can't be used as a number", node)
        return value

    def condition(self, node: Node) -> n.Expr:
        node = bare(node)
        if node.kind == k.STRING_LITERAL:  # assert(... && "why")
            return n.Const(BOOL, True)
        return self.converted(self.value(node), BOOL, node)

    def constant(self, node: Node, what: str) -> n.Const:
        """The value of an integer constant expression. Raises SourceError for anything else."""
        value = self.value(node)
        if isinstance(value, n.Const):
            return value
        known = self.cursors.evaluated(node)
        if isinstance(known, int) and isinstance(value.type, Scalar):
            return n.Const(value.type, walk.wrap(known, value.type))
        raise self.error(f"{what} must be known before the kernel runs", node, "use a macro or a constexpr")

    def fixed(self, value: n.Expr) -> int | None:
        """The integer that an expression always has; None if it isn't known."""
        bound = {
            part.slot: self.bound[part.slot] for part in parts(value) if isinstance(part, n.Read) and part.slot in self.bound
        }
        known = {slot: number for slot, of in bound.items() if (number := self.fixed(of)) is not None}
        self.relied_on |= known.keys()
        return known_trips(value, known)

    def loaded(self, expr: n.Expr, node: Node) -> n.Expr:
        """The value of what ``expr`` designates. A load of global or shared memory is numbered, at the place of ``node``."""
        match expr:
            case n.Deref(access=None, type=Scalar() | VectorType(), pointer=pointer) if space_of(pointer) != "local":
                return structs.replace(expr, access=self.access("load", expr, node))
            case n.Component(of=n.Deref() as of):
                return self.loaded(component_of(of, expr), node)
            case n.Select(type=Scalar() | VectorType(), then=then, otherwise=otherwise):  # of lvalues, or else of values
                return structs.replace(expr, then=self.loaded(then, node), otherwise=self.loaded(otherwise, node))
            case n.Base(type=PointerType(to=to)):
                return structs.replace(expr, type=PointerType(to, space_of(expr)))
            case n.Offset(type=ArrayType() as array):
                return structs.replace(expr, type=decayed(array))
        return expr

    def access(self, kind: Literal["load", "store"], deref: n.Deref, node: Node) -> int:
        space = space_of(deref.pointer)
        if space is None and self._is_unassigned(deref.pointer):
            raise self.error("this pointer is used before it is assigned", node)
        width = deref.type.count if isinstance(deref.type, VectorType) else 1
        return self.add_access(kind, space, node, width)

    def _is_unassigned(self, pointer: n.Expr) -> bool:
        """Whether a pointer is a variable declared without a value to which nothing is assigned before its use."""
        while isinstance(pointer, n.Offset | n.Reinterpret):
            pointer = pointer.pointer
        if isinstance(pointer, n.Read) and pointer.checked and pointer.slot not in self.spaces:
            return self.pointers.get(pointer.slot) not in self.mixed
        return False

    def add_access(self, kind: SiteKind, space: AddressSpace | None, node: Node, width: int = 1, instruction: str = "") -> int:
        """The number of a new access at the place of ``node``. ``width``: the elements that a thread accesses."""
        calls = self.activation.calls if self.activation else ()
        span = self.cursors.span(node)
        if span is None:  # in another file
            text, place, calls = self.call_text, self.call_place, calls[:-1]
        else:
            text, place = self.cursors.written(span), self.cursors.place_of(span)
        loops, statement = tuple(self.loop_stack), self.statement_place
        access = n.AccessPlace(kind, space, place, text, width, loops, calls, statement, instruction=instruction)
        self.accesses.append(access)
        return len(self.accesses) - 1

    def add_branch(self, condition: Node, *arms: Node | None) -> int:
        """The number of a new branch at the place of its condition, with what it leads to: first where the condition holds."""
        number = self.add_access("branch", None, bare(condition))
        places = tuple(self.place(arm) for arm in arms if arm is not None)
        self.accesses[number] = structs.replace(self.accesses[number], arms=places)
        return number

    def add_statement_branch(self, condition: Node, *arms: Node | None) -> int:
        """The same of a statement, whose own text ends behind its condition."""
        number, span = self.add_branch(condition, *arms), self.cursors.span(bare(condition))
        if self.statement_place is not None and span is not None:
            text, end = self.cursors.text, span[1]
            while text[end : end + 1].isspace():
                end += 1
            head = self.cursors.place_of((span[0], end + (text[end : end + 1] == ")")))
            statement = structs.replace(self.statement_place, end_line=head.end_line, end_column=head.end_column)
            self.accesses[number] = structs.replace(self.accesses[number], statement=statement)
        return number

    def converted(self, expr: n.Expr, to: CType, node: Node) -> n.Expr:
        """The node of ``expr`` converted to ``to``. Raises SourceError if C has no such conversion."""
        source = expr.type
        match source, to:
            case Scalar(), Scalar():
                if isinstance(expr, n.Const):
                    return self.converted_constant(expr, to)
                return expr if source is to or source.element is to.element else n.Convert(to, expr)
            case PointerType(), Scalar(kind="b"):
                return n.Convert(to, expr)
            case Scalar(), PointerType() if isinstance(expr, n.Const) and not expr.value:
                return n.Reinterpret(to, n.Const(ULONG, 0), self.place(node))
            case PointerType(), Scalar(is_float=False):
                return self.converted(n.Address(ULONG, expr, "generic"), to, node)
            case Scalar(is_float=False), PointerType(space=space):
                return n.AtAddress(to, self.converted(expr, ULONG, node), self.place(node))
            case PointerType(to=have, space=space), PointerType(to=want):
                if have == want or (unit_bytes(have) == unit_bytes(want) and not _widths_differ(have, want)):
                    return expr
                return n.Reinterpret(to.into(space), expr, self.place(node))
            case _ if source == to:
                return expr
        raise self.error(f"a {source} can't become a {to}", node)

    def converted_constant(self, constant: n.Const, to: Scalar) -> n.Const:
        return n.Const(to, walk.converted(constant.value, constant.type, to))

    # Types

    def type_of(self, node: Node) -> CType:
        try:
            return self.types.of(node)
        except UnknownType as error:
            raise self.error(f"the type {error} is not supported", node, id="unsupported") from None

    def type_in(self, raw: RawType, node: Node) -> CType:
        try:
            return self.types.of_type(raw)
        except UnknownType as error:
            raise self.error(f"the type {error} is not supported", node, id="unsupported") from None

    def parameter_type(self, raw: RawType, node: Node) -> CType:
        """The type of a parameter: libclang gives arrays as they are written, not the pointers that they are."""
        ctype = self.type_in(raw, node)
        return dataclasses.replace(decayed(ctype), space=None) if isinstance(ctype, ArrayType) else ctype

    # Statements and state

    def statement(self, node: Node) -> n.Stmt:
        checkpoint()
        handler = self.statements.get(node.kind)
        if handler is None:
            if k.FIRST_EXPRESSION <= node.kind <= k.LAST_EXPRESSION:
                handler = self.statements[k.UNEXPOSED_EXPR]
            else:
                raise self.unsupported(node)
        return handler(self, node)

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def new_pointer(self, slot: int, ctype: CType, key: int) -> CType:
        """The type of a new variable; a pointer into memories of several spaces has none."""
        if not isinstance(ctype, PointerType):
            return ctype
        self.pointers[slot] = key
        return ctype.into(None) if key in self.mixed else ctype

    def declare(self, cursor: RawCursor, symbol: Symbol) -> None:
        self.symbols[cursor.first] = symbol

    def named(self, slot: int, name: str, line: int) -> None:
        """Adds a variable of the source, from its line to the end of its scope."""
        end = self.scope_ends[-1] if self.scope_ends else line
        self.variables.append(n.NamedSlot(slot, name, line, max(line, end)))

    def enter(self, node: Node) -> None:
        """Notes the statement that is read."""
        span = self.cursors.span(node)
        if span is not None:
            self.statement_place = self.cursors.place_of(span)

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def enter_function(self, tree: Node) -> None:
        """Prepares to lower the body of a function. Raises SourceError for the first error of the compiler in it."""
        self.addressed |= addressed_in(self.cursors, tree)
        unit = self.cursors.unit
        if unit.errors and (where := self.cursors.file_place(tree)) is not None:
            name, place, _ = where
            error = first_error(unit, name or unit.source.shown or unit.source.main, place.line, place.end_line)
            if error is not None:
                raise parse_refusal(unit, error, error.place or self.call_place)

    # Places

    @property
    def call_place(self) -> Place:
        """The innermost call in the shown file."""
        if self.activation and self.activation.calls:
            return self.activation.calls[-1]
        return self.statement_place or self.kernel_place

    @property
    def call_text(self) -> str:
        place = self.call_place
        lines = self.cursors.text.split("\n")
        first = lines[place.line - 1][place.column - 1 :]
        if place.end_line == place.line:
            return first[: place.end_column - place.column]
        return " ".join([first.strip(), *lines[place.line : place.end_line]])[:80]

    def place(self, node: Node) -> Place:
        """The place of a cursor; of one in another file, the place of the call that leads there."""
        span = self.cursors.span(node)
        return self.call_place if span is None else self.cursors.place_of(span)

    def name_place(self, node: Node) -> Place:
        """The place of a declared name."""
        span = self.cursors.name_span(node)
        return self.call_place if span is None else self.cursors.place_of(span)

    def name_line(self, node: Node) -> int:
        return self.name_place(node).line

    def error(self, message: str, node: Node, remedy: str | None = None, *, id: ErrorId | None = None) -> SourceError:
        return SourceError(message, self.place(node), remedy=remedy or way_out(message), id=id)

    def unsupported(self, node: Node) -> SourceError:
        return self.error(f"{_CONSTRUCTS.get(node.kind, 'this')} is not supported", node, id="unsupported")


_CONSTRUCTS = {
    k.LABEL_STMT: "goto",
    k.GOTO_STMT: "goto",
    k.INDIRECT_GOTO_STMT: "goto",
    k.ASM_STMT: "inline assembly",
    k.THROW_EXPR: "throw",
    k.NEW_EXPR: "new",
    k.DELETE_EXPR: "delete",
    k.STRING_LITERAL: "a string",
}


def component_of(deref: n.Deref, component: n.Component) -> n.Deref:
    """A component of a vector in memory as an access to that component alone."""
    scalar = component.type
    first = n.Reinterpret(PointerType(scalar, space_of(deref.pointer)), deref.pointer, deref.place)
    return n.Deref(scalar, n.Offset(first.type, first, n.Const(INT, component.index), 1), component.place)


def decayed(array: ArrayType) -> PointerType:
    """The type of a pointer to an array's first element or row."""
    inner = ArrayType(array.element, array.dims[1:], array.space) if array.dims[1:] else array.element
    return PointerType(inner, array.space)


def space_of(expr: n.Expr) -> AddressSpace | None:
    match expr.type:
        case PointerType(space=space) | ArrayType(space=space):
            return space
    return None


def _widths_differ(a: CType, b: CType) -> bool:
    """Whether indices of pointers to ``a`` and ``b`` count different steps, or members, so that their types matter."""
    return _leaf(a) != _leaf(b)


def _leaf(ctype: CType) -> CType:
    return ctype.element if isinstance(ctype, ArrayType) else ctype


# Local arrays: their slots, and how much of them a thread may have.

_MOST_LOCAL_BYTES = 512 << 10  # CUDA C++ Programming Guide, compute capabilities: local memory of a thread


def local_array(
    low: Lowering,
    element: Scalar | VectorType | StructType,
    size: int,
    name: str,
    statements: list[n.Stmt],
    node: Node,
    values: tuple[n.Expr, ...] | None = None,
) -> int:
    """The slot of a new local array."""
    check_local_bytes(low, name, size * element.bytes, node)
    slot = low.new_slot()
    low.local_elements += size * _scalars_in(element)
    low.local_bytes += size * element.bytes
    statements.append(n.DeclareArray(slot, name, element, size, values))  # type: ignore[arg-type]
    return slot


def _scalars_in(element: CType) -> int:
    match element:
        case VectorType(count=count):
            return count
        case StructType(fields=fields):
            return sum(_scalars_in(each.type) for each in fields)
        case ArrayType(element=inner, dims=dims):
            return prod(dims) * _scalars_in(inner)
    return 1


def check_local_bytes(low: Lowering, name: str, added: int, node: Node) -> None:
    if low.local_bytes + added > _MOST_LOCAL_BYTES:
        size = f"with {name}, the local arrays of a thread take {low.local_bytes + added:,} bytes"
        remedy = "make them smaller or use shared memory"
        raise low.error(f"{size}; at most {_MOST_LOCAL_BYTES:,} are possible", node, remedy)
