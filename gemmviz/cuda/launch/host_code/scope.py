"""A position in a host function from which expressions are read, with the call that leads to it and its callers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from clang.cindex import Cursor, CursorKind, TypeKind, conf
from msgspec import Struct, field, structs

from gemmviz.cuda.launch.formula import formula_value, renamed
from gemmviz.cuda.launch.host_code.functions import (
    At,
    Branch,
    HostCallCursor,
    HostFunction,
    HostVariable,
    Key,
    UnreadError,
    VariableSetting,
    WrittenText,
    arguments,
    called_function,
    callee,
    host_functions,
    initialiser,
    inner_parts,
    is_configured,
    is_record,
    place_key,
    uncast,
    unwrapped,
    variable_of,
)
from gemmviz.cuda.parser.unit import Unit, evaluated, unary_operator
from gemmviz.model.messages import GemmvizError
from gemmviz.model.outline import HostName, HostNameKind

_MOST_CALLERS = 8
_SHARING_KINDS = frozenset({TypeKind.POINTER, TypeKind.LVALUEREFERENCE})
HOLDERS = frozenset(
    {
        CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL, CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL,
        CursorKind.CLASS_TEMPLATE,
    }
)  # fmt: skip
WHOLE = frozenset(
    {
        TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG, TypeKind.SHORT,
        TypeKind.USHORT, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR, TypeKind.CHAR_U,
    }
)  # fmt: skip


class HostProgram(Struct, eq=False, dict=True):
    """Functions and constants of a unit: ``functions`` by the place of their declaration."""

    unit: Unit
    texts: WrittenText
    functions: Mapping[tuple[str, int], HostFunction]
    constants: Mapping[Key, list[VariableSetting]]
    kernels: Mapping[tuple[str, int], str]
    kernel_names: frozenset[str]
    _set_by_calls: dict[HostFunction, dict[Key, list[VariableSetting]]] = field(default_factory=dict)
    _instances: dict[Key, HostFunction | None] = field(default_factory=dict)

    def function(self, cursor: Cursor) -> HostFunction | None:
        """The host function with a body that a declaration belongs to."""
        definition = cursor.get_definition() or cursor
        return self.functions.get(place_key(definition)) or self.functions.get(place_key(cursor))

    def instance(self, cursor: Cursor) -> HostFunction | None:
        """A function of the project that the compiler made from a template, with its body; None for any other."""
        definition = cursor.get_definition()
        if definition is None or place_key(definition) not in self.functions:
            return None
        if definition.hash not in self._instances:
            template = conf.lib.clang_getSpecializedCursorTemplate(definition)
            self._instances[definition.hash] = None if template is None else host_functions(definition)[0]
        return self._instances[definition.hash]

    def helper(self, call: Cursor) -> HostFunction | None:
        """The function of the project, or the lambda, that a call goes to, as the compiler made it if it is a template."""
        called = called_function(call)
        return None if called is None else self.instance(called) or self.function(called)

    def calls_of(self, function: HostFunction) -> "list[_CallFrom]":
        """The calls of a function by others, in the order of the text."""
        return self._calls[0][function]

    @cached_property
    def _calls(self) -> "tuple[dict[HostFunction, list[_CallFrom]], dict[Key, HostFunction]]":
        """Calls by the function that is called, and the functions by their calls."""
        found: dict[HostFunction, list[_CallFrom]] = defaultdict(list)
        called_by: dict[Key, HostFunction] = {}
        for caller in self.functions.values():
            for call in caller.calls:
                target, called = callee(call.cursor), called_function(call.cursor)
                function = None if target is None or called is None else self.function(called)
                if target is not None and function is not None and function is not caller:
                    called_by[call.cursor.hash] = self.instance(called) or function
                    found[function].append(_CallFrom(caller, call, target))
        return found, called_by

    def set_by_calls(self, caller: HostFunction) -> Mapping[Key, list[VariableSetting]]:
        """What the calls in a function set its own variables and those of the file to."""
        if caller not in self._set_by_calls:
            found: dict[Key, list[VariableSetting]] = defaultdict(list)
            self._set_by_calls[caller] = found  # first, for functions that call each other
            for call in caller.calls:
                is_known = place_key(caller.cursor) in self.functions and self.functions[place_key(caller.cursor)] is caller
                helper = self._calls[1].get(call.cursor.hash) if is_known else self.helper(call.cursor)
                if helper is not None:
                    for each in self._set_inside(helper):
                        variable = _outside(each, helper, call.cursor)
                        if variable is not None:
                            setting = VariableSetting(variable.member, None, call.at, inner=each)
                            found[variable.key].append(setting)
                elif not is_configured(call.cursor):
                    for variable in _filled_by_call(call.cursor):
                        found[variable.key].append(VariableSetting(variable.member, None, call.at))
        return self._set_by_calls[caller]

    def _set_inside(self, helper: HostFunction) -> Iterator[HostVariable]:
        """Variables, or members of them, that a function sets, directly or by its calls."""
        own = ((key, each) for settings in (helper.settings, self.set_by_calls(helper)) for key, each in settings.items())
        seen: set[tuple[Key, str]] = set()
        for key, settings in own:
            declaration = helper.variables.get(key) or next((each.inner.declaration for each in settings if each.inner), None)
            for member in dict.fromkeys(each.member for each in settings):
                if declaration is not None and (key, member) not in seen:
                    seen.add((key, member))
                    yield HostVariable(key, member, declaration.spelling, declaration)


class _CallFrom(Struct, frozen=True):
    """A call in another function. ``target``: the expression that is called."""

    caller: HostFunction
    call: HostCallCursor
    target: Cursor


class HostScope(Struct, eq=False):
    """A position in a function. ``caller`` and ``passed``: the scope and the arguments of the call that leads to it;
    ``types``: its template parameters' arguments as texts; ``inlined``: formulas of the parameters of a helper that is read
    in place, with their names; ``names`` collects the names that formulas use, ``doubts`` what is uncertain about them;
    ``assumed``: template parameters that nobody gives an argument, for which a usual one is taken; ``is_strict``: what the
    command line may change can't be read; ``whole``: the object whose method is read in place, and where it is named.
    """

    program: HostProgram
    function: HostFunction | None
    at: At
    caller: "HostScope | None" = None
    passed: tuple[Cursor, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    inlined: Mapping[Key, tuple[str, dict[str, HostName]]] = field(default_factory=dict)
    names: dict[str, HostName] = field(default_factory=dict)
    depth: int = 0
    assumed: tuple[str, ...] = ()
    doubts: list[UnreadError] = field(default_factory=list)
    is_strict: bool = False
    whole: "tuple[HostVariable, HostScope] | None" = None

    def use(self, name: str, kind: HostNameKind, value: float | None) -> str:
        """The name for a formula. A second value of it gets a name of its own."""
        present = self.names.get(name)
        if present is not None and value is not None and present.value not in (None, value):
            return self.use(f"{name}_", kind, value)
        if present is None or (present.value is None and value is not None):
            self.names[name] = HostName(name, kind, value)
        return name

    def adopt(self, formula: str, names: Mapping[str, HostName]) -> str:
        """A formula with its names among those of the scope."""
        return renamed(formula, {each.name: self.use(each.name, each.kind, each.value) for each in names.values()})

    def value(self, formula: str) -> int | float | None:
        """What a formula gives with the known values; None if a name has none."""
        try:
            return formula_value(formula, {each.name: each.value for each in self.names.values() if each.value is not None})
        except GemmvizError:
            return None

    def settings(self, key: Key) -> list[VariableSetting]:
        """What the function, or the file, sets a variable to."""
        function, first = self.function, self.program.constants.get(key, [])
        while function is not None:
            found = [*function.settings.get(key, ()), *self.program.set_by_calls(function).get(key, ())]
            if found:
                return [*first, *sorted(found, key=lambda each: each.at.offset)]
            function = function.outer
        return first

    @property
    def calls(self) -> list[HostCallCursor]:
        """Calls of the function, and of those around a lambda."""
        calls: list[HostCallCursor] = []
        function = self.function
        while function is not None:
            calls += function.calls
            function = function.outer
        return calls

    def argument(self, key: Key) -> Cursor | None:
        """What the call that leads here passes for a parameter."""
        position = self.function.position(key) if self.function is not None else -1
        return self.passed[position] if 0 <= position < len(self.passed) else None

    def is_parameter(self, key: Key) -> bool:
        return self.function is not None and self.function.position(key) >= 0

    def fresh(self) -> "HostScope":
        """The same position with no names used yet."""
        return self.with_names({})

    def with_names(self, names: dict[str, HostName]) -> "HostScope":
        return structs.replace(self, names=names)

    @property
    def is_deep(self) -> bool:
        return self.depth >= _MOST_CALLERS


def is_sure(setting: VariableSetting, at: At) -> bool:
    """Whether a setting takes effect whenever the position is reached: every condition around it is around the position too."""
    return not open_branches(setting, at)


def open_branches(setting: VariableSetting, at: At) -> tuple[Branch, ...]:
    """The conditions around a setting that aren't around the position."""
    mine = {(each.statement, each.arm and not each.is_loop) for each in at.branches}
    return tuple(each for each in setting.at.branches if (each.statement, each.arm and not each.is_loop) not in mine)


