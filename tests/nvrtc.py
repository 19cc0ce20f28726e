"""NVRTC from its wheel, without a GPU: CUDA C to PTX or machine code, for tests that read what NVIDIA's compiler makes of it."""

import ctypes
import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal


class NvrtcError(Exception):
    """The compiler's log of a failed compilation."""


@dataclass(frozen=True)
class Nvrtc:
    """NVRTC's library."""

    library: Any
    path: Path

    def compiled(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        headers: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
        form: Literal["PTX", "CUBIN"] = "PTX",
    ) -> tuple[bytes, dict[str, str]]:
        """The compiled text, and the lowered name of each name expression. Raises NvrtcError."""
        program = ctypes.c_void_p()
        given = headers or {}
        texts, titles = _strings(given.values()), _strings(given)
        self._checked("CreateProgram", ctypes.byref(program), text.encode(), b"kernel.cu", len(given), texts, titles)
        try:
            for name in names:
                self._checked("AddNameExpression", program, name.encode())
            if self.library.nvrtcCompileProgram(program, len(options), _strings(options)):
                raise NvrtcError(self._bytes(program, "ProgramLog").rstrip(b"\0").decode())
            return self._bytes(program, form), {name: self._lowered(program, name) for name in names}
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _lowered(self, program: ctypes.c_void_p, name: str) -> str:
        lowered = ctypes.c_char_p()
        self._checked("GetLoweredName", program, name.encode(), ctypes.byref(lowered))
        return (lowered.value or b"").decode()

    def _bytes(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._checked(f"Get{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._checked(f"Get{what}", program, buffer)
        return buffer.raw

    def _checked(self, function: str, *arguments: Any) -> None:
        status = getattr(self.library, f"nvrtc{function}")(*arguments)
        if status:
            raise NvrtcError(f"nvrtc{function} fails with status {status}")


def _strings(texts: Any) -> Any:
    encoded = [each.encode() for each in texts]
    return (ctypes.c_char_p * len(encoded))(*encoded)


@cache
def nvrtc() -> Nvrtc | None:
    """NVRTC's library from the newest wheel installed; None without one."""
    for folder in _wheels():
        for path in sorted(folder.glob("**/libnvrtc.so.*"), reverse=True):
            return Nvrtc(ctypes.CDLL(str(path)), path)
    return None


def compile_error(text: str, *options: str) -> str:
    """The compiler's log for a text that it refuses; empty for one that it compiles."""
    library, include = nvrtc(), cuda_include()
    assert library is not None
    folders = [f"-I{include}"] if include else []
    try:
        library.compiled(text, ["-arch=compute_90", "-std=c++17", *folders, *options])
    except NvrtcError as error:
        return str(error)
    return ""


def has_cuda_headers() -> bool:
    """Whether the compiler is here, with CUDA's own headers of a version that it can read."""
    return nvrtc() is not None and not compile_error("#include <cuda_fp16.h>\n#include <cuda_fp8.h>")


@cache
def cuda_include() -> str | None:
    """The folder of CUDA's own headers, of a wheel or a toolkit; None without one."""
    roots = [os.environ.get("CUDA_PATH", ""), "/usr/local/cuda", *(str(each) for each in Path("/usr/local").glob("cuda-*"))]
    folders = [
        *(each for wheel in _wheels() for each in wheel.glob("*/include")),
        *(Path(root) / "include" for root in roots if root),
    ]
    usable = [each for each in folders if (each / "cuda_fp16.h").is_file()]
    whole = [each for each in usable if (each / "crt" / "mma.h").is_file()]  # which some wheels leave out
    return next((str(each) for each in (*whole, *usable)), None)


def _wheels() -> Iterator[Path]:
    """Folders of NVIDIA's wheels."""
    found = importlib.util.find_spec("nvidia")
    yield from (Path(each) for each in (found.submodule_search_locations or ()) if found) if found else ()
