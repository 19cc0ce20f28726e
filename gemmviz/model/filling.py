"""Contents of the arrays before a kernel runs."""

from dataclasses import dataclass
from typing import Annotated, Literal

from gemmviz.model.errors import SettingError
from gemmviz.model.setting import Control

Pattern = Literal["random", "index", "ones"]
Remains = Literal["zeros", "nan"]
PATTERNS: dict[str, str] = {"random": "Random", "index": "Their own index", "ones": "All ones"}
REMAINS: dict[str, str] = {"zeros": "Zeros", "nan": "NaN"}
MOST_SEED = 2**31 - 1
_SEED, _NO_SEED = "The same seed gives the same random values", "Only random values have a seed"
_RANDOM = ("pattern", "random")
_OUTPUTS = "What outputs of floating-point numbers hold before the kernel runs, unless the problem gives them values"


@dataclass(frozen=True, slots=True)
class Filling:
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
            remedy = f"choose {', '.join(PATTERNS)}"
            raise SettingError(f"matrices can't be filled with {self.pattern!r}", names=("pattern",), remedy=remedy)
        if self.old_outputs not in REMAINS:
            remedy = f"choose {', '.join(REMAINS)}"
            raise SettingError(f"outputs can't be filled with {self.old_outputs!r}", names=("old_outputs",), remedy=remedy)
        if not 0 <= self.seed <= MOST_SEED:
            raise SettingError(f"seed = {self.seed}: it must lie between 0 and {MOST_SEED}", names=("seed",))

    def __str__(self) -> str:
        inputs = f"random values of seed {self.seed}" if self.pattern == "random" else self.pattern
        return inputs if self.old_outputs == "zeros" else f"{inputs}, outputs {REMAINS[self.old_outputs]}"
