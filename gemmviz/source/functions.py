"""The signatures of CUDA's math functions and intrinsics from values to a value.

Their implementations are in ``gemmviz.run.cpu.simt.functions``, under the same names. A function that CUDA overloads for half
and bfloat16 stands here once, for half.
"""

from functools import reduce

from msgspec import Struct

from gemmviz.source.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UINT,
    ULONG,
    USHORT,
    Scalar,
    VectorType,
    common,
    promoted,
    scalar_of,
)

Value = Scalar | VectorType
HALF2, FLOAT2 = VectorType(HALF, 2), VectorType(FLOAT, 2)


class Signature(Struct, frozen=True):
    """The types of a function's ``parameters`` and ``result``. With ``is_overloaded``, all types are float if all arguments
    are.
    """

    parameters: tuple[Value, ...]
    result: Value
    is_overloaded: bool = False

    def for_arguments(self, types: list[Value]) -> "Signature":
        """The overload that C++ selects for arguments of these types."""
        if any(scalar_of(each) == BFLOAT16 for each in types):
            return Signature(tuple(_in_bfloat16(each) for each in self.parameters), _in_bfloat16(self.result))
        floating = [kind for kind, parameter in zip(types, self.parameters, strict=False) if scalar_of(parameter).is_float]
        if not self.is_overloaded or any(kind != FLOAT for kind in floating):
            return self
        return Signature(tuple(_single(each) for each in self.parameters), _single(self.result))


def _single(kind: Value) -> Value:
    return FLOAT if scalar_of(kind).is_float else kind


def _in_bfloat16(kind: Value) -> Value:
    match kind:
        case VectorType(scalar=scalar) if scalar == HALF:
            return VectorType(BFLOAT16, kind.count)
        case Scalar() if kind == HALF:
            return BFLOAT16
    return kind


FLOATING = {  # name of the double version, arity; that of float has an f behind it
    "acos": 1, "acosh": 1, "asin": 1, "asinh": 1, "atan": 1, "atan2": 2, "atanh": 1, "cbrt": 1, "ceil": 1, "copysign": 2,
    "cos": 1, "cosh": 1, "cospi": 1, "erf": 1, "erfc": 1, "exp": 1, "exp10": 1, "exp2": 1, "expm1": 1, "fabs": 1, "fdim": 2,
    "floor": 1, "fma": 3, "fmax": 2, "fmin": 2, "fmod": 2, "hypot": 2, "log": 1, "log10": 1, "log1p": 1, "log2": 1,
    "nearbyint": 1, "nextafter": 2, "normcdf": 1, "pow": 2, "rcbrt": 1, "remainder": 2, "rhypot": 2, "rint": 1,
    "round": 1, "rsqrt": 1, "sin": 1,    "sinh": 1, "sinpi": 1, "sqrt": 1, "tan": 1, "tanh": 1, "trunc": 1,
}  # fmt: skip
TO_LONG = ("lrint", "llrint", "lround", "llround")
PREDICATES = ("isfinite", "isinf", "isnan", "isnormal", "signbit")
DIRECTIONS = ("rn", "rz", "ru", "rd")
ROUNDED = {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "rcp": 1}  # of a letter for the type and a direction behind it
FAST = {  # of float, by the hardware's own approximation
    "__cosf": 1, "__exp10f": 1, "__expf": 1, "__fdividef": 2, "__frsqrt_rn": 1, "__log10f": 1, "__log2f": 1, "__logf": 1,
    "__powf": 2, "__saturatef": 1, "__sinf": 1, "__tanf": 1, "__exp2f": 1,
}  # fmt: skip
FLOATS = {"float": FLOAT, "double": DOUBLE}
INTEGERS = {"int": INT, "uint": UINT, "ll": LONG, "ull": ULONG}
SHORTS = {"short": SHORT, "ushort": USHORT}
HALF_OPERATORS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "neg": 1, "abs": 1, "fma": 3, "max": 2, "min": 2}
HALF_VARIANTS = ("add_rn", "sub_rn", "mul_rn", "add_sat", "sub_sat", "mul_sat", "fma_sat", "fma_relu", "max_nan", "min_nan")
HALF_FUNCTIONS = (
    "sqrt",
    "rsqrt",
    "rcp",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "tanh",
)
HALF_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu")
VIDEO_LANES = {"2": 2, "4": 4}  # SIMD within a word of 32 bits: the number of its parts
VIDEO = {
    "add": 2, "addss": 2, "addus": 2, "sub": 2, "subss": 2, "subus": 2, "neg": 1, "abs": 1, "abss": 1, "absdiffs": 2,
    "absdiffu": 2, "avgs": 2, "avgu": 2, "haddu": 2, "maxs": 2, "maxu": 2, "mins": 2, "minu": 2,
    "sads": 2, "sadu": 2, "cmpeq": 2, "cmpne": 2, "cmpges": 2,
    "cmpgeu": 2, "cmpgts": 2, "cmpgtu": 2, "cmples": 2, "cmpleu": 2, "cmplts": 2, "cmpltu": 2, "seteq": 2, "setne": 2,
    "setges": 2, "setgeu": 2, "setgts": 2, "setgtu": 2, "setles": 2, "setleu": 2, "setlts": 2, "setltu": 2,
}  # fmt: skip
CLOCKS = {"clock": LONG, "clock64": LONG, "__clock": LONG, "__clock64": LONG, "globaltimer": ULONG}
_OF_COMMON_TYPE = {"min": 2, "max": 2, "abs": 1}  # arity; C++ mixes the types of their arguments
_OF_INTEGERS = {"__hadd": (2, INT), "__rhadd": (2, INT)}  # functions of int that share their name with one of half


