"""Launches of a host function: ``<<< >>>`` and the runtime's functions that launch, for each caller that chooses a kernel."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod

from clang.cindex import Cursor, CursorKind, Type, TypeKind
from msgspec import Struct, structs

from gemmviz.cuda.launch.formula import formula_value, names_in
from gemmviz.cuda.launch.host_code.arguments import (
    ArgumentReader,
    Target,
    deduced,
    instantiated,
    launched_kernel,
    never_reached,
    scopes_of,
)
from gemmviz.cuda.launch.host_code.expressions import call_scope, copied_host_value, folded, formula, helper_of, setting_formula
from gemmviz.cuda.launch.host_code.functions import (
    CAST_KINDS,
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
    functions_of,
    host_functions,
    initialiser,
    inner_parts,
    is_configured,
    is_kernel,
    is_record,
    key_of,
    place_key,
    qualified_name,
    uncast,
    unwrapped,
    variable_of,
)
from gemmviz.cuda.launch.host_code.scope import (
    HOLDERS,
    HostProgram,
    HostScope,
    in_own_names,
    inner_variable,
    is_outside,
    member_value,
    relevant,
)
from gemmviz.cuda.parser.unit import Unit, binary_operator, evaluated, unary_operator
from gemmviz.model.messages import GemmvizError
from gemmviz.model.outline import (
    ArgumentOutline,
    FileOutline,
    HostName,
    KernelOutline,
    LaunchOutline,
    ParameterOutline,
    TemplateKind,
    TemplateParameter,
    UnreadPart,
)

# Extents of grids and blocks: dim3 values to three formulas.

AXES = ("x", "y", "z")


def launch_extents(cursor: Cursor, scope: HostScope) -> tuple[str, str, str]:
    """The x, y and z of a grid or block. Raises UnreadError if they aren't arithmetic."""
    cursor = unwrapped(cursor)
    if cursor.kind in CAST_KINDS and is_record(cursor.type):
        return launch_extents(inner_parts(cursor)[-1], scope)
    if not is_record(cursor.type) and cursor.kind not in (CursorKind.INIT_LIST_EXPR, CursorKind.VAR_DECL):
        dependent = variable_of(cursor)
        if dependent is None or not is_record(dependent.declaration.type):
            return formula(cursor, scope), "1", "1"
    match cursor.kind:
        case CursorKind.INIT_LIST_EXPR | CursorKind.VAR_DECL | CursorKind.UNEXPOSED_EXPR:
            return _given_extents([each for each in inner_parts(cursor) if each.kind.is_expression()], scope)
        case CursorKind.CONDITIONAL_OPERATOR:
            condition, yes, no = inner_parts(cursor)
            test, several = formula(condition, scope), zip(launch_extents(yes, scope), launch_extents(no, scope), strict=True)
            x, y, z = (a if a == b else f"({a} if {test} else {b})" for a, b in several)
            return x, y, z
        case CursorKind.CALL_EXPR:
            return _called_extents(cursor, scope)
    variable = variable_of(cursor)
    if variable is None:
        raise UnreadError(f"{scope.program.texts.text(cursor) or 'this'} isn't a size of threads or blocks", cursor)
    x, y, z = (_axis(variable, axis, scope) for axis in AXES)
    return x, y, z


def _called_extents(cursor: Cursor, scope: HostScope) -> tuple[str, str, str]:
    helper = helper_of(cursor, scope)
    if helper is not None:
        source, there = copied_host_value(cursor, scope)
        if source != cursor:
            return launch_extents(source, there)
    given = arguments(cursor)
    if cursor.referenced is not None and cursor.referenced.kind != CursorKind.CONSTRUCTOR:
        raise UnreadError(f"{scope.program.texts.text(cursor)} isn't known before the program runs", cursor)
    if len(given) == 1 and is_record(unwrapped(given[0]).type):
        return launch_extents(given[0], scope)
    return _given_extents(given, scope)


def _given_extents(given: list[Cursor], scope: HostScope) -> tuple[str, str, str]:
    if len(given) == 1 and is_record(unwrapped(given[0]).type):
        return launch_extents(given[0], scope)
    texts = [formula(each, scope) for each in given[:3]] + ["1"] * 3
    return texts[0], texts[1], texts[2]


