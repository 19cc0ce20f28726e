"""Arguments of a launch: values as formulas, pointers as memory and an offset, structs by their members."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from clang.cindex import Cursor, CursorKind, StorageClass, TemplateArgumentKind, Type, TypeKind, conf
from msgspec import Struct, structs

from gemmviz.cuda.launch.host_code.expressions import formula, helper_of, is_taken, variable_formula
from gemmviz.cuda.launch.host_code.functions import (
    At,
    Branch,
    HostCallCursor,
    HostFunction,
    HostVariable,
    UnreadError,
    VariableSetting,
    arguments,
    called_function,
    callee,
    inner_parts,
    is_record,
    place_key,
    qualified_name,
    referenced_function,
    uncast,
    unwrapped,
    variable_of,
)
from gemmviz.cuda.launch.host_code.scope import HostProgram, HostScope, in_own_names, member_value, relevant
from gemmviz.cuda.parser.unit import binary_operator, evaluated, unary_operator
from gemmviz.model.outline import ArgumentOutline, BufferOutline

# Chains of calls that lead to a launch: which kernel, template arguments and values they choose.

_USUAL_ARGUMENTS = {CursorKind.TEMPLATE_TYPE_PARAMETER: "float", CursorKind.TEMPLATE_NON_TYPE_PARAMETER: "16"}
_MOST_SCOPES = 64  # calls of one function that are told apart


class Target(Struct, frozen=True):
    """A kernel with its template arguments and the types of its parameters; whether it is a template."""

    kernel: str
    arguments: tuple[str, ...]
    parameter_types: tuple[Type, ...]
    is_template: bool = False


def scopes_of(function: HostFunction, at: At, program: HostProgram, depth: int = 0) -> Iterator[HostScope]:
    """Scopes of a position in a function: one for each call of the function, or one without if nobody calls it."""
    count = 0
    for each in program.calls_of(function) if depth < 8 else ():
        for outside in scopes_of(each.caller, each.call.at, program, depth + 1):
            count += 1
            if count > _MOST_SCOPES:
                return
            types = _types(function, template_arguments(each.target, outside))
            yield HostScope(program, function, at, outside, tuple(arguments(each.call.cursor)), types, depth=depth)
            break
    if not count:
        for types in _instantiations(function, program):
            missing = [each for each in function.template_parameters if each.spelling and each.spelling not in types]
            usual = {each.spelling: _USUAL_ARGUMENTS[each.kind] for each in missing if each.kind in _USUAL_ARGUMENTS}
            yield HostScope(program, function, at, types={**types, **usual}, assumed=tuple(usual), depth=depth)


def instantiated(scope: HostScope) -> HostScope | None:
    """The same position in what the compiler made of the templates that lead to it; None if there is no template, or nobody
    calls it.
    """
    function, outside = scope.function, scope.caller
    if function is None or outside is None:
        return None
    outside = instantiated(outside) or outside
    for call in outside.calls:
        target = called_function(call.cursor) if call.at.offset == outside.at.offset else None
        made = None if target is None else scope.program.instance(target)
        if made is not None and place_key(made.cursor) == place_key(function.cursor):
            at = next((each.at for each in made.calls if each.at.offset == scope.at.offset), None)
            given = tuple(arguments(call.cursor))
            return None if at is None else HostScope(scope.program, made, at, outside, given, depth=scope.depth)
    return None


def never_reached(scope: HostScope) -> UnreadError | None:
    """Why a position is never reached: a condition around it, or around a call that leads to it, or a return in front of it."""
    while True:
        for each in scope.at.branches:
            if is_taken(each, scope) is False:
                return UnreadError(f"it isn't made: {condition_text(each, scope)} is false", each.condition or each.subject)
        for value, at in scope.function.returns if scope.function is not None else ():
            is_before = (at.offset if value is None else value.extent.end.offset) < scope.at.offset
            if is_before and all(is_taken(each, structs.replace(scope, at=at)) for each in at.branches):
                return UnreadError("it isn't made: the function returns in front of it", value)
        if scope.caller is None:
            return None
        scope = scope.caller


def condition_text(branch: Branch, scope: HostScope) -> str:
    """The condition under which an arm runs, as written."""
    texts = scope.program.texts
    if branch.subject is not None:
        return f"{texts.text(branch.subject)} == {' or '.join(texts.text(each) for each in branch.values)}"
    text = texts.text(branch.condition) if branch.condition is not None else ""
    return f"!({text})" if branch.arm else text


def _instantiations(function: HostFunction, program: HostProgram) -> Iterator[Mapping[str, str]]:
    """Template arguments of a function that nobody calls: those of explicit instantiations, else its defaults."""
    name = re.escape(function.name.rpartition("::")[2])
    explicit = re.compile(rf"\btemplate\s+(?!<)[^;{{}}()=]*?\b{name}\s*<([^;{{}}()]*)>\s*\(")
    texts = program.unit.source.files.values() if function.template_parameters else ()
    given = dict.fromkeys(tuple(map(str.strip, split(match[1]))) for text in texts for match in explicit.finditer(text))
    yield from [_types(function, each) for each in given] or [_types(function, ())]


def _types(function: HostFunction, given: tuple[str, ...]) -> Mapping[str, str]:
    """Arguments by the names of the template parameters; defaults for those that aren't given."""
    defaults = {each.spelling: function.default(each) for each in function.template_parameters}
    known = {each.spelling: text for each, text in zip(function.template_parameters, given, strict=False)}
    return {name: text for name, text in {**defaults, **known}.items() if text}


