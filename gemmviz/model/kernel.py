"""A kernel with its text and launch description. Other layers use this description and never parse the text again."""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence, Sized
from functools import lru_cache
from typing import Literal

from msgspec import Struct, field, structs

from gemmviz.model.messages import Place, SourceError, UsageError, tr
from gemmviz.model.problem import Problem

BLANK = re.compile(r"/\*\?\*/")  # a place for a student to fill in
NULL_POINTER = "nullptr"  # among the args: a pointer that the kernel gets no array for
LARGEST_NUMBER = 2**31 - 1  # a parameter is an int in C
MOST_TEXT, _MOST_LINES, _LONGEST_LINE = 512 << 10, 20_000, 10_000
_LONGEST_NAME, _LONGEST_SENTENCE, _LONGEST_DESCRIPTION, _LONGEST_FILE, _SHOWN = 255, 1000, 10_000, 4096, 60
_MOST_ARGS, _MOST_PARAMETERS, _MOST_CHOICES, _MOST_RULES = 64, 64, 1000, 200


LaunchOrigin = Literal["header", "read", "guessed", "unsure", "unchecked", "given"]


class Parameter(Struct, frozen=True):
    """A tile size or similar: a macro, or a template argument if the entry names it in <>."""

    name: str
    default: int
    choices: tuple[int, ...] | None = None
    description: str = ""


class Requirement(Struct, frozen=True):
    """A condition that a launch must fulfil, and the sentence shown if it doesn't."""

    that: str
    otherwise: str


class ProjectFile(Struct, frozen=True):
    """Another file of the kernel's project: its name below the project's folder, with forward slashes, and its text."""

    name: str
    text: str


class KernelSpec(Struct, frozen=True):
    """One kernel. Block, grid and shared bytes are formulas over M, N, K and the parameters.

    ``file`` is its path, for messages; ``own_name`` its name below the project's folder, with forward slashes; ``project``:
    the files that it includes, or that include it; ``compiled``: the name of the project file that is compiled if the
    kernel's own file is a header; ``size_macros``: macros of the text that stand for a size, with its name; ``host_sizes``:
    the sizes that main() launches it with, if the host code tells all of them; ``opts_in_to_shared``: the host code allows
    the kernel all of a block's dynamic shared memory, by cudaFuncSetAttribute; ``parameter_names``: those of the kernel's
    parameters, if its launch was read from the text; ``launch_from``: where the launch was taken from; "read" and "guessed"
    ones gave a right result, "unsure" ones were read and didn't, "unchecked" ones solve no known problem; ``unconfirmed``:
    what is uncertain about the launch, "" if it is confirmed, so that results say something about the kernel;
    ``unfinished``: an incomplete kernel, which may leave C unwritten; ``is_shipped``: the kernel is part of gemmviz. Raises
    SourceError if any field is beyond the size limits.
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
    opts_in_to_shared: bool = False
    column_major: frozenset[str] = frozenset()
    problem: Problem = field(default_factory=lambda: Problem(8, 8, 8))
    unfinished: bool = False
    is_shipped: bool = False
    own_name: str = ""
    project: tuple[ProjectFile, ...] = ()
    compiled: str = ""
    size_macros: tuple[tuple[str, str], ...] = ()
    host_sizes: tuple[tuple[str, int], ...] = ()
    parameter_names: tuple[str, ...] = ()
    launch_from: LaunchOrigin = "header"
    unconfirmed: str = ""

    def __post_init__(self) -> None:
        check_text(self.text, self.file)
        for what, all_of_it, most, where in _limited_sizes(self):
            if len(all_of_it) > most:
                message = f"{what}: {len(all_of_it):,}; at most {most:,} are read"
                raise SourceError(message, place_in(self.text, where), file=_end_of_name(self.file))
        for each in self.parameters:
            if any(abs(value) > LARGEST_NUMBER for value in (each.default, *(each.choices or ()))):
                message = f"{each.name} has values beyond 32 bits"
                raise SourceError(message, place_in(self.text, each.name), file=_end_of_name(self.file))

    @property
    def text_hash(self) -> str:
        return text_hash(self.text)

    @property
    def blanks(self) -> int:
        """Number of blanks left for a student to fill in."""
        return len(BLANK.findall(self.text))

    @property
    def is_in_the_making(self) -> bool:
        """Whether the kernel is unfinished or has blanks, so that it isn't expected to run."""
        return self.is_shipped and (self.unfinished or self.blanks > 0)

    def filled(self, answers: Sequence[str]) -> "KernelSpec":
        """A copy with its first blanks filled in, one for each answer; the kernel itself if it has none."""
        if not answers:
            return self
        left = iter(answers)
        return structs.replace(self, text=BLANK.sub(lambda hole: next(left, hole[0]), self.text), is_shipped=False)

    def without(self, places: Collection[Place]) -> "KernelSpec":
        """A copy with spaces in some places of its text, each within one line. Raises UsageError for a longer one."""
        lines = self.text.split("\n")
        for place in places:
            line, last = lines[place.line - 1], place.end_column - 1
            if place.end_line != place.line:
                raise UsageError(tr("the barrier in line {line} is longer than a line", line=place.line))
            lines[place.line - 1] = line[: place.column - 1] + " " * (last - place.column + 1) + line[last:]
        return structs.replace(self, text="\n".join(lines), is_shipped=False)

    @property
    def defaults(self) -> dict[str, int]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    @property
    def tied_sizes(self) -> tuple[str, ...]:
        """Sizes that a rule wants equal, such as ``M == N``."""
        sides = [side.strip() for rule in self.requirements if rule.that.count("==") == 1 for side in rule.that.split("==")]
        return tuple(name for name in self.problem.sizes if name in sides) if all(map(str.isidentifier, sides)) else ()

    @property
    def template_arguments(self) -> tuple[str, ...]:
        """Template arguments between < and > in the entry, in order."""
        if "<" not in self.entry:
            return ()
        inside = self.entry[self.entry.index("<") + 1 : self.entry.rindex(">")]
        return tuple(part.strip() for part in inside.split(","))

    @property
    def function(self) -> str:
        return self.entry.split("<")[0].strip()


