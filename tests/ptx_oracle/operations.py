"""What PTX's arithmetic instructions compute, on arrays over threads (PTX ISA, Instruction Set)."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.ptx_oracle.memory import Array
from tests.ptx_oracle.module import PtxError

_DTYPES = {
    "pred": "?", "b8": "u1", "u8": "u1", "s8": "i1", "b16": "u2", "u16": "u2", "s16": "i2", "f16": "f2", "bf16": "u2",
    "b32": "u4", "u32": "u4", "s32": "i4", "f32": "f4", "f16x2": "u4", "b64": "u8", "u64": "u8", "s64": "i8", "f64": "f8",
}  # fmt: skip
TYPES = {name: np.dtype(each) for name, each in _DTYPES.items()}
_ROUNDED: Mapping[str, Callable[[Any], Any]] = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge,
}  # fmt: skip


def types_of(op: tuple[str, ...]) -> list[str]:
    """The types in an instruction's name, in order."""
    return [each for each in op[1:] if each in TYPES]


def compare(op: tuple[str, ...], a: Array, b: Array) -> Array:
    """The truth values of setp: a comparison, which is false for NaN unless its name ends in u or it is ne."""
    name = op[1]
    if name in _COMPARE:
        result = _COMPARE[name](a, b)
        return np.asarray(result & ~_unordered(a, b) if name == "ne" and a.dtype.kind == "f" else result)
    if name in ("equ", "neu", "ltu", "leu", "gtu", "geu"):
        return np.asarray(_COMPARE[name[:2]](a, b) | _unordered(a, b))
    if name in ("num", "nan"):
        return np.asarray(_unordered(a, b) == (name == "nan"))
    raise PtxError(f"setp.{name} is not known")


def _unordered(a: Array, b: Array) -> Array:
    return np.asarray(np.isnan(a) | np.isnan(b))


def converted(op: tuple[str, ...], value: Array) -> Array:
    """The result of cvt, of the type of its first type."""
    to, source = types_of(op)
    if source == "bf16":
        value = (value.astype(np.uint32) << 16).view(np.float32)
    if to == "bf16":
        raw = value.astype(np.float32).view(np.uint32)
        return ((raw + 0x7FFF + (raw >> 16 & 1)) >> 16).astype(np.uint16)
    dtype = TYPES[to]
    if value.dtype.kind == "f" and dtype.kind != "f":
        return _to_integer(_ROUNDED[next((each for each in op if each in _ROUNDED), "rzi")](value), dtype)
    if value.dtype.kind == "f" and (mode := next((each for each in op if each in _ROUNDED), None)):
        value = _ROUNDED[mode](value)
    if "sat" in op:
        value = np.clip(value, 0, 1) if dtype.kind == "f" else np.clip(value, np.iinfo(dtype).min, np.iinfo(dtype).max)
    return value.astype(dtype)


def _to_integer(value: Array, dtype: np.dtype[Any]) -> Array:
    """Floats as integers: those out of range saturate, NaN becomes 0."""
    info, wide = np.iinfo(dtype), value.astype(np.float64)
    inside = np.where(np.isnan(wide) | (wide >= info.max) | (wide <= info.min), 0, wide).astype(dtype)
    return np.where(wide >= info.max, info.max, np.where(wide <= info.min, info.min, inside)).astype(dtype)


