"""Places in TOML, against the text and against the standard library's reader."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gemmviz.files.codec import FieldPath, FormatError, check_version, nearest_place, path_of, toml_places
from gemmviz.files.resources import resources

TEXT = '''# comment [a]
title = "x # [no]" # = 1
a.b = { c = [1, { d = "]" }], "e f" = 2 }
text = """
[not] = a table
"""

[[step]]
id = 'one'
[[step.choice]]
n = 1
[[step.choice]]
n = [
  2, # two
  [3, 4],
]
[[step]]
[step.shot.setup]
when = 2020-01-01 10:00:00
'''


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("title",), (2, 1)), (("a", "b"), (3, 1)), (("a", "b", "c"), (3, 9)), (("a", "b", "c", 1), (3, 17)),
        (("a", "b", "c", 1, "d"), (3, 19)), (("a", "b", "e f"), (3, 31)), (("text",), (4, 1)),
        (("step", 0), (8, 1)), (("step", 0, "id"), (9, 1)), (("step", 0, "choice", 1, "n"), (13, 1)),
        (("step", 0, "choice", 1, "n", 1), (15, 3)), (("step", 0, "choice", 1, "n", 1, 1), (15, 7)), (("step", 1), (17, 1)),
        (("step", 1, "shot", "setup", "when"), (19, 1)),
    ],
)  # fmt: skip
def test_places_are_those_of_the_keys(path: FieldPath, place: tuple[int, int]) -> None:
    at = toml_places(TEXT)[path]
    assert (at.line, at.column) == place


def test_the_nearest_table_stands_in_for_an_unknown_path() -> None:
    places = toml_places(TEXT)
    assert nearest_place(places, ("step", 0, "choice", 1, "x", "y")) == places["step", 0, "choice", 1]
    assert nearest_place(places, ("nothing",)) is None


@pytest.mark.parametrize("path", [*resources("assets/lessons", "*.toml"), *resources("assets/devices", "*.toml")], ids=str)
def test_every_value_of_a_shipped_file_has_a_place_that_names_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    places, lines = toml_places(text), text.split("\n")
    for where in _paths(tomllib.loads(text)):
        at = nearest_place(places, where)
        assert at is not None
        if isinstance(where[-1], str) and where in places:
            assert where[-1] in lines[at.line - 1]


def _paths(plain: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    inner = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in inner:
        if not isinstance(value, list | dict):
            yield (*path, key)
        yield from _paths(value, (*path, key))


def test_paths_of_msgspec_are_read() -> None:
    assert path_of("Expected `int`, got `str` - at `$.step[3].shot`") == ("step", 3, "shot")
    assert path_of("Expected `int`, got `str` - at `$.a[...].b`") == ("a",)
    assert path_of("Object missing required field `is`") == ()


def test_a_file_of_another_version_says_what_to_do() -> None:
    for version, remedy in ((1, "make it again"), (3, "update gemmviz"), ("x", "make it again")):
        with pytest.raises(FormatError) as caught:
            check_version(version, 2, "make it again")
        assert caught.value.remedy == remedy
    check_version(2, 2, "make it again")