def launched_kernel(cursor: Cursor, scope: HostScope) -> Target | None:
    """The kernel that an expression means, followed through function pointers and callers; None if it is no kernel."""
    cursor = _reference_in(cursor)
    kernel = referenced_function(cursor)
    if kernel is not None:
        definition = kernel.get_definition() or kernel
        name = scope.program.kernels.get(place_key(definition)) or scope.program.kernels.get(place_key(kernel))
        if name is None and qualified_name(kernel) not in scope.program.kernel_names:
            return None
        types = tuple(each.type for each in kernel.get_arguments() if each is not None) or _template_types(kernel)
        is_template = kernel.kind == CursorKind.FUNCTION_TEMPLATE
        return Target(name or qualified_name(kernel), template_arguments(cursor, scope), types, is_template)
    variable = variable_of(cursor)
    if variable is None:
        return None
    passed = scope.argument(variable.key)
    if passed is not None and scope.caller is not None:
        return launched_kernel(passed, scope.caller)
    for each in reversed(scope.settings(variable.key)):
        if each.value is not None and each.member == variable.member and uncast(each.value) != cursor:
            return launched_kernel(each.value, scope)
    return None


def _reference_in(cursor: Cursor) -> Cursor:
    """The reference inside casts and ``&``; a template's reference as a whole."""
    cursor = uncast(cursor)
    while cursor.kind == CursorKind.UNARY_OPERATOR:
        cursor = uncast(next(iter(cursor.get_children())))
    return cursor


def _template_types(kernel: Cursor) -> tuple[Type, ...]:
    return tuple(each.type for each in kernel.get_children() if each.kind == CursorKind.PARM_DECL)


def deduced(target: Target, reference: Cursor, given: tuple[Cursor, ...], scope: HostScope) -> Target:
    """A kernel template that is launched without template arguments inside another template, with its arguments' types."""
    kernel = referenced_function(_reference_in(reference))
    if target.arguments or kernel is None or kernel.kind != CursorKind.FUNCTION_TEMPLATE:
        return target
    types: dict[str, str] = {}
    for parameter, argument in zip(target.parameter_types, given, strict=False):
        own, passed = (_bare_type(each.spelling) for each in (parameter, argument.type))
        if argument.type.kind != TypeKind.DEPENDENT:
            types.setdefault(own, _template_argument(passed, scope))
    names = [each.spelling for each in kernel.get_children() if each.kind == CursorKind.TEMPLATE_TYPE_PARAMETER]
    return (
        structs.replace(target, arguments=tuple(types[each] for each in names))
        if names and types.keys() >= {*names}
        else target
    )