def _axis(variable: HostVariable, axis: str, scope: HostScope) -> str:
    """One extent of a dim3 variable: what its settings, in order, leave in it."""
    part = variable.part(axis)
    everywhere, argument = scope.settings(variable.key), scope.argument(variable.key)
    settings = relevant(everywhere, part, scope.at)
    if not settings and argument is not None and scope.caller is not None:
        return _passed(variable, axis, argument, scope)
    if scope.caller is not None and is_outside(variable) and all(each.at.offset == 0 for each in settings):
        return _axis(variable, axis, structs.replace(scope.caller, names=scope.names, doubts=scope.doubts))

    def read(setting: VariableSetting, there: HostScope) -> str:
        if setting.inner is not None:
            inner = inner_variable(part, setting)
            whole = structs.replace(inner, member=inner.member.removesuffix(axis).removesuffix("."))
            return _axis(whole, axis, call_scope(setting, there))
        if setting.value is None or setting.member == part.member:
            return setting_formula(part, setting, there)
        return _extent(variable, variable.rest(setting.member), setting.value, AXES.index(axis), there)

    return folded(part, settings, structs.replace(scope, depth=scope.depth + 1), read)


def _extent(variable: HostVariable, rest: str, value: Cursor, axis: int, scope: HostScope) -> str:
    """One extent of the dim3 that is the member ``rest`` of a value."""
    if not rest:
        return launch_extents(value, scope)[axis]
    source, there = copied_host_value(value, scope)
    inner = variable_of(source)
    if inner is not None:
        return _axis(inner.part(rest), AXES[axis], there)
    return launch_extents(member_value(variable, rest, source), there)[axis]


def _passed(variable: HostVariable, axis: str, argument: Cursor, scope: HostScope) -> str:
    """A parameter's extent: a name of the function with the value that the caller passes."""
    assert scope.caller is not None
    outside = scope.caller.fresh()
    text = launch_extents(argument, outside)[AXES.index(axis)]
    own = in_own_names(text, outside, scope) if outside.names else None
    return own or scope.use(f"{variable.spelled}_{axis}", "parameter", outside.value(text))


_BY_ARRAY = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel", "hipLaunchKernel", "hipLaunchCooperativeKernel"})
_COOPERATIVE = frozenset({"cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel"})
_ALLOWS = frozenset({"cudaFuncSetAttribute", "hipFuncSetAttribute"})
_USUAL_SIDE, _USUAL_THREADS, _MANY = 16, 256, 1 << 14


class Written(Struct, frozen=True):
    """A launch as written. ``config``: the cudaLaunchConfig_t that has its extents."""

    kernel: Cursor
    grid: Cursor | None = None
    block: Cursor | None = None
    shared: Cursor | None = None
    arguments: tuple[Cursor, ...] = ()
    config: HostVariable | None = None
    is_cooperative: bool = False


def launches_of(function: HostFunction, program: HostProgram) -> Iterator[LaunchOutline]:
    """Launches in a function, in order; one for each kernel or template argument that its callers choose."""
    for call in function.calls:
        written = _written_launch(call.cursor, function)
        if written is None:
            continue
        found: dict[tuple[object, ...], tuple[Target, HostScope, UnreadError | None]] = {}
        for scope in scopes_of(function, call.at, program):
            target = launched_kernel(written.kernel, scope)
            if target is None:
                continue
            target = deduced(target, written.kernel, written.arguments, scope)
            key, never = (target.kernel, target.arguments, tuple(scope.types.items())), never_reached(scope)
            if key not in found or (found[key][2] is not None and never is None):
                found[key] = target, scope, never
        for target, scope, never in found.values():
            own, is_open = _Reading(written, target, call, scope, never).outline(), _is_open(target, scope)
            made = _instantiated(call, scope) if is_open or not _is_told(own) else None
            if made is not None and (is_open or _is_told(made) or not _is_told(own)):
                yield made
            elif is_open and target.is_template:
                unread = UnreadPart("template arguments", "nobody calls the function that chooses them", own.place)
                yield structs.replace(own, template_arguments=(), unread=(*own.unread, unread))
            else:
                yield own