def is_excluded(setting: VariableSetting, at: At) -> bool:
    """Whether a setting stands in another arm of a condition whose arm the position is in."""
    arms = {each.statement: each.arm for each in at.branches if not each.is_loop}
    return any(arms.get(each.statement, each.arm) != each.arm for each in setting.at.branches)


def relevant(settings: Iterable[VariableSetting], variable: HostVariable, at: At) -> list[VariableSetting]:
    """Settings of a variable, or of what it is a part of, that the position sees first, from the last one that is sure on."""
    seen: list[VariableSetting] = []
    for each in settings:
        if not variable.is_in(each.member) or is_excluded(each, at) or each.at.offset >= at.offset or is_next(each, at):
            continue
        if each.change is None and is_sure(each, at):
            seen = []
        seen.append(each)
    return seen


def is_next(setting: VariableSetting, at: At) -> bool:
    """Whether a setting counts for later trips of a loop around the position only: one behind it, or in the loop's head."""
    loops = {each.statement for each in at.branches if each.is_loop}
    around = [each for each in setting.at.branches if each.is_loop and each.statement in loops]
    return bool(around) and (setting.at.offset > at.offset or (setting.change is not None and any(each.arm for each in around)))


def _outside(variable: HostVariable, helper: HostFunction, call: Cursor) -> HostVariable | None:
    """A variable that a function sets, as its caller names it; None for one of the function's own."""
    position, given = helper.position(variable.key), arguments(call)
    if position >= 0:
        is_shared = variable.declaration.type.get_canonical().kind in _SHARING_KINDS
        return _part(variable_of(given[position]), variable) if is_shared and position < len(given) else None
    if variable.declaration.kind == CursorKind.FIELD_DECL:
        if helper.cursor.kind == CursorKind.CONSTRUCTOR:
            return None  # of the object that is made
        target = callee(call)
        whole = inner_parts(target)[:1] if target is not None and target.kind == CursorKind.MEMBER_REF_EXPR else []
        is_own = not whole or uncast(whole[0]).kind == CursorKind.CXX_THIS_EXPR
        inner = structs.replace(variable, member=variable.name).part(variable.member)
        return variable if is_own else _part(variable_of(whole[0]), inner)
    parent = variable.declaration.semantic_parent
    return variable if parent is not None and (parent.kind.is_translation_unit() or parent.kind in HOLDERS) else None


