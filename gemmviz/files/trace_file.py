"""The .gvt file: a zip of one JSON manifest and one .npy per array, all stored uncompressed.

Uncompressed, so that a file can't claim more memory than it has bytes, and each array can be checked against the
manifest before any of it is read. Nothing in it is ever executed or unpickled.
"""

import hashlib
import math
import os
import tokenize
import zipfile
from pathlib import Path
from typing import IO, Any, get_type_hints

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt
from msgspec import Struct, defstruct

from gemmviz.files.codec import (
    FormatError,
    check_plain_file,
    check_version,
    from_json,
    from_plain,
    json_to_plain,
    to_json,
    to_plain,
)
from gemmviz.files.trace_checks import check_trace, refuse
from gemmviz.files.whole import atomic_write
from gemmviz.model.errors import GemmvizError, TraceFileError, UsageError
from gemmviz.model.records import fields
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr

FORMAT = "gemmviz trace"
VERSION = 5
_MANIFEST = "manifest.json"
_SMALL_BYTES = 1 << 20
_ARRAYS = {
    "site": "<i4", "visits": "<i4", "epoch": "<i4", "element": "<i4", "value": "<f4", "origin_step": "<i4",
    "origin_array": "|i1", "origin": "<i4", "completes": "<i4",
}  # fmt: skip
_NEEDED = {"site", "visits", "epoch", "element"}
_ALWAYS = {*_ARRAYS} - {"completes"}  # stored even if empty
_DIMENSIONS = {"site": 1, "epoch": 1, "origin_step": 1, "completes": 1}
_LARGEST_MANIFEST = 16 << 20
_HARMLESS_FLAGS = 0x0808  # sizes after the data; names in UTF-8


def _facts_type() -> type[Struct]:
    """A Struct with every field of a trace that is not an array, without ``stop``: runs that were stopped are not saved."""
    hints = get_type_hints(Trace)
    chosen = [each for each in fields(Trace) if each.name not in (*_ARRAYS, "stop", "stored")]
    optional = [(each.name, hints[each.name], each.default) for each in chosen if not each.required]
    return defstruct("TraceFacts", [*((each.name, hints[each.name]) for each in chosen if each.required), *optional])


_FACTS = _facts_type()


class StoredArray(Struct, frozen=True):
    """Description in the manifest of one member of the zip."""

    dtype: str
    shape: tuple[int, ...]


class Manifest(Struct, frozen=True):
    """The manifest. ``trace`` holds the fields of a Trace that are not arrays; ``source_sha256`` is the hash of the kernel's
    text.
    """

    format: str
    version: int
    source_sha256: str
    arrays: dict[str, StoredArray]
    trace: dict[str, Any]


def write_trace(trace: Trace, path: Path) -> None:
    """Writes a trace atomically: on an error, an existing file is unchanged. Raises TraceFileError, also for a run that was
    stopped and for a trace that could not be read again.
    """
    if trace.stop is not None:
        raise TraceFileError("this run ended early, so there is no complete trace to save", file=str(path))
    check_trace(trace, str(path))
    arrays = arrays_of(trace)
    try:
        with atomic_write(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_member(_MANIFEST), to_json(_manifest_of(trace, arrays)))
            for name, array in arrays.items():
                with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                    npy.write_array(member, np.ascontiguousarray(array, _ARRAYS[name]), allow_pickle=False)
    except TraceFileError:
        raise
    except GemmvizError as error:
        raise TraceFileError(f"the trace can't be written: {error.message}", file=str(path)) from None


def _member(name: str) -> zipfile.ZipInfo:
    """A member without a timestamp: the same trace gives the same bytes."""
    return zipfile.ZipInfo(name)


