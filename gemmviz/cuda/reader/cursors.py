"""Trees of cursors in Python, with places in the shown file: one call of libclang for a whole function's cursors; and errors of
the parser and of the reader in plain words.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from ctypes import c_void_p, cast
from difflib import get_close_matches
from functools import cache

from gemmviz.cuda.parser.library import (
    CONTINUE,
    MACRO,
    RECURSE,
    FieldVisitor,
    RawCursor,
    RawLocation,
    RawType,
    Visitor,
    library,
    raw,
)
from gemmviz.cuda.parser.source_text import missing_remedy
from gemmviz.cuda.parser.unit import SOURCE_ROOT, STUBS, ParseError, Unit, plain_sentence
from gemmviz.model.messages import Place, SourceError
from gemmviz.model.outline import COMMENT

# Numbers of libclang's kinds of cursors and types that the reader knows (clang-c/Index.h of LLVM 18).

UNEXPOSED_DECL = 1
STRUCT_DECL, UNION_DECL, CLASS_DECL, ENUM_DECL, FIELD_DECL, ENUM_CONSTANT_DECL, FUNCTION_DECL, VAR_DECL, PARM_DECL = range(
    2, 11
)
TYPEDEF_DECL, CXX_METHOD, NAMESPACE, LINKAGE_SPEC, CONSTRUCTOR, DESTRUCTOR, CONVERSION_FUNCTION = range(20, 27)
FUNCTION_TEMPLATE, CLASS_TEMPLATE = 30, 31
USING_DIRECTIVE, USING_DECLARATION, TYPE_ALIAS_DECL = 34, 35, 36
TYPE_REF, BASE_SPECIFIER, TEMPLATE_REF, NAMESPACE_REF, MEMBER_REF, LABEL_REF, OVERLOADED_DECL_REF, VARIABLE_REF = range(43, 51)
UNEXPOSED_EXPR, DECL_REF_EXPR, MEMBER_REF_EXPR, CALL_EXPR = range(100, 104)
INTEGER_LITERAL, FLOATING_LITERAL, IMAGINARY_LITERAL, STRING_LITERAL, CHARACTER_LITERAL, PAREN_EXPR, UNARY_OPERATOR = range(
    106, 113
)
ARRAY_SUBSCRIPT_EXPR, BINARY_OPERATOR, COMPOUND_ASSIGNMENT_OPERATOR, CONDITIONAL_OPERATOR, CSTYLE_CAST_EXPR = range(113, 118)
COMPOUND_LITERAL_EXPR, INIT_LIST_EXPR = 118, 119
GNU_NULL_EXPR, STATIC_CAST_EXPR, DYNAMIC_CAST_EXPR, REINTERPRET_CAST_EXPR, CONST_CAST_EXPR, FUNCTIONAL_CAST_EXPR = range(
    123, 129
)
BOOL_LITERAL_EXPR, NULL_PTR_LITERAL_EXPR, THIS_EXPR, THROW_EXPR, NEW_EXPR, DELETE_EXPR, SIZE_OF_EXPR = range(130, 137)
PACK_EXPANSION_EXPR, SIZE_OF_PACK_EXPR, LAMBDA_EXPR, ADDRESS_SPACE_CAST_EXPR, BIT_CAST_EXPR = 142, 143, 144, 152, 280
UNEXPOSED_STMT, LABEL_STMT, COMPOUND_STMT, CASE_STMT, DEFAULT_STMT, IF_STMT, SWITCH_STMT, WHILE_STMT, DO_STMT, FOR_STMT = range(
    200, 210
)
GOTO_STMT, INDIRECT_GOTO_STMT, CONTINUE_STMT, BREAK_STMT, RETURN_STMT, ASM_STMT = range(210, 216)
FOR_RANGE_STMT, NULL_STMT, DECL_STMT = 225, 230, 231
UNEXPOSED_ATTR, CONSTANT_ATTR, DEVICE_ATTR, GLOBAL_ATTR, HOST_ATTR, SHARED_ATTR = 400, 412, 413, 414, 415, 416
STATIC_ASSERT = 602

FIRST_EXPRESSION, LAST_EXPRESSION = 100, 199
FIRST_STATEMENT, LAST_STATEMENT = 200, 349

T_VOID, T_BOOL, T_NULL_PTR, T_LONG_DOUBLE = 2, 3, 24, 23
T_POINTER, T_LVALUE_REFERENCE, T_RVALUE_REFERENCE, T_RECORD, T_ENUM = 101, 103, 104, 105, 106
T_FUNCTION, T_FUNCTION_WITHOUT_PARAMETERS, T_CONSTANT_ARRAY, T_VECTOR, T_INCOMPLETE_ARRAY, T_VARIABLE_ARRAY = (
    111,
    110,
    112,
    113,
    114,
    115,
)
T_REFERENCES = (T_LVALUE_REFERENCE, T_RVALUE_REFERENCE)
SCALARS = {
    T_BOOL: "bool", 4: "unsigned char", 5: "unsigned char", 8: "unsigned short", 9: "unsigned int", 10: "unsigned long",
    11: "unsigned long long", 13: "char", 14: "signed char", 15: "int", 16: "short", 17: "int", 18: "long", 19: "long long",
    21: "float", 22: "double", T_LONG_DOUBLE: "double",
}  # fmt: skip

EXTERN, STATIC = 2, 3  # storage classes


class Node:
    """A cursor and the cursors below it."""

    __slots__ = ("children", "cursor", "kind", "span")

    def __init__(self, cursor: RawCursor) -> None:
        self.cursor = cursor
        self.kind: int = cursor.kind
        self.children: list[Node] = []
        self.span: tuple[int, int] | None = None

    @property
    def key(self) -> int:
        """What identifies the declaration."""
        return self.cursor.first or 0

    @property
    def parts(self) -> list["Node"]:
        """The expressions and statements directly below."""
        return [each for each in self.children if FIRST_EXPRESSION <= each.kind <= LAST_STATEMENT]


class Cursors:
    """The cursors of one translation unit, and the places of the shown file."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.lib = library()
        self.text = unit.text
        self._bytes = None if self.text.isascii() else self.text.encode()
        self.size = len(self._bytes or self.text)
        self.root = raw(unit.tree.cursor)
        self.handle = cast(unit.tree.obj, c_void_p)
        shown = f"{SOURCE_ROOT}/{unit.source.shown or unit.source.main}"
        self._file = self.lib.getFile(self.handle, shown.encode())
        self._base = self.lib.getLocationForOffset(self.handle, self._file, 0).number
        self._line_starts = [0, *(at + 1 for at, char in enumerate(self.text) if char == "\n")]
        self._places: dict[tuple[int, int], Place] = {}
        self._trees: dict[int, Node] = {}
        self._names: dict[int, str] = {}
        self._macro_ends: dict[int, int] = {}

    def tree(self, cursor: RawCursor) -> Node:
        """The cursors below a declaration or expression."""
        root = Node(cursor)
        keys: list[tuple[int, int]] = [(cursor.first, cursor.second)]  # of the cursors around the next one
        around = [root]

        def visit(each: RawCursor, parent: RawCursor, _: object) -> int:
            above = (parent.first, parent.second)
            if keys[-1] != above:
                if above in keys:
                    while keys[-1] != above:
                        del keys[-1], around[-1]
                else:  # libclang leaves out some parents in lambdas, and has two of a list in braces
                    keys.append(above)
                    around.append(around[-1])
            key = (each.first, each.second)
            if key == above and len(keys) > 1:  # a constant expression, which libclang gives twice
                return RECURSE
            node = Node(each)
            around[-1].children.append(node)
            keys.append(key)
            around.append(node)
            return RECURSE

        self.lib.visitChildren(cursor, Visitor(visit), None)
        return root

    def declaration(self, cursor: RawCursor) -> Node:
        """The tree of a function's or class's definition, built once."""
        tree = self._trees.get(cursor.first)
        if tree is None:
            tree = self._trees[cursor.first] = self.tree(cursor)
        return tree

    def top_level(self, cursor: RawCursor) -> list[Node]:
        """The cursors directly below."""
        found: list[Node] = []

        def visit(each: RawCursor, parent: RawCursor, _: object) -> int:
            found.append(Node(each))
            return CONTINUE

        self.lib.visitChildren(cursor, Visitor(visit), None)
        return found

    def fields(self, record: RawType) -> list[Node]:
        """The trees of a record's own members."""
        found: list[RawCursor] = []

        def visit(each: RawCursor, _: object) -> int:
            found.append(each)
            return CONTINUE

        self.lib.Type_visitFields(record, FieldVisitor(visit), None)
        return [self.tree(each) for each in found]

    def is_written(self, method: RawCursor) -> bool:
        """Whether a method is in the text with a body of its own; the compiler adds copies and ``= default`` ones."""
        lib, record = self.lib, self.lib.getCursorSemanticParent(method)
        if lib.CXXMethod_isDefaulted(method) or lib.getCursorLocation(method).number == lib.getCursorLocation(record).number:
            return False
        return any(each.kind == COMPOUND_STMT for each in self.declaration(method).children)

    def definition(self, cursor: RawCursor) -> RawCursor | None:
        found: RawCursor = self.lib.getCursorDefinition(cursor)
        return None if self.lib.Cursor_isNull(found) else found

    def referenced(self, node: Node) -> RawCursor | None:
        """The declaration that an expression refers to."""
        found: RawCursor = self.lib.getCursorReferenced(node.cursor)
        return None if self.lib.Cursor_isNull(found) else found

    def name(self, cursor: RawCursor) -> str:
        """The unqualified name of a declaration."""
        found = self._names.get(cursor.first)
        if found is None:
            found = self._names[cursor.first] = self.lib.string(self.lib.getCursorSpelling(cursor))
        return found

    def type(self, node: Node) -> RawType:
        found: RawType = self.lib.getCursorType(node.cursor)
        return found

    def evaluated(self, node: Node) -> int | float | None:
        return self.lib.evaluated(node.cursor)

    def initialiser(self, cursor: RawCursor) -> Node | None:
        """The value that a variable or a parameter is declared with."""
        found: RawCursor = self.lib.Cursor_getVarDeclInitializer(cursor)
        return None if self.lib.Cursor_isNull(found) else self.tree(found)

    def arguments(self, node: Node) -> list[Node]:
        """The arguments of a call, in order; those of an operator begin with the object."""
        if self.method_callee(node) is not None or not node.children:
            return node.parts[1:]
        count = self.lib.Cursor_getNumArguments(node.cursor)
        parts = {(each.cursor.first, each.cursor.second): each for each in node.parts}
        found = []
        for number in range(max(0, count)):
            cursor = self.lib.Cursor_getArgument(node.cursor, number)
            found.append(parts.get((cursor.first, cursor.second)) or self.tree(cursor))
        return found

    def method_callee(self, node: Node) -> Node | None:
        """The ``x.f`` of the call ``x.f()``; None for other calls, such as ``x.y += 1`` by an operator's function."""
        callee = node.children[0] if node.children else None
        if callee is None or callee.kind != MEMBER_REF_EXPR:
            return None
        declaration = self.referenced(callee)
        return None if declaration is not None and declaration.kind == FIELD_DECL else callee

    def is_stub(self, cursor: RawCursor) -> bool:
        """Whether a declaration is in a header of gemmviz, not of the project."""
        file, _ = self.lib.expansion(self.lib.getCursorLocation(cursor))
        return file is None or not self.lib.string(self.lib.getFileName(file)).startswith(SOURCE_ROOT)

    def span(self, node: Node) -> tuple[int, int] | None:
        """The half-open range of characters of the shown file; a macro's expansion has that of its use. None elsewhere."""
        if node.span is None:
            found = self.lib.getCursorExtent(node.cursor)
            start = self._offset(found, found.begin)
            stop = self._offset(found, found.end, is_end=True)
            node.span = (start, max(start, stop)) if start >= 0 and stop >= 0 else (-1, -1)
        return None if node.span[0] < 0 else node.span

    def file_place(self, node: Node) -> tuple[str, Place, str] | None:
        """The file of the project that a cursor is in ("" is the shown one), its place there, and its text; None for others."""
        extent = self.lib.getCursorExtent(node.cursor)
        ends = [RawLocation(extent.manager, extent.options, number) for number in (extent.begin, extent.end)]
        (file, start), (_, stop) = (self.lib.expansion(each) for each in ends)
        name = "" if file is None else self.lib.string(self.lib.getFileName(file))
        if not name.startswith(SOURCE_ROOT):
            return None
        name = name.removeprefix(f"{SOURCE_ROOT}/")
        text = self.unit.files[name]
        data = text.encode()
        first, last = len(data[:start].decode(errors="replace")), len(data[:stop].decode(errors="replace"))
        is_shown = name == (self.unit.source.shown or self.unit.source.main)
        return "" if is_shown else name, _place_between(text, first, last), text[first:last]

    def text_from(self, node: Node) -> str:
        """The text of the file that a cursor is in, from where the cursor begins or the macro is used that it comes from."""
        found = self.lib.getCursorExtent(node.cursor)
        file, offset = self.lib.expansion(RawLocation(found.manager, found.options, found.begin))
        name = "" if file is None else self.lib.string(self.lib.getFileName(file)).removeprefix(f"{SOURCE_ROOT}/")
        return self.unit.files.get(name, "").encode()[offset:].decode(errors="replace")

    def name_span(self, node: Node) -> tuple[int, int] | None:
        """The range of the name in a declaration."""
        found = self.lib.getCursorLocation(node.cursor)
        start = self._offset(found, found.number)
        if start < 0:
            return None
        if found.number & MACRO:
            return start, self._macro_end(start)
        return start, start + len(self.name(node.cursor))

    def _offset(self, found: object, number: int, *, is_end: bool = False) -> int:
        offset = number - self._base
        if number & MACRO:
            file, offset = self.lib.expansion(RawLocation(found.manager, found.options, number))  # type: ignore[attr-defined]
            if file != self._file:
                return -1
            return self._macro_end(self._character(offset)) if is_end else self._character(offset)
        return self._character(offset) if 0 <= offset <= self.size else -1

    def _character(self, offset: int) -> int:
        return offset if self._bytes is None else len(self._bytes[:offset].decode(errors="replace"))

    def _macro_end(self, start: int) -> int:
        """Where the use of a function-like macro ends, whose name is at ``start``."""
        if start not in self._macro_ends:
            text, at = self.text, start
            while at < len(text) and (text[at].isalnum() or text[at] == "_"):
                at += 1
            while at < len(text) and text[at].isspace():
                at += 1
            self._macro_ends[start] = closing(text, at) + 1
        return self._macro_ends[start]

    def place_of(self, span: tuple[int, int]) -> Place:
        place = self._places.get(span)
        if place is None:
            starts = self._line_starts
            line, last = bisect_right(starts, span[0]), bisect_right(starts, span[1])
            place = Place(line, span[0] - starts[line - 1] + 1, last, span[1] - starts[last - 1] + 1)
            self._places[span] = place
        return place

    def written(self, span: tuple[int, int]) -> str:
        """The text of a range as in the file, on one line."""
        return " ".join(self.text[span[0] : span[1]].split())


