"""Lowers asm statements: finds their text in the source, which is translated from PTX; their operands are cursors."""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from gemmviz.cuda.nodes import Evaluate, Expr, Stmt
from gemmviz.cuda.ptx.registers import AsmOperand
from gemmviz.cuda.ptx.statement import asm_block
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assign import assign
from gemmviz.cuda.reader.cursors import Node, bare, closing
from gemmviz.cuda.reader.intrinsics import mark_loops
from gemmviz.cuda.reader.lowering import Lowering
from gemmviz.cuda.types import AddressSpace, Scalar
from gemmviz.model.messages import SourceError
from gemmviz.model.outline import COMMENT, SiteKind

_STRING = re.compile(r'(?:R"([^(\s]*)\((.*?)\)\1"|"((?:[^"\\]|\\.)*)")', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "\n": "", "r": "\r", "'": "'", "0": "\0"}


class AsmText(Struct, frozen=True):
    """``outputs`` and ``inputs`` are constraints, such as ``=r`` and ``l``. ``rest`` is what the template holds besides
    strings, such as macros.
    """

    template: str
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    rest: str = ""


def asm_text(text: str) -> AsmText:
    """The parts of a statement from ``asm`` to its closing parenthesis."""
    inside = text[text.index("(") + 1 : text.rindex(")")]
    template, *sections = _sections(inside)
    constraints = [tuple(_constraints(each)) for each in sections[:2]] + [(), ()]
    return AsmText("".join(strings(template)), constraints[0], constraints[1], _other(template))


def strings(text: str) -> Iterator[str]:
    """The values of the string literals in a text, in order."""
    for match in _STRING.finditer(text):
        yield (
            match[2]
            if match[2] is not None
            else re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[0]), match[3], flags=re.DOTALL)
        )


def _other(text: str) -> str:
    return " ".join(COMMENT.sub(" ", _STRING.sub(" ", text)).replace("\\\n", " ").split())


def _sections(text: str) -> list[str]:
    """The parts between the colons that are in no bracket and no string."""
    found, start, depth = [], 0, 0
    for at, piece in _pieces(text):
        depth += piece in "([{"
        depth -= piece in ")]}"
        if depth == 0 and piece == ":":
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


def _constraints(section: str) -> Iterator[str]:
    """The strings of a section that are in no bracket."""
    depth, at = 0, 0
    for at, piece in _pieces(section):
        depth += piece in "([{"
        depth -= piece in ")]}"
        if depth == 0 and piece == '"':
            literal = _STRING.match(section, at)
            yield literal[3] if literal else ""


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Characters outside of strings and comments with their places; a string counts as its first quote."""
    at = 0
    while at < len(text):
        skipped = _STRING.match(text, at) or COMMENT.match(text, at)
        if skipped is None:
            yield at, text[at]
            at += 1
            continue
        if text[at] != "/":
            yield at, '"'
        at = skipped.end()


# Finds the asm statements that the use of a macro stands for, in the texts of the macros' definitions.

_DEFINITION = r"^[ \t]*#[ \t]*define[ \t]+{}\b(\([^)]*\))?((?:[^\n\\]|\\.)*(?:\\\r?\n(?:[^\n\\]|\\.)*)*)"
_STRING_OR_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*', re.DOTALL)
_ASM = ("asm", "__asm__", "__asm")
_DEEPEST = 8


def asm_statements(use: str, files: Iterable[str], depth: int = 0) -> Iterator[str]:
    """The asm statements in the use of a macro such as ``COPY(a, b)``, in order, with its arguments where ``#`` quotes them."""
    texts = list(files)
    name = re.match(r"\w+", use)
    found = None if name is None else _definition(name[0], texts)
    if found is None or depth > _DEEPEST:
        return
    parameters, body = found
    arguments = _arguments(use[len(name[0]) :]) if name else []
    body = _substituted(body, dict(zip(parameters, arguments, strict=False)))
    at = 0
    while word := _STRING_OR_WORD.search(body, at):
        at = word.end()
        opening = body.find("(", at)
        if word[0] in _ASM and opening >= 0:
            at = _closing(body, opening) + 1
            yield body[word.start() : at]
        elif not word[0].startswith('"') and word[0] != (name[0] if name else ""):
            follows = body[at:].lstrip().startswith("(")
            yield from asm_statements(body[word.start() : _closing(body, opening) + 1 if follows else at], texts, depth + 1)


