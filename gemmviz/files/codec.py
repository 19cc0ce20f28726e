"""The codec of all records on disk and on the worker's pipes: JSON or TOML, with types checked when reading.

Errors name the path to a value that doesn't fit its type.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol, TypeVar, get_args, get_origin, get_type_hints, runtime_checkable

import msgspec
import tomli_w
from msgspec.structs import FieldInfo

from gemmviz.files.toml_places import FieldPath, nearest_place, path_of
from gemmviz.files.whole import is_file, special_kind
from gemmviz.model.errors import ErrorId, GemmvizError, Place, UsageError, closest
from gemmviz.model.records import field_default, fields, is_record_type
from gemmviz.model.translation import tr

_Kind = TypeVar("_Kind")
_LARGEST_TEXT, _MOST_DIGITS = 64 << 20, 19


@runtime_checkable
class FlatValue(Protocol):
    """A value that chooses its own form on disk: a dict of strings, numbers, lists and dicts."""

    def to_flat(self) -> dict[str, Any]: ...

    @classmethod
    def of_flat(cls, flat: Any) -> Any:
        """The value of such a dict. Raises ValueError if it isn't one."""


class FormatError(GemmvizError, ValueError):
    """Text that isn't JSON or TOML, or values that don't fit their types."""

    id: ErrorId = "format"
    path: FieldPath = ()


def to_plain(value: Any, *, brief: bool = False) -> Any:
    """A value with records as dicts of strings, numbers, booleans, lists and dicts.

    Leaves out fields whose name in files is empty, and those that are None by default and None here; with ``brief``, all fields
    that have their default value.
    """
    if is_record_type(type(value)):
        written = [each for each in fields(type(value)) if each.encode_name and not _is_omitted(each, value, brief)]
        return {each.encode_name: to_plain(getattr(value, each.name), brief=brief) for each in written}
    if isinstance(value, Mapping):
        return {str(name): to_plain(inner, brief=brief) for name, inner in value.items() if inner is not None}
    if isinstance(value, tuple | list):
        return [to_plain(inner, brief=brief) for inner in value]
    if isinstance(value, frozenset | set):
        return sorted(to_plain(inner, brief=brief) for inner in value)
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")  # file names may contain lone surrogates
    if isinstance(value, str | int | float | None):
        return value
    return to_plain(value.to_flat(), brief=brief) if isinstance(value, FlatValue) else value


def _is_omitted(each: FieldInfo, value: Any, brief: bool) -> bool:
    """Whether a field has its default value and may be left out."""
    present = getattr(value, each.name)
    return bool(present == field_default(each)) and (brief or present is None)


def from_plain(plain: Any, kind: type[_Kind]) -> _Kind:
    """The value of type ``kind`` that ``to_plain`` gave. Raises FormatError with the path to a value that doesn't fit."""
    try:
        return msgspec.convert(plain, kind, dec_hook=_of_flat)
    except msgspec.ValidationError as error:
        wrong = FormatError(str(error))
        wrong.path = path_of(str(error))
        raise wrong from None


def _of_flat(kind: type, flat: Any) -> Any:
    if issubclass(kind, FlatValue):
        return kind.of_flat(flat)
    raise NotImplementedError(f"files have no values of type {kind.__name__}")


_hints = cache(get_type_hints)


def unknown_names(plain: Any, kind: Any, path: str = "") -> list[str]:
    """Paths of the names in nested dicts that are not fields of the type ``kind`` and those within it."""
    inner = kind if is_record_type(kind) else next((each for each in get_args(kind) if is_record_type(each)), None)
    if not isinstance(plain, dict) or inner is None:
        return []
    hints = _hints(inner)
    paths = []
    for name, value in plain.items():
        where = f"{path}.{name}" if path else str(name)
        paths += [where] if name not in hints else unknown_names(value, hints[name], where)
    return paths


def to_json(value: Any) -> bytes:
    """JSON of a value, on one line. NaN and infinities become null."""
    return msgspec.json.encode(to_plain(value))


def from_json(data: bytes | str, kind: type[_Kind]) -> _Kind:
    """The value of type ``kind`` in a JSON text. Raises FormatError."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=_of_flat)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(str(error)) from None


def json_to_plain(data: bytes) -> Any:
    """The dicts, lists and values in a JSON text, read strictly.

    Raises FormatError for invalid JSON, duplicate names, NaN, lone surrogates, and integers of more than 19 digits.
    """
    try:
        plain = json.loads(data, object_pairs_hook=_unique, parse_int=_integer_of, parse_constant=_no_number)
        if b"\\u" in data:
            json.dumps(plain, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is not JSON: {error}") from None
    return plain


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise ValueError("a name is given twice")
    return plain


def _integer_of(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def toml_text(plain: dict[str, Any]) -> str:
    """TOML of a dict, with strings of several lines as multi-line strings."""
    return tomli_w.dumps(plain, multiline_strings=True)


def toml_to_plain(text: str) -> dict[str, Any]:
    """The dict in a TOML text. Raises FormatError with the line and column of the error."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(match[1]), int(match[2])) if match else (1, 1)
        sentence = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise FormatError(
            tr("this is not TOML: {sentence}", sentence=sentence), Place(line, column, line, column + 1)
        ) from None
    except (RecursionError, ValueError):  # Python doesn't read numbers of thousands of digits
        raise FormatError(tr("the text is nested too deeply, or a number in it is too long")) from None


def check_version(version: Any, known: int, remedy: str, place: Place | None = None) -> None:
    """Raises FormatError unless a file has the version that is read. ``remedy``: what to do with an older file."""
    if isinstance(version, bool) or version != known:
        is_newer = isinstance(version, int) and version > known
        message = tr("this file has version {version}; this gemmviz reads {known}", version=version, known=known)
        raise FormatError(message, place, remedy=tr("update gemmviz") if is_newer else remedy)