def _place_between(text: str, first: int, last: int) -> Place:
    line, end_line = text.count("\n", 0, first) + 1, text.count("\n", 0, last) + 1
    return Place(line, first - text.rfind("\n", 0, first), end_line, last - text.rfind("\n", 0, last))


def closing(text: str, opening: int) -> int:
    """The index of the bracket that closes the one at ``opening``; strings and comments are skipped."""
    depth, at = 0, opening
    while at < len(text):
        at = skipped(text, at)
        if at >= len(text):
            break
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth <= 0:
                return at
        at += 1
    return len(text) - 1


def skipped(text: str, at: int) -> int:
    """The index behind the comment or string that begins at ``at``; ``at`` itself if none does."""
    while True:
        if text.startswith("//", at):
            at = text.find("\n", at)
            at = len(text) if at < 0 else at
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 2
        elif text[at : at + 1] in ('"', "'"):
            quote, at = text[at], at + 1
            while at < len(text) and text[at] != quote:
                at += 2 if text[at] == "\\" else 1
            at += 1
        else:
            return at


# Expressions without what is around them.


def bare(node: Node) -> Node:
    """The expression within parentheses and implicit conversions."""
    while node.kind in (UNEXPOSED_EXPR, PAREN_EXPR):
        parts = node.parts
        if len(parts) != 1:
            return node
        node = parts[0]
    return node


