"""The template of an asm statement to instructions: guards, opcodes and operands, without their meaning."""

import re
from collections.abc import Iterator

from msgspec import Struct

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_GUARD = re.compile(r"@(!?)\s*([%\w$]+)\s*")
_DECLARATION = re.compile(r"\.reg\s+\.(\w+)\s+(.*)", re.DOTALL)
_RANGE = re.compile(r"([%\w$]+)<(\d+)>$")
_PARTS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+")


class Instruction(Struct, frozen=True):
    """One instruction: ``opcode`` is its first word, ``modifiers`` what follows behind dots. ``guard`` is the predicate that
    must hold, or "".
    """

    text: str
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""
    is_negated: bool = False

    @property
    def name(self) -> str:
        return ".".join((self.opcode, *self.modifiers))

    def has(self, *modifiers: str) -> bool:
        return any(each in self.modifiers for each in modifiers)

    def one_of(self, *modifiers: str) -> str:
        """The first of these modifiers that it has, or ""."""
        return next((each for each in self.modifiers if each in modifiers), "")


class RegisterNames(Struct, frozen=True):
    """A declaration of registers of one type."""

    type: str
    names: tuple[str, ...]


def instructions(template: str) -> Iterator[Instruction | RegisterNames]:
    """The instructions and declarations of a template, in order. Braces around several are left out."""
    for statement in _statements(_COMMENT.sub(" ", template)):
        declaration = _DECLARATION.match(statement)
        yield RegisterNames(declaration[1], tuple(_names(declaration[2]))) if declaration else _instruction(statement)


def _statements(text: str) -> Iterator[str]:
    """The statements of a text, without the braces of blocks; those of vectors follow an opcode."""
    current = ""
    for character in text:
        is_start = not current.strip()
        if character == ";" or (is_start and character in "{}"):
            if not is_start:
                yield " ".join(current.split())
            current = ""
        else:
            current += character
    if current.strip():
        yield " ".join(current.split())


def _names(text: str) -> Iterator[str]:
    for name in (each.strip() for each in text.split(",")):
        if several := _RANGE.match(name):
            yield from (f"{several[1]}{number}" for number in range(int(several[2])))
        else:
            yield name


def _instruction(text: str) -> Instruction:
    guard = _GUARD.match(text)
    body = text[guard.end() :] if guard else text
    head, _, rest = body.partition(" ")
    opcode, *modifiers = re.split(r"\.", head)
    operands = tuple(each.strip() for each in _PARTS.findall(rest) if each.strip())
    return Instruction(text, opcode, tuple(modifiers), operands, guard[2] if guard else "", bool(guard and guard[1]))


def vector_elements(operand: str) -> tuple[str, ...]:
    """The operands within braces, or the operand itself."""
    return tuple(each.strip() for each in operand[1:-1].split(",")) if operand.startswith("{") else (operand,)


def address_parts(operand: str) -> tuple[str, int] | None:
    """The register and the distance in bytes of ``[register + 16]``; None if it is no such address."""
    inside = re.fullmatch(r"\[\s*([%\w$]+)\s*(?:\+\s*(-?\w+)\s*)?\]", operand)
    return None if inside is None else (inside[1], int(inside[2] or "0", 0))