def _bare_type(type_: str) -> str:
    """A type without const, references and pointers."""
    return " ".join(re.sub(r"\b(?:const|__restrict(?:__)?)\b|[*&]", " ", type_).split())


def template_arguments(reference: Cursor, scope: HostScope) -> tuple[str, ...]:
    """Template arguments of a reference to a function: those the compiler knows, else as written with those of the scope."""
    function = reference.referenced
    count = function.get_num_template_arguments() if function is not None else -1
    if function is None or count <= 0:
        return _written_arguments(reference, scope)
    values = [each for each in reference.get_children() if each.kind.is_expression()]
    try:
        kinds = [function.get_template_argument_kind(number) for number in range(count)]
    except ValueError:  # a pack, which the bindings don't know
        return _written_arguments(reference, scope)
    texts: list[str] = []
    for number, kind in enumerate(kinds):
        if kind == TemplateArgumentKind.INTEGRAL:
            value = function.get_template_argument_value(number)
            value = abs(value) if _is_bool(function, number) else value  # true is a one-bit -1
            texts.append(_as_written(values.pop(0), value, scope) if values else str(value))
        else:
            texts.append(function.get_template_argument_type(number).spelling)
    return tuple(texts)


def _is_bool(function: Cursor, number: int) -> bool:
    """Whether a parameter of the template that a function is made from is a bool."""
    template = conf.lib.clang_getSpecializedCursorTemplate(function)
    own = [each for each in template.get_children() if each.kind.name.startswith("TEMPLATE_")] if template is not None else []
    return number < len(own) and own[number].type.kind == TypeKind.BOOL


def _as_written(cursor: Cursor, value: int, scope: HostScope) -> str:
    """The formula of a template argument, if it gives the value that the compiler gives it; a constant of an enumeration by its
    whole name.
    """
    if cursor.type.get_canonical().kind == TypeKind.ENUM and cursor.referenced is not None:
        return qualified_name(cursor.referenced) if cursor.referenced.kind == CursorKind.ENUM_CONSTANT_DECL else str(value)
    inner = scope.fresh()
    try:
        text = formula(cursor, inner)
    except UnreadError:
        return str(value)
    return scope.adopt(text, inner.names) if inner.value(text) == value else str(value)


def _written_arguments(reference: Cursor, scope: HostScope) -> tuple[str, ...]:
    text = scope.program.texts.text(reference)
    if "<" not in text or not text.endswith(">"):
        return ()
    return tuple(_template_argument(each.strip(), scope) for each in split(text[text.index("<") + 1 : -1]))


def _template_argument(text: str, scope: HostScope) -> str:
    """A template argument as written in a template, with the arguments of that template put in."""
    text = re.sub(r"[A-Za-z_]\w*", lambda match: scope.types.get(match[0], match[0]), text)
    value = scope.value(text)
    return text if value is None else str(value)


def split(text: str) -> list[str]:
    """Parts between the commas that stand in no brackets."""
    found, depth, start = [], 0, 0
    for number, letter in enumerate(text):
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and not depth:
            found.append(text[start:number])
            start = number + 1
    return [*found, text[start:]] if text.strip() else []


# Memory that a launch works on: its size and the copies of it that the host code makes, in this function and its callers.

_ALLOCATIONS = {"cudaMalloc": 1, "cudaMallocManaged": 1, "cudaMallocAsync": 1, "hipMalloc": 1, "hipMallocManaged": 1}
_COPY_CALLS = frozenset({"cudaMemcpy", "cudaMemcpyAsync", "hipMemcpy", "hipMemcpyAsync"})
_ZEROES = frozenset({"cudaMemset", "cudaMemsetAsync", "hipMemset"})
_COPIES_2D = frozenset({"cudaMemcpy2D", "cudaMemcpy2DAsync", "hipMemcpy2D"})
_FREES = frozenset({"cudaFree", "cudaFreeAsync", "hipFree"})
_HOST_ALLOCATIONS = frozenset({"malloc", "calloc", "realloc", "aligned_alloc"})
_HOST_CONTAINERS = ("std::vector<", "std::array<", "thrust::host_vector<")
_TO_HOST, _TO_DEVICE = "MemcpyDeviceToHost", "MemcpyHostToDevice"
_MOST_PADDED = 4  # bytes of memory for each that is copied
_EARLY, _LATE = frozenset({"before"}), frozenset({"after"})


