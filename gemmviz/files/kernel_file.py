"""The kernel's file: plain CUDA C, with a TOML header in its first ``//`` lines that says how to launch it."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from gemmviz.files.codec import FormatError, read_text, toml_to_plain
from gemmviz.model.errors import Place, SourceError
from gemmviz.model.kernel import LARGEST_NUMBER, MATRICES, MOST_TEXT, KernelSpec, Parameter, Requirement, check_text, place_in
from gemmviz.model.problem import Problem

HEADER_VERSION = 1
_KEYS = {
    "gemmviz", "title", "description", "entry", "args", "block", "grid", "parameters", "require", "shared_bytes",
    "column_major", "problem", "unfinished",
}  # fmt: skip
_RESERVED = {"M", "N", "K", "A", "B", "C", "warp_size", "max_threads_per_block", "shared_per_block"}
_EXAMPLE = 'begin the file with // gemmviz = 1, // entry = "NAME", // args = [...], // block = [...], // grid = [...]'


def read_kernel(path: Path, *, is_shipped: bool = False) -> KernelSpec:
    """The kernel in a file; of one that ships with gemmviz, messages name no folder. Raises UsageError or SourceError."""
    try:
        text = kernel_text(path)
    except FormatError as error:
        raise SourceError(error.message, file=str(path)) from None
    return parse_kernel(text, path.name if is_shipped else str(path), is_shipped=is_shipped)


def kernel_text(path: Path) -> str:
    """What stands in a file that is taken for a kernel's. Raises as ``read_text`` does, for more than a kernel may have too."""
    return read_text(path, 4 * MOST_TEXT)


def parse_kernel(text: str, file: str, *, is_shipped: bool = False) -> KernelSpec:
    """The spec of one kernel file. Raises SourceError, with the line, where the header is missing or wrong."""
    try:
        return _spec(text, file, is_shipped)
    except SourceError as error:
        error.in_file(file)
        raise


@lru_cache(maxsize=32)
def _spec(text: str, file: str, is_shipped: bool) -> KernelSpec:
    check_text(text, file)
    facts, prose = _header(text)
    if facts.get("gemmviz") != HEADER_VERSION:
        raise SourceError(
            f"the header says gemmviz = {facts.get('gemmviz')!r}; this version reads {HEADER_VERSION}",
            place_in(text, "gemmviz"),
        )
    read = _Reader(text, facts)
    for key in facts:
        if key not in _KEYS:
            raise SourceError(f"the header's key {key!r} means nothing here", place_in(text, key), remedy=_known(_KEYS))
    return KernelSpec(
        name=PurePath(file).stem,
        file=file,
        text=text,
        title=read("title", str, PurePath(file).stem),
        description=read("description", str, prose),
        entry=_entry(text, read("entry", str)),
        args=read.names("args"),
        block=read.formulas("block"),
        grid=read.formulas("grid"),
        parameters=tuple(_parameter(text, name, each) for name, each in read("parameters", dict, {}).items()),
        requirements=tuple(_requirement(text, each) for each in read("require", list, [])),
        shared_bytes=str(facts.get("shared_bytes", "0")),
        column_major=_column_major(text, read("column_major", list, [])),
        problem=_problem(text, read("problem", dict, {"M": 8, "N": 8, "K": 8})),
        unfinished=read("unfinished", bool, False),
        is_shipped=is_shipped,
    )


