"""Finds functions that run on the host, which a device compiler can't read."""

from collections.abc import Iterator

from gemmviz.source.program_parts import HostCode
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Cursors, Node
from gemmviz.source.reader.library import RawCursor

_FUNCTIONS = (k.FUNCTION_DECL, k.FUNCTION_TEMPLATE)
_AROUND = (k.LINKAGE_SPEC, k.NAMESPACE, k.UNEXPOSED_DECL)
_DEVICE = (k.GLOBAL_ATTR, k.DEVICE_ATTR)


def host_code(cursors: Cursors) -> tuple[HostCode, ...]:
    """The functions of the project's files that are neither kernels nor functions of the device."""
    return tuple(_host_functions(cursors, cursors.root))


def _host_functions(cursors: Cursors, around: RawCursor) -> Iterator[HostCode]:
    for each in cursors.top_level(around):
        if each.kind in _AROUND:
            yield from _host_functions(cursors, each.cursor)
        elif each.kind in _FUNCTIONS and not _is_of_device(cursors, each):
            where = cursors.file_place(each)
            if where is not None and "constexpr" not in where[2].partition("{")[0]:
                yield HostCode(where[1], where[0])


def _is_of_device(cursors: Cursors, function: Node) -> bool:
    return any(each.kind in _DEVICE for each in cursors.top_level(function.cursor))
