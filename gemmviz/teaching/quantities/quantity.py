"""A quantity: an id, a title, typed arguments, and the function that computes it from a shot's facts."""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from gemmviz.model.messages import UsageError, closest, tr
from gemmviz.model.sites import MemoryArray

QuantityValue = bool | int | float | str
Origin = Literal["run", "counts", "recorded", "model", "definition", "reported"]
ERROR_QUANTITIES = ("refusal", "fault")  # their values are ids of errors
NO_VALUE = "nothing"  # the value of a text that would be empty
_QuantityFunction = Callable[..., QuantityValue]


class Quantity(Struct, frozen=True):
    """``id``: its name in lesson files. ``title``: its displayed name, with ``{argument}`` for values; a part in ``[]`` is left
    out where an argument in it has its default. ``arguments``: their names, types and defaults. ``compute``: takes a
    ``Knowledge`` and the arguments by name, and raises GemmvizError where the value can't be computed. ``origin``: what the
    value comes from, an Origin.
    """

    id: str
    title: str
    arguments: type[msgspec.Struct]
    compute: _QuantityFunction
    origin: Origin = "run"

    @property
    def signature(self) -> str:
        """The id with its arguments and their choices; ``?`` marks arguments that may be left out."""
        names = ", ".join(map(_argument_text, msgspec.structs.fields(self.arguments)))
        return f"{self.id}({names})" if names else self.id

    def title_with(self, arguments: msgspec.Struct) -> str:
        """The displayed name with the values of its arguments."""
        given = msgspec.to_builtins(arguments).keys()
        text = _OPTIONAL.sub(lambda part: part[1] if set(_ARGUMENT.findall(part[1])) <= given else "", tr(self.title))
        return _ARGUMENT.sub(lambda name: str(getattr(arguments, name[1])), text)


def _argument_text(field: msgspec.structs.FieldInfo) -> str:
    """An argument with its choices, as ``access?=read|write``."""
    kinds = (field.type, *get_args(field.type))
    choices = next((get_args(each) for each in kinds if get_origin(each) is Literal), ())
    name = field.name if field.required else f"{field.name}?"
    return f"{name}={'|'.join(map(str, choices))}" if choices else name


_OPTIONAL = re.compile(r"\[([^]]*)\]")
_ARGUMENT = re.compile(r"\{(\w+)\}")


def quantity(title: str, origin: Origin = "run") -> Callable[[_QuantityFunction], Quantity]:
    """Turn a function of ``(facts, **arguments)`` into a Quantity whose id is the function's name."""

    def register(compute: _QuantityFunction) -> Quantity:
        first, *others = inspect.signature(compute, eval_str=True).parameters.values()
        assert first.name == "facts", compute
        fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
            (each.name, each.annotation) if each.default is each.empty else (each.name, each.annotation, each.default)
            for each in others
        ]
        arguments = msgspec.defstruct(compute.__name__, fields, forbid_unknown_fields=True, omit_defaults=True)
        return Quantity(compute.__name__, title, arguments, compute, origin)

    return register


# Types of the arguments that several quantities take.

Whole = Annotated[int, Meta(ge=0, le=999_999_999)]
Measure = Literal["requested", "moved"]
Matrix = str  # the name of an array of the problem, or of one in shared memory
IN_PROBLEM = "in_problem"  # marks types of arguments that name an array of the problem
GlobalMatrix = Annotated[str, Meta(extra={IN_PROBLEM: True})]
Factor = Annotated[str, Meta(extra={IN_PROBLEM: True})]  # the name of an input
MatrixAxis = Literal["rows", "columns"]


def matrix_named(arrays: Iterable[MemoryArray], name: str) -> MemoryArray:
    """The array of this name. Raises UsageError if there is none."""
    known = {array.name: array for array in arrays}
    if name not in known:
        raise UsageError(
            tr("the kernel has no array {name}", name=name),
            remedy=closest(name, known) or tr("it has {known}", known=", ".join(known)),
        )
    return known[name]


# References to quantities in lesson files: threads_per_block, hazards(kind=read-after-write, array=sh_A).

_REFERENCE = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")
_NAMED_VALUE = re.compile(r"\s*(\w+)\s*=\s*([^=,()]*[^=,()\s])\s*")


class QuantityReference(Struct, frozen=True):
    """The id of a quantity, and its arguments as they are written."""

    id: str
    arguments: dict[str, str]


def parse_reference(text: str) -> QuantityReference:
    """Raises UsageError unless ``text`` is ``id`` or ``id(name=value, …)``."""
    parts = _REFERENCE.fullmatch(text)
    arguments = [_NAMED_VALUE.fullmatch(each) for each in (parts[2] or "").split(",") if each.strip()] if parts else [None]
    named = {each[1]: each[2] for each in arguments if each is not None}
    if parts is None or len(named) != len(arguments):
        raise UsageError(
            tr("{given} is not the name of a quantity", given=f"{text!r}"), remedy=tr("write id or id(argument=value, …)")
        )
    return QuantityReference(parts[1], named)