def _header(text: str) -> tuple[dict[str, Any], str]:
    """The header's TOML and the prose that may follow it in the same run of ``//`` lines."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    if not any(re.match(r"\s*gemmviz\s*=", line) for line in lines):
        raise SourceError("the file has no gemmviz header", Place(1, 1, 1, 1), remedy=_EXAMPLE)
    try:
        return toml_to_plain("\n".join(lines)), ""
    except FormatError as error:
        prose = next((i for i, line in enumerate(lines) if _is_prose(line)), None)
        if prose is None:
            raise _header_error(error) from None
    try:
        return toml_to_plain("\n".join(lines[:prose])), " ".join(line.strip() for line in lines[prose:])
    except FormatError as error:
        raise _header_error(error) from None


def _is_prose(line: str) -> bool:
    return bool(re.match(r"\s*[A-Za-z]\S*\s+[^=\s]", line)) and not re.match(r"\s*[\w.\"-]+\s*=", line)


def _header_error(error: FormatError) -> SourceError:
    """What is wrong with the TOML, at its place behind the two slashes."""
    at = error.place
    place = Place(1, 1, 1, 2) if at is None else Place(at.line, at.column + 2, at.line, at.column + 3)
    return SourceError(error.message.replace("this is", "the header is", 1), place, remedy="it is the leading // lines")


class _Reader:
    """Takes values out of the header with the type they must have."""

    def __init__(self, text: str, facts: Mapping[str, Any]) -> None:
        self.text = text
        self.facts = facts

    def __call__(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self.facts and default is None:
            raise SourceError(f"the header lacks {key!r}", Place(1, 1, 1, 1), remedy=_EXAMPLE)
        value = self.facts.get(key, default)
        if not isinstance(value, kind):
            raise SourceError(f"the header's {key!r} must be a {_TOML_NAMES[kind]}", place_in(self.text, key))
        return value

    def names(self, key: str) -> tuple[str, ...]:
        values = self(key, list)
        for each in values:
            if isinstance(each, bool) or not isinstance(each, str | int | float):
                raise SourceError(f"the header's {key!r} may hold strings and numbers", place_in(self.text, key))
        return tuple(str(each) for each in values)

    def formulas(self, key: str) -> tuple[str, ...]:
        formulas = self.names(key)
        if not 1 <= len(formulas) <= 3:
            raise SourceError(f"the header's {key!r} must hold one to three formulas (x, y, z)", place_in(self.text, key))
        return formulas


_TOML_NAMES: dict[type, str] = {str: "string", list: "list", dict: "table", bool: "truth value"}


def _parameter(text: str, name: str, facts: Any) -> Parameter:
    default, choices = (facts.get(key) if isinstance(facts, dict) else None for key in ("default", "choices"))  # type: Any, Any
    wrong = ""
    if name in _RESERVED or not name.isidentifier():
        wrong = f"a parameter can't be called {name}"
    elif not _is_number(default):
        wrong = f"the parameter {name} needs a default: a whole number, at most {LARGEST_NUMBER}"
    elif choices is not None and not (isinstance(choices, list) and choices and all(map(_is_number, choices))):
        wrong = f"the choices of {name} must be a list of whole numbers, each at most {LARGEST_NUMBER}"
    elif choices is not None and default not in choices:
        wrong = f"the default of {name}, {default}, is not among its choices"
    if wrong:
        raise SourceError(wrong, place_in(text, f"parameters.{name}"))
    return Parameter(name, default, tuple(choices) if choices else None, str(facts.get("description", "")))


def _is_number(value: object) -> bool:
    """Whether a parameter can have this value."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER


def _requirement(text: str, facts: Any) -> Requirement:
    if not isinstance(facts, dict) or not {"that", "else"} <= facts.keys():
        raise SourceError("a rule needs 'that' (a formula) and 'else' (a sentence)", place_in(text, "[require]"))
    return Requirement(str(facts["that"]), str(facts["else"]))


def _entry(text: str, entry: str) -> str:
    if not re.fullmatch(r"\s*(::)?\w+(::\w+)*\s*(<[^<>]*>\s*)?", entry):
        raise SourceError(
            f"the entry {entry!r} is no kernel's name", place_in(text, "entry"), remedy='write "name" or "name<BM, 8>"'
        )
    return entry.strip()


def _column_major(text: str, names: list[Any]) -> frozenset[str]:
    if any(name not in MATRICES for name in names):
        raise SourceError("column_major may list A, B and C", place_in(text, "column_major"))
    return frozenset(names)


def _problem(text: str, facts: dict[str, Any]) -> Problem:
    if set(facts) != {"M", "N", "K"} or not all(size and _is_number(size) for size in facts.values()):
        raise SourceError("problem needs M, N and K: whole numbers", place_in(text, "problem"))
    return Problem(**facts)


def _known(names: set[str]) -> str:
    return "it may hold " + ", ".join(sorted(names))
