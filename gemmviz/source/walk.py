"""A walk over all nodes within one."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from gemmviz.model.errors import Place
from gemmviz.source import nodes
from gemmviz.source.types import CType, PointerType, Scalar

_LEAVES = (bool, int, str, Place, Scalar, PointerType, CType, int | None, str | None)  # types of fields that hold no node
_NODES = {each for each in vars(nodes).values() if isinstance(each, type) and each.__module__ == nodes.__name__}


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
        if type(value) is tuple:  # of nodes, or of slots and what is bound to them
            for each in value:
                part = each[1] if type(each) is tuple else each
                if type(part) in _NODES:
                    inner.append(part)
        elif type(value) in _NODES:
            inner.append(value)
    return inner


@cache
def _inner_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a type of node that may hold nodes."""
    return tuple(name for name in kind.__struct_fields__ if kind.__annotations__[name] not in _LEAVES)
