"""The parser: expanded text to a tree-sitter tree, with lines and columns of the user's file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from gemmviz.model.cancelling import checkpoint
from gemmviz.model.errors import ErrorId, Place, SourceError
from gemmviz.source.expanded import ExpandedSource
from gemmviz.source.names import VectorMask, misread

_CONSTRUCTS = {
    "switch_statement": "switch",
    "lambda_expression": "a lambda",
    "goto_statement": "goto",
    "labeled_statement": "a label",
    "gnu_asm_expression": "inline assembly",
    "throw_statement": "throw",
    "try_statement": "try",
    "new_expression": "new",
    "delete_expression": "delete",
    "for_range_loop": "a range-based for",
    "struct_specifier": "a struct",
    "class_specifier": "a class",
    "union_specifier": "a union",
    "enum_specifier": "an enum",
    "placeholder_type_specifier": "auto without a value",
    "kernel_call_syntax": "a launch inside a kernel",
    "string_literal": "a string",
    "char_literal": "a character",
    "fold_expression": "a fold expression",
}


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


_MOST_REREADS = 100
_FUNCTIONAL_CAST = re.compile(r"(?:[-+*/%&|^=<>!~?:\[(,]|\breturn\b)\s*(unsigned|signed|long|short)(?=\s*\()")


@dataclass(frozen=True)
class Tree:
    """A parsed file. Node ranges are bytes of the expanded text, which is pure ASCII, so that they are characters too."""

    source: ExpandedSource
    root: Node

    def place(self, node: Node) -> Place:
        return self.source.place(node.start_byte, node.end_byte)

    def text(self, node: Node) -> str:
        """The expanded text of a node."""
        return self.source.text[node.start_byte : node.end_byte]

    def is_name(self, node: Node) -> bool:
        """Whether a node is a lone name, including one that a mask made the parser read as a number."""
        return node.type == "identifier" or (node.type == "number_literal" and self.text(node)[0] not in "+-.0123456789")

    def written(self, node: Node) -> str:
        """The text of a node as in the user's file, on one line."""
        start, stop = self.source.original_range(node.start_byte, node.end_byte)
        return " ".join(self.source.original[start:stop].split())

    def error(self, message: str, node: Node, remedy: str | None = None, *, id: ErrorId | None = None) -> SourceError:
        return SourceError(message, self.place(node), remedy=remedy, id=id)

    def unsupported(self, node: Node) -> SourceError:
        name = _CONSTRUCTS.get(node.type, node.type.replace("_", " "))
        remedy = "gemmviz reads the part of CUDA C that GEMM kernels use"
        return self.error(f"{name} is not supported", node, remedy, id="unsupported")

    def check(self, node: Node) -> None:
        """Raises SourceError at the first syntax error under ``node``."""
        if node.has_error:
            broken = min(_broken(node), key=lambda each: each.start_byte)
            if broken.is_missing:
                raise self.error(f"{broken.type!r} is missing here", broken)
            near = self.text(broken).split("\n")[0].strip()
            raise self.error(f"this can't be read: {near[:40]!r}" if near else "this can't be read", broken)


def parse(source: ExpandedSource) -> Tree:
    """The tree of a text, parsed again with masks until all names are read as what they are."""
    text = "".join(char if char < "\x80" else "?" for char in source.text)
    text = _masked(text, [VectorMask(*found.span(1), "_", "_") for found in _FUNCTIONAL_CAST.finditer(text)])
    root = _parser().parse(text.encode("ascii")).root_node
    for _ in range(_MOST_REREADS):
        masks = misread(root)
        if not masks:
            break
        text = _masked(text, masks)
        root = _parser().parse(text.encode("ascii")).root_node
    return Tree(source, root)


def _masked(text: str, masks: list[VectorMask]) -> str:
    pieces, at = [], 0
    for mask in sorted(masks):
        if mask.start >= at:
            pieces += [text[at : mask.start], mask.over(text)]
            at = mask.stop
    return "".join([*pieces, text[at:]])


def children(node: Node) -> list[Node]:
    """The named children of a node, without comments."""
    return [child for child in node.named_children if child.type != "comment"]


def bare(node: Node) -> Node:
    """The node within parentheses, which may belong to the statement, as in ``if (A[i])`` and ``return(A[i]);``."""
    while node.type in ("condition_clause", "parenthesized_expression"):
        inside = children(node)
        if len(inside) != 1:
            break
        node = inside[0]
    return node


def child(node: Node, field: str) -> Node:
    found = node.child_by_field_name(field)
    assert found is not None, f"{node.type} without {field}"
    return found


def _broken(node: Node) -> Iterator[Node]:
    """The innermost nodes with syntax errors."""
    waiting = [node]
    while waiting:
        checkpoint()
        node = waiting.pop()
        inside = [each for each in node.children if each.has_error or each.is_missing]
        if not inside and (node.is_error or node.is_missing):
            yield next((each for each in node.children if each.type != "comment"), node)
        waiting += reversed(inside)
