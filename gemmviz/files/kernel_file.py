"""The kernel file: plain CUDA C, with a TOML header in its first ``//`` lines that describes the launch."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct, field

from gemmviz.files.codec import FormatError, toml_to_plain
from gemmviz.files.program_text import read_program_text
from gemmviz.files.toml_places import FieldPath, nearest_place, toml_places
from gemmviz.files.written_fields import read_fields
from gemmviz.model.errors import Place, SourceError
from gemmviz.model.kernel import LARGEST_NUMBER, MOST_TEXT, KernelSpec, Parameter, Requirement, check_text
from gemmviz.model.problem import Problem

_T = TypeVar("_T")
HEADER_VERSION = 1
_Formula = str | int | float
_Whole = Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]
_Size = Annotated[int, Meta(ge=1, le=LARGEST_NUMBER)]
_Formulas = Annotated[tuple[_Formula, ...], Meta(min_length=1, max_length=3)]
_RESERVED = {"M", "N", "K", "A", "B", "C", "warp_size", "max_threads_per_block", "shared_per_block"}
_EXAMPLE = 'begin the file with // gemmviz = 1, // entry = "NAME", // args = [...], // block = [...], // grid = [...]'

_FORMULAS = "write one to three formulas: x, y, z"
_REMEDIES: dict[FieldPath, str] = {(): _EXAMPLE, ("block",): _FORMULAS, ("grid",): _FORMULAS}


def read_kernel(path: Path, *, is_shipped: bool = False) -> KernelSpec:
    """The kernel in a file. Messages name no folder for one that ships with gemmviz. Raises UsageError or SourceError."""
    try:
        text = kernel_text(path)
    except FormatError as error:
        raise SourceError(error.message, file=str(path)) from None
    return parse_kernel(text, path.name if is_shipped else str(path), is_shipped=is_shipped)


def kernel_text(path: Path) -> str:
    """The text of a kernel file. Raises as ``read_program_text`` does, also for a file beyond the size limit of kernels."""
    return read_program_text(path, 4 * MOST_TEXT)


def parse_kernel(text: str, file: str, *, is_shipped: bool = False) -> KernelSpec:
    """The spec of a kernel file. Raises SourceError, with the line, if the header is missing or wrong."""
    try:
        return _spec(text, file, is_shipped)
    except SourceError as error:
        error.in_file(file)
        raise


class _ProblemFields(Struct, forbid_unknown_fields=True):
    """The table ``problem = { M = 8, N = 8, K = 8 }``."""

    M: _Size = 8
    N: _Size = 8
    K: _Size = 8


class _ParameterFields(Struct):
    """A table ``[parameters.NAME]``."""

    default: _Whole
    choices: Annotated[tuple[_Whole, ...], Meta(min_length=1)] | None = None
    description: _Formula = ""


class _RuleFields(Struct):
    """A table ``[[require]]``: a formula, and the sentence for a launch that violates it."""

    that: _Formula
    otherwise: _Formula = field(name="else")


class _HeaderFields(Struct, forbid_unknown_fields=True):
    """The whole header."""

    entry: str
    args: tuple[_Formula, ...]
    block: _Formulas
    grid: _Formulas
    gemmviz: Any = HEADER_VERSION
    title: str = ""
    description: str | None = None
    parameters: dict[str, Any] = {}
    require: tuple[_RuleFields, ...] = ()
    shared_bytes: _Formula = "0"
    column_major: tuple[Literal["A", "B", "C"], ...] = ()
    problem: _ProblemFields = field(default_factory=_ProblemFields)
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class _Header:
    """``toml``: the text of the header without its slashes. ``prose``: the sentences that may follow it."""

    toml: str
    plain: dict[str, Any]
    prose: str

    def fields(self, plain: Any, kind: type[_T], path: FieldPath = ()) -> _T:
        """The part of the header at ``path``. Raises SourceError with its place in the kernel file."""
        try:
            return read_fields(plain, kind, lambda: toml_places(self.toml), path)
        except FormatError as error:
            remedy = _REMEDIES.get(error.path, error.remedy)
            raise SourceError(f"header: {error.message}", _behind_slashes(error.place), remedy=remedy) from None

    def error(self, message: str, path: FieldPath, remedy: str | None = None) -> SourceError:
        """An error about the field at ``path``."""
        return SourceError(message, _behind_slashes(nearest_place(toml_places(self.toml), path)), remedy=remedy)


@lru_cache(maxsize=32)
def _spec(text: str, file: str, is_shipped: bool) -> KernelSpec:
    check_text(text, file)
    header = _header(text)
    version = header.plain.get("gemmviz")
    if version != HEADER_VERSION:
        raise header.error(f"the header says gemmviz = {version!r}; this version reads {HEADER_VERSION}", ("gemmviz",))
    fields = header.fields(header.plain, _HeaderFields)
    return KernelSpec(
        name=PurePath(file).stem,
        file=file,
        text=text,
        title=fields.title if "title" in header.plain else PurePath(file).stem,
        description=header.prose if fields.description is None else fields.description,
        entry=_entry(header, fields.entry),
        args=_texts(fields.args),
        block=_texts(fields.block),
        grid=_texts(fields.grid),
        parameters=tuple(_parameter(header, name, each) for name, each in fields.parameters.items()),
        requirements=tuple(Requirement(str(each.that), str(each.otherwise)) for each in fields.require),
        shared_bytes=str(fields.shared_bytes),
        column_major=frozenset(fields.column_major),
        problem=Problem(fields.problem.M, fields.problem.N, fields.problem.K),
        unfinished=fields.unfinished,
        is_shipped=is_shipped,
    )


def _texts(formulas: tuple[_Formula, ...]) -> tuple[str, ...]:
    return tuple(str(each) for each in formulas)


def _header(text: str) -> _Header:
    """The header in the leading ``//`` lines; prose may follow it there. Raises SourceError if there is none."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    if not any(re.match(r"\s*gemmviz\s*=", line) for line in lines):
        raise SourceError("the file has no gemmviz header", Place(1, 1, 1, 1), remedy=_EXAMPLE)
    try:
        return _parsed(lines, len(lines))
    except FormatError as error:
        prose = next((number for number, line in enumerate(lines) if _is_prose(line)), None)
        if prose is None:
            raise _syntax_error(error) from None
    try:
        return _parsed(lines, prose)
    except FormatError as error:
        raise _syntax_error(error) from None