class Use(Struct, frozen=True):
    """A buffer as one function calls it."""

    variable: HostVariable
    scope: HostScope

    @property
    def word(self) -> str:
        """The last word of its name."""
        return self.variable.member.rpartition(".")[2] or str(self.variable.declaration.spelling)


def buffer_outline(variable: HostVariable, scope: HostScope) -> BufferOutline:
    """What the host code does with the memory behind a pointer, from its first function to its callers."""
    pointee = variable.declaration.type.get_canonical().get_pointee()
    size = pointee.get_size() if pointee.kind != TypeKind.INVALID else 0
    found = BufferOutline(variable.spelled, element_bytes=max(size, 0))
    use, outer = Use(variable, scope), _outer(Use(variable, scope))
    found, is_mapped = _used(found, use, scope), _is_mapped(use)
    while outer is not None:
        use = outer
        found, is_mapped = _used(found, use, scope), is_mapped or _is_mapped(use)
        outer = _outer(use)
    return found if is_mapped or found.memory else structs.replace(found, memory=_host_memory(use, found))


def _is_mapped(use: Use) -> bool:
    """Whether a call allocates the memory, makes it usable on the device, or may set the pointer."""
    for call in use.scope.calls:
        name = call.cursor.spelling
        is_known = name in _FREES | _COPY_CALLS | _COPIES_2D | _ZEROES
        for each in arguments(call.cursor) if not is_known else ():
            is_address = uncast(each).kind == CursorKind.UNARY_OPERATOR and unary_operator(uncast(each)) == "&"
            if _is_used_variable(each, use) and (is_address or "HostRegister" in name or name in _ALLOCATIONS):
                return True
    return False


def _host_memory(use: Use, found: BufferOutline) -> Literal["", "host", "none"]:
    """Where memory is that no call allocates for the device."""
    declaration, function = use.variable.declaration, use.scope.function
    if use.variable.member or function is None or use.scope.is_parameter(use.variable.key):
        return ""
    type_ = declaration.type.get_canonical()
    parent = declaration.semantic_parent
    is_local = declaration.kind == CursorKind.VAR_DECL and parent is not None and not parent.kind.is_translation_unit()
    is_array = type_.kind == TypeKind.CONSTANTARRAY and is_local and declaration.storage_class != StorageClass.STATIC
    if is_array or type_.spelling.startswith(_HOST_CONTAINERS):
        return "host"
    settings = relevant(use.scope.settings(use.variable.key), use.variable, use.scope.at)
    if not settings:
        is_unset = is_local and type_.kind == TypeKind.POINTER and "before" not in found.passed
        return "none" if is_unset else ""
    values = [uncast(each.value) for each in settings if each.value is not None]
    is_host = len(values) == len(settings) and all(
        each.kind == CursorKind.CXX_NEW_EXPR or each.spelling in _HOST_ALLOCATIONS for each in values
    )
    return "host" if is_host else ""


def _outer(use: Use) -> Use | None:
    """The same memory in the function that calls this one."""
    argument = use.scope.argument(use.variable.key)
    if argument is None or use.scope.caller is None or use.variable.member:
        return None
    outside = variable_of(argument)
    return None if outside is None else Use(outside, use.scope.caller)