def _is_open(target: Target, scope: HostScope) -> bool:
    """Whether template arguments of a kernel aren't known, or are parameters of the template that launches it."""
    cursor = None if scope.function is None else scope.function.cursor
    around = [] if cursor is None else [cursor, *filter(None, [cursor.semantic_parent])]
    own = {each.spelling for part in around for each in part.get_children() if each.kind.name.startswith("TEMPLATE_")}
    return not target.arguments or bool({*names_in(target.arguments)} & own - scope.types.keys())


def _is_told(launch: LaunchOutline) -> bool:
    """Whether all parts of a launch can be read; that it isn't made may be among them."""
    return all(each.part == "launch" for each in launch.unread)


def _instantiated(call: HostCallCursor, scope: HostScope) -> LaunchOutline | None:
    """A launch in a template, as the compiler made it, where types are known; None if it made none."""
    inside = instantiated(scope)
    if inside is None or inside.function is None:
        return None
    for each in inside.calls:
        there = structs.replace(inside, at=each.at)
        written = _written_launch(each.cursor, inside.function) if each.at.offset == call.at.offset else None
        target = None if written is None else launched_kernel(written.kernel, there)
        if written is not None and target is not None:
            return _Reading(written, target, each, there, never_reached(there)).outline()
    return None


def made(launches: Iterable[LaunchOutline]) -> tuple[LaunchOutline, ...]:
    """Launches without those that main() never makes, unless there is no other one of the same kernel."""
    every = tuple(launches)
    alive = {each.kernel for each in every if not each.is_dead}
    return tuple(each for each in every if not each.is_dead or each.kernel not in alive)


def _written_launch(call: Cursor, function: HostFunction) -> Written | None:
    """The launch that a call is; None if it is none."""
    given = arguments(call)
    if is_configured(call):
        inside = inner_parts(call)
        setup = [each for each in inside[1].get_arguments() if each is not None]
        grid, block, shared, *_ = (*setup, None, None, None)  # fewer where the text has an error
        return Written(inside[0], grid, block, shared, tuple(inside[2:]))
    if call.spelling in _BY_ARRAY and len(given) >= 4:
        shared = given[4] if len(given) > 4 else None
        packed = _packed_arguments(given[3], function)
        return Written(given[0], given[1], given[2], shared, packed, is_cooperative=call.spelling in _COOPERATIVE)
    if call.spelling == "cudaLaunchKernelEx" and len(given) >= 2:
        return Written(given[1], arguments=tuple(given[2:]), config=variable_of(given[0]))
    if call.spelling == "hipLaunchKernelGGL" and len(given) >= 5:
        return Written(given[0], given[1], given[2], given[3], tuple(given[5:]))
    return None


def _packed_arguments(array: Cursor, function: HostFunction) -> tuple[Cursor, ...]:
    """What the addresses in an array of arguments, ``void* args[] = {&a, &n}``, point to."""
    variable = variable_of(array)
    value = uncast(array)
    if variable is not None:
        settings = function.settings.get(variable.key, [])
        values = [each.value for each in settings if each.member == "" and each.value is not None]
        value = unwrapped(values[-1]) if values else value
    if value.kind != CursorKind.INIT_LIST_EXPR:
        return ()
    inside = (uncast(each) for each in inner_parts(value))
    return tuple(
        inner_parts(each)[0] if each.kind == CursorKind.UNARY_OPERATOR and unary_operator(each) == "&" else each
        for each in inside
    )


