"""The stand-in headers, parsed once and saved, so that a kernel is parsed in a third of the time.

The parser sees no other file of the computer: texts are in memory, and its file system has the stand-in headers alone.
"""

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from clang.cindex import Diagnostic, Index, TranslationUnit, TranslationUnitLoadError, TranslationUnitSaveError

from gemmviz.files.resources import cache_folder

STUBS = Path(__file__).resolve().parent / "stubs"
ALL_STUBS = STUBS / "gemmviz.h"  # included before the first line of every file
_AFTER_SAVED = STUBS / "standard" / "deallocation.h"
LANGUAGE = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "--cuda-gpu-arch=sm_90",
    "--target=x86_64-unknown-linux-gnu",  # the same sizes of types on every system
    "-std=c++20", "-ferror-limit=0", "-w", "-fno-spell-checking",
    # errors of clang that are warnings of nvcc
    "-Wno-c++11-narrowing", "-Wno-register", "-Wno-reserved-user-defined-literal", "-Wno-non-pod-varargs",
    "-Wno-address-of-temporary", "-Wno-dynamic-exception-spec", "-Wno-return-type",
    "-isystem", str(STUBS),
)  # fmt: skip
_FOR_PRECOMPILING = TranslationUnit.PARSE_INCOMPLETE | 0x10  # CXTranslationUnit_ForSerialization
_CLANG = "18"
_UNUSED_S = 30 * 24 * 3600
_HEADERS_ALONE = ("-ivfsoverlay", str(STUBS.parent / "files.yaml"), "-include", str(ALL_STUBS))


@cache
def stub_arguments() -> tuple[str, ...]:
    """Arguments that make the stand-in headers known: their saved form if it can be written and read, else their text."""
    with contextlib.suppress(OSError):
        saved = cache_folder().resolve() / f"stubs-{_key()}.pch"
        files = saved.with_suffix(".json")
        arguments = ("-ivfsoverlay", str(files), "-include", str(_AFTER_SAVED), "-include-pch", str(saved))
        if saved.is_file() and _is_usable(arguments):
            return arguments
        if _save(saved, files) and _is_usable(arguments):
            return arguments
    return _HEADERS_ALONE


def have_vanished(arguments: tuple[str, ...]) -> bool:
    """Whether the saved headers of ``stub_arguments`` were removed meanwhile; then the next call gives others."""
    if all(Path(each).exists() for each in arguments if not each.startswith("-")):
        return False
    stub_arguments.cache_clear()
    return True


def _key() -> str:
    """A hash of everything that the saved form depends on."""
    files = [path for path in sorted(STUBS.rglob("*")) if path.is_file()]
    facts = [(str(path), (state := path.stat()).st_mtime_ns, state.st_size) for path in files]
    return hashlib.sha256(repr((_CLANG, LANGUAGE, facts)).encode()).hexdigest()[:20]


def _is_usable(arguments: tuple[str, ...]) -> bool:
    """Whether an empty text is parsed with the saved headers."""
    try:
        unit = Index.create().parse("/empty.cu", [*LANGUAGE, *arguments], [("/empty.cu", "")])
    except TranslationUnitLoadError:
        return False
    return not any(each.severity >= Diagnostic.Error for each in unit.diagnostics)


def _save(saved: Path, files: Path) -> bool:
    """Parses the headers and saves them; whether that worked. ``files`` gets the file system with which they are used."""
    saved.parent.mkdir(parents=True, exist_ok=True)
    try:
        unit = Index.create().parse(str(ALL_STUBS), [*LANGUAGE, *_HEADERS_ALONE[:2]], options=_FOR_PRECOMPILING)
        with _replacement(saved) as draft:
            unit.save(str(draft))
            _remove_old(saved.parent)
        with _replacement(files) as draft:
            draft.write_text(_file_system(saved), encoding="utf-8")
    except (TranslationUnitLoadError, TranslationUnitSaveError):
        return False
    return True


def _file_system(saved: Path) -> str:
    """The parser's file system, in the form of clang's option -ivfsoverlay."""
    stubs = {"type": "directory-remap", "name": str(STUBS), "external-contents": str(STUBS)}
    headers = {"type": "file", "name": str(saved), "external-contents": str(saved)}
    return json.dumps({"version": 0, "fallthrough": "false", "roots": [stubs, headers]})


@contextlib.contextmanager
def _replacement(path: Path) -> Iterator[Path]:
    """A draft beside ``path`` that replaces it, so that other processes see the old file or the whole new one."""
    with NamedTemporaryFile(dir=path.parent, prefix="stubs-", suffix=".tmp", delete=False) as file:
        draft = Path(file.name)
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _remove_old(folder: Path) -> None:
    """Removes saved headers that no version of gemmviz has written for a month."""
    for old in (*folder.glob("stubs-*.pch"), *folder.glob("stubs-*.json")):
        with contextlib.suppress(OSError):  # in use on Windows, or removed by another process
            if time.time() - old.stat().st_mtime > _UNUSED_S:
                old.unlink()
