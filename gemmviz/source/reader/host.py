"""Finds functions and variables of the host, which a device compiler can't read."""

import re
from collections.abc import Iterator

from gemmviz.source.program_parts import HostCode
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Cursors, Node
from gemmviz.source.reader.library import RawCursor

_FUNCTIONS = (k.FUNCTION_DECL, k.FUNCTION_TEMPLATE, k.CXX_METHOD, k.CONSTRUCTOR, k.DESTRUCTOR, k.CONVERSION_FUNCTION)
_AROUND = (k.LINKAGE_SPEC, k.NAMESPACE, k.UNEXPOSED_DECL)
_CLASSES = (k.STRUCT_DECL, k.UNION_DECL, k.CLASS_DECL, k.CLASS_TEMPLATE)
_DEVICE = (k.GLOBAL_ATTR, k.DEVICE_ATTR, k.CONSTANT_ATTR, k.SHARED_ATTR)
_CONSTANT = re.compile(r"\bconst\b")
_OF_BOTH = re.compile(r"\bconstexpr\b|\b__managed__\b")
_BY_THE_COMPILER = re.compile(r"=\s*(?:default|delete)\s*$")


def host_code(cursors: Cursors) -> tuple[HostCode, ...]:
    """The functions, methods and variables of the project's files that are not of the device. Constants are of both, and what
    is constexpr.
    """
    return tuple(_host_code(cursors, cursors.root, None))


def _host_code(cursors: Cursors, around: RawCursor, record: RawCursor | None) -> Iterator[HostCode]:
    for each in cursors.top_level(around):
        if each.kind in _AROUND:
            yield from _host_code(cursors, each.cursor, None)
        elif each.kind in _CLASSES:
            if not cursors.is_stub(each.cursor):
                yield from _host_code(cursors, each.cursor, each.cursor)
        elif each.kind in (*_FUNCTIONS, k.VAR_DECL) and not _is_of_device(cursors, each, record):
            where = cursors.file_place(each)
            if where is not None and not _is_of_both(cursors, each, where[2]):
                yield HostCode(where[1], where[0])


def _is_of_device(cursors: Cursors, each: Node, record: RawCursor | None) -> bool:
    """Whether a function or variable is of the device, or a method of the record that the compiler added."""
    if record is not None and cursors.lib.getCursorLocation(each.cursor).number == cursors.lib.getCursorLocation(record).number:
        return True
    return any(inner.kind in _DEVICE for inner in cursors.top_level(each.cursor))


def _is_of_both(cursors: Cursors, each: Node, text: str) -> bool:
    """Whether host and device may use a function or variable with this text."""
    head = text.partition("{")[0]
    if _OF_BOTH.search(head):
        return True
    if each.kind != k.VAR_DECL:
        return bool(_BY_THE_COMPILER.search(text)) and "virtual" not in head
    declared = head.partition("=")[0].partition("[")[0].rpartition("*")[2]
    is_record = cursors.lib.getCanonicalType(cursors.type(each)).kind == k.T_RECORD
    return bool(_CONSTANT.search(declared)) and not is_record
