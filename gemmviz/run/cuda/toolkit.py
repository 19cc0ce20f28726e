"""What the CUDA toolkit of this computer has: headers for NVRTC, and a disassembler. Loads without CuPy."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from gemmviz.files.resources import NO_CONSOLE
from gemmviz.model.timing import MachineCode

# The headers that NVRTC needs: folders with CUDA's own, and texts of what it lacks of the standard ones. Loads without CuPy.

_CUDA_HEADER = "cuda_fp16.h"
_MATRIX_HEADER = Path("crt", "mma.h")  # what mma.h includes, which some wheels leave out
_TARGET = Path("nv", "target")  # what cooperative_groups.h includes of CUDA's C++ library


def include_folders(cupy: Path, toolkits: Sequence[Path] = (), usual: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The folder with CUDA's headers, of a toolkit, of a wheel beside the package CuPy or in that package, or a ``usual`` one,
    and the one with its C++ library, which wheels may leave out and CuPy brings along; empty if there are none.
    """
    own = cupy / "_core" / "include" / "cupy"
    folders = [
        *(root / "include" for root in toolkits),
        *sorted(cupy.parent.glob("nvidia/*/include"), reverse=True),
        *sorted((own / "_cuda").glob("*"), reverse=True),
        *usual,
    ]
    usable = [folder for folder in folders if (folder / _CUDA_HEADER).is_file()]
    found = next((folder for folder in usable if (folder / _MATRIX_HEADER).is_file()), usable[0] if usable else None)
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
_INCLUDE_OF = r'^([ \t]*#[ \t]*include[ \t]*[<"]{}[>"][^\n]*)'


def without_includes(text: str, headers: Iterable[str]) -> str:
    """The text with the lines that include these headers blanked, all other characters in place."""
    for header in headers:
        text = re.sub(_INCLUDE_OF.format(re.escape(header)), lambda found: " " * len(found[1]), text, flags=re.MULTILINE)
    return text


