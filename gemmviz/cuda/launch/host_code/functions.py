"""Functions of the host: a walk through their bodies collects calls, launches and what their variables are set to."""

import ctypes
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from clang.cindex import Cursor, CursorKind, SourceLocation, Type, TypeKind, c_object_p, conf
from msgspec import Struct, field, structs

from gemmviz.cuda.parser.unit import Unit, binary_operator, unary_operator

# Small questions about cursors of host code: what stands inside parentheses, which variable, which text.

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
        return structs.replace(self, member=".".join(filter(None, (self.member, member))))

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
        return _member_variable(cursor)
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


def _member_variable(cursor: Cursor) -> HostVariable | None:
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


_SCOPES = frozenset(
    {
        CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL, CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL,
        CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION, CursorKind.ENUM_DECL,
    }
)  # fmt: skip
FUNCTION_KINDS = frozenset(
    {
        CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION,
    }
)  # fmt: skip
_CONFIGURATIONS = frozenset(
    {"cudaConfigureCall", "__cudaPushCallConfiguration", "hipConfigureCall", "__hipPushCallConfiguration"}
)
_NAMING_KINDS = frozenset({CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.OVERLOADED_DECL_REF})
_NOTED = frozenset(
    {
        CursorKind.VAR_DECL, CursorKind.CALL_EXPR, CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
        CursorKind.UNARY_OPERATOR,
    }
)  # fmt: skip
_LOOPS = frozenset({CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.CXX_FOR_RANGE_STMT})


class Branch(Struct, frozen=True):
    """An arm of a condition that a statement stands in. ``condition`` is None in a loop and in ``default``; ``subject``: what a
    ``switch`` compares with it; ``values``: all that lead to arm 0, arm 1 being ``default``. Arm 1 of a loop is its head.
    """

    statement: int
    arm: int
    condition: Cursor | None = None
    is_loop: bool = False
    subject: Cursor | None = None
    values: tuple[Cursor, ...] = ()


class At(Struct, frozen=True):
    """A position in a function: its offset in the text and the conditions around it."""

    offset: int
    branches: tuple[Branch, ...] = ()


class VariableSetting(Struct, frozen=True):
    """A place that sets a variable or one member of it. ``value`` is None if it can't be followed; ``change``: a compound
    assignment, ``++`` or ``--``; ``inner``: the variable of the function called there that the value comes from.
    """

    member: str
    value: Cursor | None
    at: At
    change: Cursor | None = None
    inner: HostVariable | None = None


class HostCallCursor(Struct, frozen=True):
    """A call in a host function."""

    cursor: Cursor
    at: At


class HostFunction(Struct, eq=False):
    """A function of the host with its calls and the settings of its variables, in the order of the text."""

    cursor: Cursor
    name: str
    parameters: list[Cursor]
    template_parameters: list[Cursor] = field(default_factory=list)
    settings: dict[Key, list[VariableSetting]] = field(default_factory=lambda: defaultdict(list))
    variables: dict[Key, Cursor] = field(default_factory=dict)
    calls: list[HostCallCursor] = field(default_factory=list)
    returns: list[tuple[Cursor | None, At]] = field(default_factory=list)
    statements: int = 0
    outer: "HostFunction | None" = None

    def default(self, parameter: Cursor) -> str:
        """The default of a template parameter, as written; "" if it has none."""
        words = [token.spelling for token in parameter.get_tokens()]
        return " ".join(words[words.index("=") + 1 :]) if "=" in words else ""

    def position(self, parameter: Key) -> int:
        """Number of a parameter; -1 if it isn't one."""
        return next((n for n, each in enumerate(self.parameters) if key_of(each) == parameter), -1)


def place_key(cursor: Cursor) -> tuple[str, int]:
    """The place of a declaration, the same for a template and its instantiations."""
    location = cursor.location
    return (location.file.name if location.file is not None else "", location.offset)


def is_kernel(function: Cursor) -> bool:
    return any(each.kind == CursorKind.CUDAGLOBAL_ATTR for each in function.get_children())


def functions_of(unit: Unit) -> Iterator[Cursor]:
    """Functions of the project's files, with those in namespaces and classes, in order; templates without their instances."""
    seen: set[tuple[str, int]] = set()
    for cursor in _functions(unit.declarations()):
        if place_key(cursor) not in seen:
            seen.add(place_key(cursor))
            yield cursor


def _functions(cursors: Iterable[Cursor]) -> Iterator[Cursor]:
    for cursor in cursors:
        if cursor.kind in FUNCTION_KINDS:
            yield cursor
        elif cursor.kind in _SCOPES:
            yield from _functions(cursor.get_children())


