"""A kernel as a person wrote it: its text, and how to launch it. It travels as data and is not read from the text again."""

import hashlib
from dataclasses import dataclass, field

from gemmviz.model.problem import Problem

MATRICES = ("A", "B", "C")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tile size or the like: a macro, or a template argument where the entry names it in <>."""

    name: str
    default: int
    choices: tuple[int, ...] | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A rule that makes a setting legal, and the sentence for when it is broken."""

    that: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """One kernel. Block, grid and shared bytes are formulas over M, N, K and the parameters.

    ``file`` is where it stands, for messages; ``is_shipped``: it is one of those that come with gemmviz, known by its name.
    """

    name: str
    file: str
    text: str
    title: str
    description: str
    entry: str
    args: tuple[str, ...]
    block: tuple[str, ...]
    grid: tuple[str, ...]
    parameters: tuple[Parameter, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    shared_bytes: str = "0"
    column_major: frozenset[str] = frozenset()
    problem: Problem = field(default_factory=lambda: Problem(8, 8, 8))
    is_shipped: bool = False

    @property
    def text_hash(self) -> str:
        return text_hash(self.text)

    @property
    def defaults(self) -> dict[str, int]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    @property
    def template_arguments(self) -> tuple[str, ...]:
        """What stands between < and > in the entry, in order."""
        if "<" not in self.entry:
            return ()
        inside = self.entry[self.entry.index("<") + 1 : self.entry.rindex(">")]
        return tuple(part.strip() for part in inside.split(","))

    @property
    def function(self) -> str:
        return self.entry.split("<")[0].strip()


@dataclass(frozen=True, slots=True)
class Launch:
    """What stands between <<< and >>>. Extents are (x, y, z)."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def block_count(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


def text_hash(text: str) -> str:
    """What measurements know a kernel's text by: SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
