"""Initial contents of the inputs."""

from dataclasses import dataclass
from typing import Annotated, Literal

from gemmviz.model.errors import SettingError
from gemmviz.model.setting import Control

Pattern = Literal["random", "index", "ones"]
PATTERNS: dict[str, str] = {"random": "Random", "index": "Their own index", "ones": "All ones"}
MOST_SEED = 2**31 - 1
_SEED, _NO_SEED = "The same seed gives the same random values", "Only random values have a seed"
_RANDOM = ("pattern", "random")


@dataclass(frozen=True, slots=True)
class Filling:
    """Contents of the inputs, A and B of a multiplication. ``random``: uniform in [-1, 1), the same for the same seed;
    ``index``: each element its own number; ``ones``: all 1.

    Raises SettingError for an unknown pattern, or a seed that is negative or beyond 31 bits.
    """

    pattern: Annotated[Pattern, Control("Values", "What the inputs hold before the kernel runs", "--fill", PATTERNS)] = "random"
    seed: Annotated[int, Control("Seed", _SEED, "--seed", most=MOST_SEED, needs=_RANDOM, unless=_NO_SEED)] = 0

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            remedy = f"choose {', '.join(PATTERNS)}"
            raise SettingError(f"matrices can't be filled with {self.pattern!r}", names=("pattern",), remedy=remedy)
        if not 0 <= self.seed <= MOST_SEED:
            raise SettingError(f"seed = {self.seed}: it must lie between 0 and {MOST_SEED}", names=("seed",))

    def __str__(self) -> str:
        return f"random values of seed {self.seed}" if self.pattern == "random" else self.pattern
