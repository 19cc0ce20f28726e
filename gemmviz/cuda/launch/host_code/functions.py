"""Functions of the host: a walk through their bodies collects calls, launches and what their variables are set to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from clang.cindex import Cursor, CursorKind, conf
from msgspec import Struct, field

from gemmviz.cuda.launch.host_code.cursors import (
    HostVariable,
    Key,
    arguments,
    callee,
    initialiser,
    inner_parts,
    key_of,
    unwrapped,
    variable_of,
)
from gemmviz.cuda.parser.unit import Unit, binary_operator, unary_operator

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
_NAMED = frozenset({CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.OVERLOADED_DECL_REF})
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
                outer, self.subject = self.subject, (children[0], _values(children[-1]))
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


def _values(body: Cursor) -> tuple[Cursor, ...]:
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
    return referenced_function(target) if target is not None and target.kind in _NAMED else None


def referenced_function(target: Cursor) -> Cursor | None:
    """The function that an expression refers to, its definition where there is one."""
    found = target.referenced
    if found is not None and found.kind in FUNCTION_KINDS:
        return found
    for each in target.walk_preorder():
        if each.kind == CursorKind.OVERLOADED_DECL_REF:
            return conf.lib.clang_getOverloadedDecl(each, 0)  # type: ignore[no-any-return]
    return None
