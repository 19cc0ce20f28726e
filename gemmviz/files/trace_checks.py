"""Checks of a trace read from a file: every value is in bounds and of the right kind, as in a trace of a real run."""

import math
from typing import NoReturn

import numpy as np

from gemmviz.files.devices import device_names
from gemmviz.model.arrays import Ints
from gemmviz.model.element_types import ELEMENT_TYPES
from gemmviz.model.errors import Place, SettingError, TraceFileError
from gemmviz.model.sites import SITE_KINDS, MemoryArray, Operand, Site
from gemmviz.model.trace import BOUNDS, CONSTANT, Touches, Trace
from gemmviz.model.translation import tr


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
    texts = (trace.by, *trace.notes, *(array.name for array in trace.arrays), *(site.text for site in trace.sites))
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
        if not _is_sound(site, trace, lines):
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


def _is_sound(site: Site, trace: Trace, lines: int) -> bool:
    places = (site.place, *site.calls)
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
        if site.operand(0) is None and arrived.size and (arrived.min() < -1 or arrived.max() > 0):
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
        if not stores or (steps == step).sum() > stores[0].width:
            refuse(file, "it has an origin for a value that was not stored in a tile")
    matrices = [array.size for array in trace.arrays if array.space == "global"]
    if trace.origin.size:
        named = trace.origin_array >= 0
        if trace.origin_array.min() < CONSTANT or trace.origin_array.max() >= len(matrices):
            refuse(file, "it refers to arrays that it doesn't have")
        sizes = np.array(matrices)[np.where(named, trace.origin_array, 0)]
        if (named & ((trace.origin < 0) | (trace.origin >= sizes))).any():
            refuse(file, "it refers to elements that its arrays don't have")
