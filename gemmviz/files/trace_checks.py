"""Whether a trace read from a file is one that a kernel can have made: nothing out of bounds, nothing of the wrong kind."""

import math
from typing import NoReturn

import numpy as np

from gemmviz.model.errors import SettingError, TraceFileError
from gemmviz.model.trace import CONSTANT, Trace

_LARGEST_SHARED = 1 << 20
_DTYPES = {"bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float32", "float64"}


def refuse(file: str, why: str) -> NoReturn:
    """Raises the TraceFileError that names the file and the reason."""
    raise TraceFileError(f"this is no trace that can be opened: {why}", file=file) from None


def check_facts(trace: Trace, file: str) -> None:
    """Every fact must be of its kind and within its bounds before any memory is spent on it."""
    matrices = [array for array in trace.arrays if array.space == "global"]
    lines = trace.source.count("\n") + 1
    if not all(isinstance(note, str) for note in trace.notes):
        refuse(file, "its notes are no sentences")
    if trace.steps < 1:
        refuse(file, "it has no steps")
    for array in trace.arrays:
        extents_fit = all(isinstance(extent, int) and 0 < extent < 1 << 31 for extent in array.shape)
        if (
            array.space not in ("global", "shared")
            or array.dtype not in _DTYPES
            or not isinstance(array.name, str)
            or not isinstance(array.column_major, bool)
            or not extents_fit
        ):
            refuse(file, f"its array {array.name!r} is none that a kernel can have")
        if array.space == "shared" and math.prod(array.shape) * array.itemsize > _LARGEST_SHARED:
            refuse(file, f"its array {array.name!r} is larger than shared memory")
    if any(trace.settings.problem.shapes.get(array.name) != array.shape for array in matrices):
        refuse(file, "its matrices are not those of its problem")
    if trace.warp_size not in (32, 64) or min(*trace.launch.grid, *trace.launch.block) < 1:
        refuse(file, "its launch has nothing to run")
    try:
        trace.window.checked(trace.launch)
    except SettingError:
        refuse(file, "its blocks are not in its grid")
    for site in trace.sites:
        kinds = ("load", "store") if site.array >= 0 else ("barrier", "warp barrier")
        places_fit = all(
            1 <= place.line <= place.end_line <= lines
            and all(isinstance(at, int) and 1 <= at < 1 << 20 for at in (place.column, place.end_column))
            for place in (site.place, *site.calls)
        )
        if site.kind not in kinds or not isinstance(site.text, str) or site.width not in (1, 2, 3, 4) or not places_fit:
            refuse(file, "one of its sites is none that a kernel can have")
    if not all(loop.holds_barrier in (True, False) and -1 <= loop.outer < len(trace.loops) for loop in trace.loops):
        refuse(file, "one of its loops is none that a kernel can have")


def _check_origins(trace: Trace, file: str) -> None:
    """Origins belong to stores into shared memory and name elements that there are."""
    steps = trace.origin_step
    if len(steps) and (steps.min() < 0 or steps.max() >= trace.steps or (np.diff(steps) < 0).any()):
        refuse(file, "it names steps that it doesn't have")
    for step in np.unique(steps).tolist():
        array = trace.array_of(step)
        if array is None or array.space != "shared" or trace.site_of(step).kind != "store":
            refuse(file, "it tells the origin of what was not stored in a tile")
    matrices = [array.size for array in trace.arrays if array.space == "global"]
    if trace.origin.size:
        named = trace.origin_array >= 0
        if trace.origin_array.min() < CONSTANT or trace.origin_array.max() >= len(matrices):
            refuse(file, "it names arrays that it doesn't have")
        sizes = np.array(matrices)[np.where(named, trace.origin_array, 0)]
        if (named & ((trace.origin < 0) | (trace.origin >= sizes))).any():
            refuse(file, "it names elements that its arrays don't have")


def check_arrays(trace: Trace, file: str) -> None:
    """Numbers that would send a reader out of bounds, or a picture to the wrong source, are refused."""
    steps, lanes = trace.element.shape
    shapes_fit = (
        trace.site.shape == trace.epoch.shape == (steps,)
        and trace.visits.shape[0] == steps
        and trace.visits.shape[1] >= max((len(site.loops) for site in trace.sites), default=0)
        and lanes == trace.space.lanes
        and (trace.value is None or trace.value.shape == (steps, lanes))
        and trace.origin.shape == trace.origin_array.shape
        and (len(trace.origin) == 0 or trace.origin.shape == (len(trace.origin_step), lanes))
        and len(trace.origin) == len(trace.origin_step)
    )
    if not shapes_fit:
        refuse(file, "its arrays don't fit each other")
    if steps and (trace.site.min() < 0 or trace.site.max() >= len(trace.sites)):
        refuse(file, "it names sites that it doesn't have")
    for number, site in enumerate(trace.sites):
        rows = trace.element[trace.site == number]
        if not -1 <= site.array < len(trace.arrays) or site.width < 1 or any(not 0 <= n < len(trace.loops) for n in site.loops):
            refuse(file, "it names arrays or loops that it doesn't have")
        last = 0 if site.is_barrier else trace.arrays[site.array].size - site.width
        if rows.size and (rows.min() < -1 or rows.max() > last):
            refuse(file, "it names elements that its arrays don't have")
    _check_origins(trace, file)
