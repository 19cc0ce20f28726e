"""Launches of a host function: ``<<< >>>`` and the runtime's functions that launch, for each caller that chooses a kernel."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from clang.cindex import Cursor, CursorKind

from gemmviz.launch.host_code.arguments import ArgumentReader
from gemmviz.launch.host_code.chains import Target, launched_kernel, scopes_of
from gemmviz.launch.host_code.cursors import HostVariable, UnreadError, arguments, inner_parts, uncast, unwrapped, variable_of
from gemmviz.launch.host_code.dimensions import launch_extents
from gemmviz.launch.host_code.expressions import formula
from gemmviz.launch.host_code.functions import Branch, HostCallCursor, HostFunction, is_configured
from gemmviz.launch.host_code.scope import HostProgram, HostScope
from gemmviz.model.outline import ArgumentOutline, HostName, LaunchOutline, UnreadPart
from gemmviz.parser.operators import binary_operator, evaluated, unary_operator

_BY_ARRAY = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel", "hipLaunchKernel", "hipLaunchCooperativeKernel"})
_COOPERATIVE = frozenset({"cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel"})
_ALLOWS = frozenset({"cudaFuncSetAttribute", "hipFuncSetAttribute"})


@dataclass(frozen=True, slots=True)
class Written:
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
        written = _written(call.cursor, function)
        if written is None:
            continue
        seen: set[tuple[object, ...]] = set()
        for scope in scopes_of(function, call.at, program):
            target = launched_kernel(written.kernel, scope)
            if target is None or (target.kernel, target.arguments, tuple(scope.types.items())) in seen:
                continue
            seen.add((target.kernel, target.arguments, tuple(scope.types.items())))
            yield _Reading(written, target, call, scope).outline()


def _written(call: Cursor, function: HostFunction) -> Written | None:
    """The launch that a call is; None if it is none."""
    given = arguments(call)
    if is_configured(call):
        inside = inner_parts(call)
        setup = [each for each in inside[1].get_arguments() if each is not None]
        grid, block, shared, *_ = (*setup, None, None, None)  # fewer where the text has an error
        return Written(inside[0], grid, block, shared, tuple(inside[2:]))
    if call.spelling in _BY_ARRAY and len(given) >= 4:
        shared = given[4] if len(given) > 4 else None
        packed = _packed(given[3], function)
        return Written(given[0], given[1], given[2], shared, packed, is_cooperative=call.spelling in _COOPERATIVE)
    if call.spelling == "cudaLaunchKernelEx" and len(given) >= 2:
        return Written(given[1], arguments=tuple(given[2:]), config=variable_of(given[0]))
    if call.spelling == "hipLaunchKernelGGL" and len(given) >= 5:
        return Written(given[0], given[1], given[2], given[3], tuple(given[5:]))
    return None


def _packed(array: Cursor, function: HostFunction) -> tuple[Cursor, ...]:
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

    def __init__(self, written: Written, target: Target, call: HostCallCursor, scope: HostScope) -> None:
        self.written, self.target, self.call, self.scope = written, target, call, scope
        self.unread: list[UnreadPart] = []

    def outline(self) -> LaunchOutline:
        written, unit = self.written, self.scope.program.unit
        reader = ArgumentReader(self.scope)
        given = tuple(self._argument(number, each, reader) for number, each in enumerate(written.arguments, 1))
        grid, block = self._extents("grid", written.grid, "gridDim"), self._extents("block", written.block, "blockDim")
        return LaunchOutline(
            kernel=self.target.kernel,
            template_arguments=self.target.arguments,
            arguments=given,
            grid=grid,
            block=block,
            shared_bytes=self._shared(),
            file=unit.file_of(self.call.cursor.extent.start),
            place=unit.place(self.call.cursor.extent),
            host_function=self.scope.function.name if self.scope.function is not None else "",
            allowed_shared_bytes=self._allowed(),
            names=self._names(),
            buffers=tuple(reader.buffers.values()),
            conditions=self._conditions(),
            unread=tuple(self.unread),
            is_cooperative=written.is_cooperative,
        )

    def _argument(self, number: int, cursor: Cursor, reader: ArgumentReader) -> ArgumentOutline:
        types = self.target.parameter_types
        parameter = types[number - 1] if number <= len(types) else None
        try:
            return reader.read(cursor, parameter)
        except UnreadError as error:
            self._note(f"argument {number}", error)
            return ArgumentOutline(self.scope.program.texts.text(cursor), "unread")

    def _extents(self, part: str, cursor: Cursor | None, member: str) -> tuple[str, ...]:
        try:
            if cursor is not None:
                return launch_extents(cursor, self.scope)
            return launch_extents(self._configured(member), self.scope)
        except UnreadError as error:
            self._note(part, error)
            return ()

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
        texts = self.scope.program.texts
        for call in self.scope.calls:
            given = arguments(call.cursor)
            if call.cursor.spelling not in _ALLOWS or len(given) < 3 or "MaxDynamic" not in texts.text(given[1]):
                continue
            target = launched_kernel(given[0], self.scope)
            if target is not None and target.kernel == self.target.kernel:
                try:
                    return formula(given[2], self.scope)
                except UnreadError:
                    return ""
        return ""

    def _conditions(self) -> tuple[str, ...]:
        texts = self.scope.program.texts
        conditions = [(each.arm, texts.text(each.condition)) for each in self.call.at.branches if each.condition is not None]
        return tuple(f"!({text})" if arm else text for arm, text in conditions)

    def _names(self) -> tuple[HostName, ...]:
        """The names in the formulas, with the values that the conditions around the launch give them."""
        chosen = dict(pair for each in self.call.at.branches for pair in _chosen(each))
        names = self.scope.names.values()
        return tuple(replace(each, value=chosen[each.name]) if each.name in chosen else each for each in names)

    def _note(self, part: str, error: UnreadError) -> None:
        at = error.cursor if error.cursor.location.file is not None else self.call.cursor
        self.unread.append(UnreadPart(part, error.reason, self.scope.program.unit.place(at.extent)))


def _chosen(branch: Branch) -> Iterator[tuple[str, int | float]]:
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
