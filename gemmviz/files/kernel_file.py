"""Kernel files: CUDA C++ in any encoding, with a TOML header in its first ``//`` lines that describes the launch."""

import codecs
import itertools
import re
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, field

from gemmviz.files.codec import FieldPath, FormatError, check_plain_file, nearest_place, read_fields, toml_places, toml_to_plain
from gemmviz.model.kernel import LARGEST_NUMBER, MOST_TEXT, KernelSpec, Parameter, Requirement, check_text
from gemmviz.model.messages import Place, SettingError, SourceError, UsageError, tr
from gemmviz.model.problem import Problem

# The text of a C++ file, in any encoding that people save it in: UTF-8, UTF-16, GBK or Latin-1.

_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_PAIR = re.compile(rb"[\x81-\xfe][\x81-\xfe]")
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def read_program_text(path: Path, most_bytes: int) -> str:
    """The text of a C++ file, with its line ends as LF.

    Raises UsageError if there is no such file, FormatError if it isn't text or has more than ``most_bytes`` bytes.
    """
    check_plain_file(path, most_bytes)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(tr("there is no such file"), file=str(path)) from None
    except OSError as error:
        raise FormatError(tr("the file can't be read: {error}", error=error.strerror or error), file=str(path)) from None
    text = decoded(content)
    if "\0" in text:
        raise FormatError(tr("the file isn't text"), file=str(path), remedy=tr("choose a file of CUDA C++"))
    return text


def decoded(content: bytes) -> str:
    """Bytes of a text file as text with its line ends as LF. Bytes that no likely encoding explains are read as Latin-1."""
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8")
    for name in (encoding, "gb18030" if _is_mostly_pairs(content) else "latin-1"):
        try:
            return content.decode(name).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


def _is_mostly_pairs(content: bytes) -> bool:
    """Whether most bytes beyond ASCII come in pairs, as in Chinese text; accented letters stand alone."""
    return 4 * len(_PAIR.findall(content)) > len(_NON_ASCII.findall(content))


# The header.

_Fields = TypeVar("_Fields")
HEADER_VERSION = 1
_Formula = str | int | float
_Whole = Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]
_ThreeFormulas = Annotated[tuple[_Formula, ...], Meta(min_length=1, max_length=3)]
_RESERVED_NAMES = {"warp_size", "max_threads_per_block", "shared_per_block"}
_EXAMPLE = 'begin the file with // gemmviz = 1, // entry = "NAME", // args = [...], // block = [...], // grid = [...]'

_FIRST_LINE = re.compile(r"//\s*gemmviz\s*=")
_PRAGMA_ONCE = re.compile(r"#\s*pragma\s+once(\s*//.*)?")
_FORMULAS_REMEDY = "write one to three formulas: x, y, z"
_REMEDIES: dict[FieldPath, str] = {(): _EXAMPLE, ("block",): _FORMULAS_REMEDY, ("grid",): _FORMULAS_REMEDY}


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
    block: _ThreeFormulas
    grid: _ThreeFormulas
    gemmviz: Any = HEADER_VERSION
    title: str = ""
    description: str | None = None
    parameters: dict[str, Any] = {}
    require: tuple[_RuleFields, ...] = ()
    shared_bytes: _Formula = "0"
    opts_in_to_shared: bool = False
    column_major: tuple[Any, ...] = ()
    problem: dict[str, Any] = {}
    size_macros: dict[str, str] = {}
    unfinished: bool = False


class _Header(Struct, frozen=True):
    """``toml``: the text of the header without its slashes. ``prose``: the sentences that may follow it. ``above``: lines of
    the file above the header.
    """

    toml: str
    plain: dict[str, Any]
    prose: str
    above: int

    def fields(self, plain: Any, kind: type[_Fields], path: FieldPath = ()) -> _Fields:
        """The part of the header at ``path``. Raises SourceError with its place in the kernel file."""
        try:
            return read_fields(plain, kind, lambda: toml_places(self.toml), path)
        except FormatError as error:
            remedy = _REMEDIES.get(error.path, error.remedy)
            raise SourceError(f"header: {error.message}", _behind_slashes(error.place, self.above), remedy=remedy) from None

    def error(self, message: str, path: FieldPath, remedy: str | None = None) -> SourceError:
        """An error about the field at ``path``."""
        return SourceError(message, _behind_slashes(nearest_place(toml_places(self.toml), path), self.above), remedy=remedy)


@lru_cache(maxsize=128)
def _spec(text: str, file: str, is_shipped: bool) -> KernelSpec:
    check_text(text, file)
    header = _header_of(text)
    version = header.plain.get("gemmviz")
    if version != HEADER_VERSION:
        raise header.error(f"the header says gemmviz = {version!r}; this version reads {HEADER_VERSION}", ("gemmviz",))
    fields = header.fields(header.plain, _HeaderFields)
    problem = _header_problem(header, fields.problem)
    return KernelSpec(
        name=PurePath(file).stem,
        file=file,
        text=text,
        title=fields.title if "title" in header.plain else PurePath(file).stem,
        description=header.prose if fields.description is None else fields.description,
        entry=_kernel_entry(header, fields.entry),
        args=_formula_texts(fields.args),
        block=_formula_texts(fields.block),
        grid=_formula_texts(fields.grid),
        parameters=tuple(_header_parameter(header, problem, name, each) for name, each in fields.parameters.items()),
        requirements=tuple(Requirement(str(each.that), str(each.otherwise)) for each in fields.require),
        shared_bytes=str(fields.shared_bytes),
        opts_in_to_shared=fields.opts_in_to_shared,
        column_major=_column_major(header, problem, fields.column_major),
        problem=problem,
        size_macros=tuple(_size_macro(header, problem, *each) for each in fields.size_macros.items()),
        unfinished=fields.unfinished,
        is_shipped=is_shipped,
    )