def _floating() -> dict[str, Signature]:
    table: dict[str, Signature] = {}
    for name, arity in FLOATING.items():
        table[name] = Signature((DOUBLE,) * arity, DOUBLE, is_overloaded=True)
        table[f"{name}f"] = Signature((FLOAT,) * arity, FLOAT)
    for name in ("ldexp", "scalbn"):
        table[name] = Signature((DOUBLE, INT), DOUBLE, is_overloaded=True)
        table[f"{name}f"] = Signature((FLOAT, INT), FLOAT)
    for name in PREDICATES:
        table[name] = Signature((DOUBLE,), BOOL, is_overloaded=True)
    for name in TO_LONG:
        table[name] = Signature((DOUBLE,), LONG, is_overloaded=True)
        table[f"{name}f"] = Signature((FLOAT,), LONG)
    return table


def _rounded() -> dict[str, Signature]:
    """The functions __fadd_rn and similar."""
    table: dict[str, Signature] = {}
    for direction in DIRECTIONS:
        for letter, kind in (("f", FLOAT), ("d", DOUBLE)):
            table |= {f"__{letter}{name}_{direction}": Signature((kind,) * arity, kind) for name, arity in ROUNDED.items()}
        table[f"__fmaf_{direction}"] = Signature((FLOAT,) * 3, FLOAT)
        table[f"__fma_{direction}"] = Signature((DOUBLE,) * 3, DOUBLE)
    return table


def _conversions() -> dict[str, Signature]:
    """The functions __float2int_rn and similar, and those that reinterpret bits."""
    table = {f"__double2float_{each}": Signature((DOUBLE,), FLOAT) for each in DIRECTIONS}
    for of, source in FLOATS.items():
        for to, target in INTEGERS.items():
            table |= {f"__{of}2{to}_{each}": Signature((source,), target) for each in DIRECTIONS}
            table |= {f"__{to}2{of}_{each}": Signature((target,), source) for each in DIRECTIONS}
    table |= {f"__{each}2double": Signature((INTEGERS[each],), DOUBLE) for each in ("int", "uint")}
    for a, b in (("int", "float"), ("uint", "float"), ("longlong", "double")):
        whole, floating = INTEGERS.get(a, LONG), FLOATS[b]
        table[f"__{a}_as_{b}"] = Signature((whole,), floating)
        table[f"__{b}_as_{a}"] = Signature((floating,), whole)
    table["__hiloint2double"] = Signature((INT, INT), DOUBLE)
    table |= {f"__double2{part}int": Signature((DOUBLE,), INT) for part in ("hi", "lo")}
    return table


def _half_arithmetic() -> dict[str, Signature]:
    table: dict[str, Signature] = {}
    for name in HALF_VARIANTS:
        table[f"__h{name}"] = Signature((HALF,) * (3 if "fma" in name else 2), HALF)
        stem, _, how = name.partition("_")
        table[f"__h{stem}2_{how}"] = Signature((HALF2,) * (3 if "fma" in name else 2), HALF2)
    for name, arity in HALF_OPERATORS.items():
        table[f"__h{name}"] = Signature((HALF,) * arity, HALF)
        table["__h2div" if name == "div" else f"__h{name}2"] = Signature((HALF2,) * arity, HALF2)
    for name in HALF_FUNCTIONS:
        table[f"h{name}"] = Signature((HALF,), HALF)
        table[f"h2{name}"] = Signature((HALF2,), HALF2)
    for name in HALF_COMPARISONS:
        table[f"__h{name}"] = Signature((HALF, HALF), BOOL)
        table[f"__h{name}2"] = Signature((HALF2, HALF2), HALF2)
        table[f"__hb{name}2"] = Signature((HALF2, HALF2), BOOL)
    table |= {name: Signature((HALF,), kind) for name, kind in (("__hisnan", BOOL), ("__hisinf", INT))}
    return table


