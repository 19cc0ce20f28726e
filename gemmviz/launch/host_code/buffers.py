"""Memory that a launch works on: its size and the copies of it that the host code makes, in this function and its callers."""

from clang.cindex import Cursor, CursorKind, TypeKind
from msgspec import Struct

from gemmviz.launch.host_code.chains import never_reached
from gemmviz.launch.host_code.cursors import HostVariable, UnreadError, arguments, uncast, variable_of
from gemmviz.launch.host_code.expressions import formula
from gemmviz.launch.host_code.functions import HostCallCursor
from gemmviz.launch.host_code.scope import HostScope
from gemmviz.launch.host_code.values import in_own_names
from gemmviz.model.outline import BufferOutline
from gemmviz.model.records import replace
from gemmviz.parser.operators import evaluated

_ALLOCATIONS = {"cudaMalloc": 1, "cudaMallocManaged": 1, "cudaMallocAsync": 1, "hipMalloc": 1, "hipMallocManaged": 1}
_COPIES = frozenset({"cudaMemcpy", "cudaMemcpyAsync", "hipMemcpy", "hipMemcpyAsync"})
_ZEROES = frozenset({"cudaMemset", "cudaMemsetAsync", "hipMemset"})
_COPIES_2D = frozenset({"cudaMemcpy2D", "cudaMemcpy2DAsync", "hipMemcpy2D"})
_FREES = frozenset({"cudaFree", "cudaFreeAsync", "hipFree"})
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
    """The buffer with what one function does to it. A name that stands in other places than in calls that are known may be
    passed on there, under another name.
    """
    known = 1  # its declaration
    for call in use.scope.calls:
        given = arguments(call.cursor)
        if not any(_is_same(each, use) for each in given):
            continue
        known += use.scope.program.texts.words(call.cursor)[use.word]
        if call.at.offset != use.scope.at.offset and never_reached(replace(use.scope, at=call.at)) is None:
            found = _called(found, call, given, use, scope)
    function = use.scope.function
    if function is not None and use.scope.program.texts.words(function.cursor)[use.word] > known:
        found = replace(found, passed=_EARLY | _LATE)
    return found


def _called(found: BufferOutline, call: HostCallCursor, given: list[Cursor], use: Use, scope: HostScope) -> BufferOutline:
    """The buffer with what one call does to it."""
    name, when = call.cursor.spelling, _when(call, use.scope)
    if name in _ALLOCATIONS and len(given) > 1:
        is_shared = name.endswith("Managed")
        found = replace(found, passed=_EARLY | _LATE) if is_shared else found
        return replace(found, bytes=found.bytes or _bytes(given[1], use, scope))
    if name in _FREES:
        return found
    if name in _COPIES | _COPIES_2D and len(given) > 2:
        return _copied(found, call, given, use, scope)
    if name in _ZEROES and len(given) > 2:
        is_zeroed = evaluated(uncast(given[1])) in (0, None) and _is_whole(given[0], given[2], found, use, scope)
        return replace(found, is_zeroed=found.is_zeroed or (is_zeroed and when >= _EARLY))
    return replace(found, passed=found.passed | when)


def _copied(found: BufferOutline, call: HostCallCursor, given: list[Cursor], use: Use, scope: HostScope) -> BufferOutline:
    is_flat, is_target, when = call.cursor.spelling in _COPIES, _is_same(given[0], use), _when(call, use.scope)
    direction = uncast(given[-1 if not is_flat else min(3, len(given) - 1)]).spelling
    if direction.endswith(_TO_HOST if is_target else _TO_DEVICE):
        return replace(found, misdirected=found.misdirected or use.scope.program.unit.place(call.cursor.extent))
    if is_flat and not _is_whole(given[0 if is_target else 1], given[2], found, use, scope):
        return found
    if is_target:
        return replace(found, is_copied_in=found.is_copied_in or when >= _EARLY)
    return replace(found, is_copied_out=found.is_copied_out or when >= _LATE)


def _when(call: HostCallCursor, scope: HostScope) -> frozenset[str]:
    """Whether a call runs before the position, after it, or both: in a loop around it, or around a lambda that it is in."""
    loops = {each.statement for each in scope.at.branches if each.is_loop}
    is_both = any(each.is_loop and each.statement in loops for each in call.at.branches)
    if is_both or (scope.function is not None and scope.function.outer is not None):
        return _EARLY | _LATE
    return _EARLY if call.at.offset < scope.at.offset else _LATE


def _is_whole(pointer: Cursor, count: Cursor, found: BufferOutline, use: Use, scope: HostScope) -> bool:
    """Whether a number of bytes is all of the memory but for padding, or that isn't known: the pointer is to a part of it."""
    if variable_of(pointer) is None or not found.bytes:
        return True
    inner = use.scope.fresh()
    try:
        bytes, size = inner.value(formula(count, inner)), scope.value(found.bytes)
    except UnreadError:
        return True
    return bytes is None or size is None or bytes * _MOST_PADDED >= size


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
