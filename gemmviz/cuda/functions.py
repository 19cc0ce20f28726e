"""The table of CUDA's math functions and intrinsics from values to a value: one row is a name, its signature and its code.

A row declares its function too: the stand-in headers contain what ``function_declarations`` makes of the table.

The code of a function is named, such as "arccos" or "narrowing rn float": ``gemmviz.run.cpu.simt.functions`` knows what it
stands for, and the process that reads sources needs no NumPy. A function that CUDA overloads for half and bfloat16 stands here
once, for half.
"""

from functools import reduce

from msgspec import Struct

from gemmviz.cuda.types import (
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
    """The types of a function's ``parameters`` and ``result``, and the name of its ``code``. With ``is_overloaded``, all types
    are float if all arguments are.
    """

    parameters: tuple[Value, ...]
    result: Value
    code: str = ""
    is_overloaded: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether the result is made of arguments or their bits, so that only a less precise type rounds it."""
        return self.code.removeprefix("of_pairs ").startswith(_EXACT_CODES)

    def for_arguments(self, types: list[Value]) -> "Signature":
        """The overload that C++ selects for arguments of these types."""
        if any(scalar_of(each) == BFLOAT16 for each in types):
            return Signature(tuple(map(_in_bfloat16, self.parameters)), _in_bfloat16(self.result), self.code)
        floating = [kind for kind, parameter in zip(types, self.parameters, strict=False) if scalar_of(parameter).is_float]
        if not self.is_overloaded or any(kind != FLOAT for kind in floating):
            return self
        return Signature(tuple(map(_in_single, self.parameters)), _in_single(self.result), self.code)


def _in_single(kind: Value) -> Value:
    return FLOAT if scalar_of(kind).is_float else kind


def _in_bfloat16(kind: Value) -> Value:
    match kind:
        case VectorType(scalar=scalar) if scalar == HALF:
            return VectorType(BFLOAT16, kind.count)
        case Scalar() if kind == HALF:
            return BFLOAT16
    return kind


DIRECTIONS = ("rn", "rz", "ru", "rd")
FLOATS = {"float": FLOAT, "double": DOUBLE}
INTEGERS = {"int": INT, "uint": UINT, "ll": LONG, "ull": ULONG}
SHORTS = {"short": SHORT, "ushort": USHORT}
# Types as they stand in names and codes.
NAMED_TYPES = {**FLOATS, **INTEGERS, **SHORTS, "half": HALF, BFLOAT16.element.name: BFLOAT16}
VIDEO_LANES = {"2": 2, "4": 4}  # SIMD within a word of 32 bits: the number of its parts
_FLOATING = {  # name of the double version, code; that of float has an f behind it
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh",
    "cbrt": "cbrt", "ceil": "ceil", "cos": "cos", "cosh": "cosh", "cospi": "cosine_of_pi", "erf": "error_function",
    "erfc": "rest_of_error_function", "exp": "exp", "exp10": "power_of_ten", "exp2": "exp2", "expm1": "expm1", "fabs": "abs",
    "floor": "floor", "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "nearbyint": "rint",
    "normcdf": "normal_distribution", "rcbrt": "reciprocal cbrt", "rint": "rint", "round": "half_away",
    "rsqrt": "reciprocal sqrt", "sin": "sin", "sinh": "sinh", "sinpi": "sine_of_pi", "sqrt": "sqrt", "tan": "tan",
    "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
_FLOATING2 = {
    "atan2": "arctan2", "copysign": "copysign", "fdim": "positive_difference", "fmax": "larger", "fmin": "smaller",
    "fmod": "fmod", "hypot": "hypot", "nextafter": "nextafter", "pow": "power", "remainder": "remainder",
    "rhypot": "reciprocal hypot",
}  # fmt: skip
_FLOATING3 = {
    "fma": "fused",
}
_EXACT_CODES = (  # how codes begin that move or combine values
    "abs", "bits_as", "copysign", "double_of_words", "half_of_bits", "half_operator abs", "half_operator max",
    "half_operator min", "half_operator neg", "high_part", "larger", "low_part", "pair", "same", "smaller", "swapped", "twice",
)  # fmt: skip
_TO_LONG = {"lrint": "rint", "llrint": "rint", "lround": "half_away", "llround": "half_away"}
_PREDICATES = ("isfinite", "isinf", "isnan", "isnormal", "signbit")
_DIRECTED = {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "rcp": 1}  # of a letter for the type and a direction behind it
_FAST = {  # of float, by the hardware's own approximation
    "__cosf": "cos", "__exp10f": "power_of_ten", "__exp2f": "exp2", "__expf": "exp", "__frsqrt_rn": "through_double rsqrt",
    "__log10f": "log10", "__log2f": "log2", "__logf": "log", "__saturatef": "saturated", "__sinf": "sin", "__tanf": "tan",
}  # fmt: skip
_HALF_ARGUMENTS = {
    "add": 2, "sub": 2, "mul": 2, "div": 2, "neg": 1, "abs": 1, "fma": 3, "max": 2, "min": 2, "add_rn": 2, "sub_rn": 2,
    "mul_rn": 2, "add_sat": 2, "sub_sat": 2, "mul_sat": 2, "fma_sat": 3, "fma_relu": 3, "max_nan": 2, "min_nan": 2,
}  # fmt: skip
_HALF_FUNCTIONS = (
    "sqrt", "rsqrt", "rcp", "exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "floor", "ceil", "trunc",
    "rint", "tanh",
)  # fmt: skip
_HALF_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu")
_VIDEO1 = ("neg", "abs", "abss")
_VIDEO2 = (
    "add", "addss", "addus", "sub", "subss", "subus", "absdiffs", "absdiffu", "avgs", "avgu", "haddu", "maxs", "maxu", "mins",
    "minu", "sads", "sadu", "cmpeq", "cmpne", "cmpges", "cmpgeu", "cmpgts", "cmpgtu", "cmples", "cmpleu", "cmplts", "cmpltu",
    "seteq", "setne", "setges", "setgeu", "setgts", "setgtu", "setles", "setleu", "setlts", "setltu",
)  # fmt: skip
CLOCKS = {"clock": LONG, "clock64": LONG, "__clock": LONG, "__clock64": LONG, "globaltimer": ULONG}
_OF_COMMON_TYPE = {  # arity, code of floats and of integers; C++ mixes the types of their arguments
    "min": (2, "smaller", "minimum"),
    "max": (2, "larger", "maximum"),
    "abs": (1, "abs", "abs"),
}
_OF_INTEGERS = {"__hadd": "average", "__rhadd": "rounded_average"}  # of int, with the name of a function of half
_Rows = dict[str, Signature]


def _of_type(kind: Value, arity: int, code: str, is_overloaded: bool = False) -> Signature:
    """A function whose parameters and result have one type."""
    return Signature((kind,) * arity, kind, code, is_overloaded)


def _floating_functions() -> _Rows:
    table: _Rows = {}
    for codes, arity in ((_FLOATING, 1), (_FLOATING2, 2), (_FLOATING3, 3)):
        for name, code in codes.items():
            table |= {name: _of_type(DOUBLE, arity, code, is_overloaded=True), f"{name}f": _of_type(FLOAT, arity, code)}
    for name in ("ldexp", "scalbn"):
        table[name] = Signature((DOUBLE, INT), DOUBLE, "ldexp", is_overloaded=True)
        table[f"{name}f"] = Signature((FLOAT, INT), FLOAT, "ldexp")
    for name in _PREDICATES:
        table[name] = Signature((DOUBLE,), BOOL, "is_normal" if name == "isnormal" else name, is_overloaded=True)
    for name, code in _TO_LONG.items():
        table[name] = Signature((DOUBLE,), LONG, f"to_long {code}", is_overloaded=True)
        table[f"{name}f"] = Signature((FLOAT,), LONG, f"to_long {code}")
    return table


def _rounded_functions() -> _Rows:
    """The functions __fadd_rn and similar."""
    table: _Rows = {}
    for direction in DIRECTIONS:
        for letter, kind in (("f", FLOAT), ("d", DOUBLE)):
            for name, arity in _DIRECTED.items():
                table[f"__{letter}{name}_{direction}"] = _of_type(kind, arity, f"rounded_arithmetic {name} {direction}")
        for name, kind in (("fmaf", FLOAT), ("fma", DOUBLE)):
            table[f"__{name}_{direction}"] = _of_type(kind, 3, f"rounded_arithmetic fma {direction}")
    return table


def _conversions() -> _Rows:
    """The functions __float2int_rn and similar, and those that reinterpret bits."""
    table: _Rows = {}
    for direction in DIRECTIONS:
        table[f"__double2float_{direction}"] = Signature((DOUBLE,), FLOAT, f"narrowing {direction} float")
        for of, source in FLOATS.items():
            for to, target in INTEGERS.items():
                table[f"__{of}2{to}_{direction}"] = Signature((source,), target, f"to_whole {direction} {to}")
                table[f"__{to}2{of}_{direction}"] = Signature((target,), source, f"narrowing {direction} {of}")
    for a, b, whole in (("int", "float", "int"), ("uint", "float", "uint"), ("longlong", "double", "ll")):
        table[f"__{a}_as_{b}"] = Signature((INTEGERS[whole],), FLOATS[b], f"bits_as {b}")
        table[f"__{b}_as_{a}"] = Signature((FLOATS[b],), INTEGERS[whole], f"bits_as {whole}")
    table["__hiloint2double"] = Signature((INT, INT), DOUBLE, "double_of_words")
    table |= {f"__double2{part}int": Signature((DOUBLE,), INT, f"word_of_double {part}") for part in ("hi", "lo")}
    return table


def _half_arithmetic() -> _Rows:
    table: _Rows = {}
    for name, arity in _HALF_ARGUMENTS.items():
        stem, _, how = name.partition("_")
        table[f"__h{name}"] = _of_type(HALF, arity, f"half_operator {name}")
        pair = "__h2div" if name == "div" else f"__h{stem}2_{how}" if how else f"__h{name}2"
        table[pair] = _of_type(HALF2, arity, f"of_pairs half_operator {name}")
    for name in _HALF_FUNCTIONS:
        table[f"h{name}"] = _of_type(HALF, 1, f"through_double {name}")
        table[f"h2{name}"] = _of_type(HALF2, 1, f"of_pairs through_double {name}")
    for name in _HALF_COMPARISONS:
        table[f"__h{name}"] = Signature((HALF, HALF), BOOL, f"half_comparison {name}")
        table[f"__h{name}2"] = _of_type(HALF2, 2, f"of_pairs half_comparison {name}")
        table[f"__hb{name}2"] = Signature((HALF2, HALF2), BOOL, f"of_both half_comparison {name}")
    table |= {"__hisnan": Signature((HALF,), BOOL, "isnan"), "__hisinf": Signature((HALF,), INT, "sign_of_infinity")}
    return table


def _half_conversions(word: str, half: Scalar) -> _Rows:
    """The conversions of half or, with its names, of bfloat16."""
    pair, is_half = VectorType(half, 2), half == HALF
    table = {
        f"__{word}2float": Signature((half,), FLOAT, "same"),
        f"__float2{word}": Signature((FLOAT,), half, "same"),
        f"__double2{word}": Signature((DOUBLE,), half, "same"),
    }
    for direction in DIRECTIONS:
        table[f"__float2{word}_{direction}"] = Signature((FLOAT,), half, f"narrowing {direction} {word}")
        for name, kind in {**INTEGERS, **SHORTS}.items():
            table[f"__{word}2{name}_{direction}"] = Signature((half,), kind, f"to_whole {direction} {name}")
            table[f"__{name}2{word}_{direction}"] = Signature((kind,), half, f"narrowing {direction} {word}")
    for name, kind in SHORTS.items():
        table[f"__{word}_as_{name}"] = Signature((half,), kind, f"bits_of_half {word} {name}")
        table[f"__{name}_as_{word}"] = Signature((kind,), half, f"half_of_bits {word}")
    two = f"{word}2" if is_half else "bfloat162"
    table[f"__floats2{two}_rn"] = Signature((FLOAT, FLOAT), pair, "pair")
    table[f"__float2{two}_rn"] = Signature((FLOAT,), pair, "twice")
    table[f"__float22{two}_rn"] = Signature((FLOAT2,), pair, "same")
    table[f"__{two}2float2" if not is_half else "__half22float2"] = Signature((pair,), FLOAT2, "same")
    table[f"__{word}2{two}"] = Signature((half,), pair, "twice")
    for part in ("low", "high"):
        table[f"__{part}2{word}"] = Signature((pair,), half, f"{part}_part")
        table[f"__{part}2{two}"] = Signature((pair,), pair, f"{part}_parts")
        table[f"__{part}s2{two}"] = Signature((pair, pair), pair, f"{part}_parts")
    table[f"__halves2{two}"] = table[f"make_{two}"] = Signature((half, half), pair, "pair")
    return table


def _shared_by_halves() -> _Rows:
    table = {f"__{part}2float": Signature((HALF2,), FLOAT, f"{part}_part") for part in ("low", "high")}
    table["__lowhigh2highlow"] = _of_type(HALF2, 1, "swapped")
    return table


def _integer_functions() -> _Rows:
    table = {"labs": _of_type(LONG, 1, "abs"), "llabs": _of_type(LONG, 1, "abs")}
    for size, signed, unsigned in (("", INT, UINT), ("ll", LONG, ULONG)):
        table[f"__popc{size}"] = Signature((unsigned,), INT, "bitwise_count")
        table[f"__clz{size}"] = Signature((signed,), INT, "leading_zeros")
        table[f"__ffs{size}"] = Signature((signed,), INT, "first_set")
        table[f"__brev{size}"] = _of_type(unsigned, 1, "reversed_bits")
    for u, kind in (("", INT), ("u", UINT)):
        table[f"__{u}mul24"] = _of_type(kind, 2, "product24")
        table[f"__{u}mulhi"] = _of_type(kind, 2, "upper_product")
        table[f"__{u}sad"] = Signature((kind, kind, UINT), UINT, "distance")
    for u, kind in (("", LONG), ("u", ULONG)):
        table[f"__{u}mul64hi"] = _of_type(kind, 2, "upper_product64")
    table |= {"__uhadd": _of_type(UINT, 2, "average"), "__urhadd": _of_type(UINT, 2, "rounded_average")}
    table["__rhadd"] = _of_type(INT, 2, "rounded_average")
    table["__byte_perm"] = _of_type(UINT, 3, "permuted_bytes")
    table |= {f"__funnelshift_{way}": _of_type(UINT, 3, f"funnel_shift {way}") for way in ("l", "lc", "r", "rc")}
    for prefix, kind in (("u", UINT), ("ll", LONG), ("ull", ULONG)):
        table |= {f"{prefix}min": _of_type(kind, 2, "minimum"), f"{prefix}max": _of_type(kind, 2, "maximum")}
    return table


def _packed_integers() -> _Rows:
    """Dot products of bytes, and SIMD within a word."""
    table = {name: _of_type(INT, 3, f"dot{name.removeprefix('__dp')}") for name in _DOTS}
    for lanes in VIDEO_LANES:
        for arity, names in ((1, _VIDEO1), (2, _VIDEO2)):
            table |= {f"__v{name}{lanes}": _of_type(UINT, arity, f"on_parts {name} {lanes}") for name in names}
    return table


_DOTS = ("__dp4a", "__dp2a_lo", "__dp2a_hi")
_OF_EITHER_HALF = {**_half_arithmetic(), **_shared_by_halves()}  # overloaded for bfloat16
FUNCTIONS: _Rows = {
    **_floating_functions(),
    **_rounded_functions(),
    **{name: _of_type(FLOAT, 1, code) for name, code in _FAST.items()},
    "__fdividef": _of_type(FLOAT, 2, "fast_quotient"),
    "__powf": _of_type(FLOAT, 2, "power"),
    **_conversions(),
    **_OF_EITHER_HALF,
    **_half_conversions("half", HALF),
    **_half_conversions(BFLOAT16.element.name, BFLOAT16),
    **_integer_functions(),
    **_packed_integers(),
    **{name: Signature((), kind) for name, kind in CLOCKS.items()},
}


def of_common_type(name: str, kind: Scalar) -> Signature:
    """The function min, max or abs for one arithmetic type."""
    arity, of_floats, of_integers = _OF_COMMON_TYPE[name]
    return _of_type(kind, arity, of_floats if kind.is_float else of_integers)


def function_for(name: str, types: list[Value]) -> Signature | None:
    """The overload of this name that C++ selects for arguments of these types; None if there is no such function."""
    scalars = [each for each in types if isinstance(each, Scalar)]
    if name in _OF_COMMON_TYPE:
        return of_common_type(name, reduce(common, scalars, promoted(scalars[0]))) if scalars else None
    if name in _OF_INTEGERS and len(scalars) == len(types) and not any(each.is_float for each in scalars):
        return _of_type(INT, 2, _OF_INTEGERS[name])
    if name in _DOTS and types and scalar_of(types[0]).kind == "u":
        return _of_type(UINT, 3, FUNCTIONS[name].code)
    return FUNCTIONS[name].for_arguments(types) if name in FUNCTIONS else None


# The declarations of the functions, in the stand-in headers.

_OF_LONG = ("lrint", "lrintf", "lround", "lroundf", "labs")  # other integers of 64 bits are spelled long long
_DECLARED_BY_HAND = ("pow", *CLOCKS)
_FOR_INTEGERS = {  # C++ makes integers double
    1: "template <std::integral T> {result} {name}(T x) {{ return {name}(double(x)); }}",
    2: (
        "template <class T, class U> requires(std::is_arithmetic_v<T> && std::is_arithmetic_v<U> && !std::is_same_v<T, U>) || "
        "(std::integral<T> && std::is_same_v<T, U>) {result} {name}(T x, U y) {{ return {name}(double(x), double(y)); }}"
    ),
}


def function_declarations(of_halves: bool) -> str:
    """The functions of the table in C++: those of half and bfloat16, or all others."""
    found: list[str] = []
    for name, signature in FUNCTIONS.items():
        kinds = {scalar_of(each) for each in (*signature.parameters, signature.result)}
        if name in _DECLARED_BY_HAND or of_halves is kinds.isdisjoint((HALF, BFLOAT16)):
            continue
        found.append(("" if of_halves else 'extern "C" ') + _prototype(name, signature))
        if name in _OF_EITHER_HALF:
            found.append(_prototype(name, signature.for_arguments([BFLOAT16])))
        if signature.is_overloaded:
            found.append(_prototype(name, signature.for_arguments([FLOAT])))
            if set(signature.parameters) == {DOUBLE} and len(signature.parameters) in _FOR_INTEGERS:
                result = _c_name(name, signature.result)
                found.append(_FOR_INTEGERS[len(signature.parameters)].format(name=name, result=result))
    return " ".join(found)


def _prototype(name: str, signature: Signature) -> str:
    parameters = ", ".join(_c_name(name, each) for each in signature.parameters)
    return f"{_c_name(name, signature.result)} {name}({parameters});"


def _c_name(name: str, kind: Value) -> str:
    return str(kind) if kind not in (LONG, ULONG) or name in _OF_LONG else str(kind).replace("long", "long long")
