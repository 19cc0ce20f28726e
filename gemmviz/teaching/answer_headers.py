"""Names in a student's answers that nvcc knows only after an #include, which the kernel's file hasn't. Reading a kernel is more
lenient: a project's header that isn't at hand may have included them.
"""

import re
from collections.abc import Iterable

from gemmviz.model.errors import SourceError
from gemmviz.model.translation import marked, tr

# What CUDA's own headers, which nvcc includes before each file, overload in std for a kernel.
_MATH = (
    "abs|a?cosh?|a?sinh?|a?tanh?|atan2|ceil|floor|trunc|round|exp2?|log(?:10|2)?|pow|sqrt|fabs|fmod|fm(?:in|ax|a)|isnan|isinf"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADERS = (
    (re.compile(rf"\bstd\s*::\s*(?!(?:{_MATH})\b)\w+"), marked("a header of the standard library")),
    (re.compile(r"\b(?:cooperative_groups|cg)\s*::\s*\w+"), "cooperative_groups.h"),
    (re.compile(r"\bnvcuda\s*::\s*\w+"), "mma.h"),
    (re.compile(r"\bcuda\s*::\s*\w+"), marked("a header of libcu++")),
    (re.compile(r"\b(?:__)?half2?\b|\b__(?:half|float)2(?:half|float)\w*"), "cuda_fp16.h"),
    (re.compile(r"\b(?:__)?nv_bfloat16\w*"), "cuda_bf16.h"),
    (re.compile(r"\bCUDART_\w+"), "math_constants.h"),
    (re.compile(r"\b(?:FLT|DBL)_(?:MAX|MIN|EPSILON)\b"), "float.h"),
)
_REMOVED = re.compile(r"\b__(?:shfl(?:_up|_down|_xor)?|ballot|all|any)\b(?=\s*\()")


def check_names(answers: Iterable[str]) -> None:
    """Check the names in answers for a kernel without includes. Raises SourceError for one that nvcc doesn't know, with the
    number of the blank.
    """
    for number, answer in enumerate(answers, 1):
        code = _COMMENT.sub("", answer)
        for pattern, header in _HEADERS:
            if name := pattern.search(code):
                remedy = tr("use what CUDA C++ has without an include")
                raise SourceError(
                    tr(
                        "blank {number}: {name} needs {header}, which isn't included",
                        number=number,
                        name=name[0],
                        header=header,
                    ),
                    remedy=remedy,
                )
        if name := _REMOVED.search(code):
            remedy = tr("{name}_sync is the one with a mask", name=name[0])
            raise SourceError(tr("blank {number}: {name} is not in CUDA any more", number=number, name=name[0]), remedy=remedy)
