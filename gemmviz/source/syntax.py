"""The parser: expanded text to a tree-sitter tree, with the way back to lines and columns of the person's file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from gemmviz.model.cancelling import checkpoint
from gemmviz.model.errors import Place, SourceError
from gemmviz.source.expanded import ExpandedSource
from gemmviz.source.types import named_type

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


_CASTS = {"static_cast", "reinterpret_cast", "const_cast", "f"}
_MOST_REREADS = 20
_WORDS = re.compile(r"\w+|[^\w\s]")
_IN_PARENTHESES = re.compile(r"\(\s*([A-Za-z_]\w*)\s*\)(?=\s*[-+*&(])")
_TEMPLATE_CALL = re.compile(r"\w<[^<>;()]*>\s*$")
_BEFORE_CAST = re.compile(r"(?:\b(?:return|else|do|case)|[^\w\s)\]])\s*$")


def _declared_names(text: str) -> tuple[set[str], set[str]]:
    """The names of types and those of function templates that a text seems to declare: a parser that knows no names must be
    told. In one pass, whatever the text.
    """
    types: set[str] = set()
    templates: set[str] = set()
    before, in_typedef, in_template, has_parameters = "", False, False, False
    for found in _WORDS.finditer(text):
        checkpoint()
        word = found[0]
        if before in ("typename", "class", "struct", "using") and _is_word(word):
            types.add(word)
        match word:
            case "typedef":
                in_typedef = True
            case "template":
                in_template, has_parameters = True, False
            case ";" if in_typedef and _is_word(before):
                types.add(before)
            case ">":
                has_parameters = in_template
            case "(" if has_parameters and _is_word(before):
                templates.add(before)
        if word in ("(", ";", "{", "}"):
            in_template = has_parameters = False
        in_typedef = in_typedef and word != ";"
        before = word
    return types, templates


def _is_word(text: str) -> bool:
    return text[:1].isalnum() or text[:1] == "_"


def _without_false_casts(text: str, types: set[str]) -> str:
    """``(row) + (k) * n`` with its first parentheses blanked: a parser that knows no names takes it for a cast of ``+(k)``."""

    def blanked(found: re.Match[str]) -> str:
        is_type = found[1] in types or named_type(found[1]) is not None
        before = text[max(0, found.start() - 80) : found.start()]
        begins = _BEFORE_CAST.search(before) is not None and _TEMPLATE_CALL.search(before) is None
        return found[0] if is_type or not begins else found[0].replace("(", " ").replace(")", " ")

    return _IN_PARENTHESES.sub(blanked, text)


@dataclass(frozen=True)
class Tree:
    """A parsed file. Node ranges are bytes of the expanded text, which is kept pure ASCII so that they are characters."""

    source: ExpandedSource
    root: Node

    def place(self, node: Node) -> Place:
        return self.source.place(node.start_byte, node.end_byte)

    def text(self, node: Node) -> str:
        """The expanded text of a node."""
        return self.source.text[node.start_byte : node.end_byte]

    def written(self, node: Node) -> str:
        """The text of a node as the person wrote it, on one line."""
        start, stop = self.source.original_range(node.start_byte, node.end_byte)
        return " ".join(self.source.original[start:stop].split())

    def error(self, message: str, node: Node, remedy: str | None = None) -> SourceError:
        return SourceError(message, self.place(node), remedy=remedy)

    def unsupported(self, node: Node) -> SourceError:
        name = _CONSTRUCTS.get(node.type, node.type.replace("_", " "))
        return self.error(f"{name} is not supported", node, "gemmviz reads the part of CUDA C that GEMM kernels use")

    def check(self, node: Node) -> None:
        """Raises SourceError at the first place under ``node`` that the parser could not read."""
        if node.has_error:
            broken = min(_broken(node), key=lambda each: each.start_byte)
            if broken.is_missing:
                raise self.error(f"{broken.type!r} is missing here", broken)
            near = self.text(broken).split("\n")[0].strip()
            raise self.error(f"this can't be read: {near[:40]!r}" if near else "this can't be read", broken)


def parse(source: ExpandedSource) -> Tree:
    text = "".join(char if char < "\x80" else "?" for char in source.text)
    types, templates = _declared_names(text)
    templates |= _CASTS
    text = _without_false_casts(text, types)
    root = _parser().parse(text.encode("ascii")).root_node
    for _ in range(_MOST_REREADS):
        false = [node.start_byte for node in _template_calls(root) if _name_of(node) not in templates]
        if not false:
            break
        # a < b && c > -1: to a parser that knows no names, a template; > binds as < does, and the true sign is in the source
        for start in false:
            at = text.index("<", start)
            text = text[:at] + ">" + text[at + 1 :]
        root = _parser().parse(text.encode("ascii")).root_node
    return Tree(source, root)


def _template_calls(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        checkpoint()
        node = waiting.pop()
        if node.type == "template_function":
            yield node
        waiting += reversed(node.named_children)


def _name_of(node: Node) -> str:
    name = node.child_by_field_name("name")
    return name.text.decode() if name is not None and name.text is not None else ""


def children(node: Node) -> list[Node]:
    """The named children, comments left out."""
    return [child for child in node.named_children if child.type != "comment"]


def child(node: Node, field: str) -> Node:
    found = node.child_by_field_name(field)
    assert found is not None, f"{node.type} without {field}"
    return found


def _broken(node: Node) -> Iterator[Node]:
    """The innermost nodes that could not be read."""
    waiting = [node]
    while waiting:
        checkpoint()
        node = waiting.pop()
        inside = [each for each in node.children if each.has_error or each.is_missing]
        if not inside and (node.is_error or node.is_missing):
            yield next((each for each in node.children if each.type != "comment"), node)
        waiting += reversed(inside)
