"""Documents that people write, as msgspec Structs: errors name the field, its place and the nearest known field."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from gemmviz.files.codec import FormatError
from gemmviz.files.toml_places import FieldPath, nearest_place, path_of
from gemmviz.model.errors import GemmvizError, Place, closest

_T = TypeVar("_T")
_START = Place(1, 1, 1, 2)


def read_fields(plain: Any, kind: type[_T], places: Callable[[], Mapping[FieldPath, Place]], path: FieldPath = ()) -> _T:
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
    place = nearest_place(places, (*outer, *inner)) or _START
    error = FormatError(f"{where}: {sentence}" if where else sentence, place, remedy=remedy)
    error.path = (*outer, *inner)
    return error


_TYPES = {
    "str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "a table", "null": "nothing",
}  # fmt: skip


def _type_text(names: str) -> str:
    """Types as msgspec names them, in the words of TOML: ``str | int`` is a string or a whole number."""
    return " or ".join(_TYPES.get(each, each) for each in names.split(" | ") if each != "null")


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
