"""Arguments of a launch: values as formulas, pointers as memory and an offset, structs by their members."""

from clang.cindex import Cursor, CursorKind, Type, TypeKind

from gemmviz.launch.host_code.buffers import buffer_outline
from gemmviz.launch.host_code.cursors import (
    HostVariable,
    UnreadError,
    callee,
    inner_parts,
    is_record,
    uncast,
    unwrapped,
    variable_of,
)
from gemmviz.launch.host_code.expressions import formula, variable_formula
from gemmviz.launch.host_code.functions import At, VariableSetting
from gemmviz.launch.host_code.scope import HostScope, relevant
from gemmviz.launch.host_code.values import member_value
from gemmviz.model.outline import ArgumentOutline, BufferOutline
from gemmviz.model.records import replace
from gemmviz.parser.operators import binary_operator, evaluated, unary_operator

_POINTERS = frozenset({TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY, TypeKind.NULLPTR})


class ArgumentReader:
    """Reads the arguments of one launch and collects the memory that they point to."""

    def __init__(self, scope: HostScope) -> None:
        self.scope = scope
        self.buffers: dict[str, BufferOutline] = {}

    def read(self, cursor: Cursor, parameter: Type | None) -> ArgumentOutline:
        """The outline of an argument for a parameter of the kernel. Raises UnreadError."""
        text = self.scope.program.texts.text(cursor)
        type_ = (parameter or cursor.type).get_canonical()
        if type_.kind in _POINTERS or cursor.type.get_canonical().kind in _POINTERS:
            buffer, offset = self._pointer(cursor, type_)
            return ArgumentOutline(text, "pointer", offset, buffer)
        if is_record(type_) and is_record(uncast(cursor).type):
            return ArgumentOutline(text, "struct", fields=self._fields(cursor, type_))
        return ArgumentOutline(text, "value", formula(cursor, self.scope))

    def _pointer(self, cursor: Cursor, wanted: Type) -> tuple[str, str]:
        """The name of the memory and the elements in front of the pointer."""
        cursor = uncast(cursor)
        if evaluated(cursor) == 0 or cursor.kind in (CursorKind.CXX_NULL_PTR_LITERAL_EXPR, CursorKind.GNU_NULL_EXPR):
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
            self.scope = replace(here, at=At(each.extent.start.offset, here.at.branches))  # p = p + n isn't seen again
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
            return self.read(_member_cursor(member, last), type_) if last else self._unset(member, type_)
        except UnreadError:
            return ArgumentOutline(name, "unread")

    def _unset(self, member: HostVariable, type_: Type) -> ArgumentOutline:
        """A member that nothing sets by assignment, such as a pointer that cudaMalloc sets."""
        if type_.get_canonical().kind in _POINTERS:
            self.buffers[member.spelled] = buffer_outline(member, self.scope)
            return ArgumentOutline(member.spelled, "pointer", "0", member.spelled)
        return ArgumentOutline(member.spelled, "value", variable_formula(member, self.scope))


def _member_cursor(member: HostVariable, setting: VariableSetting) -> Cursor:
    if setting.value is None:
        raise UnreadError(f"{member.spelled} changes", member.declaration)
    rest = member.rest(setting.member)
    return member_value(member, rest, setting.value) if rest else setting.value


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
    if type_.kind not in _POINTERS or type_.kind == TypeKind.NULLPTR:
        return 0
    inner = type_.get_pointee() if type_.kind == TypeKind.POINTER else type_.element_type
    return max(int(inner.get_size()), 0)
