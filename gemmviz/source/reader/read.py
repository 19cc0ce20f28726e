"""Reads one kernel: parses its translation unit, finds the kernel, lowers its body to a Program."""

from gemmviz.model.errors import SourceError, closest
from gemmviz.parser.source_text import SourceText
from gemmviz.parser.unit import Unit, parse
from gemmviz.source.expanded import ExpandedSource
from gemmviz.source.layout import FunctionPlaces, TwinLayout
from gemmviz.source.nodes import Block, FunctionParameter, Program
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.assembly import ASSEMBLY
from gemmviz.source.reader.assignments import ASSIGNMENTS
from gemmviz.source.reader.calls import CALLS
from gemmviz.source.reader.casts import CASTS
from gemmviz.source.reader.cursors import Cursors, Node
from gemmviz.source.reader.expressions import EXPRESSIONS, unary_operator
from gemmviz.source.reader.initialisers import INITIALISERS
from gemmviz.source.reader.lambdas import LAMBDAS
from gemmviz.source.reader.library import RawCursor, RawLocation
from gemmviz.source.reader.literals import LITERALS
from gemmviz.source.reader.lowering import Lowering, bare
from gemmviz.source.reader.statements import STATEMENTS
from gemmviz.source.reader.symbols import Variable
from gemmviz.source.types import PointerType, Scalar

_TABLE = {**LITERALS, **EXPRESSIONS, **ASSIGNMENTS, **CALLS, **CASTS, **INITIALISERS, **LAMBDAS}
_ENTRY = "gemmviz_entry"


def read_program(source: SourceText, entry: str) -> Program:
    """The program of a kernel. ``entry``: its name, with template arguments in <>. Raises SourceError with the place."""
    return lowered(*find_kernel(source, entry))


def find_kernel(source: SourceText, entry: str) -> tuple[Unit, RawCursor]:
    """The translation unit with the kernel, and the definition of the kernel, instantiated."""
    unit = parse(source, f"static auto {_ENTRY} = &{entry};")
    cursors = Cursors(unit)
    kernel = _referred(cursors, entry)
    if kernel is None:
        raise SourceError(f"the file has no kernel {entry}", None, remedy=closest(entry, []))
    return unit, kernel


def _referred(cursors: Cursors, entry: str) -> RawCursor | None:
    """The kernel that the last line of the compiled text names."""
    lib, source = cursors.lib, cursors.unit.source
    main = lib.getFile(cursors._handle, f"/project/{source.main}".encode())
    at = cursors.unit.files[source.main].encode().rindex(_ENTRY.encode())
    location: RawLocation = lib.getLocationForOffset(cursors._handle, main, at)
    cursor = lib.getCursor(cursors._handle, location)
    found = lib.Cursor_getVarDeclInitializer(cursor)
    if lib.Cursor_isNull(found):
        return None
    tree = cursors.tree(found)
    while tree.kind != k.DECL_REF_EXPR and tree.parts:
        tree = tree.parts[0]
    kernel = cursors.referenced(tree)
    return None if kernel is None else cursors.definition(kernel)


def lowered(unit: Unit, kernel: RawCursor) -> Program:
    cursors = Cursors(unit)
    low = Lowering(cursors, _TABLE, {**STATEMENTS, **ASSEMBLY})
    tree = cursors.declaration(kernel)
    low.kernel_place = low.place(tree)
    mark_addressed(low, tree)
    parameters = tuple(_parameter(low, each) for each in tree.children if each.kind == k.PARM_DECL)
    block = next(each for each in tree.children if each.kind == k.COMPOUND_STMT)
    body = low.statement(block)
    assert isinstance(body, Block)
    return Program(
        name=cursors.name(kernel),
        parameters=parameters,
        body=body,
        slots=low.slots,
        accesses=tuple(low.accesses),
        loops=tuple(low.loops),
        shared=tuple(low.shared),
        variables=tuple(low.variables),
        notes=tuple(low.notes),
        held=low.slots + low.local_elements,
        layout=TwinLayout(0, FunctionPlaces(), ()),
        source=ExpandedSource(cursors.text, cursors.text, (), (), ()),
    )


def mark_addressed(low: Lowering, tree: Node) -> None:
    """Finds the variables of a function whose address is taken: they need memory."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.kind == k.UNARY_OPERATOR and unary_operator(low, node) == "&":
            target = bare(node.parts[0])
            while target.kind == k.MEMBER_REF_EXPR and target.parts:
                target = bare(target.parts[0])
            if target.kind == k.DECL_REF_EXPR and (declaration := low.cursors.referenced(target)) is not None:
                low.addressed.add(declaration.first)


def _parameter(low: Lowering, node: Node) -> FunctionParameter:
    ctype = low.parameter_type(low.cursors.type(node), node)
    if isinstance(ctype, PointerType):
        ctype = ctype.into("global")
    elif not isinstance(ctype, Scalar):
        raise low.error(f"a kernel's parameter can't be {ctype}", node)
    slot, name = low.new_slot(), low.cursors.name(node.cursor)
    low.declare(node.cursor, Variable(slot, ctype, name))
    return FunctionParameter(slot, name, ctype)
