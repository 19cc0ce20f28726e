"""Reads one kernel: parses its translation unit, finds the kernel, lowers its body to a Program."""

from gemmviz.model.errors import GemmvizError, SourceError
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
from gemmviz.source.reader.errors import MixedSpaces
from gemmviz.source.reader.expressions import EXPRESSIONS
from gemmviz.source.reader.first_values import check_copies
from gemmviz.source.reader.host import host_code
from gemmviz.source.reader.lambdas import LAMBDAS
from gemmviz.source.reader.library import RawCursor
from gemmviz.source.reader.literals import LITERALS
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.parameters import declare_parameter
from gemmviz.source.reader.statements import STATEMENTS

_TABLE = {**LITERALS, **EXPRESSIONS, **ASSIGNMENTS, **CALLS, **CASTS, **INITIALISERS, **LAMBDAS}
_UNEXPECTED = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)  # by constructs nobody expected


def read_program(source: SourceText, entry: str) -> Program:
    """The program of a kernel. ``entry``: its name, with template arguments in <>. Raises SourceError with the place."""
    unit, kernel = find_kernel(source, entry)
    try:
        return lowered(unit, kernel)
    except RecursionError:
        raise SourceError("the code is nested too deeply", None) from None


def lowered(unit: Unit, kernel: RawCursor) -> Program:
    cursors, mixed = Cursors(unit), frozenset[int]()
    while True:
        try:
            return _read(Lowering(cursors, _TABLE, {**STATEMENTS, **ASSEMBLY}, mixed=mixed), kernel)
        except MixedSpaces as found:  # reads again, with a pointer that may point into any memory
            mixed |= {found.key}


def _read(low: Lowering, kernel: RawCursor) -> Program:
    try:
        return _program(low, kernel)
    except GemmvizError:
        raise
    except _UNEXPECTED as error:
        place = low.statement_place or low.kernel_place
        raise SourceError("this CUDA C++ can't be read yet", place, remedy="write it in a simpler way") from error


def _program(low: Lowering, kernel: RawCursor) -> Program:
    cursors, unit = low.cursors, low.cursors.unit
    tree = cursors.declaration(kernel)
    low.kernel_place = low.place(tree)
    low.enter_function(tree)
    for each in tree.children:
        if each.kind == k.PARM_DECL:
            declare_parameter(low, each)
    block = next(each for each in tree.children if each.kind == k.COMPOUND_STMT)
    body = low.statement(block)
    assert isinstance(body, Block)
    check_copies(low.copies, body.statements)
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
