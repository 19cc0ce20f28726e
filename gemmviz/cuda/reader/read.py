"""Reads one kernel: parses its translation unit, finds the kernel, lowers its body to a Program; and lowers calls."""

import re
from collections.abc import Iterator
from math import prod

from gemmviz.cuda.nodes import (
    Assign,
    Block,
    Component,
    Declare,
    Deref,
    Evaluate,
    Expr,
    HostCode,
    Inline,
    KernelArgument,
    Offset,
    Program,
    Read,
    Stmt,
)
from gemmviz.cuda.parser.library import RawCursor, RawLocation
from gemmviz.cuda.parser.source_text import SourceText, missing_note
from gemmviz.cuda.parser.unit import Unit, parse, plain_sentence
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assembly import ASSEMBLY
from gemmviz.cuda.reader.assign import ASSIGNMENTS, assign, copied, in_memory, object_copy
from gemmviz.cuda.reader.cursors import Cursors, MixedSpaces, Node, bare, closing, first_error, parse_refusal
from gemmviz.cuda.reader.declarations import variable
from gemmviz.cuda.reader.expressions import CASTS, EXPRESSIONS, pointee
from gemmviz.cuda.reader.initialisers import LITERALS, flat_symbol
from gemmviz.cuda.reader.inlining import INITIALISERS, constructed, inlined
from gemmviz.cuda.reader.intrinsics import intrinsic_call
from gemmviz.cuda.reader.lowering import Lowering, local_array
from gemmviz.cuda.reader.lvalues import check_copies, designated, with_effects
from gemmviz.cuda.reader.statements import STATEMENTS
from gemmviz.cuda.reader.symbols import ArrayVariable, Function, InMemory, Object, Symbol, Thing, Variable
from gemmviz.cuda.types import INT, VOID, ArrayType, PointerType, Scalar, StructType, VectorType, size_bytes
from gemmviz.cuda.walk import parts
from gemmviz.model.messages import GemmvizError, SourceError, closest

# Lowers calls: of the kernel's own functions, methods and lambdas, of constructors, and of CUDA's functions.

_METHODS = (k.CXX_METHOD, k.CONVERSION_FUNCTION)


def call(low: Lowering, node: Node) -> Expr | Thing:
    declaration = low.cursors.referenced(node)
    if declaration is None or declaration.kind in (k.VAR_DECL, k.PARM_DECL, k.FIELD_DECL):
        return _call_by_pointer(low, node)
    arguments = low.cursors.arguments(node)
    if declaration.kind == k.CONSTRUCTOR:
        return constructed(low, declaration, arguments, node)
    if declaration.kind in _METHODS:
        return _method(low, declaration, arguments, node)
    return _function(low, declaration, arguments, node)


