"""Answer keys: they lie in files of their own, apart from the kernels with blanks that students are given."""

from dataclasses import dataclass
from functools import cache

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource, resources

_FOLDER = "assets/lessons/keys"


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What stands for each blank, in order."""

    answers: tuple[str, ...]


@cache
def key_names() -> tuple[str, ...]:
    """Those that ship with gemmviz."""
    return tuple(path.stem for path in resources(_FOLDER, "*.toml"))


@cache
def answers_of(name: str) -> tuple[str, ...]:
    """Of the key of this name, one of ``key_names``."""
    return read_toml(resource(f"{_FOLDER}/{name}.toml"), AnswerKey).answers
