"""What the matrices hold before the kernel runs."""

from dataclasses import dataclass
from typing import Literal, get_args

from gemmviz.model.errors import SettingError

Pattern = Literal["random", "index", "ones"]
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
MOST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Filling:
    """``random``: uniform in [-1, 1), the same for the same seed; ``index``: each element its own number; ``ones``: all 1.

    Raises SettingError for an unknown pattern, or a seed that is negative or beyond 31 bits.
    """

    pattern: Pattern = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise SettingError(f"matrices can't be filled with {self.pattern!r}", remedy=f"choose {', '.join(PATTERNS)}")
        if not 0 <= self.seed <= MOST_SEED:
            raise SettingError(f"seed = {self.seed}: it must lie between 0 and {MOST_SEED}")

    def __str__(self) -> str:
        return f"random values of seed {self.seed}" if self.pattern == "random" else self.pattern
