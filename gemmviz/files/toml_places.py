"""Places in TOML: where the value of each key stands, by its path. The text is known to be TOML; values are not converted."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from gemmviz.model.errors import Place

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