def _used(found: BufferOutline, use: Use, scope: HostScope) -> BufferOutline:
    """The buffer with what one function does to it. A name that stands in other places than in calls that are known may be
    passed on there, under another name.
    """
    known = known_before = 1  # its declaration
    texts, function, at = use.scope.program.texts, use.scope.function, use.scope.at
    for call in use.scope.calls:
        given = arguments(call.cursor)
        if not any(_is_used_variable(each, use) for each in given):
            continue
        count = texts.words(call.cursor)[use.word] or sum(_is_used_variable(each, use) for each in given)  # 0 inside of a macro
        known += count
        known_before += count if call.at.offset < at.offset else 0
        if call.at.offset != use.scope.at.offset and never_reached(structs.replace(use.scope, at=call.at)) is None:
            found = _after_call(found, call, given, use, scope)
    if function is not None and texts.words(function.cursor)[use.word] > known:
        is_again = any(each.is_loop for each in at.branches) or function.outer is not None
        is_before = is_again or texts.words(function.cursor, at.offset)[use.word] > known_before
        found = structs.replace(found, passed=found.passed | _LATE | (_EARLY if is_before else frozenset()))
    return found


def _after_call(found: BufferOutline, call: HostCallCursor, given: list[Cursor], use: Use, scope: HostScope) -> BufferOutline:
    """The buffer with what one call does to it."""
    name, when = call.cursor.spelling, _when(call, use.scope)
    if name in _ALLOCATIONS and len(given) > 1:
        is_shared = name.endswith("Managed")
        found = structs.replace(found, passed=_EARLY | _LATE) if is_shared else structs.replace(found, memory="device")
        return structs.replace(found, bytes=found.bytes or _bytes(given[1], use, scope))
    if name in _FREES:
        return found
    if name in _COPY_CALLS | _COPIES_2D and len(given) > 2:
        return _after_copy(found, call, given, use, scope)
    if name in _ZEROES and len(given) > 2:
        is_zeroed = evaluated(uncast(given[1])) in (0, None) and _is_whole_memory(given[0], given[2], found, use, scope)
        return structs.replace(found, is_zeroed=found.is_zeroed or (is_zeroed and when >= _EARLY))
    return structs.replace(found, passed=found.passed | when)


def _after_copy(found: BufferOutline, call: HostCallCursor, given: list[Cursor], use: Use, scope: HostScope) -> BufferOutline:
    is_flat, is_target, when = call.cursor.spelling in _COPY_CALLS, _is_used_variable(given[0], use), _when(call, use.scope)
    direction = uncast(given[-1 if not is_flat else min(3, len(given) - 1)]).spelling
    if direction.endswith(_TO_HOST if is_target else _TO_DEVICE):
        return structs.replace(found, misdirected=found.misdirected or use.scope.program.unit.place(call.cursor.extent))
    if is_flat and not _is_whole_memory(given[0 if is_target else 1], given[2], found, use, scope):
        return found
    if is_target:
        return structs.replace(found, is_copied_in=found.is_copied_in or when >= _EARLY)
    return structs.replace(found, is_copied_out=found.is_copied_out or when >= _LATE)


def _when(call: HostCallCursor, scope: HostScope) -> frozenset[str]:
    """Whether a call runs before the position, after it, or both: in a loop around it, or around a lambda that it is in."""
    loops = {each.statement for each in scope.at.branches if each.is_loop}
    is_both = any(each.is_loop and each.statement in loops for each in call.at.branches)
    if is_both or (scope.function is not None and scope.function.outer is not None):
        return _EARLY | _LATE
    return _EARLY if call.at.offset < scope.at.offset else _LATE


def _is_whole_memory(pointer: Cursor, count: Cursor, found: BufferOutline, use: Use, scope: HostScope) -> bool:
    """Whether a number of bytes is all of the memory but for padding, or that isn't known: the pointer is to a part of it."""
    if variable_of(pointer) is None or not found.bytes:
        return True
    inner = use.scope.fresh()
    try:
        bytes, size = inner.value(formula(count, inner)), scope.value(found.bytes)
    except UnreadError:
        return True
    return bytes is None or size is None or bytes * _MOST_PADDED >= size


