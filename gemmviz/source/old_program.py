"""Reads a kernel file with its settings to a Program: finds the kernel, binds its template arguments, lowers its body."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from tree_sitter import Node

from gemmviz.model.cancelling import checkpoint
from gemmviz.model.errors import ErrorId, SourceError, closest
from gemmviz.model.kernel import KernelSpec, place_in
from gemmviz.source.assignments import ASSIGNMENTS
from gemmviz.source.calls import CALLS
from gemmviz.source.declarators import Declared, declarators, declared, has_word, parameter_type, type_of
from gemmviz.source.expressions import EXPRESSIONS
from gemmviz.source.headers import note_of, remedy_of
from gemmviz.source.inlining import parameters_of, template_names
from gemmviz.source.literals import LITERALS
from gemmviz.source.lowering import Lowering
from gemmviz.source.names import referred
from gemmviz.source.nodes import Block, FunctionParameter, HostCode, Program
from gemmviz.source.preprocess import preprocess
from gemmviz.source.scope import Ambiguous, FunctionScope, LazyConstant, LazyType, Variable
from gemmviz.source.statements import STATEMENTS
from gemmviz.source.syntax import Tree, child, children, parse
from gemmviz.source.types import CType, PointerType, Scalar

ENTRY_ARGUMENTS = "GEMMVIZ_ENTRY_ARGUMENTS"


_SOMETHING_MISSING: tuple[ErrorId, ...] = ("unknown-name", "unsupported")  # what a header that was left out may declare


def macros_of(spec: KernelSpec, parameters: Mapping[str, int]) -> dict[str, str]:
    """Macros passed with -D: every parameter that the entry doesn't name as a template argument."""
    return {name: str(value) for name, value in parameters.items() if name not in spec.template_arguments}


def program_for(spec: KernelSpec, parameters: Mapping[str, int]) -> Program:
    """The program of ``spec`` with its parameters set. Raises SourceError with file and place."""
    arguments = tuple(str(parameters.get(each, each)) for each in spec.template_arguments)
    macros = tuple(macros_of(spec, parameters).items())
    try:
        return _program(spec.text, spec.function, arguments, macros)
    except SourceError as error:
        if error.place is None or error.place.line > spec.text.count("\n") + 1:  # it is about the entry, read behind the text
            error.place = place_in(spec.text, "entry")
        error.in_file(spec.file)
        raise


@lru_cache(maxsize=64)
def _program(text: str, entry: str, arguments: tuple[str, ...], macros: tuple[tuple[str, str], ...]) -> Program:
    tree = parse_with(text, macros, arguments)
    try:
        return _read(tree, entry)
    except SourceError as error:
        if error.id in _SOMETHING_MISSING:
            error.remedy = error.remedy or remedy_of(tree.source.left_out)
        raise


def _read(tree: Tree, entry: str) -> Program:
    low = Lowering(tree, {**LITERALS, **EXPRESSIONS, **ASSIGNMENTS, **CALLS}, STATEMENTS)
    kernels: list[FunctionScope] = []
    _collect(low, tree.root, None, kernels)
    kernel = next((each for each in kernels if _is_called(low, each, entry)), None)
    if kernel is None:
        tree.check(tree.root)
        known = [_qualified_name(low, each) for each in kernels]
        remedy = closest(entry, known) or (f"kernels here: {', '.join(known)}" if known else "a kernel is __global__ void")
        raise SourceError(f"the file has no kernel {entry}", None, remedy=remedy)
    _check_once(low, kernel, kernels)
    return _lowered(low, kernel, _argument_nodes(low))


def _is_called(low: Lowering, kernel: FunctionScope, entry: str) -> bool:
    """Whether a kernel has this name. Namespaces around it may be omitted."""
    return f"::{_qualified_name(low, kernel)}".endswith(f"::{entry.removeprefix('::')}")


def _qualified_name(low: Lowering, function: FunctionScope) -> str:
    """The name of a function, qualified by its namespaces."""
    names, node = [function.name], function.definition.parent
    while node is not None:
        name = node.child_by_field_name("name") if node.type == "namespace_definition" else None
        names += [low.tree.text(name)] if name is not None else []
        node = node.parent
    return "::".join(reversed(names))


def _check_once(low: Lowering, kernel: FunctionScope, kernels: list[FunctionScope]) -> None:
    """Raises SourceError if there is a second kernel with that name and parameters, which no compiler accepts."""
    for other in kernels:
        is_same = other is not kernel and other.name == kernel.name and _head(other) == _head(kernel)
        if is_same and (other.template is None) == (kernel.template is None):
            first = low.tree.place(kernel.definition).line
            raise low.tree.error(
                f"{kernel.name} is defined twice", other.definition, f"leave one out: the first begins in line {first}"
            )


def _head(kernel: FunctionScope) -> bytes:
    """Name and parameters, without space."""
    declarator = kernel.definition.child_by_field_name("declarator")
    return b"" if declarator is None or declarator.text is None else b"".join(declarator.text.split())


def parse_with(text: str, macros: tuple[tuple[str, str], ...], arguments: tuple[str, ...] = ()) -> Tree:
    """The tree of ``text`` under these macros, with the entry's template arguments as a line of their own."""
    appended = f"\nauto {ENTRY_ARGUMENTS} = f<{', '.join(arguments)}>();" if arguments else ""
    return parse(preprocess(text + appended, dict(macros)))