def is_reference_cast(cursors: Cursors, node: Node) -> bool:
    """Whether a cast of numbers designates the same memory, as ``reinterpret_cast<int&>(x)`` does. libclang doesn't say it."""
    if node.kind == REINTERPRET_CAST_EXPR:
        return True
    span = cursors.span(node) if node.kind == CSTYLE_CAST_EXPR else None
    text = "" if span is None else cursors.text[span[0] : span[1]]
    return text[: closing(text, 0)].rstrip().endswith("&") if text.startswith("(") else False


# Errors of the parser and of the reader as errors of the kernel, in plain words, with the way out.

_WAYS_OUT = (
    ("goto", "write it as a loop, an if or a return"),
    ("new is", "use an array of the thread or of shared memory"),
    ("malloc", "use an array of the thread or of shared memory"),
    ("throw", "use return"),
    ("recursion", "write it as a loop"),
    ("known before the kernel runs", "make it constexpr, or pass it as a parameter"),
    ("before it is assigned", "assign it first, on every path"),
    ("pointer in memory", "keep an index in memory, and add it to the pointer"),
    ("references", "return a value, or an index"),
    ("nested too deeply", "split it into several statements"),
    ("at most", "make it smaller"),
    ("more than", "make it smaller"),
    ("more elements", "make it smaller"),
    ("no body", "include the file that defines it"),
    ("division by zero", "divide by another number"),
    ("member", "use a member that it has"),
    ("the first case", "move it in front of the switch"),
    ("can't become", "convert it, or change the type of the variable"),
    ("does not work on", "convert the operands to numbers"),
    ("can't be used", "use one of its members or elements"),
    ("the type", "use a number type of CUDA, or a struct of numbers"),
    ("takes", "pass what its declaration asks for"),
    ("values for", "write as many values as it has elements"),
    ("PTX", "write it as CUDA C, or with an intrinsic function"),
    ("asm", "write it as CUDA C, or with an intrinsic function"),
    ("", "write it in a simpler way"),
)  # words of messages, the first that fits


