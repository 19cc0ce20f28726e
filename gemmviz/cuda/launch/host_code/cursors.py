"""Small questions about cursors of host code: what stands inside parentheses, which variable, which text."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from clang.cindex import Cursor, CursorKind, SourceLocation, Type, TypeKind, c_object_p, conf
from msgspec import Struct

from gemmviz.cuda.parser.unit import Unit, unary_operator
from gemmviz.model.records import replace

Key = int  # of a declaration: its cursor's hash
CAST_KINDS = frozenset(
    {
        CursorKind.CSTYLE_CAST_EXPR,
        CursorKind.CXX_STATIC_CAST_EXPR,
        CursorKind.CXX_REINTERPRET_CAST_EXPR,
        CursorKind.CXX_CONST_CAST_EXPR,
        CursorKind.CXX_DYNAMIC_CAST_EXPR,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
    }
)
_FLOAT_KINDS = frozenset({TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE, TypeKind.HALF})
_WRAPPERS = frozenset({CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR})
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_NO_CODE = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#[ \t]*if[ \t]+0\b.*?^[ \t]*\#[ \t]*endif""",
    re.DOTALL | re.MULTILINE,
)


class UnreadError(Exception):
    """A part of the host code that can't be read, and why. Ends inside this package."""

    def __init__(self, reason: str, cursor: Cursor) -> None:
        super().__init__(reason)
        self.reason, self.cursor = reason, cursor


class HostVariable(Struct, frozen=True):
    """A variable, or one member or element of it. ``member``: "M" of ``p.M``, "a.b" of ``p.a.b``, "0" of ``p[0]``, "" for all
    of it.
    """

    key: Key
    member: str
    name: str
    declaration: Cursor

    @property
    def spelled(self) -> str:
        return f"{self.name}_{self.member.replace('.', '_')}" if self.member else self.name

    def part(self, member: str) -> "HostVariable":
        """A member of it; "" for all of it."""
        return replace(self, member=".".join(filter(None, (self.member, member))))

    def rest(self, member: str) -> str:
        """Which member of ``member`` it is: "b" for ``p.a.b`` and "a"."""
        return self.member.removeprefix(member).removeprefix(".")

    def is_in(self, member: str) -> bool:
        """Whether it is ``member`` or a part of that."""
        return f"{self.member}.".startswith(f"{member}.") or not member


def is_absent(cursor: Cursor) -> bool:
    """Whether an argument is a default that isn't written."""
    return bool(cursor.location.file is None)


def inner_parts(cursor: Cursor) -> list[Cursor]:
    """Child expressions; names of types and namespaces left out."""
    return [each for each in cursor.get_children() if not each.kind.is_reference() or each.kind in _REFERENCES]


_REFERENCES = frozenset({CursorKind.OVERLOADED_DECL_REF})


def is_substituted(cursor: Cursor) -> bool:
    """Whether an expression stands for a template parameter that the compiler has put a value in for."""
    return cursor.kind == CursorKind.DECL_REF_EXPR and not cursor.spelling and cursor.referenced is None


def unwrapped(cursor: Cursor) -> Cursor:
    """The expression inside parentheses, implicit conversions and values of template parameters."""
    while cursor.kind in _WRAPPERS or is_substituted(cursor):
        inside = inner_parts(cursor)
        if len(inside) != 1:
            return cursor
        cursor = inside[0]
    return cursor


def uncast(cursor: Cursor) -> Cursor:
    """The expression inside parentheses and casts of any kind."""
    cursor = unwrapped(cursor)
    while cursor.kind in CAST_KINDS:
        inside = inner_parts(cursor)
        if not inside:
            return cursor
        cursor = unwrapped(inside[-1])
    return cursor


def initialiser(declaration: Cursor) -> Cursor | None:
    """What a variable's or member's declaration sets it to; None if it doesn't."""
    if declaration.kind != CursorKind.VAR_DECL:
        values = [each for each in inner_parts(declaration) if each.kind.is_expression()]
        return values[-1] if values else None
    function: Any = conf.lib.clang_Cursor_getVarDeclInitializer
    function.argtypes, function.restype = [Cursor], Cursor
    value: Cursor = function(declaration)
    value._tu = declaration._tu
    return None if value.kind.is_invalid() else value


def key_of(declaration: Cursor) -> Key:
    return int(declaration.canonical.hash)


def variable_of(cursor: Cursor) -> HostVariable | None:
    """The variable that an expression names, behind casts, ``&`` and ``*``; None if it names none."""
    cursor = uncast(cursor)
    if cursor.kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) in "&*":
        return variable_of(inner_parts(cursor)[0])
    if cursor.kind == CursorKind.DECL_REF_EXPR:
        declaration = cursor.referenced
        if declaration is None or declaration.kind not in _VARIABLES or not declaration.spelling:
            return None
        if declaration.type.kind == TypeKind.LVALUEREFERENCE and declaration.kind == CursorKind.VAR_DECL:
            referred = initialiser(declaration)
            return None if referred is None else variable_of(referred)
        return HostVariable(key_of(declaration), "", _unambiguous(declaration), declaration)
    if cursor.kind == CursorKind.MEMBER_REF_EXPR:
        return _member(cursor)
    if cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
        base, index = (unwrapped(each) for each in inner_parts(cursor))
        variable = variable_of(base)
        if variable is None or variable.member or index.kind != CursorKind.INTEGER_LITERAL:
            return None
        number = "".join(token.spelling for token in index.get_tokens())
        return HostVariable(variable.key, number, variable.name, variable.declaration)
    return None


