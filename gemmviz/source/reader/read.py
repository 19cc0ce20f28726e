"""Reads one kernel: parses its translation unit, finds the kernel, lowers its body to a Program."""

from gemmviz.model.errors import SourceError
from gemmviz.parser.headers import missing_note
from gemmviz.parser.source_text import SourceText
from gemmviz.parser.unit import Unit
from gemmviz.source.nodes import Block
from gemmviz.source.program_parts import Program
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.assembly import ASSEMBLY
from gemmviz.source.reader.assignments import ASSIGNMENTS
from gemmviz.source.reader.calls import CALLS
from gemmviz.source.reader.casts import CASTS
from gemmviz.source.reader.constructors import INITIALISERS
from gemmviz.source.reader.cursors import Cursors
from gemmviz.source.reader.entry import find_kernel
from gemmviz.source.reader.expressions import EXPRESSIONS
from gemmviz.source.reader.host import host_code
from gemmviz.source.reader.lambdas import LAMBDAS
from gemmviz.source.reader.library import RawCursor
from gemmviz.source.reader.literals import LITERALS
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.parameters import declare_parameter
from gemmviz.source.reader.statements import STATEMENTS

_TABLE = {**LITERALS, **EXPRESSIONS, **ASSIGNMENTS, **CALLS, **CASTS, **INITIALISERS, **LAMBDAS}


def read_program(source: SourceText, entry: str) -> Program:
    """The program of a kernel. ``entry``: its name, with template arguments in <>. Raises SourceError with the place."""
    unit, kernel = find_kernel(source, entry)
    try:
        return lowered(unit, kernel)
    except RecursionError:
        raise SourceError("the code is nested too deeply", None) from None


def lowered(unit: Unit, kernel: RawCursor) -> Program:
    cursors = Cursors(unit)
    low = Lowering(cursors, _TABLE, {**STATEMENTS, **ASSEMBLY})
    tree = cursors.declaration(kernel)
    low.kernel_place = low.place(tree)
    low.enter_function(tree)
    for each in tree.children:
        if each.kind == k.PARM_DECL:
            declare_parameter(low, each)
    block = next(each for each in tree.children if each.kind == k.COMPOUND_STMT)
    body = low.statement(block)
    assert isinstance(body, Block)
    return Program(
        name=cursors.name(kernel),
        parameters=tuple(low.parameters),
        body=Block((*low.first, *body.statements)) if low.first else body,
        slots=low.slots,
        accesses=tuple(low.accesses),
        loops=tuple(low.loops),
        shared=tuple(low.shared),
        variables=tuple(low.variables),
        notes=(*unit.notes, *map(missing_note, unit.missing), *low.notes),
        held=low.slots + low.local_elements,
        opening=low.place(block),
        host_code=host_code(cursors),
        arguments=tuple(low.arguments),
    )