class _Reading:
    """Reads one launch in one scope. What can't be read is listed with its reason."""

    def __init__(
        self, written: Written, target: Target, call: HostCallCursor, scope: HostScope, never: UnreadError | None
    ) -> None:
        self.written, self.target, self.call, self.scope = written, target, call, scope
        self.unread: list[UnreadPart] = []
        if never is not None:
            self._note("launch", never)
        for name in scope.assumed:
            reason = f"nobody calls the function with an argument for {name}; {scope.types[name]} is assumed"
            self._note(f"template argument {name}", UnreadError(reason, call.cursor))

    def outline(self) -> LaunchOutline:
        written, unit = self.written, self.scope.program.unit
        reader = ArgumentReader(self.scope)
        given = tuple(self._arguments(reader))
        grid, block = self._extents("grid", written.grid, "gridDim"), self._extents("block", written.block, "blockDim")
        return self._with_usual_values(
            LaunchOutline(
                kernel=self.target.kernel,
                template_arguments=self.target.arguments,
                arguments=given,
                grid=grid,
                block=block,
                shared_bytes=self._shared(),
                file=unit.file_of(self.call.cursor.extent.start),
                place=unit.place(self.call.cursor.extent),
                allowed_shared_bytes=self._allowed(),
                names=self._names(),
                buffers=tuple(reader.buffers.values()),
                unread=tuple(self.unread),
                is_cooperative=written.is_cooperative,
            )
        )

    def _arguments(self, reader: ArgumentReader) -> Iterator[ArgumentOutline]:
        types = self.target.parameter_types
        for number, (cursor, scope) in enumerate(_expanded(self.written.arguments, self.scope), 1):
            reader.scope, parameter = scope, types[number - 1] if number <= len(types) else None
            try:
                yield reader.read(cursor, parameter)
            except UnreadError as error:
                self._note(f"argument {number}", error)
                yield ArgumentOutline(self.scope.program.texts.text(cursor), "unread")
            except RecursionError:
                self._note(f"argument {number}", UnreadError("it is set to itself", cursor))
                yield ArgumentOutline(self.scope.program.texts.text(cursor), "unread")
            self._note_doubts(f"argument {number}")

    def _with_usual_values(self, launch: LaunchOutline) -> LaunchOutline:
        """The launch with values for the names in its block that only the running program knows, each of which is noted."""
        told = names_in([each.formula for each in launch.arguments] + [each.bytes for each in launch.buffers])
        unknown = {each.name for each in launch.names if each.value is None} - {*told}
        names, notes = list(launch.names), list(launch.unread)
        for number, name in enumerate(names):
            axes = [each for each in launch.block if name.name in names_in([each])]
            if axes and (name.name in unknown or (name.value is None and _divides(name.name, launch))):
                is_side = len(axes) > 1 or any(each != "1" for each in launch.block[1:])
                names[number] = structs.replace(name, value=_USUAL_SIDE if is_side else _USUAL_THREADS)
                reason = f"{name.name} is known to the running program only; {names[number].value} is assumed"
                notes.append(UnreadPart("block", reason, launch.place))
        folded = {each.name: each.value for each in names if each.name not in told and each.value is not None}
        grid, block, shared = (
            tuple(simplified(each, folded) for each in part) for part in (launch.grid, launch.block, (launch.shared_bytes,))
        )
        return structs.replace(launch, names=tuple(names), unread=tuple(notes), grid=grid, block=block, shared_bytes=shared[0])

    def _extents(self, part: str, cursor: Cursor | None, member: str) -> tuple[str, ...]:
        try:
            return launch_extents(cursor if cursor is not None else self._configured(member), self.scope)
        except UnreadError as error:
            self._note(part, error)
            return ()
        finally:
            self._note_doubts(part)

    def _configured(self, member: str) -> Cursor:
        """What a cudaLaunchConfig_t's member is set to."""
        config = self.written.config
        settings = self.scope.settings(config.key) if config is not None else []
        values = [each.value for each in settings if each.member == member and each.value is not None]
        if not values:
            raise UnreadError(f"{member} of the launch's configuration isn't set here", self.call.cursor)
        return values[-1]

    def _shared(self) -> str:
        cursor = self.written.shared
        if cursor is None and self.written.config is None:
            return "0"
        return self._text("shared_bytes", lambda: formula(cursor or self._configured("dynamicSmemBytes"), self.scope))

    def _text(self, part: str, read: Callable[[], str]) -> str:
        cursor = self.written.shared
        if cursor is not None and cursor.location.file is None:
            return "0"
        try:
            return read()
        except UnreadError as error:
            if self.written.config is not None:
                return "0"
            self._note(part, error)
            return ""

    def _allowed(self) -> str:
        """Bytes that cudaFuncSetAttribute allows this kernel."""
        others = (each for each in self.scope.program.functions.values() if each is not self.scope.function)
        places = [(self.scope, call) for call in self.scope.calls]
        places += [(HostScope(self.scope.program, each, At(0)), call) for each in others for call in each.calls]
        for scope, call in places:
            given = arguments(call.cursor)
            if call.cursor.spelling not in _ALLOWS or len(given) < 3 or "MaxDynamic" not in uncast(given[1]).spelling:
                continue
            target = launched_kernel(given[0], structs.replace(scope, at=call.at))
            if target is not None and target.kernel == self.target.kernel:
                try:
                    return formula(given[2], structs.replace(scope, at=call.at) if scope is self.scope else scope)
                except UnreadError:
                    return ""
        return ""

    def _names(self) -> tuple[HostName, ...]:
        """The names in the formulas, with the values that the conditions around the launch give them."""
        chosen = dict(pair for each in self.call.at.branches for pair in _equal_constants(each))
        names = self.scope.names.values()
        return tuple(structs.replace(each, value=chosen[each.name]) if each.name in chosen else each for each in names)

    def _note_doubts(self, part: str) -> None:
        for each in self.scope.doubts:
            self._note(part, each)
        self.scope.doubts.clear()

    def _note(self, part: str, error: UnreadError) -> None:
        at = error.cursor if error.cursor is not None and error.cursor.location.file is not None else self.call.cursor
        self.unread.append(UnreadPart(part, error.reason, self.scope.program.unit.place(at.extent)))


