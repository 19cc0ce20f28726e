"""The codec of all records on disk and on the worker's pipes: JSON or TOML, with types checked when reading.

Errors name the path to a value that doesn't fit its type.
"""

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NoReturn, Protocol, TypeVar, get_args, get_origin, get_type_hints, runtime_checkable

import msgspec
import tomli_w
from msgspec.structs import FieldInfo

from gemmviz.files.resources import is_file, special_kind
from gemmviz.model.messages import ErrorId, GemmvizError, Place, UsageError, closest, tr
from gemmviz.model.records import field_default, fields, is_record_type

# Places in TOML: where the value of each key stands, by its path. The text is known to be TOML; values are not converted.

FieldPath = tuple[str | int, ...]
_TOML_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''(?:.|\n)*?'{3,5}|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'|"
    r"#[^\n]*|\n|[\[\]{}=,.]|[^\s\[\]{}=,.\"'#]+",
    re.DOTALL,
)
_NEWLINE, _END = "\n", ""


def toml_places(text: str) -> dict[FieldPath, Place]:
    """The place of each key by its path; elements of arrays are numbered from 0."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.places


class WrittenPlace:
    """Where a value is written: its file, and its path there. This is no part of the value, so all of these are equal."""

    def __init__(self, file: str = "", places: Mapping[FieldPath, Place] = MappingProxyType({}), path: FieldPath = ()) -> None:
        self.file, self._places, self._path = file, places, path

    def place(self, *field: str | int) -> Place | None:
        """The place of a field of the value, or of the value."""
        return nearest_place(self._places, (*self._path, *field))

    def within(self, *field: str | int) -> "WrittenPlace":
        return WrittenPlace(self.file, self._places, (*self._path, *field))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrittenPlace)

    def __hash__(self) -> int:
        return 0


def nearest_place(places: Mapping[FieldPath, Place], path: FieldPath) -> Place | None:
    """The place of a path, or of the nearest table or array around it."""
    return next((places[path[:length]] for length in range(len(path), 0, -1) if path[:length] in places), None)


def path_of(message: str) -> FieldPath:
    """The path that msgspec names at the end of a message, such as ``$.step[3].shot``."""
    found = re.search(r"at `(?:key in )?\$([^`]*)`", message)
    parts = re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", found[1] if found else "")
    path: list[str | int] = []
    for name, index in parts:
        if index == "...":
            break
        path.append(int(index) if index else name)
    return tuple(path)


class _Scanner:
    """Walks over the tokens of a text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places: dict[FieldPath, Place] = {}
        self._tokens = self._all_tokens()
        self._lengths: dict[FieldPath, int] = {}
        self._lines = [0, *(found.end() for found in re.finditer("\n", self.text))]
        self._next()

    def _all_tokens(self) -> Iterator[tuple[str, int]]:
        yield from ((each[0], each.start()) for each in _TOML_TOKEN.finditer(self.text) if each[0][0] != "#")
        while True:
            yield _END, len(self.text)

    def _next(self) -> None:
        self.token, self._at = next(self._tokens)

    def _place(self, start: int, stop: int) -> Place:
        line = bisect_right(self._lines, start)
        first = self._lines[line - 1]
        return Place(line, start - first + 1, line, stop - first + 1)

    def _skip(self, *tokens: str) -> None:
        while self.token in tokens and self.token != _END:
            self._next()

    def document(self) -> None:
        table: FieldPath = ()
        self._skip(_NEWLINE)
        while self.token != _END:
            if self.token == "[":
                table = self._header()
            else:
                self._pair(table)
            while self.token not in (_NEWLINE, _END):
                self._next()
            self._skip(_NEWLINE)

    def _header(self) -> FieldPath:
        """``[a.b]`` or ``[[a.b]]``; names within an array of tables are about its last element."""
        start = self._at
        self._next()
        is_element = self.token == "["
        self._skip("[")
        path: FieldPath = ()
        keys = self._keys()
        for number, key in enumerate(keys, 1):
            path = (*path, key)
            if number == len(keys) and is_element:
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                self.places.setdefault(path, self._place(start, self._at + 1 + is_element))
                path = (*path, self._lengths[path] - 1)
        self.places[path] = self._place(start, self._at + 1 + is_element)
        return path

    def _keys(self) -> list[str]:
        """The parts of a dotted key, quotes removed."""
        keys = []
        while self.token not in ("=", "]", "}", _NEWLINE, _END):
            if self.token != ".":
                keys.append(self.token.strip("\"'"))
            self._next()
        return keys

    def _pair(self, table: FieldPath) -> None:
        start = self._at
        path, keys = table, self._keys()
        place = self._place(start, start + len(self.text[start : self._at].rstrip()))
        for key in keys:
            path = (*path, key)
            self.places.setdefault(path, place)
        self._skip("=")
        self._value(path)

    def _value(self, path: FieldPath) -> None:
        if self.token == "[":
            self._array(path)
        elif self.token == "{":
            self._table(path)
        else:
            while self.token not in (",", "]", "}", _NEWLINE, _END):
                self._next()

    def _array(self, path: FieldPath) -> None:
        self._next()
        number = 0
        self._skip(_NEWLINE, ",")
        while self.token not in ("]", _END):
            inner = (*path, number)
            self.places[inner] = self._place(self._at, self._at + len(self.token.partition("\n")[0]))
            self._value(inner)
            self._skip(_NEWLINE, ",")
            number += 1
        self._next()

    def _table(self, path: FieldPath) -> None:
        self._next()
        self._skip(_NEWLINE, ",")
        while self.token not in ("}", _END):
            self._pair(path)
            self._skip(_NEWLINE, ",")
        self._next()


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
