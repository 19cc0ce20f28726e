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
from typing import IO, Any, NoReturn, get_type_hints

import numpy as np
import numpy.lib.format as npy
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
from gemmviz.files.devices import device_names
from gemmviz.files.resources import atomic_write
from gemmviz.model.arrays import AnyArray, Ints
from gemmviz.model.element_types import ELEMENT_TYPES
from gemmviz.model.messages import GemmvizError, Place, SettingError, TraceFileError, UsageError, tr
from gemmviz.model.records import fields
from gemmviz.model.sites import NUMBERED_BARRIERS, SITE_KINDS, MemoryArray, Operand, Site
from gemmviz.model.trace import BOUNDS, CONSTANT, Touches, Trace

FORMAT = "gemmviz trace"
VERSION = 5
_MANIFEST = "manifest.json"
_SMALL_BYTES = 1 << 20
_STORED_TYPES = {
    "site": "<i4", "visits": "<i4", "epoch": "<i4", "element": "<i4", "value": "<f4", "origin_step": "<i4",
    "origin_array": "|i1", "origin": "<i4", "completes": "<i4",
}  # fmt: skip
_NEEDED = {"site", "visits", "epoch", "element"}
_ALWAYS = {*_STORED_TYPES} - {"completes"}  # stored even if empty
_DIMENSIONS = {"site": 1, "epoch": 1, "origin_step": 1, "completes": 1}
_LARGEST_MANIFEST = 16 << 20
_HARMLESS_FLAGS = 0x0808  # sizes after the data; names in UTF-8


def _facts_type() -> type[Struct]:
    """A Struct with every field of a trace that is not an array, without ``stop``: runs that were stopped are not saved."""
    hints = get_type_hints(Trace)
    chosen = [each for each in fields(Trace) if each.name not in (*_STORED_TYPES, "stop", "stored")]
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
            archive.writestr(_untimed_member(_MANIFEST), to_json(_manifest_of(trace, arrays)))
            for name, array in arrays.items():
                with archive.open(_untimed_member(f"{name}.npy"), "w", force_zip64=True) as member:
                    npy.write_array(member, np.ascontiguousarray(array, _STORED_TYPES[name]), allow_pickle=False)
    except TraceFileError:
        raise
    except GemmvizError as error:
        raise TraceFileError(f"the trace can't be written: {error.message}", file=str(path)) from None


def _untimed_member(name: str) -> zipfile.ZipInfo:
    """A member without a timestamp: the same trace gives the same bytes."""
    return zipfile.ZipInfo(name)


def arrays_of(trace: Trace) -> dict[str, AnyArray]:
    """The arrays of a trace by name."""
    arrays = {name: getattr(trace, name) for name in _STORED_TYPES}
    return {name: each for name, each in arrays.items() if each is not None and (name in _ALWAYS or each.size)}


def _manifest_of(trace: Trace, arrays: dict[str, AnyArray]) -> Manifest:
    stored = {name: StoredArray(_STORED_TYPES[name], array.shape) for name, array in arrays.items()}
    return Manifest(FORMAT, VERSION, trace.setup.kernel.text_hash, stored, facts_of(trace))


def write_to_folder(trace: Trace, folder: Path) -> None:
    """Writes a trace into a folder for ``read_from_folder`` in another process of this program, which is faster than a file."""
    arrays = arrays_of(trace)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array, _STORED_TYPES[name]), allow_pickle=False)
    (folder / _MANIFEST).write_bytes(to_json(_manifest_of(trace, arrays)))


def read_from_folder(folder: Path) -> Trace:
    """The trace written by ``write_to_folder``. Raises TraceFileError if it is incomplete."""
    try:
        manifest = from_json((folder / _MANIFEST).read_bytes(), Manifest)
        arrays = {name: _mapped(folder / f"{name}.npy") for name in manifest.arrays}
    except (OSError, ValueError) as error:
        raise TraceFileError(f"the trace did not arrive: {error}", file=str(folder)) from None
    return trace_of(manifest.trace, arrays)


def _mapped(path: Path) -> AnyArray:
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
        arrays = {name: _read_array(archive, name, manifest.arrays[name], str(path)) for name in manifest.arrays}
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
    allowed = {_MANIFEST, *(f"{name}.npy" for name in _STORED_TYPES)}
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
    if not manifest.arrays.keys() >= _NEEDED or not manifest.arrays.keys() <= _STORED_TYPES.keys():
        refuse(file, "its arrays are not those of a trace")
    if set(archive.namelist()) != {_MANIFEST, *(f"{name}.npy" for name in manifest.arrays)}:
        refuse(file, "its members are not those that it lists")


