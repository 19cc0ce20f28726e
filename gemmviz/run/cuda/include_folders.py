"""Folders with CUDA's own headers."""

from collections.abc import Sequence
from pathlib import Path

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