def _is_used_variable(cursor: Cursor, use: Use) -> bool:
    inside = uncast(cursor)
    if inside.kind == CursorKind.BINARY_OPERATOR:  # a copy to a part of it
        inside = next(iter(inside.get_children()), inside)
    variable = variable_of(inside)
    return variable is not None and (variable.key, variable.member) == (use.variable.key, use.variable.member)


def _bytes(cursor: Cursor, use: Use, scope: HostScope) -> str:
    """A size in names of the function that launches; as a number if a caller's names stand in it; "" if unread."""
    try:
        if use.scope is scope:
            return formula(cursor, scope)
        outside = use.scope.fresh()
        text = formula(cursor, outside)
        own = in_own_names(text, outside, scope) if scope.caller is use.scope else None
        return own if own is not None else _integer_text(outside.value(text))
    except UnreadError:
        return ""


def _integer_text(value: float | None) -> str:
    return "" if value is None else str(int(value))


_ADDRESS_KINDS = frozenset({TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY, TypeKind.NULLPTR})


class ArgumentReader:
    """Reads the arguments of one launch and collects the memory that they point to."""

    def __init__(self, scope: HostScope) -> None:
        self.scope = scope
        self.buffers: dict[str, BufferOutline] = {}

    def read(self, cursor: Cursor, parameter: Type | None) -> ArgumentOutline:
        """The outline of an argument for a parameter of the kernel. Raises UnreadError."""
        text = self.scope.program.texts.text(cursor)
        type_ = (parameter or cursor.type).get_canonical()
        if type_.kind in _ADDRESS_KINDS or cursor.type.get_canonical().kind in _ADDRESS_KINDS:
            buffer, offset = self._pointer(cursor, type_)
            return ArgumentOutline(text, "pointer", offset, buffer)
        if is_record(type_) and is_record(uncast(cursor).type):
            return ArgumentOutline(text, "struct", fields=self._fields(cursor, type_))
        return ArgumentOutline(text, "value", formula(cursor, self.scope))

    def _pointer(self, cursor: Cursor, wanted: Type) -> tuple[str, str]:
        """The name of the memory and the elements in front of the pointer."""
        cursor = uncast(cursor)
        if _is_null(cursor):
            return "", "0"
        if cursor.kind == CursorKind.BINARY_OPERATOR and binary_operator(cursor) in "+-":
            base, index = inner_parts(cursor)[:2]
            return self._moved(base, binary_operator(cursor), index, wanted)
        if cursor.kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) == "&":
            inside = unwrapped(inner_parts(cursor)[0])
            if inside.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
                base, index = inner_parts(inside)[:2]
                return self._moved(base, "+", index, wanted)
        if cursor.kind == CursorKind.CONDITIONAL_OPERATOR:
            return self._pointer(inner_parts(cursor)[1], wanted)
        if cursor.kind == CursorKind.CALL_EXPR:
            return self._pointer(_object_of(cursor), wanted)
        return self._variable(cursor, wanted)

    def _variable(self, cursor: Cursor, wanted: Type) -> tuple[str, str]:
        variable = variable_of(cursor)
        if variable is None:
            raise UnreadError(f"{self.scope.program.texts.text(cursor)} isn't a pointer that can be followed", cursor)
        for each in self._aliases(variable):
            here = self.scope
            self.scope = structs.replace(here, at=At(each.extent.start.offset, here.at.branches))  # p = p + n isn't seen again
            try:
                return self._pointer(each, wanted)
            finally:
                self.scope = here
        if variable.spelled not in self.buffers:
            self.buffers[variable.spelled] = buffer_outline(variable, self.scope)
        return variable.spelled, "0"

    def _aliases(self, variable: HostVariable) -> list[Cursor]:
        """What a pointer variable points to if it is set once, to a part of other memory."""
        settings = relevant(self.scope.settings(variable.key), variable, self.scope.at)
        values = [each.value for each in settings]
        if variable.member or len(values) != 1 or values[0] is None:
            return []
        value = uncast(values[0])
        is_part = value.kind == CursorKind.BINARY_OPERATOR or (value.kind == CursorKind.CALL_EXPR and _is_data(value))
        return [value] if is_part else []

    def _moved(self, base: Cursor, sign: str, index: Cursor, wanted: Type) -> tuple[str, str]:
        buffer, offset = self._pointer(base, wanted)
        mine, its = (_element_bytes(each) for each in (unwrapped(base).type.get_canonical(), wanted))
        moved = f"({sign if sign == '-' else ''}{formula(index, self.scope)})"
        if mine and its and mine != its:
            moved = f"({moved} * {mine} / {its})"
        return buffer, moved if offset == "0" else f"({offset} + {moved})"

    def _fields(self, cursor: Cursor, type_: Type) -> tuple[ArgumentOutline, ...]:
        """Arguments of a struct's members, in order; an unread one stands as such."""
        inside = uncast(cursor)
        while inside.kind == CursorKind.CALL_EXPR and len(inner_parts(inside)) == 1:  # a copy
            inside = uncast(inner_parts(inside)[0])
        return tuple(self._field(inside, each.spelling, each.type) for each in type_.get_fields())

    def _field(self, whole: Cursor, name: str, type_: Type) -> ArgumentOutline:
        variable = variable_of(whole)
        try:
            if variable is None:
                raise UnreadError("a value without a name", whole)
            member = variable.part(name)
            settings = relevant(self.scope.settings(variable.key), member, self.scope.at)
            last = next((each for each in reversed(settings) if each.value is not None), None)
            is_made = last is not None and last.value is not None and helper_of(last.value, self.scope) is not None
            value = None if last is None or is_made else _member_cursor(member, last, type_)
            return self._unset(member, type_) if value is None else self.read(value, type_)
        except UnreadError:
            return ArgumentOutline(name, "unread")

    def _unset(self, member: HostVariable, type_: Type) -> ArgumentOutline:
        """A member that nothing sets by assignment, such as a pointer that cudaMalloc sets."""
        if type_.get_canonical().kind in _ADDRESS_KINDS:
            self.buffers[member.spelled] = buffer_outline(member, self.scope)
            return ArgumentOutline(member.spelled, "pointer", "0", member.spelled)
        return ArgumentOutline(member.spelled, "value", variable_formula(member, self.scope))


