"""Answer keys of kernels with blanks, in files separate from the kernels that students receive."""

from functools import cache

from msgspec import Struct

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource, resources

_KEYS_FOLDER = "assets/lessons/keys"


class AnswerKey(Struct, frozen=True):
    """The text for each blank, in order."""

    answers: tuple[str, ...]


@cache
def key_names() -> tuple[str, ...]:
    """Names of the keys that ship with gemmviz."""
    return tuple(path.stem for path in resources(_KEYS_FOLDER, "*.toml"))


@cache
def answers_of(name: str) -> tuple[str, ...]:
    """Answers of a key. Raises InstallationError for a name that is not in ``key_names``."""
    return read_toml(resource(f"{_KEYS_FOLDER}/{name}.toml"), AnswerKey).answers