def _expanded(given: tuple[Cursor, ...], scope: HostScope) -> Iterator[tuple[Cursor, HostScope]]:
    """Arguments with the scopes that they are read in; of a pack, ``args...``, those that the caller passes."""
    for each in given:
        variable = variable_of(next(iter(each.get_children()), each)) if each.kind == CursorKind.PACK_EXPANSION_EXPR else None
        first = scope.function.position(variable.key) if variable is not None and scope.function is not None else -1
        if first >= 0 and scope.caller is not None:
            outside = structs.replace(scope.caller, names=scope.names, doubts=scope.doubts)
            yield from ((argument, outside) for argument in scope.passed[first:])
        else:
            yield each, scope


def _divides(name: str, launch: LaunchOutline) -> bool:
    """Whether a launch has fewer blocks for a larger value of a name."""
    known = {each.name: each.value if each.value is not None else _MANY for each in launch.names}
    try:
        few, many = (prod(formula_value(each, {**known, name: value}) for each in launch.grid) for value in (_USUAL_THREADS, 1))
    except GemmvizError:
        return False
    return few < many


def simplified(formula: str, values: Mapping[str, int | float]) -> str:
    """A formula without the conditions that these values decide."""
    if " if " not in formula:
        return formula
    text = ast.unparse(_Deciding(values).visit(ast.parse(formula, mode="eval")))
    return f"({text})" if " if " in text else text


class _Deciding(ast.NodeTransformer):
    """Replaces conditions that values decide by the arm that counts."""

    def __init__(self, values: Mapping[str, int | float]) -> None:
        self.values = values

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        try:
            arm = node.body if formula_value(ast.unparse(node.test), self.values) else node.orelse
        except GemmvizError:
            return self.generic_visit(node)
        changed: ast.AST = self.visit(arm)
        return changed


def _equal_constants(branch: Branch) -> Iterator[tuple[str, int | float]]:
    """Variables that equal a constant where a condition holds: ``case 4:`` of a switch, ``if (n == 4)``."""
    if branch.condition is None or branch.arm:
        return
    if branch.subject is not None:
        yield from _equal(branch.subject, branch.condition)
        return
    condition = unwrapped(branch.condition)
    if condition.kind == CursorKind.BINARY_OPERATOR and binary_operator(condition) == "==":
        yield from _equal(*inner_parts(condition)[:2])


def _equal(left: Cursor, right: Cursor) -> Iterator[tuple[str, int | float]]:
    variable, value = variable_of(left), evaluated(right)
    if variable is not None and value is not None:
        yield variable.spelled, value


# A parsed unit to its outline: the kernels of the project's files and their launches.

# Kernels of a unit's project files, with their parameters and template parameters.

_TEMPLATE_KINDS: dict[CursorKind, TemplateKind] = {
    CursorKind.TEMPLATE_TYPE_PARAMETER: "type",
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER: "value",
    CursorKind.TEMPLATE_TEMPLATE_PARAMETER: "template",
}
_POINTERS = frozenset({TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY, TypeKind.DEPENDENTSIZEDARRAY})
_MOST_NESTED = 3  # structs in structs