def _member_cursor(member: HostVariable, setting: VariableSetting, type_: Type) -> Cursor | None:
    """What a setting gives a member; None for a pointer that it leaves to be set by a call."""
    if setting.value is None:
        raise UnreadError(f"{member.spelled} changes", member.declaration)
    rest = member.rest(setting.member)
    try:
        value = member_value(member, rest, setting.value) if rest else setting.value
    except UnreadError:
        if type_.get_canonical().kind in _ADDRESS_KINDS:
            return None
        raise
    return None if type_.get_canonical().kind in _ADDRESS_KINDS and _is_null(uncast(value)) else value


def _is_null(cursor: Cursor) -> bool:
    return evaluated(cursor) == 0 or cursor.kind in (CursorKind.CXX_NULL_PTR_LITERAL_EXPR, CursorKind.GNU_NULL_EXPR)


def _object_of(call: Cursor) -> Cursor:
    """The object whose method returns a pointer, ``buffer.data()``, or the pointer that a function passes on."""
    target = callee(call)
    if target is not None and target.kind == CursorKind.MEMBER_REF_EXPR and inner_parts(target):
        return inner_parts(target)[0]
    inside = [each for each in call.get_arguments() if each is not None]
    if len(inside) == 1:
        return inside[0]
    raise UnreadError("a pointer that a function returns", call)


def _is_data(call: Cursor) -> bool:
    target = callee(call)
    is_method = target is not None and target.kind == CursorKind.MEMBER_REF_EXPR and bool(inner_parts(target))
    return is_method or call.spelling == "raw_pointer_cast"


def _element_bytes(type_: Type) -> int:
    if type_.kind not in _ADDRESS_KINDS or type_.kind == TypeKind.NULLPTR:
        return 0
    inner = type_.get_pointee() if type_.kind == TypeKind.POINTER else type_.element_type
    return max(int(inner.get_size()), 0)