def _formula_texts(formulas: tuple[_Formula, ...]) -> tuple[str, ...]:
    return tuple(str(each) for each in formulas)


def has_header(text: str) -> bool:
    """Whether a text has a header, which may be invalid."""
    return _header_start(text.splitlines()) is not None


def _header_start(lines: list[str]) -> int | None:
    """The index of the header's first line: above it are only comments, blank lines and ``#pragma once``. None without it."""
    inside = False
    for index, line in enumerate(lines):
        stripped = line.strip()
        if inside or stripped.startswith("/*"):
            inside = "*/" not in stripped[0 if inside else 2 :]
            continue
        if _FIRST_LINE.match(line):
            return index
        if stripped and not stripped.startswith("//") and not _PRAGMA_ONCE.fullmatch(stripped):
            return None
    return None


def _header_of(text: str) -> _Header:
    """The header, and the prose that may follow it in ``//`` lines. Raises SourceError if there is no header."""
    lines = text.splitlines()
    start = _header_start(lines)
    if start is None:
        raise SourceError("the file has no gemmviz header", Place(1, 1, 1, 1), remedy=_EXAMPLE)
    own = [line[2:] for line in itertools.takewhile(lambda line: line.startswith("//"), lines[start:])]
    try:
        return _header_of_lines(own, len(own), start)
    except FormatError as error:
        prose = next((number for number, line in enumerate(own) if _is_prose(line)), None)
        if prose is None:
            raise _syntax_error(error, start) from None
    try:
        return _header_of_lines(own, prose, start)
    except FormatError as error:
        raise _syntax_error(error, start) from None


def _header_of_lines(lines: list[str], count: int, above: int) -> _Header:
    """A header of ``count`` lines with prose in the others."""
    toml = "\n".join(lines[:count])
    return _Header(toml, toml_to_plain(toml), " ".join(line.strip() for line in lines[count:]), above)


def _is_prose(line: str) -> bool:
    return bool(re.match(r"\s*[A-Za-z]\S*\s+[^=\s]", line)) and not re.match(r"\s*[\w.\"-]+\s*=", line)


def _syntax_error(error: FormatError, above: int) -> SourceError:
    place = _behind_slashes(error.place, above)
    return SourceError(f"header: {error.message}", place, remedy="the header is the // lines that begin with gemmviz = 1")


def _behind_slashes(place: Place | None, above: int) -> Place:
    """A place in the header's TOML as a place in the kernel file, ``above`` lines further down and behind the slashes."""
    if place is None:
        return Place(above + 1, 1, above + 1, 1)
    return Place(place.line + above, place.column + 2, place.end_line + above, place.end_column + 2)


def _header_problem(header: _Header, plain: dict[str, Any]) -> Problem:
    """The table ``problem = { M = 8, N = 8, K = 8 }``, or of another kind: ``{ kind = "transpose", rows = 64 }``."""
    try:
        return Problem.of_flat(plain)
    except SettingError as error:
        name = next((name for name in error.names if name in plain), "")
        raise header.error(f"header: problem: {error.message}", ("problem", name), error.remedy) from None


def _column_major(header: _Header, problem: Problem, names: tuple[Any, ...]) -> frozenset[str]:
    """Arrays that are stored column by column."""
    known = [array.name for array in problem.arrays]
    for number, name in enumerate(names):
        if name not in known:
            message = f"header: column_major {number + 1}: the problem has no array {name!r}"
            raise header.error(message, ("column_major",), f"choose {', '.join(known)}")
    return frozenset(names)


def _size_macro(header: _Header, problem: Problem, name: str, size: str) -> tuple[str, str]:
    """A macro that stands for a size. Raises SourceError if the problem has no such size."""
    if not name.isidentifier() or size not in problem.sizes:
        remedy = f"write a macro and one of {', '.join(problem.sizes)}"
        raise header.error(f"header: size_macros: {name} = {size!r}", ("size_macros", name), remedy)
    return name, size


def _header_parameter(header: _Header, problem: Problem, name: str, plain: Any) -> Parameter:
    path = ("parameters", name)
    reserved = {*_RESERVED_NAMES, *problem.numbers, *(array.name for array in problem.arrays)}
    if name in reserved or not name.isidentifier():
        raise header.error(f"a parameter can't be named {name}", path)
    fields = header.fields(plain, _ParameterFields, path)
    if fields.choices is not None and fields.default not in fields.choices:
        raise header.error(f"the default of {name}, {fields.default}, is not among its choices", (*path, "default"))
    return Parameter(name, fields.default, fields.choices, str(fields.description))


def _kernel_entry(header: _Header, entry: str) -> str:
    """The kernel's name, with its template arguments. Raises SourceError for other text."""
    if not re.fullmatch(r"\s*(::)?\w+(::\w+)*\s*(<[^;{}\"']*>\s*)?", entry):
        raise header.error(f"the entry {entry!r} is not the name of a kernel", ("entry",), 'write "name" or "name<BM, 8>"')
    return entry.strip()