def _half_conversions(word: str, half: Scalar) -> dict[str, Signature]:
    """The conversions of half or, with its names, of bfloat16."""
    pair, is_half = VectorType(half, 2), half == HALF
    table = {
        f"__{word}2float": Signature((half,), FLOAT),
        f"__float2{word}": Signature((FLOAT,), half),
        f"__double2{word}": Signature((DOUBLE,), half),
    }
    for direction in DIRECTIONS:
        table[f"__float2{word}_{direction}"] = Signature((FLOAT,), half)
        for name, kind in {**INTEGERS, **SHORTS}.items():
            table[f"__{word}2{name}_{direction}"] = Signature((half,), kind)
            table[f"__{name}2{word}_{direction}"] = Signature((kind,), half)
    for name, kind in SHORTS.items():
        table[f"__{word}_as_{name}"] = Signature((half,), kind)
        table[f"__{name}_as_{word}"] = Signature((kind,), half)
    two = f"{word}2" if is_half else "bfloat162"
    table[f"__floats2{two}_rn"] = Signature((FLOAT, FLOAT), pair)
    table[f"__float2{two}_rn"] = Signature((FLOAT,), pair)
    table[f"__float22{two}_rn"] = Signature((FLOAT2,), pair)
    table[f"__{two}2float2" if not is_half else "__half22float2"] = Signature((pair,), FLOAT2)
    table[f"__{word}2{two}"] = Signature((half,), pair)
    table |= {f"__{part}2{word}": Signature((pair,), half) for part in ("low", "high")}
    table |= {f"__{part}2{two}": Signature((pair,), pair) for part in ("low", "high")}
    table |= {f"__{part}s2{two}": Signature((pair, pair), pair) for part in ("low", "high")}
    table[f"__halves2{two}"] = table[f"make_{two}"] = Signature((half, half), pair)
    return table


def _shared_by_halves() -> dict[str, Signature]:
    table = {f"__{part}2float": Signature((HALF2,), FLOAT) for part in ("low", "high")}
    table["__lowhigh2highlow"] = Signature((HALF2,), HALF2)
    return table


def _integer() -> dict[str, Signature]:
    table = {"labs": Signature((LONG,), LONG), "llabs": Signature((LONG,), LONG)}
    for size, signed, unsigned in (("", INT, UINT), ("ll", LONG, ULONG)):
        table[f"__popc{size}"] = Signature((unsigned,), INT)
        table[f"__clz{size}"] = table[f"__ffs{size}"] = Signature((signed,), INT)
        table[f"__brev{size}"] = Signature((unsigned,), unsigned)
    for u, kind in (("", INT), ("u", UINT)):
        table[f"__{u}mul24"] = table[f"__{u}mulhi"] = Signature((kind, kind), kind)
        table[f"__{u}sad"] = Signature((kind, kind, UINT), UINT)
    for u, kind in (("", LONG), ("u", ULONG)):
        table[f"__{u}mul64hi"] = Signature((kind, kind), kind)
    table |= {f"__{u}{name}": Signature((UINT, UINT), UINT) for u in "u" for name in ("hadd", "rhadd")}
    table["__rhadd"] = Signature((INT, INT), INT)
    table["__byte_perm"] = Signature((UINT, UINT, UINT), UINT)
    table |= {f"__funnelshift_{way}": Signature((UINT, UINT, UINT), UINT) for way in ("l", "lc", "r", "rc")}
    for prefix, kind in (("u", UINT), ("ll", LONG), ("ull", ULONG)):
        table |= {f"{prefix}{name}": Signature((kind, kind), kind) for name in ("min", "max")}
    return table


def _packed() -> dict[str, Signature]:
    """Dot products of bytes, and SIMD within a word."""
    table = {name: Signature((INT, INT, INT), INT) for name in ("__dp4a", "__dp2a_lo", "__dp2a_hi")}
    for lanes in VIDEO_LANES:
        table |= {f"__v{name}{lanes}": Signature((UINT,) * arity, UINT) for name, arity in VIDEO.items()}
    return table


FUNCTIONS: dict[str, Signature] = {
    **_floating(),
    **_rounded(),
    **{name: Signature((FLOAT,) * arity, FLOAT) for name, arity in FAST.items()},
    **_conversions(),
    **_half_arithmetic(),
    **_half_conversions("half", HALF),
    **_half_conversions(BFLOAT16.element.name, BFLOAT16),
    **_shared_by_halves(),
    **_integer(),
    **_packed(),
    **{name: Signature((), kind) for name, kind in CLOCKS.items()},
}
_DOTS = frozenset(("__dp4a", "__dp2a_lo", "__dp2a_hi"))


def of_common_type(name: str, kind: Scalar) -> Signature:
    """The function min, max or abs for one arithmetic type."""
    return Signature((kind,) * _OF_COMMON_TYPE[name], kind)


def function_for(name: str, types: list[Value]) -> Signature | None:
    """The overload of this name that C++ selects for arguments of these types; None if there is no such function."""
    scalars = [each for each in types if isinstance(each, Scalar)]
    if name in _OF_COMMON_TYPE:
        return of_common_type(name, reduce(common, scalars, promoted(scalars[0]))) if scalars else None
    if name in _OF_INTEGERS and len(scalars) == len(types) and not any(each.is_float for each in scalars):
        arity, kind = _OF_INTEGERS[name]
        return Signature((kind,) * arity, kind)
    if name in _DOTS and types and scalar_of(types[0]).kind == "u":
        return Signature((UINT, UINT, UINT), UINT)
    return FUNCTIONS[name].for_arguments(types) if name in FUNCTIONS else None
