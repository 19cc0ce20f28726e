"""Memory that a launch works on: its size and the copies of it that the host code makes, in this function and its callers."""

from dataclasses import dataclass, replace

from clang.cindex import Cursor, CursorKind, TypeKind

from gemmviz.launch.host_code.cursors import HostVariable, UnreadError, arguments, uncast, variable_of
from gemmviz.launch.host_code.expressions import formula
from gemmviz.launch.host_code.functions import HostCallCursor
from gemmviz.launch.host_code.scope import HostScope
from gemmviz.launch.host_code.values import in_own_names
from gemmviz.model.outline import BufferOutline

_ALLOCATIONS = {"cudaMalloc": 1, "cudaMallocManaged": 1, "cudaMallocAsync": 1, "hipMalloc": 1, "hipMallocManaged": 1}
_COPIES = frozenset({"cudaMemcpy", "cudaMemcpyAsync", "hipMemcpy", "hipMemcpyAsync"})
_ZEROES = frozenset({"cudaMemset", "cudaMemsetAsync", "hipMemset"})
_COPIES_2D = frozenset({"cudaMemcpy2D", "cudaMemcpy2DAsync", "hipMemcpy2D"})


@dataclass(frozen=True, slots=True)
class Use:
    """A buffer as one function calls it."""

    variable: HostVariable
    scope: HostScope


def buffer_outline(variable: HostVariable, scope: HostScope) -> BufferOutline:
    """What the host code does with the memory behind a pointer, from its first function to its callers."""
    pointee = variable.declaration.type.get_canonical().get_pointee()
    size = pointee.get_size() if pointee.kind != TypeKind.INVALID else 0
    found = BufferOutline(variable.spelled, element_bytes=max(size, 0))
    use: Use | None = Use(variable, scope)
    while use is not None:
        found = _used(found, use, scope)
        use = _outer(use)
    return found


def _outer(use: Use) -> Use | None:
    """The same memory in the function that calls this one."""
    argument = use.scope.argument(use.variable.key)
    if argument is None or use.scope.caller is None or use.variable.member:
        return None
    outside = variable_of(argument)
    return None if outside is None else Use(outside, use.scope.caller)


def _used(found: BufferOutline, use: Use, scope: HostScope) -> BufferOutline:
    for call in use.scope.calls:
        name, given = call.cursor.spelling, arguments(call.cursor)
        if name in _ALLOCATIONS and len(given) > 1 and _is_same(given[0], use):
            found = replace(found, bytes=found.bytes or _bytes(given[1], use, scope))
        elif name in _COPIES | _COPIES_2D and len(given) > 2:
            found = _copied(found, call, given, use)
        elif name in _ZEROES and given and _is_same(given[0], use):
            found = replace(found, is_zeroed=True)
    return found


def _copied(found: BufferOutline, call: HostCallCursor, given: list[Cursor], use: Use) -> BufferOutline:
    source = given[2 if call.cursor.spelling in _COPIES_2D else 1]
    if _is_same(given[0], use):
        return replace(found, is_copied_in=True)
    return replace(found, is_copied_out=True) if _is_same(source, use) else found


def _is_same(cursor: Cursor, use: Use) -> bool:
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
        return own if own is not None else _number(outside.value(text))
    except UnreadError:
        return ""


def _number(value: float | None) -> str:
    return "" if value is None else str(int(value))