def _argument_nodes(low: Lowering) -> list[Node]:
    """Nodes of the entry's template arguments. Raises SourceError if they can't be parsed."""
    match low.scope.names.pop(ENTRY_ARGUMENTS, None):
        case LazyConstant(declaration=declaration, declarator=declarator):
            function = child(declarator, "value").child_by_field_name("function")
            if not declaration.has_error and function is not None and function.type == "template_function":
                return children(child(function, "arguments"))
        case None if ENTRY_ARGUMENTS not in low.tree.source.text:
            return []
    raise SourceError("the entry's template arguments can't be read", None, remedy='write numbers or types: "name<BM, float>"')


def _collect(low: Lowering, node: Node, template: Node | None, kernels: list[FunctionScope]) -> None:
    """Adds the file's top-level names to the scope, including those in namespaces and extern "C"."""
    for each in children(node):
        checkpoint()
        match each.type:
            case "function_definition":
                function = FunctionScope(_function_name(low, each), each, template)
                known = function.name in low.scope.names
                low.scope.names[function.name] = Ambiguous(function.name) if known else function
                if has_word(each, "__global__"):
                    kernels.append(function)
            case "template_declaration":
                _collect(low, each, child(each, "parameters"), kernels)
            case "linkage_specification" | "namespace_definition":
                body = child(each, "body")
                _collect(low, body if body.type == "declaration_list" else each, template, kernels)
            case "declaration" if has_word(each, "const", "constexpr") or _is_entry_arguments(low, each):
                for declarator in declarators(each):
                    if declarator.type == "init_declarator":
                        name = low.tree.text(child(declarator, "declarator"))
                        low.scope.names[name] = LazyConstant(each, declarator)
            case "alias_declaration":
                low.scope.names[low.tree.text(child(each, "name"))] = LazyType(child(each, "type"))
            case "type_definition":
                low.scope.names[low.tree.text(child(each, "declarator"))] = LazyType(each)


def _is_entry_arguments(low: Lowering, declaration: Node) -> bool:
    return ENTRY_ARGUMENTS in low.tree.text(declaration)


def _function_name(low: Lowering, definition: Node) -> str:
    """The name of a function in its definition; for a conversion operator, its whole head."""
    node = child(definition, "declarator")
    while inner := node.child_by_field_name("declarator") or referred(node):
        node = inner
    return low.tree.text(node)


def _lowered(low: Lowering, kernel: FunctionScope, arguments: list[Node]) -> Program:
    low.tree.check(kernel.definition)
    top = low.scope
    low.scope = top.inner(template_names(low, kernel, arguments))
    _check_template(low, kernel, arguments)
    try:
        parameters = tuple(_parameter(low, each) for each in parameters_of(kernel))
        block = child(kernel.definition, "body")
        body = low.statement(block)
    except (AssertionError, IndexError, RecursionError) as error:  # the parser accepts more than C++
        deep = "the code is nested too deeply" if isinstance(error, RecursionError) else "this CUDA C can't be read"
        raise SourceError(deep, low.statement_place or low.tree.place(kernel.definition)) from None
    assert isinstance(body, Block)
    return Program(
        name=kernel.name,
        parameters=parameters,
        body=body,
        slots=low.slots,
        accesses=tuple(low.accesses),
        loops=tuple(low.loops),
        shared=tuple(low.shared),
        variables=tuple(low.variables),
        notes=(*map(note_of, low.tree.source.left_out), *low.notes),
        held=low.slots + low.local_elements,
        opening=low.tree.place(block),
        host_code=tuple(_launchers(low)),
    )


def _launchers(low: Lowering) -> Iterator[HostCode]:
    """The host functions that launch kernels, which a device compiler can't read."""
    for symbol in low.scope.outermost.names.values():
        if not isinstance(symbol, FunctionScope) or has_word(symbol.definition, "__global__", "__device__"):
            continue
        if "<<<" in low.tree.text(symbol.definition):
            yield HostCode(low.tree.place(symbol.definition))


def _check_template(low: Lowering, kernel: FunctionScope, arguments: list[Node]) -> None:
    wanted = 0 if kernel.template is None else len(children(kernel.template))
    if arguments and not wanted:
        raise low.tree.error(f"{kernel.name} is not a template", kernel.definition, "leave out <...> in the header's entry")
    if wanted > len(low.scope.names):
        raise low.tree.error(
            f"the template {kernel.name} needs {wanted} argument{'s' if wanted > 1 else ''}",
            kernel.template or kernel.definition,
            f'name them in the header: entry = "{kernel.name}<...>"',
        )  # fmt: skip


def _parameter(low: Lowering, node: Node) -> FunctionParameter:
    declarator = node.child_by_field_name("declarator")
    if declarator is not None and declarator.type.startswith("abstract"):
        raise low.tree.error("a kernel's parameter needs a name here", node)
    name = Declared("", node, False, False, (), None) if declarator is None else declared(low, declarator)
    base = type_of(low, node)
    if base is None:
        raise low.tree.error("a kernel's parameter needs a type", node)
    ctype: CType = parameter_type(low, base, name, has_word(node, "const"))
    if isinstance(ctype, PointerType):
        ctype = ctype.into("global")
    elif not isinstance(ctype, Scalar):
        raise low.tree.error(f"a kernel's parameter can't be {ctype}", node)
    slot = low.new_slot()
    if name.name:
        low.scope.names[name.name] = Variable(slot, ctype)
    return FunctionParameter(slot, name.name, ctype)
