"""A walk over all nodes within one."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from gemmviz.model.errors import Place
from gemmviz.source.nodes import Read
from gemmviz.source.types import CType, PointerType, Scalar

_LEAVES = (bool, int, str, Place, Scalar, PointerType, CType, int | None, str | None)  # types of fields that hold no node
_NODES = Read.__module__


def parts(node: Any) -> Iterator[Any]:
    """All nodes within one, itself first, in the order of the source."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        pending += reversed(inner_parts(part))


def inner_parts(node: Any) -> list[Any]:
    """The nodes directly below one."""
    inner: list[Any] = []
    for name in _inner_fields(node.__class__):
        value = getattr(node, name)
        if isinstance(value, tuple):  # of nodes, or of slots and what is bound to them
            inner += (each[1] if isinstance(each, tuple) else each for each in value)
        else:
            inner.append(value)
    return [each for each in inner if type(each).__module__ == _NODES]


@cache
def _inner_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a type of node that may hold nodes."""
    return tuple(name for name in kind.__struct_fields__ if kind.__annotations__[name] not in _LEAVES)