def _unambiguous(declaration: Cursor) -> str:
    """The name of a variable; that of a class or namespace in front of it, since a host variable may have the same name."""
    parent = declaration.semantic_parent
    scope = parent.spelling if parent is not None and parent.kind in _NAMED_SCOPES else ""
    return f"{scope}_{declaration.spelling}" if scope.isidentifier() else str(declaration.spelling)


_VARIABLES = frozenset(
    {CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.UNEXPOSED_DECL}
)  # the last: of structured bindings
_NAMED_SCOPES = frozenset({CursorKind.NAMESPACE, CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE})


def _member(cursor: Cursor) -> HostVariable | None:
    """The variable of ``p.M``, ``p->M``, ``this->M`` or ``M``."""
    inside = [each for each in inner_parts(cursor) if each.kind != CursorKind.CXX_THIS_EXPR]
    field = cursor.referenced
    base = unwrapped(inside[0]) if inside else None
    if base is None or base.kind == CursorKind.CXX_THIS_EXPR:
        return None if field is None else HostVariable(key_of(field), "", field.spelling, field)
    variable = variable_of(base)
    if variable is None:
        return None
    return variable.part(cursor.spelling)


def callee(call: Cursor) -> Cursor | None:
    """The expression that is called: a reference, a member or a lambda's variable."""
    inside = inner_parts(call)
    return unwrapped(inside[0]) if inside else None


def arguments(call: Cursor) -> list[Cursor]:
    """Arguments of a call as written, in order; of a lambda's call, without the lambda."""
    given = [each for each in call.get_arguments() if each is not None and not is_absent(each)]
    return given[1:] if call.spelling == "operator()" else given


def is_float_type(type_: Type) -> bool:
    return type_.get_canonical().kind in _FLOAT_KINDS


def is_record(type_: Type) -> bool:
    return bool(type_.get_canonical().kind == TypeKind.RECORD)


def walk(cursor: Cursor) -> Iterator[Cursor]:
    """A cursor and all below it."""
    yield cursor
    for each in cursor.get_children():
        yield from walk(each)


class WrittenText:
    """Texts of a unit's files, as written."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._lines: dict[str, list[bytes]] = {}
        self._words: dict[tuple[int, int | None], Counter[str]] = {}

    def text(self, cursor: Cursor) -> str:
        """What a cursor spans, as written, on one line."""
        return " ".join(self._span(cursor).decode(errors="replace").split())

    def words(self, cursor: Cursor, up_to: int | None = None) -> Counter[str]:
        """The words that a cursor spans, or those in front of an offset; comments and texts in quotes left out."""
        key = cursor.hash, up_to
        if key not in self._words:
            span = self._span(cursor)
            span = span if up_to is None else span[: max(0, up_to - cursor.extent.start.offset)]
            self._words[key] = Counter(each.decode() for each in _IDENTIFIER.findall(_NO_CODE.sub(b" ", span)))
        return self._words[key]

    def _span(self, cursor: Cursor) -> bytes:
        start, end = cursor.extent.start, cursor.extent.end
        lines = self._of(self._unit.file_of(start))[start.line - 1 : end.line]
        if not lines:
            return b""
        lines[-1] = lines[-1][: end.column - 1]
        lines[0] = lines[0][start.column - 1 :]
        return b"\n".join(lines)

    def macro(self, cursor: Cursor) -> str:
        """The object-like macro that an expression is the expansion of; "" if it is none."""
        at = written_at(cursor.extent.start)
        rest = self._rest(cursor.extent.start, at)
        match = _IDENTIFIER.match(rest)
        if not match:
            return ""
        word = match[0].decode()
        if cursor.spelling == word or word in _KEYWORDS or rest[match.end() :].lstrip(b" \t").startswith((b"(", b"::")):
            return ""
        inside = [each for each in walk(cursor) if not is_absent(each)]
        is_expansion = all(written_at(each.extent.start) == at and each.spelling != word for each in inside)
        return word if is_expansion else ""

    def _rest(self, location: SourceLocation, at: tuple[int, int]) -> bytes:
        """The rest of the line from a place on."""
        lines = self._of(self._unit.file_of(location))
        return lines[at[0] - 1][at[1] - 1 :] if 0 < at[0] <= len(lines) else b""

    def _of(self, name: str) -> list[bytes]:
        if name not in self._lines:
            self._lines[name] = self._unit.source.files.get(name, "").removeprefix("\ufeff").encode().split(b"\n")
        return self._lines[name]


_KEYWORDS = frozenset({"sizeof", "true", "false", "nullptr", "static_cast", "reinterpret_cast", "const_cast", "dim3", "this"})


def written_at(location: SourceLocation) -> tuple[int, int]:
    """Line and column at which a location is written; of an argument of a macro, the argument's own."""
    file, line, column, offset = c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    library: Any = conf.lib
    library.clang_getSpellingLocation(
        location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset)
    )
    return line.value, column.value