_FLOAT = {
    "FLT_RADIX": "2", "FLT_MANT_DIG": "24", "FLT_DIG": "6", "FLT_MIN_EXP": "(-125)", "FLT_MAX_EXP": "128",
    "FLT_MIN_10_EXP": "(-37)", "FLT_MAX_10_EXP": "38", "FLT_MAX": "0x1.fffffep+127f", "FLT_MIN": "0x1p-126f",
    "FLT_EPSILON": "0x1p-23f", "FLT_TRUE_MIN": "0x1p-149f", "DBL_MANT_DIG": "53", "DBL_DIG": "15", "DBL_MIN_EXP": "(-1021)",
    "DBL_MAX_EXP": "1024", "DBL_MIN_10_EXP": "(-307)", "DBL_MAX_10_EXP": "308", "DBL_MAX": "0x1.fffffffffffffp+1023",
    "DBL_MIN": "0x1p-1022", "DBL_EPSILON": "0x1p-52", "DBL_TRUE_MIN": "0x1p-1074",
}  # fmt: skip
_INTEGER_LIMITS = {
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
_STD_FUNCTIONS = (
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
_LIMITS_HEADER = """\
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


def _defined_macros(values: dict[str, str]) -> str:
    return "".join(f"#ifndef {name}\n#define {name} {value}\n#endif\n" for name, value in values.items())


def _fixed() -> str:
    """The integer types with a number of bits, in std too."""
    types = {f"int{bits}_t": f"signed {name}" for bits, name in _WIDTHS.items()}
    types |= {f"uint{bits}_t": f"unsigned {name}" for bits, name in _WIDTHS.items()}
    types |= {"intptr_t": "signed long long", "uintptr_t": "unsigned long long"}
    names = "".join(f"typedef {ctype} {name};\n" for name, ctype in types.items())
    return f"{names}namespace std {{ {' '.join(f'using ::{name};' for name in types)} }}\n{_defined_macros(_FIXED)}"


ALWAYS = "what_nvcc_always_includes.h"
_IN_STD = f"namespace std {{ {' '.join(f'using ::{name};' for name in _STD_FUNCTIONS)} using ::size_t; }}\n"
HEADERS = {
    **dict.fromkeys(KNOWN, ""),
    ALWAYS: _SHORT + _defined_macros(_INTEGER_LIMITS) + _defined_macros(_MATH) + _IN_STD,
    "algorithm": f"#pragma once\n{_LARGER}",
    "limits": _defined_macros(_FLOAT) + _LIMITS_HEADER,
    **dict.fromkeys(("float.h", "cfloat"), _defined_macros(_FLOAT)),
    **dict.fromkeys(("assert.h", "cassert"), _ASSERT),
    **dict.fromkeys(("stdint.h", "cstdint", "inttypes.h", "cinttypes"), _fixed()),
}


# Conditional jumps in a kernel's machine code, from NVIDIA's disassembler, by the lines of the source that they came from.

_TOOL = "nvdisasm"
_DISASSEMBLING_S = 30
_SASS_LINE = re.compile(r'//## File "([^"]*)", line (\d+)')
_SASS_LABEL = re.compile(r"(\.L\w+):")
_RECONVERGENCE = re.compile(r"\bBSSY\S* B\d+, `\((\.L\w+)\)")
_CONDITIONAL = re.compile(r"/\*[0-9a-f]+\*/\s+@!?U?P\d\s+(BRA|BRX|EXIT)\b")


def machine_code(cubin: bytes, file: str, source: str) -> MachineCode | None:
    """What a disassembler lists of a compiled ``file``; None without a disassembler, or if it can't read the code.

    ``cubin``: machine code with information about lines. ``source``: the compiler and the architecture.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        for tool in disassemblers():
            command = [tool, "-g", "-c", str(path)]
            with suppress(OSError, subprocess.SubprocessError):
                found = subprocess.run(
                    command, capture_output=True, text=True, timeout=_DISASSEMBLING_S, check=True, creationflags=NO_CONSOLE
                )
                return MachineCode(source, *jumps_in(found.stdout, file))
    return None


def jumps_in(listing: str, file: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lines of ``file`` that became conditional jumps at which lanes may part, and those that became only exits under a
    condition.

    An instruction belongs to the first line that is listed above it: the others are the calls that it was inlined at. Where
    lanes may part, BSSY names the label before which they meet again; all lanes of a warp take another jump, such as that of an
    unrolled loop, together.
    """
    jumps, exits, meetings = set[int](), set[int](), set[str]()
    line, is_above = 0, False
    for text in listing.splitlines():
        place = _SASS_LINE.search(text)
        if place is None:
            is_above = False
            if label := _SASS_LABEL.match(text):
                meetings.discard(label[1])
            elif apart := _RECONVERGENCE.search(text):
                meetings.add(apart[1])
            elif line and (found := _CONDITIONAL.search(text)):
                if found[1] == "EXIT":
                    exits.add(line)
                elif meetings:
                    jumps.add(line)
        elif not is_above:
            line, is_above = int(place[2]) if Path(place[1]).name == Path(file).name else 0, True
    return tuple(sorted(jumps)), tuple(sorted(exits - jumps))


@cache
def disassemblers() -> tuple[str, ...]:
    """The paths of the disassemblers here: in NVIDIA's wheel, on the search path, in a CUDA toolkit. One that is older than the
    compiler can't read its code.
    """
    found = (shutil.which(_TOOL, path=each) for each in _folders())
    return tuple(dict.fromkeys(each for each in found if each))


def _folders() -> Iterator[str | None]:
    """Folders to look in; None is the search path."""
    wheels = find_spec("nvidia")
    for root in [] if wheels is None else wheels.submodule_search_locations or []:
        yield from map(str, Path(root).glob("*/bin"))
    yield None
    yield from (str(Path(root, "bin")) for root in (os.environ.get("CUDA_PATH"), "/usr/local/cuda") if root)
