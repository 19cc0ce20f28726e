"""All settings of a run as one value, with the description of each setting for forms, flags and messages.

A new setting is a field here, with its ``Control``, and the code that uses it: forms, command lines, files, the worker's
messages and the names of undo steps are derived from the field.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Struct, field, structs
from msgspec.structs import force_setattr

from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.kernel import LARGEST_NUMBER, KernelSpec
from gemmviz.model.messages import SettingError, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Control, Setting, first_trouble, settings_of

# Contents of the arrays before a kernel runs.

Pattern = Literal["random", "index", "ones"]
Remains = Literal["zeros", "nan"]
PATTERNS: dict[str, str] = {"random": marked("Random"), "index": marked("Their own index"), "ones": marked("All ones")}
REMAINS: dict[str, str] = {"zeros": marked("Zeros"), "nan": "NaN"}
MOST_SEED = 2**31 - 1
_SEED, _NO_SEED = marked("The same seed gives the same random values"), marked("Only random values have a seed")
_RANDOM = ("pattern", "random")
_OUTPUTS = marked("What outputs of floating-point numbers hold before the kernel runs, unless the problem gives them values")


class Filling(Struct, frozen=True):
    """Contents of the inputs, A and B of a multiplication. ``random``: uniform in [-1, 1), the same for the same seed;
    ``index``: each element its own number; ``ones``: all 1. ``old_outputs``: contents, zeros or NaN, of outputs whose values
    before the run the problem doesn't need; integers are always zero.

    Raises SettingError for an unknown pattern or contents, or a seed that is negative or beyond 31 bits.
    """

    pattern: Annotated[Pattern, Control("Values", "What the inputs hold before the kernel runs", "--fill", PATTERNS)] = "random"
    seed: Annotated[int, Control("Seed", _SEED, "--seed", most=MOST_SEED, needs=_RANDOM, unless=_NO_SEED)] = 0
    old_outputs: Annotated[Remains, Control("Outputs", _OUTPUTS, "--old-outputs", REMAINS)] = "zeros"

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            remedy = tr("choose {patterns}", patterns=", ".join(PATTERNS))
            raise SettingError(
                tr("matrices can't be filled with {pattern}", pattern=f"{self.pattern!r}"), names=("pattern",), remedy=remedy
            )
        if self.old_outputs not in REMAINS:
            remedy = tr("choose {remains}", remains=", ".join(REMAINS))
            raise SettingError(
                tr("outputs can't be filled with {old_outputs}", old_outputs=f"{self.old_outputs!r}"),
                names=("old_outputs",),
                remedy=remedy,
            )
        if not 0 <= self.seed <= MOST_SEED:
            raise SettingError(
                tr("seed = {seed}: it must lie between 0 and {most_seed}", seed=self.seed, most_seed=MOST_SEED), names=("seed",)
            )

    def __str__(self) -> str:
        inputs = tr("random values of seed {seed}", seed=self.seed) if self.pattern == "random" else self.pattern
        return (
            inputs
            if self.old_outputs == "zeros"
            else tr("{inputs}, outputs {remains}", inputs=inputs, remains=REMAINS[self.old_outputs])
        )


_LIMIT = 200  # characters
_BLOCKS = marked(
    "Which blocks to trace: all, or X0:X1,Y0:Y1[,Z0:Z1] (half-open). Empty: as many around the watched one as are quick"
)
_PHASES = marked(
    "Which phases to trace: 2 or 2-3, counted from 1 as on the stage, with what is before and after them. Empty: all"
)


class Setup(Struct, frozen=True):
    """A kernel, the problem that it solves, and the part of its run that is recorded. Parameters that are left out have
    the kernel's defaults.

    ``blocks`` and ``phases`` are text as users write it: "0:2,0:2", "all", or "" for as many blocks as are quick; "2-3",
    counted from 1, or "" for all phases. Raises SettingError for unknown parameters and for values that are out of range.
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
                raise SettingError(
                    tr("{kernel} has no parameter {name}", kernel=self.kernel.name, name=name),
                    remedy=tr("its parameters: {known}", known=known),
                )
            if abs(value) > LARGEST_NUMBER:
                raise SettingError(tr("{name} = {value} is beyond 32 bits", name=name, value=value), names=(name,))
        for name in ("device", "blocks", "phases"):
            if len(getattr(self, name)) > _LIMIT:
                raise SettingError(tr("{name} has more than {longest} characters", name=name, longest=_LIMIT), names=(name,))
        if (trouble := first_trouble(self)) is not None:
            raise SettingError(trouble[1], names=(trouble[0].name,), remedy=trouble[2])
        if len(self.parameters) < len(own):
            force_setattr(self, "parameters", {**own, **self.parameters})

    @property
    def sizes_and_parameters(self) -> dict[str, int]:
        """The problem's sizes, such as M, N and K, and the kernel's parameters, by name."""
        return {**self.problem.sizes, **self.parameters}

    @property
    def definitions(self) -> dict[str, int]:
        """The parameters, and the macros of the kernel's text that stand for sizes: what the text is compiled with."""
        sizes = self.problem.sizes
        return {**{name: sizes[size] for name, size in self.kernel.size_macros}, **self.parameters}

    def changed(self, **numbers: int) -> "Setup":
        """A copy with other sizes and parameters. Raises SettingError for sizes that no matrix can have."""
        sizes = {name: value for name, value in numbers.items() if name in self.problem.sizes}
        others = {name: value for name, value in numbers.items() if name not in sizes}
        problem = self.problem.__replace__(**sizes) if sizes else self.problem
        return structs.replace(self, problem=problem, parameters={**self.parameters, **others})

    @property
    def as_launched(self) -> "Setup":
        """The setup at the sizes that main() launches the kernel with; itself if these aren't known, or if other sizes were
        chosen than those that the kernel is drawn at.
        """
        told = dict(self.kernel.host_sizes)
        if not told or self.problem.sizes != self.kernel.problem.sizes:
            return self
        try:
            return structs.replace(self.changed(**told), blocks="", phases="")
        except SettingError:
            return self

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All settings: the problem's sizes, then the fields that have a control, in order."""
        return (*(each.within("problem") for each in self.problem.settings), *settings_of(type(self)))


