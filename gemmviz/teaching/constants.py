"""Phrases with a number that texts of lessons may have as they are, since nothing of a step could compute it."""

from functools import cache

from msgspec import Struct

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource


class SourcedNumber(Struct, frozen=True):
    """``text``: the phrase, word for word. ``value``: its number. ``meaning``: what the number is. ``source``: who says so."""

    text: str
    value: float
    meaning: str
    source: str


class _File(Struct, frozen=True):
    constants: tuple[SourcedNumber, ...]


@cache
def constants() -> tuple[SourcedNumber, ...]:
    """All of them, the longest phrases first."""
    table = read_toml(resource("assets/measurements/constants.toml"), _File).constants
    return tuple(sorted(table, key=lambda each: -len(each.text)))
