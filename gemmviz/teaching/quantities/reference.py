"""References to quantities in lesson files: ``threads_per_block``, ``hazards(kind=read-after-write, array=sh_A)``."""

import re

from msgspec import Struct

from gemmviz.model.errors import UsageError
from gemmviz.model.translation import tr

_REFERENCE = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")
_ARGUMENT = re.compile(r"\s*(\w+)\s*=\s*([^=,()]*[^=,()\s])\s*")


class QuantityReference(Struct, frozen=True):
    """The id of a quantity, and its arguments as they are written."""

    id: str
    arguments: dict[str, str]


def parse_reference(text: str) -> QuantityReference:
    """Raises UsageError unless ``text`` is ``id`` or ``id(name=value, …)``."""
    parts = _REFERENCE.fullmatch(text)
    arguments = [_ARGUMENT.fullmatch(each) for each in (parts[2] or "").split(",") if each.strip()] if parts else [None]
    named = {each[1]: each[2] for each in arguments if each is not None}
    if parts is None or len(named) != len(arguments):
        raise UsageError(
            tr("{given} is not the name of a quantity", given=f"{text!r}"), remedy=tr("write id or id(argument=value, …)")
        )
    return QuantityReference(parts[1], named)