def _quotient(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    return np.asarray(((a - np.fmod(a, safe)) // safe).astype(a.dtype))


def _halves(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of two packed half numbers at once."""

    def packed(*values: Array) -> Array:
        pairs = [np.ascontiguousarray(each.astype(np.uint32)).view(np.float16).reshape(-1, 2) for each in values]
        return np.ascontiguousarray(function(*pairs).astype(np.float16)).view(np.uint32).ravel()

    return packed


def _fused(a: Array, b: Array, c: Array) -> Array:
    wide = np.float64 if a.dtype.itemsize < 8 else np.longdouble
    return np.asarray((a.astype(wide) * b.astype(wide) + c.astype(wide)).astype(a.dtype))


def _multiply(op: tuple[str, ...], a: Array, b: Array) -> Array:
    if "wide" in op:
        wide = np.dtype(f"{a.dtype.kind}{2 * a.dtype.itemsize}")
        return np.asarray(a.astype(wide) * b.astype(wide))
    if "hi" in op:
        half = 8 * a.dtype.itemsize
        product = a.astype(object) * b.astype(object)
        return np.array([int(each) >> half for each in product]).astype(a.dtype)
    return np.asarray(a * b)


def _multiply_add(op: tuple[str, ...], a: Array, b: Array, c: Array) -> Array:
    return np.asarray(_fused(a, b, c) if a.dtype.kind == "f" else _multiply(op, a, b) + c)


def _shifted(op: tuple[str, ...], a: Array, by: Array) -> Array:
    width = 8 * a.dtype.itemsize
    amount = by.astype(np.int64)
    beyond = np.where(a < 0, -1, 0).astype(a.dtype) if op[0] == "shr" else np.zeros_like(a)
    some = np.minimum(amount, width - 1).astype(a.dtype)
    return np.where(amount >= width, beyond, a << some if op[0] == "shl" else a >> some).astype(a.dtype)


def _dot4(op: tuple[str, ...], a: Array, b: Array, c: Array) -> Array:
    kinds = types_of(op)
    parts = [
        np.ascontiguousarray(each).view(TYPES[kind[0] + "8"]).reshape(-1, 4) for each, kind in zip((a, b), kinds, strict=True)
    ]
    return np.asarray((c.astype(np.int64) + (parts[0].astype(np.int64) * parts[1]).sum(axis=1)).astype(c.dtype))


def _leading_zeros(a: Array) -> Array:
    width = 8 * a.dtype.itemsize
    return np.array([width - int(each).bit_length() for each in a.view(f"u{a.dtype.itemsize}")], np.uint32)


def _reversed(a: Array) -> Array:
    width = 8 * a.dtype.itemsize
    texts = [f"{int(each):0{width}b}"[::-1] for each in a.view(f"u{a.dtype.itemsize}")]
    return np.array([int(text, 2) for text in texts], f"u{a.dtype.itemsize}")


def _smaller(a: Array, b: Array) -> Array:
    return np.fmin(a, b)


def _larger(a: Array, b: Array) -> Array:
    return np.fmax(a, b)


_PLAIN: Mapping[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "div": _quotient, "rem": np.fmod, "neg": operator.neg, "abs": np.abs,
    "min": _smaller, "max": _larger, "and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": operator.invert,
    "fma": _fused, "sqrt": np.sqrt, "rsqrt": lambda a: 1 / np.sqrt(a), "rcp": lambda a: 1 / a, "ex2": np.exp2, "lg2": np.log2,
    "popc": np.bitwise_count, "clz": _leading_zeros, "brev": _reversed, "sin": np.sin, "cos": np.cos, "copysign": lambda a, b: np.copysign(b, a),
}  # fmt: skip


def _highest(op: tuple[str, ...], a: Array) -> Array:
    """Result of bfind.shiftamt for unsigned types: the left shift that brings the highest bit to the top."""
    return np.where(a == 0, 0xFFFFFFFF, _leading_zeros(a)).astype(np.uint32)


_NAMED: Mapping[str, Callable[..., Array]] = {
    "mul": _multiply, "mul24": _multiply, "mad": _multiply_add, "shl": _shifted, "shr": _shifted, "dp4a": _dot4, "bfind": _highest,
}  # fmt: skip


def computed(op: tuple[str, ...], values: list[Array]) -> Array:
    """The result of an arithmetic instruction. Raises PtxError for one that isn't known."""
    if op[0] in _NAMED:
        if types_of(op)[-1] == "f16x2":
            return _halves(operator.mul)(*values)
        return np.asarray(_NAMED[op[0]](op, *values))
    if op[0] not in _PLAIN or "bf16" in op:
        raise PtxError(f"the instruction {'.'.join(op)} is not known")
    return np.asarray(_halves(_PLAIN[op[0]])(*values) if "f16x2" in op else _PLAIN[op[0]](*values))