def _part(whole: HostVariable | None, inner: HostVariable) -> HostVariable | None:
    """The member of a variable that a member of another one stands for."""
    return None if whole is None else whole.part(inner.member)


def _filled_by_call(call: Cursor) -> Iterator[HostVariable]:
    """Numbers whose addresses a call of a function without a body passes on, so that the function may set them."""
    type_ = None if call.referenced is None else call.referenced.type
    types = list(type_.argument_types()) if type_ is not None and type_.kind == TypeKind.FUNCTIONPROTO else []
    for number, each in enumerate(arguments(call)):
        inside = uncast(each)
        wanted = types[number].get_canonical() if number < len(types) else None
        if inside.kind != CursorKind.UNARY_OPERATOR or unary_operator(inside) != "&":
            continue
        variable = variable_of(inside)
        is_read = wanted is not None and wanted.kind == TypeKind.POINTER and wanted.get_pointee().is_const_qualified()
        if variable is not None and not is_read and inside.type.get_canonical().get_pointee().kind in WHOLE:
            yield variable


# Values of host variables that need no expression: constants, members of initialised structs, and names that stay.

_REFERRED = frozenset({CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FIELD_DECL})


def fixed_value(text: str) -> float | None:
    """The value of a formula without names; None if it has names."""
    try:
        return formula_value(text, {})
    except GemmvizError:
        return None