def qualified_name(cursor: Cursor) -> str:
    """A declaration's name with its namespaces and classes."""
    names = [cursor.spelling]
    scope = cursor.semantic_parent
    while scope is not None and scope.kind != CursorKind.TRANSLATION_UNIT:
        if scope.kind in _SCOPES and scope.spelling and not scope.spelling.startswith("(anonymous"):
            names.append(scope.spelling)
        scope = scope.semantic_parent
    return "::".join(reversed(names))


def is_configured(call: Cursor) -> bool:
    """Whether a call is a launch with ``<<< >>>``."""
    inside = inner_parts(call)
    return len(inside) > 1 and inside[1].kind == CursorKind.CALL_EXPR and inside[1].spelling in _CONFIGURATIONS


def host_functions(cursor: Cursor, outer: HostFunction | None = None) -> list[HostFunction]:
    """A function with a body, and the lambdas inside it."""
    children = list(cursor.get_children())
    function = HostFunction(
        cursor,
        qualified_name(cursor) if outer is None else outer.name,
        [each for each in children if each.kind == CursorKind.PARM_DECL],
        [each for each in children if each.kind.name.startswith("TEMPLATE_")],
        outer=outer,
    )
    walk, member = _Walk(function), None
    for child in children:
        if member is not None and child.kind.is_expression():
            walk.initialise(member, child)
        member = child.referenced if child.kind == CursorKind.MEMBER_REF else None
        if child.kind == CursorKind.COMPOUND_STMT:
            function.statements = sum(1 for _ in child.get_children())
            walk.visit(child, ())
    return [function, *walk.lambdas]


class _Walk:
    """Collects into one function; lambdas become functions of their own that share the outer one's variables."""

    def __init__(self, function: HostFunction) -> None:
        self.function = function
        self.lambdas: list[HostFunction] = []
        self.subject: tuple[Cursor, tuple[Cursor, ...]] | None = None

    def initialise(self, member: Cursor, value: Cursor) -> None:
        """A member of a class, as its constructor initialises it."""
        self.function.variables[key_of(member)] = member
        self.function.settings[key_of(member)].append(VariableSetting("", value, At(value.extent.start.offset)))
        self.visit(value, ())

    def visit(self, cursor: Cursor, branches: tuple[Branch, ...]) -> None:
        kind = cursor.kind
        if kind == CursorKind.LAMBDA_EXPR:
            for each in host_functions(cursor, self.function):
                self.lambdas.append(each)
                for key, settings in each.settings.items():
                    self.function.settings[key] += settings
            return
        if kind in _NOTED:
            self._note(cursor, At(cursor.extent.start.offset, branches))
        elif kind == CursorKind.RETURN_STMT:
            at = At(cursor.extent.start.offset, branches)
            self.function.returns.append((next(iter(inner_parts(cursor)), None), at))
        for child, inside in self._children(cursor, branches):
            self.visit(child, inside)

    def _note(self, cursor: Cursor, at: At) -> None:
        match cursor.kind:
            case CursorKind.VAR_DECL:
                self._declared(cursor, at)
            case CursorKind.CALL_EXPR:
                self._called(cursor, at)
            case _:
                self._changed(cursor, at)

    def _children(self, cursor: Cursor, branches: tuple[Branch, ...]) -> Iterator[tuple[Cursor, tuple[Branch, ...]]]:
        children, number = list(cursor.get_children()), int(cursor.hash)
        match cursor.kind:
            case CursorKind.IF_STMT:
                yield children[0], branches
                for arm, child in enumerate(children[1:]):
                    yield child, (*branches, Branch(number, arm, children[0]))
            case CursorKind.SWITCH_STMT:
                outer, self.subject = self.subject, (children[0], _case_values(children[-1]))
                yield from ((each, branches) for each in children)
                self.subject = outer
            case CursorKind.CASE_STMT | CursorKind.DEFAULT_STMT:
                case, statements = _case(cursor, self.subject)
                yield from ((each, (*branches, case)) for each in statements)
            case kind if kind in _LOOPS:
                head = len(children) - 1 if kind == CursorKind.FOR_STMT else 0
                yield from ((each, (*branches, Branch(number, int(at < head), None, True))) for at, each in enumerate(children))
            case CursorKind.COMPOUND_STMT:
                yield from _cases(children, branches, self.subject)
            case _:
                yield from ((each, branches) for each in children)

    def _declared(self, cursor: Cursor, at: At) -> None:
        value = initialiser(cursor)
        self.function.variables[key_of(cursor)] = cursor
        if value is not None and not _is_empty(value):
            self.function.settings[key_of(cursor)].append(VariableSetting("", value, at))

    def _changed(self, cursor: Cursor, at: At) -> None:
        target = inner_parts(cursor)[0]
        is_assignment = cursor.kind == CursorKind.BINARY_OPERATOR and binary_operator(cursor) == "="
        is_change = cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR or (
            cursor.kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) in ("x++", "x--", "++x", "--x")
        )
        if is_assignment or is_change:
            self._set(target, inner_parts(cursor)[1] if is_assignment else None, at, cursor if is_change else None)

    def _set(self, target: Cursor, value: Cursor | None, at: At, change: Cursor | None = None) -> None:
        variable = variable_of(target)
        if variable is not None:
            self.function.variables[variable.key] = variable.declaration
            self.function.settings[variable.key].append(VariableSetting(variable.member, value, at, change))

    def _called(self, cursor: Cursor, at: At) -> None:
        self.function.calls.append(HostCallCursor(cursor, at))
        if cursor.spelling == "operator=":
            target, *values = (each for each in inner_parts(cursor) if callee_name(each) != "operator=")
            self._set(target, values[-1] if values else None, at)
        elif cursor.spelling == "operator>>":
            self._set(inner_parts(cursor)[-1], None, at)
        elif cursor.spelling in ("scanf", "sscanf", "fscanf"):
            for each in arguments(cursor)[1:]:
                self._set(each, None, at)


