"""The .gvt file: a zip of one JSON manifest and one .npy per array, all stored uncompressed.

Uncompressed, so that a file can't claim more memory than it has bytes, and each array can be checked against the
manifest before any of it is read. Nothing in it is ever executed or unpickled.
"""

import hashlib
import json
import math
import tokenize
import zipfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt

from gemmviz.files.trace_checks import check_arrays, check_facts, refuse
from gemmviz.model.errors import Place, TraceFileError, UsageError
from gemmviz.model.filling import Filling
from gemmviz.model.kernel import Launch, Settings
from gemmviz.model.lanes import Window
from gemmviz.model.problem import Problem
from gemmviz.model.trace import Check, LoopInfo, MemoryArray, Site, Trace

FORMAT = "gemmviz trace"
VERSION = 3  # 1 knew random matrices only, 2 all phases only
_MANIFEST = "manifest.json"
_ARRAYS = {
    "site": "<i4", "visits": "<i4", "epoch": "<i4", "element": "<i4", "value": "<f4", "origin_step": "<i4",
    "origin_array": "|i1", "origin": "<i4",
}  # fmt: skip
_DIMENSIONS = {"site": 1, "epoch": 1, "origin_step": 1}
_LARGEST_MANIFEST = 64 << 20
_HARMLESS_FLAGS = 0x0808  # sizes after the data; names in UTF-8


def write_trace(trace: Trace, path: Path) -> None:
    """Writes the whole file or, on an error, leaves what was there. Raises TraceFileError, also for a run that was stopped."""
    if trace.stop is not None:
        raise TraceFileError("this run ended before its time, so there is no whole trace to save", file=str(path))
    arrays = _arrays_of(trace)
    manifest = _manifest_of(trace, arrays)
    part = path.with_name(path.name + ".part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    npy.write_array(member, np.ascontiguousarray(array, _ARRAYS[name]), allow_pickle=False)
        part.replace(path)
    except OSError as error:
        raise TraceFileError(f"the trace can't be written: {error.strerror or error}", file=str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def _arrays_of(trace: Trace) -> dict[str, npt.NDArray[Any]]:
    return {name: getattr(trace, name) for name in _ARRAYS if getattr(trace, name) is not None}


def _manifest_of(trace: Trace, arrays: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "source_sha256": _hash(trace.source),
        "arrays": {name: {"dtype": _ARRAYS[name], "shape": array.shape} for name, array in arrays.items()},
        "memory": _plain(trace.arrays),
        **{f.name: _plain(getattr(trace, f.name)) for f in fields(Trace) if f.name not in (*_ARRAYS, "arrays", "stop")},
    }


def hand_over(trace: Trace, folder: Path) -> None:
    """Puts a trace into a folder for ``take_over``: quicker than a file, and for another process of this program alone."""
    arrays = _arrays_of(trace)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array, _ARRAYS[name]), allow_pickle=False)
    (folder / _MANIFEST).write_text(json.dumps(_manifest_of(trace, arrays)), encoding="utf-8")


def take_over(folder: Path) -> Trace:
    """What ``hand_over`` put there. Raises TraceFileError where it is not all there."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in manifest["arrays"]}
    except (OSError, ValueError) as error:
        raise TraceFileError(f"the trace did not arrive: {error}", file=str(folder)) from None
    for array in arrays.values():
        array.flags.writeable = False
    return _trace(manifest, arrays)


def _plain(value: Any) -> Any:
    match value:
        case Settings(problem=problem, parameters=parameters):
            return {"problem": problem.sizes, "parameters": dict(parameters), "filling": asdict(value.filling)}
        case tuple():
            return [_plain(each) for each in value]
        case str() | int() | float() | bool() | None:
            return value
        case Check():
            return check_as_facts(value)
    return asdict(value)


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest alone, checked. Raises TraceFileError."""
    with _opened(path) as archive:
        return _manifest(archive, str(path))


def read_trace(path: Path) -> Trace:
    """The trace in a file. Raises TraceFileError for anything but a whole and sound trace of this version or older."""
    with _opened(path) as archive:
        manifest = _manifest(archive, str(path))
        _check_members(archive, manifest, str(path))
        arrays = {name: _array(archive, name, manifest["arrays"][name], str(path)) for name in manifest["arrays"]}
    if _hash(str(manifest.get("source"))) != manifest.get("source_sha256"):
        refuse(str(path), "its source text is not the one that was traced")
    try:
        trace = _trace(manifest, arrays)
        check_facts(trace, str(path))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, AssertionError):
        refuse(str(path), "its manifest doesn't describe a trace")
    check_arrays(trace, str(path))
    return trace


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise UsageError("there is no such file", file=str(path)) from None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        refuse(str(path), "it is damaged, cut off or of another kind")
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
        refuse(str(path), "it claims more bytes than it has")
    return archive


def _manifest(archive: zipfile.ZipFile, file: str) -> dict[str, Any]:
    if _MANIFEST not in archive.namelist() or archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
        refuse(file, "it has no manifest")
    try:
        manifest = json.loads(archive.read(_MANIFEST))
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, RecursionError, UnicodeDecodeError):
        refuse(file, "its manifest is damaged")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        refuse(file, "it is of another kind")
    version = manifest.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        refuse(file, "its version can't be read")
    if version > VERSION:
        raise TraceFileError(
            f"this trace has format version {version}; this gemmviz reads up to {VERSION}", file=file,
            remedy="update gemmviz",
        )  # fmt: skip
    return manifest


