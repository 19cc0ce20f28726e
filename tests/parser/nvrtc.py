"""NVIDIA's runtime compiler by ctypes, from its wheel or a toolkit: it needs no GPU."""

import ctypes
import importlib.util
from functools import cache
from pathlib import Path


@cache
def nvrtc_library() -> ctypes.CDLL | None:
    """The library of an installed wheel; None without one."""
    for package in ("nvidia.cuda_nvrtc", "nvidia.cu13"):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in found.submodule_search_locations or () if found else ():
            for path in sorted(Path(folder).rglob("libnvrtc.so*")):
                if "builtins" not in path.name:
                    return ctypes.CDLL(str(path))
    return None


def include_options() -> list[bytes]:
    """Folders of CUDA's headers in installed wheels."""
    folders = []
    for package in ("nvidia.cuda_runtime", "nvidia.cu13"):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        folders += [Path(folder) / "include" for folder in found.submodule_search_locations or ()] if found else []
    return [f"-I{folder}".encode() for folder in folders if folder.is_dir()]


def has_cuda_headers() -> bool:
    """Whether the compiler and CUDA's own headers are here."""
    return nvrtc_library() is not None and not compile_error("#include <cuda_fp16.h>")


def compile_error(text: str, *options: bytes) -> str:
    """The compiler's log for a text that it refuses; empty for one that it compiles."""
    library = nvrtc_library()
    assert library is not None
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"a.cu", 0, None, None)
    words = [b"-arch=compute_90", b"-std=c++17", *include_options(), *options]
    failed = library.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() if failed else ""
