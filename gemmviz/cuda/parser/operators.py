"""Operators and values of cursors, which the Python bindings of libclang 18 leave out."""

import ctypes
from typing import Any

from clang.cindex import Cursor, conf

# Numbers of CXBinaryOperatorKind and CXUnaryOperatorKind in clang-c/Index.h of LLVM 17 and 18.
_BINARY = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||",
    "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
_UNARY = ("", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!", "__real", "__imag", "__extension__", "co_await")
_INT, _FLOAT = 1, 2  # CXEvalResultKind


def binary_operator(cursor: Cursor) -> str:
    """The operator of a binary operation or compound assignment, such as ``+=``."""
    return _BINARY[_library().clang_getCursorBinaryOperatorKind(cursor)]


def unary_operator(cursor: Cursor) -> str:
    """The operator of a unary operation; postfix ones are ``x++`` and ``x--``, prefix ones ``++x`` and ``--x``."""
    return _UNARY[_library().clang_getCursorUnaryOperatorKind(cursor)]


def evaluated(cursor: Cursor) -> int | float | None:
    """The value of a constant expression or of an initialised constant; None if it isn't known when compiling."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        match library.clang_EvalResult_getKind(result):
            case kind if kind == _INT and library.clang_EvalResult_isUnsignedInt(result):
                return int(library.clang_EvalResult_getAsUnsigned(result))
            case kind if kind == _INT:
                return int(library.clang_EvalResult_getAsLongLong(result))
            case kind if kind == _FLOAT:
                return float(library.clang_EvalResult_getAsDouble(result))
        return None
    finally:
        library.clang_EvalResult_dispose(result)


def _library() -> Any:
    return _declared(conf.lib)


def _declared(library: Any) -> Any:
    """The library with the types of the functions used here."""
    if library.clang_Cursor_Evaluate.restype is not ctypes.c_void_p:
        for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind", "clang_Cursor_Evaluate"):
            getattr(library, name).argtypes = [Cursor]
        library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
        for name, result in (
            ("getKind", ctypes.c_int), ("isUnsignedInt", ctypes.c_uint), ("getAsUnsigned", ctypes.c_ulonglong),
            ("getAsLongLong", ctypes.c_longlong), ("getAsDouble", ctypes.c_double), ("dispose", None),
        ):  # fmt: skip
            function = getattr(library, f"clang_EvalResult_{name}")
            function.argtypes, function.restype = [ctypes.c_void_p], result
    return library
