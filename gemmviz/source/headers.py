"""The headers that a kernel's file includes: what is known of them, and what is left out with a word about it."""

import re
from collections.abc import Iterable

# What a file includes for its host part, or what device compilers know without it.
KNOWN = frozenset((
    "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "device_functions.h", "cstdio", "stdio.h",
    "cstdlib", "stdlib.h", "cmath", "math.h", "iostream", "vector", "string", "chrono", "algorithm", "ctime", "time.h",
    "sys/time.h", "cublas_v2.h", "cstring", "string.h", "cfloat", "float.h", "climits", "limits.h", "assert.h", "cassert",
    "stdint.h", "cstdint",
))  # fmt: skip
_INCLUDE = r'^([ \t]*#[ \t]*include[ \t]*[<"]{}[>"][^\n]*)'


def note_of(header: str) -> str:
    """What is said of a header that is left out."""
    return f"#include of {header} is left out: a kernel here stands in one file"


def remedy_of(headers: Iterable[str]) -> str | None:
    """What to do where something may be missing for it; None where none is left out."""
    named = ", ".join(headers)
    return f"{named} is left out here: put what the kernel needs of it into the file" if named else None


def without_includes(text: str, headers: Iterable[str]) -> str:
    """The text with the lines that include these headers blank; all else stays where it is."""
    for header in headers:
        text = re.sub(_INCLUDE.format(re.escape(header)), lambda found: " " * len(found[1]), text, flags=re.MULTILINE)
    return text
