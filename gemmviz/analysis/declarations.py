"""The declarations of a kernel's text, each with the memory that it selects."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from gemmviz.model.outline import COMMENT

MemorySpace = Literal["register", "local", "shared", "global", "constant", "texture"]

_DECLARED_TYPE = r"(?:const\s+)?(?:unsigned\s+)?(?:int|float|double|unsigned|size_t|long|half|float2|float4|bool)\b"
_QUALIFIED = re.compile(rf"(__shared__|__constant__|__device__|__local__)\s+({_DECLARED_TYPE})\s+([^;()]+);")
_AUTOMATIC = re.compile(rf"(?:^|[;{{}}(])\s*({_DECLARED_TYPE})\s+([A-Za-z_][^;]*?)\s*(?=;)")
_PARAMETER_LIST = re.compile(r"__global__[^(]*?\(([^)]*)\)")
_DECLARATOR = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)")
_QUALIFIED_SPACES: dict[str, MemorySpace] = {
    "__shared__": "shared", "__constant__": "constant", "__device__": "global", "__local__": "local",
}  # fmt: skip


class Declaration(Struct, frozen=True):
    """A declared variable: ``text`` without its value, its ``name``, and the memory that it is in. ``is_pointer``: a parameter
    that points into that memory.
    """

    text: str
    name: str
    space: MemorySpace
    is_pointer: bool = False


def declarations(text: str, macros: Mapping[str, int] | None = None) -> tuple[Declaration, ...]:
    """Return the declarations of a kernel's text in order, each name once: qualified variables, pointers among the parameters,
    and automatic variables, of which arrays are in local memory. ``macros``: values to write instead of names.
    """
    plain = COMMENT.sub("", text)
    for name, value in (macros or {}).items():
        plain = re.sub(rf"\b{name}\b", str(value), plain)
    kernel = _PARAMETER_LIST.search(plain)
    found = [
        Declaration(f"{match[1]} {match[2]} {name}{extents}", name, _QUALIFIED_SPACES[match[1]])
        for match in _QUALIFIED.finditer(plain)
        for name, extents in _declarators(match[3])
    ]
    if kernel is not None:
        found += [
            Declaration(" ".join(each.split()), each.rpartition("*")[2].split()[-1], "global", is_pointer=True)
            for each in kernel[1].split(",")
            if "*" in each
        ]
        found += _automatic(_QUALIFIED.sub(";", plain[kernel.end() :]))
    return tuple({each.name: each for each in reversed(found)}.values())[::-1]


def _automatic(body: str) -> list[Declaration]:
    return [
        Declaration(f"{match[1]} {name}{extents}", name, "local" if extents else "register")
        for match in _AUTOMATIC.finditer(body)
        for name, extents in _declarators(match[2])
    ]


def _declarators(text: str) -> list[tuple[str, str]]:
    """Return name and extents of each variable of a declaration, without their values."""
    parts, depth, last = list[str](), 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[last:at])
            last = at + 1
    matches = (_DECLARATOR.match(part) for part in (*parts, text[last:]))
    return [(match[1], match[2].strip()) for match in matches if match is not None]
