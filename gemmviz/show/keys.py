"""Answer keys: they lie in files of their own, apart from the kernels with blanks that students are given."""

from dataclasses import dataclass
from functools import cache

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource_folder


@dataclass(frozen=True, slots=True)
class Key:
    """What stands for each blank, in order."""

    answers: tuple[str, ...]


@cache
def answers_of(name: str) -> tuple[str, ...]:
    """Of the key of this name among those that ship with gemmviz. Raises UsageError where there is none."""
    return read_toml(resource_folder("assets") / "lessons" / "keys" / f"{name}.toml", Key).answers
