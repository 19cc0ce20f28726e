"""Everything that a person may set for a run, as one value; and for each setting what forms, flags and messages say about it.

A new setting is a field here, with its ``Control``, and the place that uses it: forms, command lines, files, the worker's
messages and the names of undone changes all follow from the field.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import SettingError
from gemmviz.model.filling import Filling
from gemmviz.model.kernel import LARGEST_NUMBER, KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.setting import Control

_PARTS = (Problem, Filling)
_LONGEST = 200  # characters
_BLOCKS = "Which blocks to trace: all, or X0:X1,Y0:Y1[,Z0:Z1] (half-open). Empty: as many around the watched one as are quick"
_PHASES = "Which phases to trace: 2 or 2-3, counted from 1 as on the stage, with what is before and after them. Empty: all"


@dataclass(frozen=True, slots=True)
class Setup:
    """A kernel, what it multiplies, and what of its run is recorded. Parameters that aren't given are the kernel's own.

    ``blocks`` and ``phases`` are as people write them: "0:2,0:2", "all", or "" for as many blocks as are quick; "2-3", counted
    from 1, or "" for all phases. Raises SettingError for parameters that the kernel hasn't, and for what nobody writes.
    """

    kernel: KernelSpec
    problem: Problem
    parameters: Mapping[str, int] = field(default_factory=dict)
    filling: Filling = field(default_factory=Filling)
    device: Annotated[str, Control("Device", "Whose limits hold", "--device")] = DEFAULT_DEVICE
    blocks: Annotated[str, Control("Blocks", _BLOCKS, "--blocks", empty="as many as are quick", of_record=True)] = ""
    phases: Annotated[str, Control("Phases", _PHASES, "--phases", empty="all", of_record=True)] = ""

    def __post_init__(self) -> None:
        own = self.kernel.defaults
        for name, value in self.parameters.items():
            if name not in own:
                known = ", ".join(own) or "none"
                raise SettingError(f"{self.kernel.name} has no parameter {name}", remedy=f"its parameters: {known}")
            if abs(value) > LARGEST_NUMBER:
                raise SettingError(f"{name} = {value} is beyond 32 bits", names=(name,))
        for name in ("device", "blocks", "phases"):
            if len(getattr(self, name)) > _LONGEST:
                raise SettingError(f"{name} has more than {_LONGEST} characters", names=(name,))
        if len(self.parameters) < len(own):
            object.__setattr__(self, "parameters", {**own, **self.parameters})

    @property
    def sizes_and_parameters(self) -> dict[str, int]:
        """M, N, K and the kernel's parameters, by name."""
        return {**self.problem.sizes, **self.parameters}

    def changed(self, **numbers: int) -> "Setup":
        """These sizes and parameters set anew. Raises SettingError for sizes that no matrix can have."""
        sizes = {name: value for name, value in numbers.items() if name in self.problem.sizes}
        others = {name: value for name, value in numbers.items() if name not in sizes}
        problem = replace(self.problem, **sizes) if sizes else self.problem
        return replace(self, problem=problem, parameters={**self.parameters, **others})


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of a setup, or of a dataclass within it. ``path`` leads to it, ``kind`` is its type."""

    path: tuple[str, ...]
    kind: Any
    default: Any
    control: Control

    @property
    def name(self) -> str:
        return self.path[-1]

    def of(self, value: Any) -> Any:
        """What it is in a setup."""
        for name in self.path:
            value = getattr(value, name)
        return value

    def put(self, value: Any, new: Any) -> Any:
        """The setup with another value here. Raises SettingError where the dataclass around it refuses that."""
        return _put(value, self.path, new)


def settings_of(kind: type) -> Iterator[Setting]:
    """All fields of a dataclass that have a control, those of dataclasses within it among them, in order."""
    hints = get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        hint = hints[each.name]
        if get_origin(hint) is Annotated:
            inner, *extras = get_args(hint)
            control = next(extra for extra in extras if isinstance(extra, Control))
            yield Setting((each.name,), inner, each.default, control)
        elif isinstance(hint, type) and hint in _PARTS:
            for within in settings_of(hint):
                yield replace(within, path=(each.name, *within.path))


def _put(value: Any, path: Sequence[str], new: Any) -> Any:
    inner = new if len(path) == 1 else _put(getattr(value, path[0]), path[1:], new)
    return replace(value, **{path[0]: inner})


def changes(before: Setup, after: Setup, shown: Callable[[Setting, Any], str] = lambda setting, value: str(value)) -> list[str]:
    """What differs between two setups, in words. ``shown`` tells a value as people read it."""
    if before.kernel.name != after.kernel.name:
        return [f"kernel {after.kernel.name}"]
    found = [] if before.kernel.text == after.kernel.text else ["the kernel's text"]
    found += [f"{n} = {v}" for n, v in after.parameters.items() if before.parameters.get(n) != v]
    for each in settings_of(Setup):
        if each.of(before) != each.of(after):
            label, value = each.control.label, shown(each, each.of(after))
            found.append(f"{label} = {value}" if each.control.is_symbol else f"{label.lower()} {value or each.control.empty}")
    return found
