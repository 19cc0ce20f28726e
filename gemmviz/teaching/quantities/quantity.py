"""A quantity: an id, a title, typed arguments, and the function that computes it from a shot's facts."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

Answer = bool | int | float | str
Compute = Callable[..., Answer]


@dataclass(frozen=True, slots=True)
class Quantity:
    """``id``: its name in lesson files. ``title``: its displayed name, with ``{argument}`` for values; a part in ``[]`` is left
    out where an argument in it has its default. ``arguments``: their names, types and defaults. ``compute``: takes a
    ``ShotFacts`` and the arguments by name, and raises GemmvizError where the value can't be computed.
    """

    id: str
    title: str
    arguments: type[msgspec.Struct]
    compute: Compute

    @property
    def signature(self) -> str:
        """The id with its arguments; those that may be left out are marked with ``?``."""
        fields = msgspec.structs.fields(self.arguments)
        names = ", ".join(each.name if each.required else f"{each.name}?" for each in fields)
        return f"{self.id}({names})" if names else self.id

    def title_with(self, arguments: msgspec.Struct) -> str:
        """The displayed name with the values of its arguments."""
        given = msgspec.to_builtins(arguments).keys()
        text = _OPTIONAL.sub(lambda part: part[1] if set(_ARGUMENT.findall(part[1])) <= given else "", self.title)
        return _ARGUMENT.sub(lambda name: str(getattr(arguments, name[1])), text)


_OPTIONAL = re.compile(r"\[([^]]*)\]")
_ARGUMENT = re.compile(r"\{(\w+)\}")


def quantity(title: str) -> Callable[[Compute], Quantity]:
    """Turn a function of ``(facts, **arguments)`` into a Quantity whose id is the function's name."""

    def register(compute: Compute) -> Quantity:
        first, *others = inspect.signature(compute, eval_str=True).parameters.values()
        assert first.name == "facts", compute
        fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
            (each.name, each.annotation) if each.default is each.empty else (each.name, each.annotation, each.default)
            for each in others
        ]
        arguments = msgspec.defstruct(compute.__name__, fields, forbid_unknown_fields=True, omit_defaults=True)
        return Quantity(compute.__name__, title, arguments, compute)

    return register
