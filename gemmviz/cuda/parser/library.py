"""libclang's C functions, called with as little between as possible: a kernel takes thousands of calls."""

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_longlong, c_uint, c_void_p
from functools import cache
from typing import Any

from clang.cindex import Cursor, conf


class RawCursor(Structure):
    """A cursor as libclang passes it; ``first`` identifies a declaration, ``second`` a statement or expression."""

    _fields_ = (("kind", c_int), ("extra", c_int), ("first", c_void_p), ("second", c_void_p), ("unit", c_void_p))


class RawType(Structure):
    """A type; ``pointer`` identifies it within its translation unit."""

    _fields_ = (("kind", c_int), ("pointer", c_void_p), ("unit", c_void_p))


class RawRange(Structure):
    """A range of a source text; ``begin`` and ``end`` are libclang's own numbers of locations."""

    _fields_ = (("manager", c_void_p), ("options", c_void_p), ("begin", c_uint), ("end", c_uint))


class RawLocation(Structure):
    _fields_ = (("manager", c_void_p), ("options", c_void_p), ("number", c_uint))


class RawString(Structure):
    _fields_ = (("data", c_void_p), ("flags", c_uint))


Visitor = ctypes.CFUNCTYPE(c_int, RawCursor, RawCursor, c_void_p)
FieldVisitor = ctypes.CFUNCTYPE(c_int, RawCursor, c_void_p)
CONTINUE, RECURSE = 1, 2
MACRO = 1 << 31  # set in the number of a location in a macro's expansion

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "clang_visitChildren": (c_uint, (RawCursor, Visitor, c_void_p)),
    "clang_Type_visitFields": (c_uint, (RawType, FieldVisitor, c_void_p)),
    "clang_getCursorExtent": (RawRange, (RawCursor,)),
    "clang_getCursorLocation": (RawLocation, (RawCursor,)),
    "clang_getCursorType": (RawType, (RawCursor,)),
    "clang_getCursorReferenced": (RawCursor, (RawCursor,)),
    "clang_getCursorDefinition": (RawCursor, (RawCursor,)),
    "clang_getCanonicalCursor": (RawCursor, (RawCursor,)),
    "clang_getCursorSemanticParent": (RawCursor, (RawCursor,)),
    "clang_getCursorSpelling": (RawString, (RawCursor,)),
    "clang_getCursorResultType": (RawType, (RawCursor,)),
    "clang_getTypeDeclaration": (RawCursor, (RawType,)),
    "clang_getTypeSpelling": (RawString, (RawType,)),
    "clang_getCanonicalType": (RawType, (RawType,)),
    "clang_getPointeeType": (RawType, (RawType,)),
    "clang_getArrayElementType": (RawType, (RawType,)),
    "clang_getArraySize": (c_longlong, (RawType,)),
    "clang_getEnumDeclIntegerType": (RawType, (RawCursor,)),
    "clang_isConstQualifiedType": (c_uint, (RawType,)),
    "clang_Type_getSizeOf": (c_longlong, (RawType,)),
    "clang_Type_getAlignOf": (c_longlong, (RawType,)),
    "clang_Type_getValueType": (RawType, (RawType,)),
    "clang_Cursor_getOffsetOfField": (c_longlong, (RawCursor,)),
    "clang_Cursor_isBitField": (c_uint, (RawCursor,)),
    "clang_Cursor_isNull": (c_int, (RawCursor,)),
    "clang_Cursor_getNumArguments": (c_int, (RawCursor,)),
    "clang_Cursor_getArgument": (RawCursor, (RawCursor, c_uint)),
    "clang_Cursor_getVarDeclInitializer": (RawCursor, (RawCursor,)),
    "clang_Cursor_Evaluate": (c_void_p, (RawCursor,)),
    "clang_Cursor_getStorageClass": (c_int, (RawCursor,)),
    "clang_CXXMethod_isStatic": (c_uint, (RawCursor,)),
    "clang_CXXMethod_isVirtual": (c_uint, (RawCursor,)),
    "clang_CXXMethod_isDefaulted": (c_uint, (RawCursor,)),
    "clang_EvalResult_getKind": (c_int, (c_void_p,)),
    "clang_EvalResult_isUnsignedInt": (c_uint, (c_void_p,)),
    "clang_EvalResult_getAsUnsigned": (ctypes.c_ulonglong, (c_void_p,)),
    "clang_EvalResult_getAsLongLong": (c_longlong, (c_void_p,)),
    "clang_EvalResult_getAsDouble": (ctypes.c_double, (c_void_p,)),
    "clang_EvalResult_dispose": (None, (c_void_p,)),
    "clang_getExpansionLocation": (None, (RawLocation, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint))),
    "clang_getCursorBinaryOperatorKind": (c_int, (RawCursor,)),
    "clang_getCursorUnaryOperatorKind": (c_int, (RawCursor,)),
    "clang_getFile": (c_void_p, (c_void_p, c_char_p)),
    "clang_getFileName": (RawString, (c_void_p,)),
    "clang_getLocationForOffset": (RawLocation, (c_void_p, c_void_p, c_uint)),
    "clang_getCursor": (RawCursor, (c_void_p, RawLocation)),
    "clang_getCString": (c_char_p, (RawString,)),
    "clang_disposeString": (None, (RawString,)),
}  # fmt: skip


# The operators by the numbers of CXBinaryOperatorKind and CXUnaryOperatorKind in clang-c/Index.h of LLVM 17 and 18.
_BINARY = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||",
    "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
_UNARY = ("", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!", "__real", "__imag", "__extension__", "co_await")


class Library:
    """The functions of libclang, without the prefix ``clang_``, as attributes."""

    def __init__(self) -> None:
        library = ctypes.CDLL(conf.lib._name)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name.removeprefix("clang_"), function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def string(self, raw: RawString) -> str:
        """The text of a string of libclang's, which is freed."""
        data: bytes = self.getCString(raw) or b""
        self.disposeString(raw)
        return data.decode()

    def expansion(self, location: RawLocation) -> tuple[int | None, int]:
        """The file, as libclang's pointer, and the byte in it at which a location lies, or the use of its macro."""
        file, line, column, offset = c_void_p(), c_uint(), c_uint(), c_uint()
        self.getExpansionLocation(location, byref(file), byref(line), byref(column), byref(offset))
        return file.value, offset.value

    def binary_operator(self, cursor: RawCursor) -> str:
        """The operator of a binary operation or compound assignment, such as ``+=``."""
        return _BINARY[self.getCursorBinaryOperatorKind(cursor)]

    def unary_operator(self, cursor: RawCursor) -> str:
        """The operator of a unary operation; postfix ones are ``x++`` and ``x--``, prefix ones ``++x`` and ``--x``."""
        return _UNARY[self.getCursorUnaryOperatorKind(cursor)]

    def evaluated(self, cursor: RawCursor) -> int | float | None:
        """The value of a constant expression or constant variable; None if it isn't known when compiling."""
        result = self.Cursor_Evaluate(cursor)
        if not result:
            return None
        try:
            match self.EvalResult_getKind(result):
                case 1 if self.EvalResult_isUnsignedInt(result):
                    return int(self.EvalResult_getAsUnsigned(result))
                case 1:
                    return int(self.EvalResult_getAsLongLong(result))
                case 2:
                    return float(self.EvalResult_getAsDouble(result))
            return None
        finally:
            self.EvalResult_dispose(result)


@cache
def library() -> Library:
    return Library()


def raw(cursor: Cursor) -> RawCursor:
    """A cursor of the Python bindings as libclang passes it."""
    return RawCursor.from_buffer_copy(cursor)