def changes(before: Setup, after: Setup, shown: Callable[[Setting, Any], str] = lambda setting, value: str(value)) -> list[str]:
    """Differences between two setups as text. ``shown`` converts a value to text for users."""
    if before.kernel.name != after.kernel.name:
        return [tr("kernel {kernel}", kernel=after.kernel.name)]
    differences = [] if before.kernel.text == after.kernel.text else [tr("the kernel's text")]
    differences += [f"{n} = {v}" for n, v in after.parameters.items() if before.parameters.get(n) != v]
    if before.problem.kind is not after.problem.kind:
        differences.append(tr("problem {kind_title}", kind_title=tr(after.problem.kind.title).lower()))
    own = after.settings if before.problem.sizes.keys() == after.problem.sizes.keys() else settings_of(type(after))
    for each in own:
        if each.of(before) != each.of(after):
            label, value = tr(each.control.label), shown(each, each.of(after))
            differences.append(
                f"{label} = {value}" if each.control.is_symbol else f"{label.lower()} {value or tr(each.control.empty)}"
            )
    return differences


def parameters_text(setup: Setup) -> str:
    """The parameters, such as "TILE_WIDTH = 32, PAD = 1"."""
    return ", ".join(f"{name} = {value}" for name, value in setup.parameters.items())


def kernel_title(setup: Setup) -> str:
    """The kernel with its parameters."""
    return ", ".join(filter(None, (setup.kernel.name, parameters_text(setup))))


def launch_title(setup: Setup) -> str:
    """The kernel with its parameters and sizes."""
    return f"{kernel_title(setup)}, {setup.problem.text()}"
