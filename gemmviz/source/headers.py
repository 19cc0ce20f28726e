"""Headers that a kernel's file includes: the known ones, and the text without ignored ones."""

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


def without_includes(text: str, headers: Iterable[str]) -> str:
    """The text with the lines that include these headers blanked, all other characters in place."""
    for header in headers:
        text = re.sub(_INCLUDE.format(re.escape(header)), lambda found: " " * len(found[1]), text, flags=re.MULTILINE)
    return text