def _read_array(archive: zipfile.ZipFile, name: str, declared: StoredArray, file: str) -> AnyArray:
    """One member, after a check that its own header, the manifest and its size in the archive agree."""
    info = archive.getinfo(f"{name}.npy")
    try:
        with archive.open(info) as member:
            dtype, shape = _npy_header(member)
            header_bytes = member.tell()
            right = dtype == np.dtype(_STORED_TYPES[name]) and shape == declared.shape
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


def trace_of(facts: dict[str, Any], arrays: dict[str, AnyArray]) -> Trace:
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


# Checks of a trace read from a file: every value is in bounds and of the right kind, as in a trace of a real run


def refuse(file: str, why: str) -> NoReturn:
    """Raises a TraceFileError with the file and the reason."""
    raise TraceFileError(tr("this trace can't be opened: {why}", why=why), file=file) from None


def check_trace(trace: Trace, file: str) -> None:
    """Raises TraceFileError for contents that no run can produce, or beyond the bounds; the writer makes the same checks."""
    check_facts(trace, file)
    check_arrays(trace, file)


def check_facts(trace: Trace, file: str) -> None:
    """Checks every fact against its bounds before memory is allocated for it."""
    if trace.steps < 1:
        refuse(file, "it has no steps")
    if trace.setup.device not in device_names():
        refuse(file, f"gemmviz knows no device {trace.setup.device!r}")
    counts = {"arrays": len(trace.arrays), "sites": len(trace.sites), "loops": len(trace.loops), "notes": len(trace.notes)}
    for what, count in {"steps": trace.steps, **counts}.items():
        most: int = getattr(BOUNDS, what)
        if count > most:
            refuse(file, f"it has {count:,} {what}; the limit is {most:,}")
    texts = [trace.by, *trace.notes, *(array.name for array in trace.arrays)]
    texts += [text for site in trace.sites for text in (site.text, site.instruction)]
    if max(map(len, texts)) > BOUNDS.text:
        refuse(file, f"a name or text in it has more than {BOUNDS.text:,} characters")
    for array in trace.arrays:
        _check_array(array, trace, file)
    if min(*trace.launch.grid, *trace.launch.block) < 1 or trace.launch.threads_per_block > BOUNDS.threads_per_block:
        refuse(file, "no device can run its launch")
    try:
        trace.blocks.checked(trace.launch)
    except SettingError:
        refuse(file, "its blocks are not in its grid")
    if trace.space.thread_count > BOUNDS.threads:
        refuse(file, f"it has {trace.space.thread_count:,} threads; the limit is {BOUNDS.threads:,}")
    lines = trace.setup.kernel.text.count("\n") + 1
    for site in trace.sites:
        if not _is_sound_site(site, trace, lines):
            refuse(file, "one of its sites is invalid")
    if not all(-1 <= loop.outer < len(trace.loops) for loop in trace.loops):
        refuse(file, "one of its loops is invalid")


def _check_array(array: MemoryArray, trace: Trace, file: str) -> None:
    if array.element_type not in ELEMENT_TYPES or not all(0 < extent <= BOUNDS.extent for extent in array.shape):
        refuse(file, f"its array {array.name!r} is invalid")
    if array.space == "shared" and math.prod(array.shape) * array.itemsize > BOUNDS.shared_bytes:
        refuse(file, f"its array {array.name!r} is larger than shared memory")
    problem = trace.setup.problem
    is_open = array.name in problem.formulas  # its shape depends on the kernel's parameters
    if array.space == "global" and not is_open and problem.shapes.get(array.name) != array.shape:
        refuse(file, "its matrices don't fit its problem")


def _is_sound_site(site: Site, trace: Trace, lines: int) -> bool:
    places = (site.place, *site.calls, *site.arms)
    return (
        all(_is_in_text(place, lines) for place in places)
        and len(site.operands) <= BOUNDS.operands
        and SITE_KINDS[site.kind].allows(site.operands)
        and all(0 <= n < len(trace.loops) for n in site.loops)
        and all(_is_sound_operand(operand, trace) for operand in site.operands)
    )


def _is_sound_operand(operand: Operand, trace: Trace) -> bool:
    layout = operand.layout
    return (
        0 <= operand.array < len(trace.arrays)
        and 0 < layout.lanes <= trace.rules.warp_size
        and 0 < len(layout.offsets) <= BOUNDS.offsets
        and len(layout.offsets) % layout.lanes == 0
        and all(0 <= offset < BOUNDS.offset for offset in layout.offsets)
        and (not operand.element_type or operand.element_type in ELEMENT_TYPES)
    )