def check_plain_file(path: Path, most_bytes: int | None = None) -> None:
    """Checks a path before it is opened, as opening a FIFO may block.

    Raises FormatError if it exists but isn't a regular file, or has more than ``most_bytes`` bytes.
    """
    if kind := special_kind(path):
        raise FormatError(f"this is {kind}", file=str(path), remedy="choose a file")
    size = path.stat().st_size if is_file(path) else 0
    if most_bytes is not None and size > most_bytes:
        message = tr("the file has {size} bytes; at most {most_bytes} are read", size=f"{size:,}", most_bytes=f"{most_bytes:,}")
        raise FormatError(message, file=str(path))


def read_text(path: Path) -> str:
    """The UTF-8 text of a file, with its line ends as LF.

    Raises UsageError if there is no such file, FormatError if it isn't text or is too large.
    """
    check_plain_file(path, _LARGEST_TEXT)
    try:
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise UsageError(tr("there is no such file"), file=str(path)) from None
    except UnicodeDecodeError:
        message, remedy = tr("the file can't be read as UTF-8 text"), tr("save it as UTF-8")
        raise FormatError(message, file=str(path), remedy=remedy) from None
    except OSError as error:
        raise FormatError(tr("the file can't be read: {error}", error=error.strerror or error), file=str(path)) from None


def read_toml(path: Path, kind: type[_Kind]) -> _Kind:
    """The value of type ``kind`` in a TOML file. Raises UsageError if there is no such file, FormatError that names it."""
    try:
        return from_plain(toml_to_plain(read_text(path)), kind)
    except FormatError as error:
        error.in_file(str(path))
        raise


def read_json(path: Path, kind: type[_Kind]) -> _Kind:
    """The value of type ``kind`` in a JSON file. Raises as ``read_toml`` does."""
    try:
        return from_json(read_text(path), kind)
    except FormatError as error:
        error.in_file(str(path))
        raise


# Documents that people write: errors name the field, its place and the nearest known field


FILE_START = Place(1, 1, 1, 2)


def read_fields(plain: Any, kind: type[_Kind], places: Callable[[], Mapping[FieldPath, Place]], path: FieldPath = ()) -> _Kind:
    """The value of the part at ``path`` of a handwritten document, converted like ``from_plain`` does. ``places`` computes the
    places of all fields. Raises FormatError that names the field, its place, the expected value and the nearest known field, or
    the error of the value's own check with its place.
    """
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        cause = error.__cause__
        if isinstance(cause, GemmvizError):  # of the value's own check
            cause.place = cause.place or nearest_place(places(), (*path, *path_of(str(error))))
            raise cause from None
        raise _field_error(str(error), kind, places(), path) from None


def _field_error(message: str, kind: type, places: Mapping[FieldPath, Place], outer: FieldPath) -> FormatError:
    """A message of msgspec in the words of the document."""
    inner, sentence = path_of(message), message.partition(" - at ")[0]
    where, remedy = _path_text((*outer, *inner)), None
    wrong = _kind_at(kind, inner)
    known = _field_names(wrong)
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", sentence, re.DOTALL):
        inner = (*inner, unknown[1])
        sentence = f"the field {unknown[1]!r} is unknown"
        remedy = closest(unknown[1], known) or f"the fields are {', '.join(known)}"
    elif missing := re.fullmatch(r"Object missing required field `(.*)`", sentence):
        sentence, remedy = f"the field {missing[1]!r} is missing", f"the fields are {', '.join(known)}"
    elif choices := get_args(wrong) if get_origin(wrong) is Literal else ():
        remedy = f"choose {', '.join(map(str, choices))}"
    sentence = re.sub(r"`([^`]*)`", lambda name: _type_text(name[1]), sentence)
    place = nearest_place(places, (*outer, *inner)) or FILE_START
    error = FormatError(f"{where}: {sentence}" if where else sentence, place, remedy=remedy)
    error.path = (*outer, *inner)
    return error


_TYPE_WORDS = {
    "str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "a table", "null": "nothing",
}  # fmt: skip


def _type_text(names: str) -> str:
    """Types as msgspec names them, in the words of TOML: ``str | int`` is a string or a whole number."""
    return " or ".join(_TYPE_WORDS.get(each, each) for each in names.split(" | ") if each != "null")


def _path_text(path: FieldPath) -> str:
    """A path for a person: ``step 2, expect 1, is``; elements are numbered from 1."""
    text = ""
    for part in path:
        text += f" {part + 1}" if isinstance(part, int) else f", {part}" if text else part
    return text


def _kind_at(kind: Any, path: FieldPath) -> Any:
    """The type of the value at ``path`` of a document of ``kind``; None where it is not known."""
    for part in path:
        if isinstance(part, int):
            kind = next(iter(get_args(kind)), None)
        else:
            struct = _struct_of(kind)
            types = {} if struct is None else {each.encode_name: each.type for each in msgspec.structs.fields(struct)}
            kind = types.get(part)
    return kind


def _field_names(kind: Any) -> list[str]:
    struct = _struct_of(kind)
    return [] if struct is None else [each.encode_name for each in msgspec.structs.fields(struct) if each.encode_name]


def _struct_of(kind: Any) -> type[msgspec.Struct] | None:
    """A Struct, also where it may be None."""
    kinds = (kind, *get_args(kind))
    return next((each for each in kinds if isinstance(each, type) and issubclass(each, msgspec.Struct)), None)
