"""Contents of the arrays before a kernel runs."""

from typing import Annotated, Literal

from msgspec import Struct

from gemmviz.model.errors import SettingError
from gemmviz.model.setting import Control
from gemmviz.model.translation import marked, tr

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
