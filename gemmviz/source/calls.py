"""Lowers calls: functional casts, intrinsics, and ``__device__`` functions."""

from tree_sitter import Node

from gemmviz.source.declarators import described_type, specified_type
from gemmviz.source.expressions import converted_by_cast
from gemmviz.source.inlining import inlined
from gemmviz.source.intrinsics import intrinsic_named, only
from gemmviz.source.lowering import Lowering
from gemmviz.source.nodes import Expr
from gemmviz.source.scope import Ambiguous, FunctionScope, LazyType, TypeName
from gemmviz.source.syntax import child, children

_CASTS = {"static_cast", "reinterpret_cast", "const_cast"}


def call(low: Lowering, node: Node) -> Expr:
    function = child(node, "function")
    arguments = children(child(node, "arguments"))
    template: list[Node] = []
    while function.type == "parenthesized_expression":
        function = children(function)[0]
    if function.type == "qualified_identifier":
        function = child(function, "name")
    if function.type == "template_function":
        template = children(child(function, "arguments"))
        function = child(function, "name")
    if function.type == "primitive_type":
        is_declaration = node.parent is not None and node.parent.type in ("subscript_expression", "expression_statement")
        if is_declaration and arguments and arguments[0].type == "pointer_expression":  # float (*p)[4] to the parser
            raise low.tree.error(
                "a pointer or reference to an array is not supported", node, "use auto&, or a plain pointer", id="unsupported"
            )
        return low.converted(only(low, arguments, node), specified_type(low, function), node)
    if not low.tree.is_name(function) and function.type != "dependent_name":
        raise low.tree.unsupported(function)
    name = low.tree.text(function).rpartition("::")[2].strip()
    if name in _CASTS and template:
        return converted_by_cast(low, only(low, arguments, node), described_type(low, template[0]), node)
    symbol = low.scope.find(name)
    if isinstance(symbol, Ambiguous):
        raise low.tree.error(
            f"{name} has several definitions: overloads are not supported", node, "give each a name of its own"
        )
    if isinstance(symbol, FunctionScope):
        return inlined(low, symbol, template, arguments, node)
    if isinstance(symbol, TypeName | LazyType):
        ctype = symbol.type if isinstance(symbol, TypeName) else described_type(low, symbol.descriptor)
        return low.converted(only(low, arguments, node), ctype, node)
    return intrinsic_named(low, name, arguments, node)


CALLS = {"call_expression": call, "type_identifier": lambda low, node: low.expressions["identifier"](low, node)}