def _parsed(lines: list[str], count: int) -> _Header:
    """A header of ``count`` lines with prose in the others."""
    toml = "\n".join(lines[:count])
    return _Header(toml, toml_to_plain(toml), " ".join(line.strip() for line in lines[count:]))


def _is_prose(line: str) -> bool:
    return bool(re.match(r"\s*[A-Za-z]\S*\s+[^=\s]", line)) and not re.match(r"\s*[\w.\"-]+\s*=", line)


def _syntax_error(error: FormatError) -> SourceError:
    place = _behind_slashes(error.place)
    return SourceError(f"header: {error.message}", place, remedy="the header is the leading // lines")


def _behind_slashes(place: Place | None) -> Place:
    """A place in the header's TOML as a place in the kernel file."""
    if place is None:
        return Place(1, 1, 1, 1)
    return Place(place.line, place.column + 2, place.end_line, place.end_column + 2)


def _parameter(header: _Header, name: str, plain: Any) -> Parameter:
    path = ("parameters", name)
    if name in _RESERVED or not name.isidentifier():
        raise header.error(f"a parameter can't be named {name}", path)
    fields = header.fields(plain, _ParameterFields, path)
    if fields.choices is not None and fields.default not in fields.choices:
        raise header.error(f"the default of {name}, {fields.default}, is not among its choices", (*path, "default"))
    return Parameter(name, fields.default, fields.choices, str(fields.description))


def _entry(header: _Header, entry: str) -> str:
    """The kernel's name, with its template arguments. Raises SourceError for other text."""
    if not re.fullmatch(r"\s*(::)?\w+(::\w+)*\s*(<[^<>]*>\s*)?", entry):
        raise header.error(f"the entry {entry!r} is not the name of a kernel", ("entry",), 'write "name" or "name<BM, 8>"')
    return entry.strip()