def _substituted(body: str, given: dict[str, str]) -> str:
    """A macro's body with its arguments in place of its parameters."""

    def quoted(match: re.Match[str]) -> str:
        text = given.get(match[1])
        return match[0] if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return _STRING_OR_WORD.sub(lambda word: given.get(word[0], word[0]), re.sub(r"#\s*(\w+)", quoted, body))


def _definition(name: str, texts: list[str]) -> tuple[list[str], str] | None:
    """The parameters and the body of a macro."""
    pattern = re.compile(_DEFINITION.format(re.escape(name)), re.MULTILINE)
    for text in texts:
        if name in text and (match := pattern.search(text)):
            parameters = [each.strip() for each in (match[1] or "()")[1:-1].split(",") if each.strip()]
            return parameters, re.sub(r"\\\r?\n", "\n", match[2])
    return None


def _arguments(text: str) -> list[str]:
    """The arguments in the parentheses at the start of a text."""
    text = text.lstrip()
    if not text.startswith("("):
        return []
    found, start, depth = [], 1, 0
    end = _closing(text, 0)
    for at in range(1, end):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 and text[at] == ",":
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:end].strip()]


def _closing(text: str, opening: int) -> int:
    """The index of the parenthesis that closes the one at ``opening``; strings are skipped."""
    depth, at = 0, opening
    while at < len(text):
        if text[at] == '"':
            string = _STRING_OR_WORD.match(text, at)
            at = string.end() if string else at + 1
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
        at += 1
    return len(text) - 1


# The statement.


class _Around:
    """The reader around one asm statement, as PTX needs it."""

    def __init__(self, low: Lowering, node: Node) -> None:
        self._low, self._node = low, node
        self.place, self.instruction = low.place(node), ""

    def new_slot(self) -> int:
        return self._low.new_slot()

    def access(
        self, kind: SiteKind, space: AddressSpace | None, width: int, is_async: bool = False, instruction: str = ""
    ) -> int:
        low = self._low
        number = low.add_access(kind, space, self._node, width, instruction)
        low.accesses[number] = structs.replace(low.accesses[number], text=self.instruction, is_async=is_async)
        if kind == "barrier":
            mark_loops(low)
        return number

    def fixed(self, value: Expr) -> int | None:
        return self._low.fixed(value)

    def error(self, message: str, remedy: str | None = None) -> SourceError:
        where = f" ({self.instruction})" if self.instruction and self.instruction not in message else ""
        return self._low.error(message + where, self._node, remedy, id="unsupported")


def assembly(low: Lowering, node: Node) -> Stmt:
    """The statements of an asm statement."""
    span = low.cursors.span(node)
    low.statement_place = low.place(node) if span is not None else low.statement_place
    found = asm_text(_statement_text(low, node))
    if found.rest:
        raise low.error(
            f"the text of this asm is put together with {found.rest}", node, "write it as strings alone", id="unsupported"
        )
    cursors = [each for each in node.parts if each.kind != k.STRING_LITERAL]
    if len(cursors) != len(found.outputs) + len(found.inputs):
        raise low.error("the operands of this asm can't be read", node, id="unsupported")
    operands = [_output(low, constraint, each) for constraint, each in zip(found.outputs, cursors, strict=False)]
    inputs = zip(found.inputs, cursors[len(operands) :], strict=True)
    operands += [AsmOperand(constraint, low.value(each)) for constraint, each in inputs]
    return asm_block(found.template, operands, _Around(low, node))


def _statement_text(low: Lowering, node: Node) -> str:
    """The text of the statement; if it comes from a macro, of the macro's definition with its arguments."""
    text = low.cursors.text_from(node)
    if re.match(r"(?:__)?asm(?:__)?\b", text):
        return text[: closing(text, text.index("(")) + 1]
    files = low.cursors.unit.files.values()
    written = list(asm_statements(text[: closing(text, text.index("(")) + 1] if "(" in text else text, files))
    if not written:
        raise low.error("the text of this asm can't be found", node, "write it without a macro", id="unsupported")
    identity = node.cursor.second or 0
    seen = low.asm_seen.setdefault(node.span or (0, 0), [])
    if identity not in seen:
        seen.append(identity)
    return written[seen.index(identity) % len(written)]


def _output(low: Lowering, constraint: str, node: Node) -> AsmOperand:
    def written(value: Expr) -> Stmt:
        target = low.expression(bare(node))
        assert isinstance(value.type, Scalar)
        return Evaluate(assign(low, target, "", value, node, node, False))

    return AsmOperand(constraint, low.value(node) if constraint.startswith("+") else None, written)


ASSEMBLY = {k.ASM_STMT: assembly}