def _is_in_text(place: Place, lines: int) -> bool:
    return 1 <= place.line <= place.end_line <= lines and all(1 <= at < 1 << 20 for at in (place.column, place.end_column))


def check_arrays(trace: Trace, file: str) -> None:
    """Rejects numbers that would index out of bounds or draw a wrong picture."""
    steps = len(trace.site)
    if steps and (trace.site.min() < 0 or trace.site.max() >= len(trace.sites)):
        refuse(file, "it refers to sites that it doesn't have")
    rows = int(trace.row[-1])
    shapes_fit = (
        trace.epoch.shape == (steps,)
        and trace.visits.shape[0] == steps
        and trace.visits.shape[1] >= max((len(site.loops) for site in trace.sites), default=0)
        and trace.element.shape == (rows, trace.space.thread_count)
        and (trace.value is None or trace.value.shape == trace.element.shape)
        and trace.origin.shape == trace.origin_array.shape
        and (len(trace.origin) == 0 or trace.origin.shape == (len(trace.origin_step), trace.space.thread_count))
        and len(trace.origin) == len(trace.origin_step)
    )
    if not shapes_fit:
        refuse(file, "its arrays don't fit each other")
    if steps and (trace.visits.min(initial=0) < -1 or trace.visits.max(initial=0) > BOUNDS.trips):
        refuse(file, "its loops make too many trips")
    for touches in trace.touches:
        elements = trace.element[touches.rows]
        last = trace.arrays[touches.operand.array].size - 1
        beyond = elements.size and int(elements.max()) + touches.operand.layout.farthest > last
        if elements.size and (elements.min() < -1 or (beyond and _reaches_beyond(trace, touches, elements, last))):
            refuse(file, "it refers to elements that its arrays don't have")
    for number, site in enumerate(trace.sites):
        arrived = trace.element[trace.row[:-1][trace.site == number]]
        most = 1 if site.kind == "branch" else NUMBERED_BARRIERS - 1 if site.kind in ("barrier", "arrive") else 0
        if site.operand(0) is None and arrived.size and (arrived.min() < -1 or arrived.max() > most):
            refuse(file, "it refers to elements that its arrays don't have")
    _check_completion(trace, file)
    _check_origins(trace, file)


def _reaches_beyond(trace: Trace, touches: Touches, elements: Ints, last: int) -> bool:
    """Whether any lane's own last element lies beyond the array."""
    return bool((trace.spread(touches.operand, elements.astype(np.int64), slice(None)) > last).any())


def _check_completion(trace: Trace, file: str) -> None:
    """Checks that asynchronous steps complete at a later wait or never, all others at once."""
    is_async = np.array([site.is_async for site in trace.sites])[trace.site]
    steps, completes = np.arange(trace.steps), trace.completes
    if len(completes) == 0 and not is_async.any():
        return
    if completes.shape != steps.shape:
        refuse(file, "its arrays don't fit each other")
    waits = np.append([site.kind == "wait" for site in trace.sites], True)[np.append(trace.site, len(trace.sites))]
    later = (completes > steps) & (completes <= trace.steps) & waits[np.clip(completes, 0, trace.steps)]
    if not np.where(is_async, later, completes == steps).all():
        refuse(file, "it completes a step where nothing waits for it")


def _check_origins(trace: Trace, file: str) -> None:
    """Checks that origins belong to stores into shared memory and refer to existing elements."""
    steps = trace.origin_step
    if len(steps) and (steps.min() < 0 or steps.max() >= trace.steps or (np.diff(steps) < 0).any()):
        refuse(file, "it refers to steps that it doesn't have")
    for step in np.unique(steps).tolist():
        stores = [o for o in trace.site_of(step).accesses("write") if trace.arrays[o.array].space == "shared"]
        if not stores or (steps == step).sum() > sum(operand.width for operand in stores):
            refuse(file, "it has an origin for a value that was not stored in a tile")
    matrices = [array.size for array in trace.arrays if array.space == "global"]
    if trace.origin.size:
        named = trace.origin_array >= 0
        if trace.origin_array.min() < CONSTANT or trace.origin_array.max() >= len(matrices):
            refuse(file, "it refers to arrays that it doesn't have")
        sizes = np.array(matrices)[np.where(named, trace.origin_array, 0)]
        if (named & ((trace.origin < 0) | (trace.origin >= sizes))).any():
            refuse(file, "it refers to elements that its arrays don't have")