def kernel_outline(kernel: Cursor, unit: Unit, texts: WrittenText) -> KernelOutline:
    """The outline of a kernel's declaration."""
    children = list(kernel.get_children())
    return KernelOutline(
        name=qualified_name(kernel),
        parameters=tuple(_parameter(each) for each in children if each.kind == CursorKind.PARM_DECL),
        template_parameters=tuple(_template_parameter(each, texts) for each in children if each.kind in _TEMPLATE_KINDS),
        file=unit.file_of(kernel.location),
        place=unit.place(kernel.extent),
    )


def _template_parameter(cursor: Cursor, texts: WrittenText) -> TemplateParameter:
    kind = _TEMPLATE_KINDS[cursor.kind]
    _, is_given, default = texts.text(cursor).partition("=")
    return TemplateParameter(
        cursor.spelling, kind, cursor.type.spelling if kind == "value" else "", default.strip() if is_given else ""
    )


def _parameter(cursor: Cursor) -> ParameterOutline:
    return parameter_outline(cursor.spelling, cursor.type, 0)


def parameter_outline(name: str, type_: Type, nested: int) -> ParameterOutline:
    """The outline of a kernel's parameter, or of a member of a struct that is one."""
    canonical = type_.get_canonical()
    if canonical.kind in _POINTERS:
        inner = canonical.get_pointee() if canonical.kind == TypeKind.POINTER else canonical.element_type
        is_const = inner.is_const_qualified()
        return ParameterOutline(name, type_.spelling, canonical.spelling, inner.spelling.removeprefix("const "), is_const)
    fields: tuple[ParameterOutline, ...] = ()
    if canonical.kind == TypeKind.RECORD and nested < _MOST_NESTED:
        fields = tuple(parameter_outline(each.spelling, each.type, nested + 1) for each in canonical.get_fields())
    return ParameterOutline(name, type_.spelling, canonical.spelling, fields=fields)


def unit_outline(unit: Unit) -> FileOutline:
    """Kernels of the unit's project files and every launch in them. What can't be read is listed, never raised."""
    texts = WrittenText(unit)
    kernels: dict[tuple[str, int], KernelOutline] = {}
    functions: dict[tuple[str, int], HostFunction] = {}
    for cursor in functions_of(unit):
        if is_kernel(cursor):
            kernels[place_key(cursor)] = kernel_outline(cursor, unit, texts)
        elif cursor.is_definition():
            for each in host_functions(cursor):
                functions[_function_key(each)] = each
    names = {place: kernel.name for place, kernel in kernels.items()}
    program = HostProgram(unit, texts, functions, _constants(unit), names, frozenset(names.values()))
    launches = made(launch for function in functions.values() for launch in launches_of(function, program))
    return FileOutline(_defined(kernels), launches)


def _function_key(function: HostFunction) -> tuple[str, int]:
    """The place by which calls find a function; a lambda's is that of its class."""
    return place_key(function.cursor if function.outer is None else function.cursor.type.get_declaration())


def _defined(kernels: dict[tuple[str, int], KernelOutline]) -> tuple[KernelOutline, ...]:
    """Kernels once each: the definition rather than a declaration in front of it."""
    last: dict[tuple[str, int], KernelOutline] = {}
    for kernel in kernels.values():
        key = (kernel.name, len(kernel.parameters))
        present = last.get(key)
        if present is None or _line_count(kernel) >= _line_count(present):
            last[key] = kernel
    return tuple(last.values())


def _line_count(kernel: KernelOutline) -> int:
    return kernel.place.end_line - kernel.place.line


def _constants(unit: Unit) -> dict[Key, list[VariableSetting]]:
    """Initialisers of the variables outside functions, static members and members with initialisers included."""
    found: dict[Key, list[VariableSetting]] = defaultdict(list)
    pending = list(unit.declarations())
    while pending:
        cursor = pending.pop()
        if cursor.kind in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL):
            value = initialiser(cursor)
            if value is not None:
                found[key_of(cursor)].append(VariableSetting("", value, At(0)))
        elif cursor.kind in HOLDERS:
            pending += cursor.get_children()
    return found
