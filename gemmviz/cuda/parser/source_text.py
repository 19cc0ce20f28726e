"""The text of one translation unit: the file that is compiled and the project files that it may include."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from posixpath import dirname, normpath

from msgspec import Struct, field


class SourceText(Struct, frozen=True):
    """Texts of a project, by their names below the project's folder, with forward slashes.

    ``main`` is the file that is compiled; ``shown`` the file whose lines and columns a Place counts, usually the same.
    ``macros`` are defined before the first line, and take precedence over the file's own ``#define`` of the same name.
    """

    main: str
    files: Mapping[str, str]
    shown: str = ""
    macros: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text that a Place refers to."""
        return self.files[self.shown or self.main]


# Headers whose content is visible without an include: an include of one of them is skipped; and words for missing ones.

_C = """assert.h ctype.h errno.h fcntl.h float.h getopt.h inttypes.h libgen.h limits.h malloc.h math.h memory.h omp.h signal.h
stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h sys/stat.h sys/time.h sys/types.h time.h unistd.h
windows.h Windows.h sys/resource.h sys/mman.h pthread.h"""
_CPP = """algorithm array atomic bit bitset cassert cctype cerrno cfloat chrono cinttypes climits cmath complex concepts csignal
cstdarg cstddef cstdint cstdio cstdlib cstring ctime deque exception filesystem fstream functional initializer_list iomanip ios
iosfwd iostream istream iterator limits list map memory mutex new numeric optional ostream queue random ranges ratio set span
sstream stack stdexcept streambuf string string_view thread tuple type_traits typeinfo unordered_map unordered_set utility
variant vector version cwchar condition_variable future numbers regex shared_mutex typeindex locale bits/stdc++.h"""
_CUDA = """builtin_types.h channel_descriptor.h cuda.h cuda_device_runtime_api.h cuda_fp16.hpp cuda_bf16.hpp cuda_fp8.hpp
cuda_awbarrier.h cuda_awbarrier_primitives.h cuda_pipeline_primitives.h cuda_profiler_api.h cudaProfiler.h cuda_runtime.h
cuda_runtime_api.h cuda_surface_types.h cuda_texture_types.h device_atomic_functions.h device_functions.h device_types.h
device_launch_parameters.h driver_functions.h driver_types.h host_defines.h host_config.h library_types.h
math_constants.h math_functions.h sm_20_intrinsics.h sm_30_intrinsics.h sm_32_intrinsics.h sm_35_intrinsics.h
sm_60_atomic_functions.h sm_61_intrinsics.h surface_functions.h surface_indirect_functions.h surface_types.h
texture_fetch_functions.h texture_indirect_functions.h texture_types.h vector_functions.h vector_functions.hpp vector_types.h
crt/device_functions.h crt/host_defines.h crt/mma.h crt/math_functions.h
cooperative_groups/memcpy_async.h cooperative_groups/reduce.h cooperative_groups/scan.h cooperative_groups/details/helpers.h
cublas.h cublas_api.h cublasLt.h curand.h nvToolsExt.h nvtx3/nvToolsExt.h nvtx3/nvtx3.hpp cudaTypedefs.h
cuda/std/atomic cuda/std/array cuda/std/barrier cuda/std/bit cuda/std/chrono cuda/std/cmath cuda/std/complex cuda/std/concepts
cuda/std/cstddef cuda/std/cstdint cuda/std/functional cuda/std/limits cuda/std/tuple cuda/std/type_traits cuda/std/utility
cuda/std/span cuda/std/cfloat cuda/std/climits cuda/std/cassert cuda/std/optional cuda/std/initializer_list cuda/cmath
cuda/annotated_ptr cuda/semaphore cuda/latch cuda/functional cuda/utility
helper_string.h helper_timer.h helper_image.h helper_cuda_drvapi.h exception.h
hip/hip_fp16.h hip/hip_bf16.h hip/hip_bfloat16.h hip/hip_cooperative_groups.h hip/hip_vector_types.h hip/math_functions.h
hip/device_functions.h"""
VISIBLE = frozenset(f"{_C} {_CPP} {_CUDA}".split())


def missing_remedy(missing: Sequence[str]) -> str | None:
    """The remedy for an error that follows from missing headers; None if none is missing."""
    if not missing:
        return None
    are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
    return f"{', '.join(missing)} {are} not in the project's folder: copy {them} there"


def missing_note(header: str) -> str:
    """The note about a header that is missing, although the kernel can be read without it."""
    return f"#include of {header} is ignored: it is not in the project's folder"


# Include lines: the files of a project that they name, and a text whose includes libclang finds in memory.

_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


class Include(Struct, frozen=True):
    """An include line: the name between its quotes or angle brackets."""

    name: str
    is_quoted: bool


def includes_of(text: str) -> Iterator[Include]:
    """Include lines of a text, in order, those of branches that aren't compiled too."""
    for match in _INCLUDE.finditer(text):
        name = match[2] or match[3]
        yield Include(name.strip(), match[2] is not None)


def resolved(name: str, by: str, files: Collection[str]) -> str | None:
    """The project file that ``name`` means in the file ``by``, or None.

    It is looked for beside the including file, in the folders above it and, if only one file's path ends so, anywhere.
    """
    name = name.replace("\\", "/")
    if name.startswith("/") or ":" in name:
        return None
    folder = dirname(by)
    while True:
        path = normpath(f"{folder}/{name}" if folder else name)
        if path in files:
            return path
        if not folder:
            break
        folder = dirname(folder)
    ending = "/" + normpath(name).lstrip("./")
    matches = [each for each in files if f"/{each}".endswith(ending)]
    return matches[0] if len(matches) == 1 else None


def with_paths(text: str, by: str, files: Collection[str], root: str, own: Collection[str]) -> str:
    """The text with each include of a project file replaced by that file's path below ``root``, and without the includes of
    headers that are visible anyway. Lines keep their numbers.

    ``own``: names of the stand-in headers, which take precedence in angle brackets.
    """

    def path(match: re.Match[str]) -> str:
        name = (match[2] or match[3]).strip()
        is_own = name in own or name in VISIBLE
        file = None if match[3] and is_own else resolved(name, by, files)
        if file is not None:
            return f'{match[1]}"{root}/{file}"'
        return "" if name in VISIBLE else match[0]

    return _INCLUDE.sub(path, text)