def _check_members(archive: zipfile.ZipFile, manifest: dict[str, Any], file: str) -> None:
    declared = manifest.get("arrays")
    if not isinstance(declared, dict) or not {"site", "visits", "epoch", "element"} <= declared.keys() <= _ARRAYS.keys():
        refuse(file, "its arrays are not those of a trace")
    if set(archive.namelist()) != {_MANIFEST, *(f"{name}.npy" for name in declared)}:
        refuse(file, "its members are not those that it lists")


def _array(archive: zipfile.ZipFile, name: str, declared: Any, file: str) -> npt.NDArray[Any]:
    """One member, after its own header, the manifest and its size in the archive agree."""
    info = archive.getinfo(f"{name}.npy")
    try:
        with archive.open(info) as member:
            dtype, shape = _npy_header(member)
            header_bytes = member.tell()
            right = dtype == np.dtype(_ARRAYS[name]) and isinstance(declared, dict) and list(shape) == declared.get("shape")
            right = right and len(shape) == _DIMENSIONS.get(name, 2) and all(extent >= 0 for extent in shape)
            if not right or header_bytes + _product(shape) * dtype.itemsize != info.file_size:
                refuse(file, f"its array {name!r} is not what the manifest says")
            data = member.read()
    except (
        zipfile.BadZipFile,
        ValueError,
        OSError,
        EOFError,
        SyntaxError,
        TypeError,
        RecursionError,
        MemoryError,
        tokenize.TokenError,
    ):
        refuse(file, f"its array {name!r} is damaged")
    return np.frombuffer(data, dtype).reshape(shape)


def _npy_header(member: IO[bytes]) -> tuple[Any, tuple[int, ...]]:
    version = npy.read_magic(member)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(member)
    if fortran or dtype.hasobject:
        raise ValueError
    return dtype, shape


def _product(shape: tuple[int, ...]) -> int:
    result = 1
    for extent in shape:
        result *= extent
    return result


def _place(facts: Any) -> Place | None:
    return None if facts is None else Place(**facts)


def _trace(manifest: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Trace:
    settings = manifest["settings"]
    filling = {"seed": manifest["seed"]} if manifest["version"] == 1 else settings["filling"]
    return Trace(
        kernel=str(manifest["kernel"]),
        file=str(manifest["file"]),
        source=str(manifest["source"]),
        settings=Settings(
            Problem(**settings["problem"]),
            {str(k): int(v) for k, v in settings["parameters"].items()},
            Filling(str(filling.get("pattern", "random")), int(filling["seed"])),  # type: ignore[arg-type]
        ),
        launch=Launch(
            _triple(manifest["launch"]["grid"]), _triple(manifest["launch"]["block"]), int(manifest["launch"]["shared_bytes"])
        ),
        window=Window(*((int(a), int(b)) for a, b in (manifest["window"][axis] for axis in "xyz"))),
        warp_size=int(manifest["warp_size"]),
        arrays=tuple(MemoryArray(**{**facts, "shape": tuple(facts["shape"])}) for facts in manifest["memory"]),
        sites=tuple(read_site(facts) for facts in manifest["sites"]),
        loops=tuple(LoopInfo(f["outer"], Place(**f["place"]), f["holds_barrier"]) for f in manifest["loops"]),
        check=read_check(manifest["check"]),
        notes=tuple(manifest["notes"]),
        executor=str(manifest["executor"]),
        phases=_phases(manifest.get("phases")),
        stop=None,
        **arrays,
    )


def check_as_facts(check: Check) -> dict[str, Any]:
    """A check as JSON can hold it: JSON knows no infinity."""
    return {**asdict(check), "worst_error": check.worst_error if math.isfinite(check.worst_error) else None}


def read_check(facts: dict[str, Any]) -> Check:
    """What ``check_as_facts`` was made from."""
    numbers = {name: int(facts[name]) for name in ("compared", "wrong", "unwritten")}
    error = math.inf if facts["worst_error"] is None else float(facts["worst_error"])
    row, column = (int(each) for each in facts["worst_at"])
    return Check(
        **numbers,
        worst_error=error,
        worst_allowed=float(facts["worst_allowed"]),
        worst_at=(row, column),
        wrong_elements=tuple(int(each) for each in facts.get("wrong_elements", ())),
    )


def site_facts(site: Site) -> dict[str, Any]:
    """A site as JSON can hold it."""
    return asdict(site)


def read_site(facts: dict[str, Any]) -> Site:
    """What ``site_facts`` was made from."""
    place = _place(facts["place"])
    assert place is not None
    calls = tuple(Place(**call) for call in facts["calls"])
    return Site(
        facts["kind"], int(facts["array"]), place, facts["text"], int(facts["width"]), tuple(facts["loops"]), calls,
        _place(facts["statement"]),
    )  # fmt: skip


def _phases(facts: Any) -> tuple[int, int] | None:
    if facts is None:
        return None
    start, stop = (int(each) for each in facts)
    return start, stop


def _triple(values: Any) -> tuple[int, int, int]:
    x, y, z = (int(value) for value in values)
    return x, y, z


def _hash(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def describe(path: Path) -> dict[str, Any]:
    """What a file holds, without its arrays. Raises TraceFileError."""
    manifest = read_manifest(path)
    return {k: v for k, v in manifest.items() if k != "source"} | {"bytes": path.stat().st_size}
