"""One codec for all dataclasses on disk and on the worker's pipes: JSON or TOML there and back, types checked on the way back.

What does not fit its type is refused with the path to it.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args, get_type_hints

import msgspec
import tomli_w

from gemmviz.files.toml_places import FieldPath, path_of
from gemmviz.files.whole import is_file, what_else
from gemmviz.model.errors import ErrorId, GemmvizError, Place, UsageError

T = TypeVar("T")
_LARGEST_TEXT, _MOST_DIGITS = 64 << 20, 19


class FormatError(GemmvizError, ValueError):
    """Text that is no JSON or TOML, or facts that don't fit their type."""

    id: ErrorId = "format"
    path: FieldPath = ()


def to_plain(value: Any, *, brief: bool = False) -> Any:
    """Dataclasses as dicts of strings, numbers, truth values, lists and dicts. What is None where nothing is said is left out;
    all that is as it is where nothing is said, if it is to be ``brief``.
    """
    if is_dataclass(value) and not isinstance(value, type):
        said = [each.name for each in fields(value) if not _goes_without(each, value, brief)]
        return {name: to_plain(getattr(value, name), brief=brief) for name in said}
    if isinstance(value, Mapping):
        return {str(name): to_plain(inner, brief=brief) for name, inner in value.items() if inner is not None}
    if isinstance(value, tuple | list):
        return [to_plain(inner, brief=brief) for inner in value]
    if isinstance(value, frozenset | set):
        return sorted(to_plain(inner, brief=brief) for inner in value)
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")  # names of files may hold halves of characters
    return value


def _goes_without(each: Field[Any], value: Any, brief: bool) -> bool:
    """Whether a field is read back as it is from nothing at all."""
    default = each.default_factory() if each.default_factory is not MISSING else each.default
    held = getattr(value, each.name)
    return bool(held == default) and (brief or held is None)


def from_plain(plain: Any, kind: type[T]) -> T:
    """The value that ``to_plain`` made ``plain`` from. Raises FormatError with the path of the first value that doesn't fit."""
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        wrong = FormatError(str(error))
        wrong.path = path_of(str(error))
        raise wrong from None


def unknown_names(plain: Any, kind: Any, path: str = "") -> list[str]:
    """Paths of names in nested dicts that no field of the dataclasses has which they are to become."""
    inner = kind if is_dataclass(kind) else next((each for each in get_args(kind) if is_dataclass(each)), None)
    if not isinstance(plain, dict) or inner is None:
        return []
    hints = get_type_hints(inner)
    found = []
    for name, value in plain.items():
        where = f"{path}.{name}" if path else str(name)
        found += [where] if name not in hints else unknown_names(value, hints[name], where)
    return found


def to_json(value: Any) -> bytes:
    """On one line. Numbers that JSON doesn't know become null."""
    return msgspec.json.encode(to_plain(value))


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Raises FormatError."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(str(error)) from None


def json_to_plain(data: bytes) -> Any:
    """Raises FormatError for what is no JSON by the book: a name given twice, NaN, half a character; or a whole number beyond
    64 bits.
    """
    try:
        found = json.loads(data, object_pairs_hook=_unique, parse_int=_whole, parse_constant=_no_number)
        if b"\\u" in data:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is no JSON: {error}") from None
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def toml_text(plain: dict[str, Any]) -> str:
    """Texts of several lines are written as such."""
    return tomli_w.dumps(plain, multiline_strings=True)


def toml_to_plain(text: str) -> dict[str, Any]:
    """Raises FormatError with the place where it is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(found[1]), int(found[2])) if found else (1, 1)
        sentence = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise FormatError(f"this is no TOML: {sentence}", Place(line, column, line, column + 1)) from None
    except (RecursionError, ValueError):  # Python reads no numbers of thousands of digits
        raise FormatError("this is nested too deeply, or a number in it is too long") from None


def refuse_special(path: Path, most_bytes: int | None = None) -> None:
    """Raises FormatError for what is there and is no plain file (to open a FIFO can take forever), or is larger than that."""
    if what := what_else(path):
        raise FormatError(f"this is {what}, and is not opened", file=str(path), remedy="choose a file")
    size = path.stat().st_size if is_file(path) else 0
    if most_bytes is not None and size > most_bytes:
        raise FormatError(f"the file has {size:,} bytes; at most {most_bytes:,} are read", file=str(path))


def read_text(path: Path, most_bytes: int = _LARGEST_TEXT) -> str:
    """The text of a file, its line ends as Python has them. Raises UsageError where there is none, FormatError for no text, or
    for more than so many bytes.
    """
    refuse_special(path, most_bytes)
    try:
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise UsageError("there is no such file", file=str(path)) from None
    except (OSError, UnicodeDecodeError):
        raise FormatError("the file can't be read as UTF-8 text", file=str(path)) from None


def read_toml(path: Path, kind: type[T]) -> T:
    """Raises UsageError where there is no such file, FormatError that names it."""
    try:
        return from_plain(toml_to_plain(read_text(path)), kind)
    except FormatError as error:
        error.in_file(str(path))
        raise


def read_json(path: Path, kind: type[T]) -> T:
    """Raises as ``read_toml`` does."""
    try:
        return from_json(read_text(path), kind)
    except FormatError as error:
        error.in_file(str(path))
        raise
