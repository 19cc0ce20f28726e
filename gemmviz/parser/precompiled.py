"""The stand-in headers, parsed once and saved, so that a kernel is parsed in a third of the time."""

import contextlib
import hashlib
import os
import time
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from clang.cindex import Diagnostic, Index, TranslationUnit, TranslationUnitLoadError, TranslationUnitSaveError

from gemmviz.files.resources import cache_folder

STUBS = Path(__file__).resolve().parent / "stubs"
ALL_STUBS = STUBS / "gemmviz.h"  # included before the first line of every file
LANGUAGE = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "--cuda-gpu-arch=sm_90",
    "--target=x86_64-unknown-linux-gnu",  # the same sizes of types on every system
    "-std=c++20", "-ferror-limit=0", "-w", "-fno-spell-checking",
    # errors of clang that are warnings of nvcc
    "-Wno-c++11-narrowing", "-Wno-register", "-Wno-reserved-user-defined-literal", "-Wno-non-pod-varargs",
    "-Wno-address-of-temporary", "-Wno-dynamic-exception-spec", "-Wno-return-type", "-isystem", str(STUBS),
)  # fmt: skip
_FOR_PRECOMPILING = TranslationUnit.PARSE_INCOMPLETE | 0x10  # CXTranslationUnit_ForSerialization
_CLANG = "18"
_UNUSED_S = 30 * 24 * 3600


@cache
def stub_arguments() -> tuple[str, ...]:
    """Arguments that make the stand-in headers known: their saved form if it can be written and read, else their text."""
    with contextlib.suppress(OSError):
        path = cache_folder() / f"stubs-{_key()}.pch"
        if _is_usable(path) or (_save(path) and _is_usable(path)):
            return ("-include-pch", str(path))
    return ("-include", str(ALL_STUBS))


def _key() -> str:
    """A hash of everything that the saved form depends on."""
    files = [path for path in sorted(STUBS.rglob("*")) if path.is_file()]
    facts = [(str(path), (state := path.stat()).st_mtime_ns, state.st_size) for path in files]
    return hashlib.sha256(repr((_CLANG, LANGUAGE, facts)).encode()).hexdigest()[:20]


def _is_usable(path: Path) -> bool:
    """Whether an empty text is parsed with the saved headers."""
    if not path.is_file():
        return False
    try:
        unit = Index.create().parse("/empty.cu", [*LANGUAGE, "-include-pch", str(path)], [("/empty.cu", "")])
    except TranslationUnitLoadError:
        return False
    return not any(each.severity >= Diagnostic.Error for each in unit.diagnostics)


def _save(path: Path) -> bool:
    """Parses the headers and saves them; whether that worked. Readers see the old file or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix="stubs-", suffix=".tmp", delete=False) as file:
        draft = Path(file.name)
    try:
        unit = Index.create().parse(str(ALL_STUBS), list(LANGUAGE), options=_FOR_PRECOMPILING)
        unit.save(str(draft))
        _remove_old(path.parent)
        os.replace(draft, path)
    except (TranslationUnitLoadError, TranslationUnitSaveError):
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def _remove_old(folder: Path) -> None:
    """Removes the saved headers of other versions, unless one may still be in use."""
    for old in folder.glob("stubs-*.pch"):
        with contextlib.suppress(OSError):  # in use on Windows
            if time.time() - old.stat().st_mtime > _UNUSED_S:
                old.unlink()