def _is_empty(value: Cursor) -> bool:
    """Whether an initialiser is a constructor that isn't written; that of dim3 sets all extents to 1."""
    is_constructor = value.kind == CursorKind.CALL_EXPR and not arguments(value)
    return is_constructor and value.spelling == value.type.spelling != "dim3"


def _cases(
    children: list[Cursor], branches: tuple[Branch, ...], subject: tuple[Cursor, tuple[Cursor, ...]] | None
) -> Iterator[tuple[Cursor, tuple[Branch, ...]]]:
    """Statements of a block; those behind a ``case`` belong to it until the next one."""
    case: tuple[Branch, ...] = ()
    for child in children:
        if child.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            case = (_case(child, subject)[0],)
            yield child, branches
        else:
            yield child, (*branches, *case)


def _case_values(body: Cursor) -> tuple[Cursor, ...]:
    """What a switch compares its subject with."""
    pending, found = list(body.get_children()), []
    while pending:
        each = pending.pop(0)
        if each.kind == CursorKind.CASE_STMT:
            value, *inside = each.get_children()
            found.append(value)
            pending = [*inside, *pending]
        elif each.kind == CursorKind.DEFAULT_STMT:
            pending = [*each.get_children(), *pending]
    return tuple(found)


def _case(cursor: Cursor, subject: tuple[Cursor, tuple[Cursor, ...]] | None) -> tuple[Branch, list[Cursor]]:
    """The arm of ``case 1: case 2:`` or ``default:``, and the statements behind the labels."""
    number, values, is_default, statements = int(cursor.hash), [], False, [cursor]
    while statements and statements[0].kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
        is_default |= statements[0].kind == CursorKind.DEFAULT_STMT
        inside = list(statements[0].get_children())
        values += inside[:1] if statements[0].kind == CursorKind.CASE_STMT else []
        statements = inside[1:] if statements[0].kind == CursorKind.CASE_STMT else inside
    compared, every = subject or (None, ())
    if is_default:
        own = {each.hash for each in values}
        return Branch(number, 1, None, False, compared, tuple(each for each in every if each.hash not in own)), statements
    return Branch(number, 0, values[0] if len(values) == 1 else None, False, compared, tuple(values)), statements


def callee_name(cursor: Cursor) -> str:
    """Name of the function that an expression refers to; "" if it doesn't."""
    inside = unwrapped(cursor)
    return str(inside.spelling) if inside.kind in (CursorKind.DECL_REF_EXPR, CursorKind.OVERLOADED_DECL_REF) else ""


def called_function(call: Cursor) -> Cursor | None:
    """The declaration that a call refers to; of a call in a template, the first one of that name; of a lambda's, its class."""
    if call.spelling == "operator()" and call.referenced is not None:
        return call.referenced.semantic_parent
    if call.referenced is not None and call.referenced.kind == CursorKind.CONSTRUCTOR:
        return call.referenced
    target = callee(call)
    return referenced_function(target) if target is not None and target.kind in _NAMING_KINDS else None


def referenced_function(target: Cursor) -> Cursor | None:
    """The function that an expression refers to, its definition where there is one."""
    found = target.referenced
    if found is not None and found.kind in FUNCTION_KINDS:
        return found
    for each in target.walk_preorder():
        if each.kind == CursorKind.OVERLOADED_DECL_REF:
            return conf.lib.clang_getOverloadedDecl(each, 0)  # type: ignore[no-any-return]
    return None
