"""Compilation of CUDA C with NVRTC, whose errors get a place in the user's file."""

import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import cupy
from cupy.cuda import driver, function, nvrtc
from msgspec import Struct

from gemmviz.model.device import Gpu
from gemmviz.model.errors import Place, SourceError
from gemmviz.model.records import replace
from gemmviz.parser.source_text import missing_remedy

_CUDA_HEADER = "cuda_fp16.h"
_TARGET = Path("nv", "target")  # what cooperative_groups.h includes of CUDA's C++ library


def include_folders(cupy: Path, toolkits: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The folder with CUDA's headers, of a toolkit, of a wheel beside the package CuPy or in that package, and the one with its
    C++ library, which wheels may leave out and CuPy brings along; empty if there are none.
    """
    own = cupy / "_core" / "include" / "cupy"
    folders = [
        *(root / "include" for root in toolkits),
        *sorted(cupy.parent.glob("nvidia/*/include"), reverse=True),
        *sorted((own / "_cuda").glob("*"), reverse=True),
    ]
    found = next((folder for folder in folders if (folder / _CUDA_HEADER).is_file()), None)
    if found is None:
        return ()
    others = [place for folder in dict.fromkeys((found, *folders)) for place in (folder / "cccl", folder)]
    library = next((each for each in (*others, own / "_cccl" / "libcudacxx") if (each / _TARGET).is_file()), found)
    return (found,) if library == found else (found, library)


# What a file includes for its host part, or what device compilers know without it.
KNOWN = frozenset((
    "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "device_functions.h", "cstdio", "stdio.h",
    "cstdlib", "stdlib.h", "cmath", "math.h", "iostream", "vector", "string", "chrono", "algorithm", "ctime", "time.h",
    "sys/time.h", "cublas_v2.h", "cstring", "string.h", "cfloat", "float.h", "climits", "limits.h", "assert.h", "cassert",
    "stdint.h", "cstdint",
))  # fmt: skip
_INCLUDE = r'^([ \t]*#[ \t]*include[ \t]*[<"]{}[>"][^\n]*)'


def without_includes(text: str, headers: Iterable[str]) -> str:
    """The text with the lines that include these headers blanked, all other characters in place."""
    for header in headers:
        text = re.sub(_INCLUDE.format(re.escape(header)), lambda found: " " * len(found[1]), text, flags=re.MULTILINE)
    return text


_FLOAT = {
    "FLT_RADIX": "2", "FLT_MANT_DIG": "24", "FLT_DIG": "6", "FLT_MIN_EXP": "(-125)", "FLT_MAX_EXP": "128",
    "FLT_MIN_10_EXP": "(-37)", "FLT_MAX_10_EXP": "38", "FLT_MAX": "0x1.fffffep+127f", "FLT_MIN": "0x1p-126f",
    "FLT_EPSILON": "0x1p-23f", "FLT_TRUE_MIN": "0x1p-149f", "DBL_MANT_DIG": "53", "DBL_DIG": "15", "DBL_MIN_EXP": "(-1021)",
    "DBL_MAX_EXP": "1024", "DBL_MIN_10_EXP": "(-307)", "DBL_MAX_10_EXP": "308", "DBL_MAX": "0x1.fffffffffffffp+1023",
    "DBL_MIN": "0x1p-1022", "DBL_EPSILON": "0x1p-52", "DBL_TRUE_MIN": "0x1p-1074",
}  # fmt: skip
_INTEGER = {
    "CHAR_BIT": "8", "SCHAR_MAX": "127", "SCHAR_MIN": "(-128)", "UCHAR_MAX": "255", "CHAR_MAX": "127", "CHAR_MIN": "(-128)",
    "SHRT_MAX": "32767", "SHRT_MIN": "(-32768)", "USHRT_MAX": "65535", "INT_MAX": "2147483647", "INT_MIN": "(-INT_MAX - 1)",
    "UINT_MAX": "4294967295u", "ULONG_MAX": "(~0ul)", "LONG_MAX": "((long)(ULONG_MAX >> 1))", "LONG_MIN": "(-LONG_MAX - 1l)",
    "LLONG_MAX": "9223372036854775807ll", "LLONG_MIN": "(-LLONG_MAX - 1ll)", "ULLONG_MAX": "18446744073709551615ull",
}  # fmt: skip
_FIXED = {
    "INT8_MAX": "127", "INT8_MIN": "(-128)", "UINT8_MAX": "255", "INT16_MAX": "32767", "INT16_MIN": "(-32768)",
    "UINT16_MAX": "65535", "INT32_MAX": "2147483647", "INT32_MIN": "(-INT32_MAX - 1)", "UINT32_MAX": "4294967295u",
    "INT64_MAX": "9223372036854775807ll", "INT64_MIN": "(-INT64_MAX - 1ll)", "UINT64_MAX": "18446744073709551615ull",
    "SIZE_MAX": "18446744073709551615ull",
}  # fmt: skip
_MATH = {
    "INFINITY": "__int_as_float(0x7f800000)", "NAN": "__int_as_float(0x7fffffff)", "HUGE_VALF": "INFINITY",
    "HUGE_VAL": "__longlong_as_double(0x7ff0000000000000ll)", "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765", "M_LN2": "0.69314718055994530942", "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846", "M_PI_2": "1.57079632679489661923", "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154", "M_2_PI": "0.63661977236758134308", "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880", "M_SQRT1_2": "0.70710678118654752440",
}  # fmt: skip
_WIDTHS = {8: "char", 16: "short", 32: "int", 64: "long long"}
_FUNCTIONS = (
    "abs", "fabs", "sqrt", "cbrt", "hypot", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "round", "trunc",
    "rint",
    "nearbyint", "fmod", "remainder", "fma", "fmin", "fmax", "erf", "erfc", "tgamma", "lgamma", "copysign", "isnan", "isinf",
    "isfinite",
)  # fmt: skip
_SHORT = "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;\n"
_ASSERT = "#undef assert\n#define assert(...) ((__VA_ARGS__) ? (void)0 : __trap())\n"
_LARGER = """\
namespace std {
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ void swap(T& a, T& b) { T c = a; a = b; b = c; }
}
"""
_LIMITS = """\
#pragma once
namespace std {
template <class T> struct numeric_limits;
#define GV_LIMITS(T, MIN, MAX, LOWEST) template <> struct numeric_limits<T> { \\
    static constexpr bool is_specialized = true, is_integer = LOWEST == MIN; \\
    __host__ __device__ static constexpr T min() { return MIN; } \\
    __host__ __device__ static constexpr T max() { return MAX; } \\
    __host__ __device__ static constexpr T lowest() { return LOWEST; }
#define GV_INTEGERS(T, MIN, MAX) GV_LIMITS(T, MIN, MAX, MIN) };
#define GV_FLOATS(T, OF, INF) GV_LIMITS(T, OF##_MIN, OF##_MAX, -OF##_MAX) \\
    __host__ __device__ static constexpr T epsilon() { return OF##_EPSILON; } \\
    __host__ __device__ static T infinity() { return INF; } \\
    __host__ __device__ static T quiet_NaN() { return NAN; } };
GV_FLOATS(float, FLT, INFINITY)
GV_FLOATS(double, DBL, HUGE_VAL)
GV_INTEGERS(signed char, SCHAR_MIN, SCHAR_MAX)
GV_INTEGERS(unsigned char, 0, UCHAR_MAX)
GV_INTEGERS(short, SHRT_MIN, SHRT_MAX)
GV_INTEGERS(unsigned short, 0, USHRT_MAX)
GV_INTEGERS(int, INT_MIN, INT_MAX)
GV_INTEGERS(unsigned int, 0u, UINT_MAX)
GV_INTEGERS(long, LONG_MIN, LONG_MAX)
GV_INTEGERS(unsigned long, 0ul, ULONG_MAX)
GV_INTEGERS(long long, LLONG_MIN, LLONG_MAX)
GV_INTEGERS(unsigned long long, 0ull, ULLONG_MAX)
}
"""


def _defined(values: dict[str, str]) -> str:
    return "".join(f"#ifndef {name}\n#define {name} {value}\n#endif\n" for name, value in values.items())


def _fixed() -> str:
    """The integer types with a number of bits, in std too."""
    types = {f"int{bits}_t": f"signed {name}" for bits, name in _WIDTHS.items()}
    types |= {f"uint{bits}_t": f"unsigned {name}" for bits, name in _WIDTHS.items()}
    types |= {"intptr_t": "signed long long", "uintptr_t": "unsigned long long"}
    names = "".join(f"typedef {ctype} {name};\n" for name, ctype in types.items())
    return f"{names}namespace std {{ {' '.join(f'using ::{name};' for name in types)} }}\n{_defined(_FIXED)}"


ALWAYS = "what_nvcc_always_includes.h"
_IN_STD = f"namespace std {{ {' '.join(f'using ::{name};' for name in _FUNCTIONS)} using ::size_t; }}\n"
HEADERS = {
    **dict.fromkeys(KNOWN, ""),
    ALWAYS: _SHORT + _defined(_INTEGER) + _defined(_MATH) + _IN_STD,
    "algorithm": f"#pragma once\n{_LARGER}",
    "limits": _defined(_FLOAT) + _LIMITS,
    **dict.fromkeys(("float.h", "cfloat"), _defined(_FLOAT)),
    **dict.fromkeys(("assert.h", "cassert"), _ASSERT),
    **dict.fromkeys(("stdint.h", "cstdint", "inttypes.h", "cinttypes"), _fixed()),
}


_MOST_CACHED = 64
_COMPILERS, _MOST_AHEAD = 2, 32  # number of threads that compile ahead, and of functions in the cache
_MISSING = re.compile(r'cannot open source file "([^"]+)"')
_LINE_ONE = re.compile(r'^#line 1 "(.*)"\n', re.MULTILINE)  # before it is what is not in the user's file
_OF_HOST = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](thrust/[^>"\n]+)[>"]', re.MULTILINE)  # what NVRTC can't compile
_ERROR = re.compile(r"^(?P<file>.*?)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?:\s*(?P<what>.*)$", re.MULTILINE)


class Unit(Struct, frozen=True):
    """Input of NVRTC: a file's text, the name expression of a function in it, such as "sgemm<64>", options, and texts that it
    includes, by name.
    """

    text: str
    file: str
    entry: str
    options: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()


class Compiled(Struct, frozen=True):
    """A compiled function on the GPU. Bytes and registers are per thread, shared memory is what a block declares."""

    module: object
    handle: int
    registers: int
    shared_bytes: int
    local_bytes: int
    max_threads: int

    def address_of(self, variable: str) -> int:
        """Address on the GPU of a variable of the module with C linkage."""
        return int(driver.moduleGetGlobal(self.module.ptr, variable))  # type: ignore[attr-defined]


class Nvrtc:
    """A compiler for one GPU with a cache of recent functions."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self._cache: OrderedDict[Unit, Compiled] = OrderedDict()
        self._ahead: dict[Unit, Future[tuple[bytes, Any]]] = {}
        self._compilers = ThreadPoolExecutor(_COMPILERS, thread_name_prefix="nvrtc")

    def __call__(self, unit: Unit) -> Compiled:
        """The compiled function of a unit, loaded. Raises SourceError with NVRTC's message."""
        compiled = self._cache.pop(unit, None)
        if compiled is None:
            compiled = _loaded(*self._code(unit))
        self._cache[unit] = compiled
        if len(self._cache) > _MOST_CACHED:
            self._cache.popitem(last=False)
        return compiled

    def compile_ahead(self, units: Iterable[Unit]) -> None:
        """Compiles these units in the background, and drops earlier units that have not been begun."""
        for unit, code in list(self._ahead.items()):
            if code.cancel() or (code.done() and len(self._ahead) > _MOST_AHEAD):
                del self._ahead[unit]
        for unit in units:
            if unit not in self._cache and unit not in self._ahead:
                self._ahead[unit] = self._compilers.submit(self._compiled, unit)

    def close(self) -> None:
        """Begins no further compilations ahead."""
        self._compilers.shutdown(wait=False, cancel_futures=True)

    def _code(self, unit: Unit) -> tuple[bytes, Any]:
        begun = self._ahead.pop(unit, None)
        return self._compiled(unit) if begun is None or begun.cancel() else begun.result()

    def _compiled(self, unit: Unit) -> tuple[bytes, Any]:
        """The code, and the name of the function in it. Headers that only the file's project has, and those of host libraries,
        are left out, as in the interpreter.
        """
        left_out = [name for text in (unit.text, *dict(unit.headers).values()) for name in _OF_HOST.findall(text)]
        while True:
            headers = tuple((name, without_includes(text, left_out)) for name, text in unit.headers)
            try:
                return self._cubin(replace(unit, text=without_includes(unit.text, left_out), headers=headers))
            except SourceError as error:
                missing = _MISSING.search(error.message)
                if missing is None or missing[1] in left_out:
                    error.remedy = error.remedy or missing_remedy(left_out)
                    raise
                left_out.append(missing[1])

    def _cubin(self, unit: Unit) -> tuple[bytes, Any]:
        named = HEADERS | dict(unit.headers)
        headers = tuple(tuple(each.encode() for each in texts) for texts in (named.values(), named))
        always = f"--gpu-architecture={self.gpu.architecture}", "--std=c++17", f"--pre-include={ALWAYS}"
        options = *always, *_include_options(), *unit.options
        program = nvrtc.createProgram(unit.text, unit.file, *headers)
        try:
            nvrtc.addNameExpression(program, unit.entry)
            try:
                nvrtc.compileProgram(program, options)
            except nvrtc.NVRTCError:
                raise compile_error(nvrtc.getProgramLog(program), unit.text, unit.file) from None
            return nvrtc.getCUBIN(program), nvrtc.getLoweredName(program, unit.entry)
        finally:
            nvrtc.destroyProgram(program)


@cache
def _include_options() -> tuple[str, ...]:
    """The options that name the folders with CUDA's own headers: a toolkit's, a wheel's or CuPy's; empty if there are none."""
    package = Path(cupy.__file__).parent
    roots = (cupy.cuda.get_cuda_path(), os.environ.get("CUDA_PATH"))
    return tuple(f"-I{each}" for each in include_folders(package, [Path(root) for root in roots if root]))


def _loaded(code: bytes, name: Any) -> Compiled:
    module = function.Module()
    module.load(code)
    handle = module.get_function(name if isinstance(name, str) else name.decode())

    def attribute(number: int) -> int:
        return int(driver.funcGetAttribute(number, handle.ptr))

    return Compiled(
        module=module,
        handle=handle.ptr,
        registers=attribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS),
        shared_bytes=attribute(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        local_bytes=attribute(driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        max_threads=attribute(driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    )


def compile_error(log: str, text: str, file: str) -> SourceError:
    """The first error in a compiler's log, with its place if it is in the file itself."""
    match = _ERROR.search(log)
    if match is None:
        return SourceError(f"the CUDA compiler rejects the kernel: {log.strip() or 'it gives no reason'}", file=file)
    own = _LINE_ONE.search(text)
    text = text[own.end() :] if own else text
    is_own = match["file"] in (file, own and own[1], "")
    place = _place(log[match.end() :], text, int(match["line"])) if is_own else None
    where = "" if is_own else f" ({match['file']}, line {match['line']})"
    return SourceError(f"the CUDA compiler says: {match['what'].strip()}{where}", place, file=file)


def _place(after: str, text: str, line: int) -> Place:
    """Line and column of an error; the compiler prints the line and a caret below it."""
    printed, caret = ([*after.splitlines(), "", "", ""])[1:3]
    lines = text.splitlines()
    column = 1
    if caret.strip() == "^" and printed.strip() and 0 < line <= len(lines) and printed.strip() in lines[line - 1]:
        indented = len(printed) - len(printed.lstrip())
        column = lines[line - 1].index(printed.strip()) + caret.index("^") - indented + 1
    return Place(line, max(1, column), line, max(1, column) + 1)


def free_memory() -> int:
    """Bytes that are free on the GPU, including those in CuPy's cache."""
    return int(cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes())