def _function(low: Lowering, declaration: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    definition = low.cursors.definition(declaration)
    if low.cursors.is_stub(declaration) or definition is None:
        return intrinsic_call(low, low.cursors.name(declaration), arguments, node, definition)
    return inlined(low, definition, arguments, node)


def _call_by_pointer(low: Lowering, node: Node) -> Expr | Thing:
    """A call through a function pointer whose function is known."""
    if not node.parts:
        raise low.error("the function is not known", node, id="unknown-name")
    callee = low.place_node(node.parts[0])
    if not isinstance(callee, Thing) or not isinstance(callee.symbol, Function) or callee.symbol.declaration is None:
        raise low.error("the function is not known before the kernel runs", node, id="unsupported")
    return _function(low, callee.symbol.declaration, low.cursors.arguments(node), node)


def _method(low: Lowering, declaration: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    callee = low.cursors.method_callee(node)
    if low.cursors.lib.CXXMethod_isVirtual(declaration):
        message = f"{low.cursors.name(declaration)} is virtual: virtual functions are not supported"
        raise low.error(message, node, "make the class a template parameter", id="unsupported")
    is_static = bool(low.cursors.lib.CXXMethod_isStatic(declaration))
    this: Expr | Thing | None
    if callee is not None:
        this = None if is_static else _this_object(low, callee)
    elif is_static:
        this = None
    else:
        this, arguments = low.place_node(arguments[0]), arguments[1:]
    if isinstance(this, Thing) and isinstance(this.symbol, Function):
        outer = low.activation.this if low.activation else None
        return inlined(low, low.cursors.definition(declaration) or declaration, arguments, node, outer, this.symbol.copies)
    definition = low.cursors.definition(declaration)
    name = low.cursors.name(declaration)
    if name == "operator=" and (definition is None or not low.cursors.is_written(definition)):
        return _copied(low, this, arguments[0], node)
    if definition is None or low.cursors.is_stub(declaration):
        return intrinsic_call(low, name, arguments, node, definition, this)
    if isinstance(this, Thing) and this.effects:
        return _after(low, this, definition, arguments, node)
    return inlined(low, definition, arguments, node, this)


def _after(low: Lowering, this: Thing, definition: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    found = inlined(low, definition, arguments, node, Thing(this.type, this.symbol))
    return with_effects(low, this.effects, found, node)


def _this_object(low: Lowering, callee: Node) -> Expr | Thing | None:
    """The object of a method's call."""
    parts = callee.parts
    if not parts:
        return low.activation.this if low.activation else None
    of = low.place_node(parts[0])
    if isinstance(of, Thing):
        return of
    if isinstance(of.type, Scalar | VectorType | StructType):
        return of
    return pointee(low, low.loaded(of, bare(parts[0])), callee)


def _copied(low: Lowering, target: Expr | Thing | None, value: Node, node: Node) -> Expr | Thing:
    given = low.place_node(value)
    assert target is not None
    if isinstance(target, Thing) or isinstance(given, Thing) or isinstance(target.type, StructType):
        return copied(low, target, given, node)
    loaded = low.loaded(given, bare(value))
    parts = node.parts
    return assign(low, target, "", loaded, node, parts[0], False)


def this(low: Lowering, node: Node) -> Expr | Thing:
    found = low.activation.this if low.activation else None
    if found is None:
        raise low.error("this has no object here", node)
    return found.pointer if isinstance(found, Deref) else found


CALLS = {k.CALL_EXPR: call, k.THIS_EXPR: this}


# Lowers lambdas: known functions whose captured variables are those around, or copies of them.

_NEVER_CAPTURED = (k.SHARED_ATTR, k.DEVICE_ATTR, k.CONSTANT_ATTR)


def lambda_expression(low: Lowering, node: Node) -> Expr | Thing:
    """A lambda; its effects copy what it captures by value."""
    copied_by_default, named = _captures(low, node)
    copies: dict[int, Symbol] = {}
    statements: list[Stmt] = []
    for key, name, reference in _used_variables(low, node):
        symbol, declaration = low.symbols.get(key), low.cursors.referenced(reference)
        assert declaration is not None
        if symbol is None and reference.kind == k.VARIABLE_REF:  # [z = x + 1]
            statements.append(variable(low, low.cursors.tree(declaration)))
        elif symbol is not None and named.get(name, copied_by_default) and _is_captured(low.cursors.tree(declaration)):
            copies[key] = _captured_copy(low, symbol, name, statements, node)
    function = Function(None, copies)
    if not statements:
        return Thing(INT, function)
    return Thing(INT, function, (Inline(VOID, (), Block(tuple(statements)), None, low.place(node)),))


def _is_captured(declaration: Node) -> bool:
    return not any(each.kind in _NEVER_CAPTURED for each in declaration.children)


def _captured_copy(low: Lowering, symbol: Symbol, name: str, statements: list[Stmt], node: Node) -> Symbol:
    """The variable that holds what a lambda captured by value; ``statements`` gets what declares it."""
    found = designated(low, symbol, node)
    match found:
        case Thing(type=StructType()) | Deref(type=StructType()):
            copy = object_copy(low, found, node)
            statements += (Evaluate(each) for each in copy.effects)
            return copy.symbol
        case Offset(type=ArrayType(element=element, dims=dims, space="local") as array):
            symbol = ArrayVariable(local_array(low, element, prod(dims), name, statements, node), array)
            filled = copied(low, low.expression_of(designated(low, symbol, node), node), found, node)
            statements.append(Evaluate(low.expression_of(filled, node)))
            return symbol
        case Read() | Deref() | Component():
            value = low.loaded(found, node)
            slot = low.new_slot()
            statements.append(Declare(slot, value))
            return Variable(slot, value.type, name)
    return symbol


def _captures(low: Lowering, node: Node) -> tuple[bool, dict[str, bool]]:
    """Whether variables are copied by default, and for named ones whether they are copied."""
    span = low.cursors.span(node)
    text = "[&]" if span is None else low.cursors.text[span[0] : span[1]]
    if not text.startswith("["):
        return False, {}
    by_default, named = False, dict[str, bool]()
    for each in text[1 : closing(text, 0)].split(","):
        part = each.strip()
        if part == "=":
            by_default = True
        elif part not in ("", "&", "this", "*this") and "=" not in part:
            named[part.lstrip("&").strip()] = not part.startswith("&")
    return by_default, named


def _used_variables(low: Lowering, node: Node) -> Iterator[tuple[int, str, Node]]:
    """The variables that a lambda captures or uses, once each."""
    seen, waiting = set[int](), list(reversed(node.children))
    while waiting:
        each = waiting.pop()
        waiting += reversed(each.children)
        declaration = low.cursors.referenced(each) if each.kind in (k.DECL_REF_EXPR, k.VARIABLE_REF) else None
        if declaration is None or declaration.kind not in (k.VAR_DECL, k.PARM_DECL) or declaration.first in seen:
            continue
        seen.add(declaration.first)
        if each.kind == k.VARIABLE_REF or declaration.first in low.symbols:
            yield declaration.first, low.cursors.name(declaration), each


LAMBDAS = {k.LAMBDA_EXPR: lambda_expression}


# Finds functions and variables of the host, which a device compiler can't read.

_FUNCTION_KINDS = (k.FUNCTION_DECL, k.FUNCTION_TEMPLATE, k.CXX_METHOD, k.CONSTRUCTOR, k.DESTRUCTOR, k.CONVERSION_FUNCTION)
_AROUND = (k.LINKAGE_SPEC, k.NAMESPACE, k.UNEXPOSED_DECL)
_CLASSES = (k.STRUCT_DECL, k.UNION_DECL, k.CLASS_DECL, k.CLASS_TEMPLATE)
_DEVICE = (k.GLOBAL_ATTR, k.DEVICE_ATTR, k.CONSTANT_ATTR, k.SHARED_ATTR)
_CONSTANT = re.compile(r"\bconst\b")
_OF_BOTH = re.compile(r"\bconstexpr\b|\b__managed__\b")
_OF_ONE = re.compile(r'extern\s*"[^"]*"\s*[^{\s]')  # a linkage without braces
_BY_THE_COMPILER = re.compile(r"=\s*(?:default|delete)\s*$")


def host_code(cursors: Cursors) -> tuple[HostCode, ...]:
    """The functions, methods and variables of the project's files that are not of the device. Constants are of both, and what
    is constexpr.
    """
    return tuple(_host_code(cursors, cursors.root, None))


def _host_code(cursors: Cursors, around: RawCursor, record: RawCursor | None) -> Iterator[HostCode]:
    for each in cursors.top_level(around):
        if each.kind in _AROUND:
            inner, where = tuple(_host_code(cursors, each.cursor, None)), cursors.file_place(each)
            is_one = bool(inner) and where is not None and _OF_ONE.match(where[2]) is not None
            yield from (HostCode(where[1], where[0]),) if is_one and where is not None else inner
        elif each.kind in _CLASSES:
            if not cursors.is_stub(each.cursor):
                yield from _host_code(cursors, each.cursor, each.cursor)
        elif each.kind in (*_FUNCTION_KINDS, k.VAR_DECL) and not _is_of_device(cursors, each, record):
            where = cursors.file_place(each)
            if where is not None and not _is_of_both(cursors, each, where[2]):
                yield HostCode(where[1], where[0])


def _is_of_device(cursors: Cursors, each: Node, record: RawCursor | None) -> bool:
    """Whether a function or variable is of the device, a method of the record that the compiler added, or a lambda's."""
    if cursors.name(cursors.lib.getCursorSemanticParent(each.cursor)).startswith("(lambda"):
        return True
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


# Parameters of a kernel, flat.


def declare_parameter(low: Lowering, node: Node) -> None:
    """Declares a parameter of the kernel."""
    raw = low.cursors.type(node)
    ctype = low.parameter_type(raw, node)
    name = low.cursors.name(node.cursor)
    low.arguments.append(KernelArgument(size_bytes(ctype)))
    symbol = flat_symbol(low, ctype, name or f"argument {len(low.arguments)}", 0, node)
    if node.key in low.addressed and not isinstance(ctype, PointerType):
        symbol = _in_memory(low, symbol, name, node)
    low.declare(node.cursor, symbol)


def _in_memory(low: Lowering, given: Symbol, name: str, node: Node) -> Symbol:
    """A parameter whose address is taken: a copy of it in memory."""
    match given:
        case Object(type=struct):
            target = in_memory(low, struct, name, low.first, node)
            filled = copied(low, designated(low, target, node), Thing(struct, given), node)
            assert not isinstance(filled, Thing)
            low.first.append(Evaluate(filled))
            return target
        case Variable():
            value = low.expression_of(designated(low, given, node), node)
            assert isinstance(value.type, Scalar | VectorType)
            slot = local_array(low, value.type, 1, name, low.first, node, (value,))
            return InMemory(slot, PointerType(value.type, "local"))
    return given


# Finds the kernel that an entry names, with its template arguments.

_ENTRY = "gemmviz_entry"
_KERNEL_KINDS = (k.FUNCTION_DECL, k.FUNCTION_TEMPLATE)


def find_kernel(source: SourceText, entry: str) -> tuple[Unit, RawCursor]:
    """The translation unit with the kernel, and the definition of the kernel, instantiated. Raises SourceError without one."""
    unit = parse(source, _appended(entry))
    cursors, given_name = Cursors(unit), entry.partition("<")[0].strip()
    _check_once(unit, given_name.rpartition("::")[2])
    kernel = _entry_kernel(cursors)
    if kernel is not None:
        return unit, kernel
    found = kernels_named(cursors, given_name)
    if found:
        name, declared = found[0]
        arguments = entry[entry.index("<") :] if "<" in entry else ""
        if declared.kind == k.FUNCTION_DECL and not arguments:
            return unit, declared.cursor
        if name != given_name:
            unit = parse(source, _appended(f"{name}{arguments}"))
            again = _entry_kernel(Cursors(unit))
            if again is not None:
                return unit, again
        raise _template_error(cursors, unit, (name, declared), arguments)
    raise _no_kernel(cursors, entry)


def _check_once(unit: Unit, name: str) -> None:
    """Raises SourceError if there is a second kernel with that name and parameters, which no compiler accepts."""
    again = next((each for each in unit.errors if each.message == f"redefinition of '{name}'"), None)
    if again is not None:
        raise SourceError(f"{name} is defined twice", again.place, remedy="leave one out")


def _appended(entry: str) -> str:
    return f"static auto {_ENTRY} = &{entry};"


def _entry_kernel(cursors: Cursors) -> RawCursor | None:
    """The kernel that the last line of the compiled text names."""
    lib, unit = cursors.lib, cursors.unit
    main = lib.getFile(cursors.handle, f"/project/{unit.source.main}".encode())
    at = unit.files[unit.source.main].encode().rindex(_ENTRY.encode())
    location: RawLocation = lib.getLocationForOffset(cursors.handle, main, at)
    found = lib.Cursor_getVarDeclInitializer(lib.getCursor(cursors.handle, location))
    if lib.Cursor_isNull(found):
        return None
    tree = cursors.tree(found)
    while tree.kind != k.DECL_REF_EXPR and tree.parts:
        tree = tree.parts[0]
    kernel = cursors.referenced(tree)
    return None if kernel is None or kernel.kind not in _KERNEL_KINDS else cursors.definition(kernel)


def kernels_named(cursors: Cursors, name: str) -> list[tuple[str, Node]]:
    """Qualified names and definitions of the kernels of this name, of which namespaces may be left out."""
    wanted = f"::{name.removeprefix('::')}"
    return [(full, node) for full, node in _kernels(cursors, cursors.root, "") if f"::{full}".endswith(wanted)]


def _kernels(cursors: Cursors, around: RawCursor, prefix: str) -> list[tuple[str, Node]]:
    """All kernels that are defined, with their qualified names."""
    found: list[tuple[str, Node]] = []
    for each in cursors.top_level(around):
        if each.kind in _AROUND:
            name = cursors.name(each.cursor) if each.kind == k.NAMESPACE else ""
            found += _kernels(cursors, each.cursor, f"{prefix}{name}::" if name else prefix)
        elif each.kind in _KERNEL_KINDS:
            inside = cursors.top_level(each.cursor)
            if {k.GLOBAL_ATTR, k.COMPOUND_STMT} <= {part.kind for part in inside}:
                found.append((prefix + cursors.name(each.cursor), each))
    return found


def _template_error(cursors: Cursors, unit: Unit, found: tuple[str, Node], arguments: str) -> SourceError:
    """The error of template arguments that a kernel, given by name and definition, can't have; ``unit`` is read with them."""
    name, declared = found
    where = cursors.file_place(declared)
    place = None if where is None or where[0] else where[1]
    if declared.kind == k.FUNCTION_DECL:
        return SourceError(f"{name} is not a template", place, remedy="leave out <...> behind its name")
    parameters = [each for each in cursors.top_level(declared.cursor) if each.kind in (27, 28, 29)]
    wanted = len(parameters)
    given = sum(bool(each.strip("<> ")) for each in arguments.split(","))
    plural = "s" if wanted > 1 else ""
    if given > wanted:
        return SourceError(f"the template {name} takes {wanted} argument{plural}, not {given}", None)
    if given < wanted:
        remedy = f'name them in the header: entry = "{name}<...>"'
        return SourceError(f"the template {name} needs {wanted} argument{plural}", place, remedy=remedy)
    if where is not None:  # an unknown type of a parameter hides the kernel
        shown = where[0] or unit.source.shown or unit.source.main
        error = first_error(unit, shown, where[1].line, where[1].end_line)
        if error is not None:
            return parse_refusal(unit, error, error.place or place)
    last = unit.errors[-1].message if unit.errors else ""
    if given == wanted and _ENTRY in last:  # it can be read, but fits no kernel of this name
        texts = [cursors.text[span[0] : span[1]] for each in parameters if (span := cursors.span(each)) is not None]
        return SourceError(f"the template {name} can't take {arguments}", None, remedy=f"it takes <{', '.join(texts)}>")
    why = f": {plain_sentence(last)[0]}" if last and _ENTRY not in last else ""
    return SourceError(
        f"the entry's template arguments can't be read{why}", None, remedy='write numbers or types: "name<BM, float>"'
    )


def _no_kernel(cursors: Cursors, entry: str) -> SourceError:
    """The error of an entry that no kernel has; an error in the kernel itself that hides it comes first."""
    unit, text = cursors.unit, cursors.text
    name = entry.partition("<")[0].rpartition("::")[2].strip()
    for found in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        end = closing(text, text.find("{", closing(text, found.end() - 1)))
        first, last = text.count("\n", 0, text.rfind("\n\n", 0, found.start()) + 1) + 1, text.count("\n", 0, end) + 1
        error = first_error(unit, unit.source.shown or unit.source.main, first, last)
        if error is not None:
            return parse_refusal(unit, error, error.place)
    known = [each for each, _ in _kernels(cursors, cursors.root, "")]
    if not known and unit.errors and unit.errors[0].place is not None and _ENTRY not in unit.errors[0].message:
        return parse_refusal(unit, unit.errors[0], unit.errors[0].place)
    given_name = entry.partition("<")[0].strip()
    remedy = closest(given_name, known) or (f"kernels here: {', '.join(known)}" if known else "a kernel is __global__ void")
    return SourceError(f"the file has no kernel {given_name}", None, remedy=remedy)


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
        return _lowered_program(low, kernel)
    except GemmvizError:
        raise
    except _UNEXPECTED as error:
        place = low.statement_place or low.kernel_place
        raise SourceError("this CUDA C++ can't be read yet", place, remedy="write it in a simpler way") from error


def _lowered_program(low: Lowering, kernel: RawCursor) -> Program:
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
    _check_relied_on(low, body)
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


def _check_relied_on(low: Lowering, body: Block) -> None:
    """Raises SourceError if a variable whose first value was relied on gets another one."""
    given: set[int] = set()
    for part in parts(body) if low.relied_on else ():
        match part:
            case Declare(slot=slot, value=value) if value is not None:
                given.add(slot)
            case Inline(bindings=bindings):
                given |= {slot for slot, _ in bindings}
            case Assign(target=Read(slot=slot), place=place) if slot in low.relied_on:
                if slot in given:
                    message = "a size that must be known before the kernel runs is changed here"
                    raise SourceError(message, place, id="unsupported")
                given.add(slot)
