"""A position in a host function from which expressions are read, with the call that leads to it and its callers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clang.cindex import Cursor

from gemmviz.launch.formula import formula_value
from gemmviz.launch.host_code.cursors import Key, WrittenText
from gemmviz.launch.host_code.functions import At, Branch, HostCallCursor, HostFunction, VariableSetting, place_key
from gemmviz.model.errors import GemmvizError
from gemmviz.model.outline import HostName, HostNameKind
from gemmviz.parser.unit import Unit

_MOST_CALLERS = 8


@dataclass(eq=False)
class HostProgram:
    """Functions and constants of a unit: ``functions`` by the place of their declaration."""

    unit: Unit
    texts: WrittenText
    functions: Mapping[tuple[str, int], HostFunction]
    constants: Mapping[Key, list[VariableSetting]]
    kernels: Mapping[tuple[str, int], str]
    kernel_names: frozenset[str]

    def function(self, cursor: Cursor) -> HostFunction | None:
        """The host function with a body that a declaration belongs to."""
        definition = cursor.get_definition() or cursor
        return self.functions.get(place_key(definition)) or self.functions.get(place_key(cursor))


@dataclass(eq=False)
class HostScope:
    """A position in a function. ``caller`` and ``passed``: the scope and the arguments of the call that leads to it;
    ``types``: its template parameters' arguments as texts; ``inlined``: formulas of the parameters of a helper that is read
    in place; ``names`` collects the names that formulas use.
    """

    program: HostProgram
    function: HostFunction | None
    at: At
    caller: "HostScope | None" = None
    passed: tuple[Cursor, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    inlined: Mapping[Key, str] = field(default_factory=dict)
    names: dict[str, HostName] = field(default_factory=dict)
    depth: int = 0

    def use(self, name: str, kind: HostNameKind, value: float | None) -> str:
        """The name for a formula. Its first value counts."""
        if name not in self.names or (self.names[name].value is None and value is not None):
            self.names[name] = HostName(name, kind, value)
        return name

    def value(self, formula: str) -> int | float | None:
        """What a formula gives with the known values; None if a name has none."""
        try:
            return formula_value(formula, {each.name: each.value for each in self.names.values() if each.value is not None})
        except GemmvizError:
            return None

    def settings(self, key: Key) -> list[VariableSetting]:
        """What the function, or the file, sets a variable to."""
        function = self.function
        while function is not None:
            if function.settings.get(key):
                return function.settings[key]
            function = function.outer
        return self.program.constants.get(key, [])

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
        return HostScope(
            self.program, self.function, self.at, self.caller, self.passed, self.types, self.inlined, names, self.depth
        )

    @property
    def is_deep(self) -> bool:
        return self.depth >= _MOST_CALLERS


def is_sure(setting: VariableSetting, at: At) -> bool:
    """Whether a setting takes effect whenever the position is reached: every condition around it is around the position too."""
    mine = {(each.statement, each.arm) for each in at.branches}
    return all((each.statement, each.arm) in mine for each in setting.at.branches)


def is_excluded(setting: VariableSetting, at: At) -> bool:
    """Whether a setting stands in another arm of a condition whose arm the position is in."""
    arms = {each.statement: each.arm for each in at.branches if not each.is_loop}
    return any(arms.get(each.statement, each.arm) != each.arm for each in setting.at.branches)


def relevant(settings: Iterable[VariableSetting], member: str, at: At) -> list[VariableSetting]:
    """Settings of a variable, or of all of it, that the position may see, from the last one that is sure on."""
    seen: list[VariableSetting] = []
    for each in settings:
        if each.member not in ("", member) or is_excluded(each, at):
            continue
        if each.at.offset >= at.offset and not _is_around(each.at.branches, at):
            continue
        if each.at.offset < at.offset and each.value is not None and is_sure(each, at):
            seen = [later for later in seen if later.at.offset > at.offset]
        seen.append(each)
    return seen


def _is_around(branches: tuple[Branch, ...], at: At) -> bool:
    """Whether a later setting runs again before the position, in a loop around both."""
    loops = {each.statement for each in at.branches if each.is_loop}
    return any(each.is_loop and each.statement in loops for each in branches)
