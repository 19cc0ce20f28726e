"""CUDA's functions compute what the host's C library computes: exactly where IEEE 754 says so, else within a few units."""

import ctypes
import ctypes.util
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gemmviz.cuda.functions import CLOCKS, FUNCTIONS, Signature, Value, function_for
from gemmviz.cuda.types import BOOL, DOUBLE, FLOAT, INT, LONG, SCHAR, UINT, Scalar, scalar_of
from gemmviz.run.cpu.simt.functions import code_for
from tests.run.test_rounding import random_floats

LIBM = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
EXACT = [
    "ceil",
    "copysign",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmod",
    "ldexp",
    "nearbyint",
    "nextafter",
    "remainder",
    "rint",
    "round",
    "sqrt",
    "trunc",
]
CLOSE = ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp10", "exp2", "expm1",
         "hypot", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh"]  # fmt: skip
LONGS = ["lrint", "llrint", "lround", "llround"]
_C: dict[str, Any] = {"float": ctypes.c_float, "double": ctypes.c_double, "int": ctypes.c_int, "long": ctypes.c_long}


def arguments(function: Signature, count: int, largest: float = math.inf) -> list[npt.NDArray[Any]]:
    """Random ones of the function's own types, those that are no integers at most ``largest``."""
    found = random_floats(str(scalar_of(function.parameters[0]).dtype), count, 7)[: len(function.parameters)]
    found = [np.where(np.abs(each) <= largest, each, 1.5).astype(each.dtype) for each in found]
    return [
        np.arange(len(each), dtype=np.int32) % 300 - 150 if kind == INT else each
        for each, kind in zip(found, function.parameters, strict=True)
    ]


def of_libm(name: str, function: Signature, values: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    call = getattr(LIBM, name)
    call.argtypes, call.restype = [_C[str(each)] for each in function.parameters], _C[str(function.result)]
    return np.array(
        [call(*each) for each in zip(*(value.tolist() for value in values), strict=True)], scalar_of(function.result).dtype
    )


def test_exact_functions() -> None:
    for name in (*EXACT, *(f"{each}f" for each in EXACT)):
        function = code_for(FUNCTIONS[name])
        values = arguments(FUNCTIONS[name], 1000)
        found, wanted = function(*values), of_libm(name, FUNCTIONS[name], values)
        same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
        assert (same | (np.isnan(found) & np.isnan(wanted))).all(), name


@pytest.mark.parametrize("name", [*LONGS, *(f"{each}f" for each in LONGS)])
def test_functions_that_give_a_long(name: str) -> None:
    function = code_for(FUNCTIONS[name])
    values = arguments(FUNCTIONS[name], 1500, 2.0**62)
    assert (function(*values) == of_libm(name, FUNCTIONS[name], values)).all()


def test_other_functions() -> None:
    for name in (*CLOSE, *(f"{each}f" for each in CLOSE)):
        function = code_for(FUNCTIONS[name])
        values = arguments(FUNCTIONS[name], 200, 60.0)
        with np.errstate(all="ignore"):
            found, wanted = function(*values), of_libm(name, FUNCTIONS[name], values)
        rtol, atol = 8 * np.finfo(found.dtype).eps, 1e-40 if name.endswith("f") else 1e-300
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.parametrize(
    ("name", "types", "parameter", "result"),
    [
        ("floor", [FLOAT], FLOAT, FLOAT),
        ("exp", [FLOAT], FLOAT, FLOAT),
        ("exp", [INT], DOUBLE, DOUBLE),
        ("pow", [FLOAT, INT], DOUBLE, DOUBLE),
        ("pow", [FLOAT, DOUBLE], DOUBLE, DOUBLE),
        ("sqrtf", [DOUBLE], FLOAT, FLOAT),
        ("ldexp", [FLOAT, INT], FLOAT, FLOAT),
        ("isnan", [FLOAT], FLOAT, BOOL),
        ("signbit", [DOUBLE], DOUBLE, BOOL),
        ("lrint", [FLOAT], FLOAT, LONG),
        ("min", [SCHAR, BOOL], INT, INT),
        ("min", [INT, UINT], UINT, UINT),
        ("max", [FLOAT, DOUBLE], DOUBLE, DOUBLE),
        ("abs", [SCHAR], INT, INT),
        ("abs", [FLOAT], FLOAT, FLOAT),
    ],
)
def test_overloads(name: str, types: list[Value], parameter: Scalar, result: Scalar) -> None:
    function = function_for(name, types)
    assert function is not None
    assert (function.parameters[0], function.result) == (parameter, result)


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("__clz", (0,), 32), ("__clz", (1,), 31), ("__clz", (-1,), 0), ("__clzll", (1 << 40,), 23), ("__clzll", (0,), 64),
        ("__ffs", (0,), 0), ("__ffs", (-(2**31),), 32), ("__ffsll", (1 << 40,), 41), ("__popc", (0xF0F0,), 8), ("__popcll", (2**64 - 1,), 64),
        ("__brev", (1,), 1 << 31), ("__brev", (0x12345678,), 0x1E6A2C48), ("__brevll", (2,), 1 << 62),
        ("__mul24", (0x800000, 2), -(2**24)), ("__mul24", (-3, 5), -15), ("__umul24", (0xFF000003, 5), 15),
        ("__mulhi", (-(2**31), 2**31 - 1), -(2**30) + 0), ("__umulhi", (2**32 - 1, 2**32 - 1), 2**32 - 2), ("__sad", (-5, 7, 1), 13), ("__usad", (5, 7, 1), 3),
        ("__float_as_int", (-0.0,), -(2**31)), ("__int_as_float", (0x3F800000,), 1.0), ("__double_as_longlong", (1.0,), 0x3FF << 52),
        ("__float2int_rn", (2.5,), 2), ("__float2int_ru", (2.1,), 3), ("__float2int_rd", (-2.1,), -3), ("__double2uint_rz", (-1.0,), 0),
        ("__ll2float_rn", (2**60 + 2**36 + 1,), float(2**60 + 2**37)), ("__frcp_rn", (3.0,), float(np.float32(1) / np.float32(3))),
        ("__saturatef", (math.nan,), 0.0), ("__saturatef", (1.5,), 1.0), ("umax", (3, 2**32 - 1), 2**32 - 1), ("llabs", (-(2**63),), -(2**63)),
        ("isnormal", (1e-310,), False), ("isfinite", (math.inf,), False), ("signbit", (-0.0,), True),
    ],
)  # fmt: skip
def test_single_values(name: str, values: tuple[Any, ...], wanted: Any) -> None:
    found = code_for(FUNCTIONS[name])(*values)
    assert found == wanted
    assert type(found) is type(wanted)


def test_each_signature_has_an_implementation() -> None:
    for name in FUNCTIONS.keys() - CLOCKS.keys():
        assert callable(code_for(FUNCTIONS[name]).compute), name