class Launch(Struct, frozen=True):
    """A launch configuration, as between <<< and >>>. Extents are (x, y, z)."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def block_count(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


@lru_cache(maxsize=64)
def text_hash(text: str) -> str:
    """SHA-256 of a kernel's text, in hexadecimal, by which measurements identify it."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def place_in(text: str, key: str) -> Place:
    """The first place of the text that contains ``key``; the beginning if none does."""
    for number, line in enumerate(text.splitlines(), 1):
        if key in line:
            column = line.index(key) + 1
            return Place(number, column, number, column + len(key))
    return Place(1, 1, 1, 1)


def check_text(text: str, file: str) -> None:
    """Raises SourceError, with the place, for a text beyond the size limits."""
    place = _too_long(text)
    if place is not None:
        most = tr(
            "{most_text} characters, {most_lines} lines and {longest_line} characters in a line",
            most_text=f"{MOST_TEXT:,}",
            most_lines=f"{_MOST_LINES:,}",
            longest_line=f"{_LONGEST_LINE:,}",
        )
        raise SourceError(tr("a kernel may have {most}", most=most), place, file=_end_of_name(file))


def _end_of_name(file: str) -> str:
    return file[-_LONGEST_SENTENCE:]


@lru_cache(maxsize=16)
def _too_long(text: str) -> Place | None:
    """The place at which a text exceeds the limits, None if it doesn't."""
    lines = text.split("\n")
    number = next((n for n, line in enumerate(lines, 1) if len(line) > _LONGEST_LINE), 0)
    if number:
        return Place(number, _LONGEST_LINE + 1, number, len(lines[number - 1]) + 1)
    if len(lines) > _MOST_LINES:
        return Place(_MOST_LINES + 1, 1, _MOST_LINES + 1, 2)
    return Place(len(lines), 1, len(lines), 2) if len(text) > MOST_TEXT else None


def _limited_sizes(kernel: KernelSpec) -> Iterator[tuple[str, Sized, int, str]]:
    """Size limits besides those of the text: a description, the value, the largest size and a word to find it in the text."""
    parameters, rules = kernel.parameters, kernel.requirements
    yield tr("characters of the file's name"), kernel.file, _LONGEST_FILE, "file"
    yield tr("the kernel's args"), kernel.args, _MOST_ARGS, "args"
    yield tr("the kernel's parameters"), parameters, _MOST_PARAMETERS, "parameters"
    yield tr("the kernel's macros for sizes"), kernel.size_macros, _MOST_PARAMETERS, "define"
    yield tr("the kernel's named parameters"), kernel.parameter_names, _MOST_ARGS, "args"
    yield tr("the kernel's rules"), rules, _MOST_RULES, "require"
    for parameter in parameters:
        yield (
            tr("the choices of {parameter}", parameter=parameter.name[:_SHOWN]),
            parameter.choices or (),
            _MOST_CHOICES,
            "choices",
        )
    yield tr("characters of the description"), kernel.description, _LONGEST_DESCRIPTION, "description"
    for name in (kernel.name, kernel.title, kernel.entry, *(each.name for each in parameters), *kernel.parameter_names):
        yield tr("characters of a name or title"), name, _LONGEST_NAME, name[:_SHOWN]
    formulas = (*kernel.args, *kernel.block, *kernel.grid, kernel.shared_bytes, *(rule.that for rule in rules))
    sentences = (*(rule.otherwise for rule in rules), *(parameter.description for parameter in parameters))
    for text in (*formulas, *sentences):
        yield tr("characters of a formula or sentence"), text, _LONGEST_SENTENCE, text[:_SHOWN]
