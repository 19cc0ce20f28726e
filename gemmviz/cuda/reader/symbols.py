"""Meanings of declarations: variables, arrays, constants, objects, functions, and the types of libclang."""

from collections.abc import Mapping

from msgspec import Struct, field

from gemmviz.cuda.nodes import Const, Expr
from gemmviz.cuda.parser.library import RawCursor, RawType
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Cursors, Node
from gemmviz.cuda.types import VOID, ArrayType, CType, Field, PointerType, Scalar, StructType, VectorType, named_type


class Variable(Struct, frozen=True):
    """A variable in a slot. ``is_reference``: the slot holds a pointer to the object that the name designates."""

    slot: int
    type: CType
    name: str
    checked: bool = False
    is_reference: bool = False


class ArrayVariable(Struct, frozen=True):
    """An array. ``is_reference``: its slot holds a pointer to the first element of another one."""

    slot: int
    type: ArrayType
    name: str = ""
    is_reference: bool = False


class Constant(Struct, frozen=True):
    """A name with a known value."""

    node: Const


class Object(Struct, frozen=True):
    """A struct whose members are variables of their own, by the keys of their declarations."""

    type: StructType
    members: "Mapping[int, Symbol]"


class InMemory(Struct, frozen=True):
    """An object in local or shared memory, whose slot holds a pointer to it."""

    slot: int
    type: PointerType


class Alias(Struct, frozen=True):
    """A reference to what an expression designates, which is the same whenever it is evaluated."""

    node: "Expr | Thing"


class Function(Struct, frozen=True):
    """A known function, or a lambda with the variables that it copied, by the keys of the originals."""

    declaration: RawCursor | None
    copies: "Mapping[int, Symbol]" = field(default_factory=dict)


Symbol = Variable | ArrayVariable | Constant | Object | InMemory | Alias | Function


class Thing(Struct, frozen=True):
    """A value that isn't a node: an object or a function, known when reading. ``effects`` are run before it is used."""

    type: CType
    symbol: Object | InMemory | Function
    effects: tuple[Expr, ...] = ()


_RECORD_NAMES = {"dim3": "uint3", "__half2": "half2"}  # of records: what they are here


class UnknownType(Exception):
    """A type that the nodes don't have; its text is the type's spelling."""


class Types:
    """The types of one translation unit. ``fields`` maps the key of a field's declaration to the field."""

    def __init__(self, cursors: Cursors) -> None:
        self.cursors, self.lib = cursors, cursors.lib
        self._known: dict[int, CType | None] = {}
        self.fields: dict[int, Field] = {}
        self.members: dict[StructType, tuple[tuple[int, Field], ...]] = {}  # with the keys of their declarations
        self._records: dict[int, StructType] = {}
        self.defaults: dict[int, Node] = {}  # values that members are declared with, by the same keys

    def of(self, node: Node) -> CType:
        return self.of_type(self.lib.getCursorType(node.cursor))

    def of_type(self, raw: RawType) -> CType:
        """The type of the nodes. Raises UnknownType if there is none."""
        if raw.pointer in self._known:
            found = self._known[raw.pointer]
        else:
            self._known[raw.pointer] = None
            found = self._known[raw.pointer] = self._made(self.lib.getCanonicalType(raw))
        if found is None:
            raise UnknownType(self.spelling(raw))
        return found

    def spelling(self, raw: RawType) -> str:
        return self.lib.string(self.lib.getTypeSpelling(raw))

    def is_const(self, raw: RawType) -> bool:
        return bool(self.lib.isConstQualifiedType(raw))

    def _made(self, raw: RawType) -> CType | None:
        lib = self.lib
        match raw.kind:
            case k.T_VOID:
                return VOID
            case k.T_ENUM:
                return self.of_type(lib.getEnumDeclIntegerType(lib.getTypeDeclaration(raw)))
            case k.T_POINTER | k.T_LVALUE_REFERENCE | k.T_RVALUE_REFERENCE:
                pointee = lib.getPointeeType(raw)
                return PointerType(self._pointee(pointee), None, self.is_const(pointee))
            case k.T_NULL_PTR:
                return PointerType(VOID)
            case k.T_CONSTANT_ARRAY | k.T_INCOMPLETE_ARRAY:
                return self._array(raw)
            case k.T_RECORD:
                return self._record(raw)
        name = k.SCALARS.get(raw.kind)
        return None if name is None else named_type(name)

    def _pointee(self, raw: RawType) -> CType:
        canonical = self.lib.getCanonicalType(raw)
        if canonical.kind in (k.T_FUNCTION, k.T_FUNCTION_WITHOUT_PARAMETERS):
            return VOID
        return self.of_type(raw)

    def _array(self, raw: RawType) -> CType:
        element = self.of_type(self.lib.getArrayElementType(raw))
        size = int(self.lib.getArraySize(raw)) if raw.kind == k.T_CONSTANT_ARRAY else 0
        if isinstance(element, ArrayType):
            return ArrayType(element.element, (size, *element.dims), "local")
        return ArrayType(element, (size,), "local")  # type: ignore[arg-type]

    def _record(self, raw: RawType) -> CType | None:
        declaration = self.lib.getTypeDeclaration(raw)
        name = self.cursors.name(declaration)
        named = named_type(_RECORD_NAMES.get(name, name))
        if isinstance(named, VectorType | Scalar):
            return named
        definition = self.cursors.definition(declaration)
        return None if definition is None else self._struct(definition, raw, name)

    def _struct(self, definition: RawCursor, raw: RawType, name: str) -> StructType:
        known = self._records.get(definition.first)
        if known is not None:
            return known
        members: list[tuple[int, Field]] = []
        for each in self.cursors.top_level(definition):
            if each.kind == k.BASE_SPECIFIER:
                base = self.of(each)
                members += self.members.get(base, ()) if isinstance(base, StructType) else ()
        members += ((each.key, self._field(each)) for each in self.cursors.fields(raw))
        size, alignment = int(self.lib.Type_getSizeOf(raw)), int(self.lib.Type_getAlignOf(raw))
        struct = StructType(
            self.spelling(self.lib.getCursorType(definition)), tuple(field for _, field in members), size, alignment
        )
        self._records[definition.first] = struct
        self.members[struct] = tuple(members)
        return struct

    def _field(self, node: Node) -> Field:
        ctype = self.of(node)
        if self.lib.Cursor_isBitField(node.cursor):
            raise UnknownType(f"of the bit field {self.cursors.name(node.cursor)}")
        field = Field(self.cursors.name(node.cursor), ctype, int(self.lib.Cursor_getOffsetOfField(node.cursor)) // 8)
        self.fields[node.key] = field
        if node.parts and (not isinstance(ctype, ArrayType) or node.parts[-1].kind == k.INIT_LIST_EXPR):  # not an extent
            self.defaults[node.key] = node.parts[-1]
        return field