def in_own_names(text: str, outside: HostScope, scope: HostScope) -> str | None:
    """A caller's formula if all its names mean the same to the function that launches."""
    if scope.function is None:
        return None
    names: dict[str, str] = {}
    for parameter, argument in zip(scope.function.parameters, scope.passed, strict=False):
        variable = variable_of(argument)
        if variable is not None:  # of two parameters for one name, neither is meant for sure
            names[variable.spelled] = "" if variable.spelled in names else parameter.spelling
    for name in outside.names.values():
        if name.kind in ("macro", "global"):
            scope.use(name.name, name.kind, name.value)
        elif not names.get(name.name):
            return None
        else:
            scope.use(names[name.name], "parameter", name.value)
    return renamed(text, names)


def is_outside(variable: HostVariable) -> bool:
    """Whether a variable is one of the file, which the callers may set."""
    parent = variable.declaration.semantic_parent
    is_variable = variable.declaration.kind == CursorKind.VAR_DECL and not variable.declaration.type.is_const_qualified()
    return is_variable and parent is not None and (parent.kind.is_translation_unit() or parent.kind == CursorKind.NAMESPACE)


def inner_variable(variable: HostVariable, setting: VariableSetting) -> HostVariable:
    """The variable of a called function that stands for a variable which the call sets."""
    assert setting.inner is not None
    return setting.inner.part(variable.rest(setting.member))


def is_dim3(cursor: Cursor) -> bool:
    return bool(cursor.type.get_canonical().spelling.removeprefix("const ") == "dim3")


def member_value(variable: HostVariable, rest: str, value: Cursor) -> Cursor:
    """The expression of one member or element in the value of a whole struct or array."""
    value, type_ = unwrapped(value), variable.declaration.type.get_canonical()
    if value.kind == CursorKind.INIT_LIST_EXPR:
        inside = inner_parts(value)
        names = [each.spelling for each in (value.type.get_canonical() if is_record(value.type) else type_).get_fields()]
        position = names.index(rest) if rest in names else host_number(rest)
        if 0 <= position < len(inside):
            return inside[position]
    default = default_of(variable)
    if default is not None:
        return default
    raise UnreadError(f"{variable.spelled} isn't set here", variable.declaration)


def default_of(variable: HostVariable) -> Cursor | None:
    """The initialiser of a member in its struct."""
    fields = variable.declaration.type.get_canonical().get_fields()
    return next((initialiser(each) for each in fields if each.spelling == variable.member), None)


def host_number(text: str) -> int:
    return int(text) if text.isdigit() else -1


def kept(variable: HostVariable, value: float | None, scope: HostScope) -> str:
    if variable.declaration.kind not in _REFERRED:
        raise UnreadError(f"{variable.spelled} isn't a variable", variable.declaration)
    return scope.use(variable.spelled, name_kind(variable, scope), host_constant(variable) if value is None else value)


def host_constant(variable: HostVariable) -> float | None:
    """The value of a constant, or of a member's initialiser, where the compiler knows it."""
    if variable.member:
        default = default_of(variable)
        return None if default is None else evaluated(default)
    if not variable.declaration.type.is_const_qualified():
        default = initialiser(variable.declaration) if variable.declaration.kind == CursorKind.FIELD_DECL else None
        return None if default is None else evaluated(default)
    return evaluated(variable.declaration)


def name_kind(variable: HostVariable, scope: HostScope) -> HostNameKind:
    if variable.member or variable.declaration.kind == CursorKind.FIELD_DECL:
        return "member"
    if scope.is_parameter(variable.key) or variable.declaration.kind == CursorKind.PARM_DECL:
        return "parameter"
    return "global" if variable.key in scope.program.constants else "local"