def way_out(message: str) -> str:
    """What to do about something that can't be read."""
    return next(remedy for words, remedy in _WAYS_OUT if words in message)


def first_error(unit: Unit, file: str, first: int, last: int) -> ParseError | None:
    """The first error in these lines of a file of the project."""
    return next(
        (each for each in unit.errors if any(first <= spot.line <= last for spot in each.spots if spot.file == file)), None
    )


class MixedSpaces(Exception):
    """A pointer variable, by the key of its declaration, that is assigned pointers into memories of several spaces."""

    def __init__(self, key: int) -> None:
        super().__init__(key)
        self.key = key


_MOST_NAMES_COMPARED = 20_000


def parse_refusal(unit: Unit, error: ParseError, otherwise: Place | None) -> SourceError:
    """An error of the parser in plain words. One that has no place in the shown file is placed at ``otherwise``."""
    message, remedy, kind = plain_sentence(error.message)
    if error.place is None and error.spots[0].file:
        message = f"{message} (line {error.spots[0].line} of {error.spots[0].file})"
    if kind == "unknown-name":
        remedy = missing_remedy(unit.missing) or _closest(unit, error) or remedy
    return SourceError(message, error.place or otherwise, remedy=remedy, id=kind)


def _closest(unit: Unit, error: ParseError) -> str | None:
    """A remedy with the name most similar to the unknown one: of the shown text, else of CUDA."""
    match = re.search(r"'(\w+)'", error.message)
    if match is None:
        return None
    name = match[1]
    own = set(_identifiers(COMMENT.sub("", unit.source.text)))
    close = get_close_matches(name, own - {name}, 1) or get_close_matches(name, _cuda_names() - {name}, 1, 0.8)
    return f"did you mean {close[0]}?" if close else None


def _identifiers(text: str) -> Iterator[str]:
    for number, match in enumerate(re.finditer(r"\b[A-Za-z_]\w{2,}\b", text)):
        if number == _MOST_NAMES_COMPARED:
            return
        yield match[0]


@cache
def _cuda_names() -> frozenset[str]:
    texts: Iterable[str] = (path.read_text(encoding="utf-8") for path in STUBS.rglob("*") if path.is_file())
    return frozenset(name for text in texts for name in _identifiers(text) if "GEMMVIZ" not in name)