def arrays_of(trace: Trace) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a trace by name."""
    arrays = {name: getattr(trace, name) for name in _ARRAYS}
    return {name: each for name, each in arrays.items() if each is not None and (name in _ALWAYS or each.size)}


def _manifest_of(trace: Trace, arrays: dict[str, npt.NDArray[Any]]) -> Manifest:
    stored = {name: StoredArray(_ARRAYS[name], array.shape) for name, array in arrays.items()}
    return Manifest(FORMAT, VERSION, trace.setup.kernel.text_hash, stored, facts_of(trace))


def write_to_folder(trace: Trace, folder: Path) -> None:
    """Writes a trace into a folder for ``read_from_folder`` in another process of this program, which is faster than a file."""
    arrays = arrays_of(trace)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array, _ARRAYS[name]), allow_pickle=False)
    (folder / _MANIFEST).write_bytes(to_json(_manifest_of(trace, arrays)))


def read_from_folder(folder: Path) -> Trace:
    """The trace written by ``write_to_folder``. Raises TraceFileError if it is incomplete."""
    try:
        manifest = from_json((folder / _MANIFEST).read_bytes(), Manifest)
        arrays = {name: _mapped(folder / f"{name}.npy") for name in manifest.arrays}
    except (OSError, ValueError) as error:
        raise TraceFileError(f"the trace did not arrive: {error}", file=str(folder)) from None
    return trace_of(manifest.trace, arrays)


def _mapped(path: Path) -> npt.NDArray[Any]:
    """An array, read-only. A large one is memory-mapped, on systems where a file in use can be deleted."""
    maps = os.name == "posix" and path.stat().st_size > _SMALL_BYTES
    array = np.asarray(np.load(path, mmap_mode="r" if maps else None, allow_pickle=False))
    array.flags.writeable = False
    return array


def read_manifest(path: Path) -> Manifest:
    """The manifest alone. Raises TraceFileError."""
    with _opened(path) as archive:
        return _manifest(archive, str(path))


def read_trace(path: Path) -> Trace:
    """The trace in a file. Raises TraceFileError unless it is a complete, valid trace of this version."""
    with _opened(path) as archive:
        manifest = _manifest(archive, str(path))
        _check_members(archive, manifest, str(path))
        arrays = {name: _array(archive, name, manifest.arrays[name], str(path)) for name in manifest.arrays}
    try:
        trace = trace_of(manifest.trace, arrays)
    except FormatError as error:
        refuse(str(path), f"its manifest doesn't describe a trace: {error.message}")
    if hashlib.sha256(trace.setup.kernel.text.encode()).hexdigest() != manifest.source_sha256:
        refuse(str(path), "its source text is not that of the traced kernel")
    check_trace(trace, str(path))
    return trace


def _opened(path: Path) -> zipfile.ZipFile:
    check_plain_file(path)
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise UsageError(tr("there is no such file"), file=str(path)) from None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        refuse(str(path), tr("it is damaged, truncated or of another kind"))
    size = path.stat().st_size
    allowed = {_MANIFEST, *(f"{name}.npy" for name in _ARRAYS)}
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if not set(names) <= allowed or len(set(names)) != len(names):
        archive.close()
        refuse(str(path), "it holds members that don't belong in a trace")
    compressed = any(i.compress_type or i.file_size != i.compress_size or i.flag_bits & ~_HARMLESS_FLAGS for i in infos)
    if compressed or sum(info.file_size for info in infos) > size:
        archive.close()
        refuse(str(path), "its index lists more bytes than it has")
    return archive


def _manifest(archive: zipfile.ZipFile, file: str) -> Manifest:
    """The manifest of the file. Raises TraceFileError for one of another version."""
    if _MANIFEST not in archive.namelist() or archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
        refuse(file, "it has no manifest")
    try:
        plain = json_to_plain(archive.read(_MANIFEST))
    except (zipfile.BadZipFile, ValueError, OSError, EOFError):
        refuse(file, "its manifest is damaged")
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        refuse(file, "it is of another kind")
    try:
        check_version(plain.get("version"), VERSION, tr("record it again"))
    except FormatError as error:
        raise TraceFileError(error.message, file=file, remedy=error.remedy) from None
    try:
        return from_plain(plain, Manifest)
    except GemmvizError:
        refuse(file, "its manifest doesn't describe a trace")


def _check_members(archive: zipfile.ZipFile, manifest: Manifest, file: str) -> None:
    if not manifest.arrays.keys() >= _NEEDED or not manifest.arrays.keys() <= _ARRAYS.keys():
        refuse(file, "its arrays are not those of a trace")
    if set(archive.namelist()) != {_MANIFEST, *(f"{name}.npy" for name in manifest.arrays)}:
        refuse(file, "its members are not those that it lists")


def _array(archive: zipfile.ZipFile, name: str, declared: StoredArray, file: str) -> npt.NDArray[Any]:
    """One member, after a check that its own header, the manifest and its size in the archive agree."""
    info = archive.getinfo(f"{name}.npy")
    try:
        with archive.open(info) as member:
            dtype, shape = _npy_header(member)
            header_bytes = member.tell()
            right = dtype == np.dtype(_ARRAYS[name]) and shape == declared.shape
            right = right and len(shape) == _DIMENSIONS.get(name, 2) and all(extent >= 0 for extent in shape)
            if not right or header_bytes + math.prod(shape) * dtype.itemsize != info.file_size:
                refuse(file, f"its array {name!r} is not what the manifest says")
            data = member.read()
    except (
        zipfile.BadZipFile, ValueError, OSError, EOFError, SyntaxError, TypeError, RecursionError, MemoryError,
        tokenize.TokenError,
    ):  # fmt: skip
        refuse(file, f"its array {name!r} is damaged")
    return np.frombuffer(data, dtype).reshape(shape)


def _npy_header(member: IO[bytes]) -> tuple[Any, tuple[int, ...]]:
    version = npy.read_magic(member)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(member)
    if fortran or dtype.hasobject:
        raise ValueError
    return dtype, shape


def facts_of(trace: Trace) -> dict[str, Any]:
    """Everything else in a trace, as plain values."""
    return {each.name: to_plain(getattr(trace, each.name)) for each in fields(_FACTS)}


def trace_of(facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Trace:
    """The trace with these arrays and facts. Raises FormatError."""
    read: Any = from_plain(facts, _FACTS)
    values: dict[str, Any] = {each.name: getattr(read, each.name) for each in fields(_FACTS)}
    return Trace(**{**values, **arrays})


def describe(path: Path) -> dict[str, Any]:
    """Contents of a file without its arrays and the kernel's text. Raises TraceFileError."""
    manifest = to_plain(read_manifest(path))
    setup = manifest["trace"].get("setup")
    kernel = setup.get("kernel") if isinstance(setup, dict) else None
    if isinstance(kernel, dict):
        kernel.pop("text", None)
    return {**manifest, "bytes": path.stat().st_size}
