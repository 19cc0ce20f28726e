"""Lowers asm statements: their text is translated from PTX, their operands are cursors."""

import re

from gemmviz.cuda.nodes import Evaluate, Expr, Stmt
from gemmviz.cuda.ptx.asm_text import asm_statements, asm_text
from gemmviz.cuda.ptx.registers import AsmOperand
from gemmviz.cuda.ptx.statement import asm_block
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assign import assign
from gemmviz.cuda.reader.cursors import Node, bare, closing
from gemmviz.cuda.reader.lowering import Lowering
from gemmviz.cuda.reader.warps import mark_loops
from gemmviz.cuda.types import AddressSpace, Scalar
from gemmviz.model.errors import SourceError
from gemmviz.model.records import replace
from gemmviz.model.site_kinds import SiteKind


class _Around:
    """The reader around one asm statement, as PTX needs it."""

    def __init__(self, low: Lowering, node: Node) -> None:
        self._low, self._node = low, node
        self.place, self.instruction = low.place(node), ""

    def new_slot(self) -> int:
        return self._low.new_slot()

    def access(self, kind: SiteKind, space: AddressSpace | None, width: int, is_async: bool = False) -> int:
        low = self._low
        number = low.add_access(kind, space, self._node, width)
        low.accesses[number] = replace(low.accesses[number], text=self.instruction, is_async=is_async)
        if kind == "barrier":
            mark_loops(low)
        return number

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
