"""Sentences about a step: what it does and what it costs, with numbers from the trace."""

from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.device import MemoryRules
from gemmviz.model.labels import PLAIN, LabelStyle
from gemmviz.model.sites import MemoryArray, Space
from gemmviz.model.trace import INTERPRETER
from gemmviz.model.words import many

_SYNCHRONISES = {
    "barrier": ("wait", "at the barrier"),
    "warp barrier": ("wait", "for the warp"),
    "wait": ("wait", "for asynchronous copies"),
    "fence": ("order", "memory accesses"),
}


def step_title(moment: Moment) -> str:
    """Return the position in the run: "step 12 of 153, phase 1 of 4", the traced part, and the GPU that recorded it."""
    trace, replay, phase = moment.trace, moment.replay, moment.phase
    of = f" of {replay.phases}" if trace.phases is None else ""
    where = f"phase {phase + 1}{of}" if 0 <= phase < replay.phases else ("before" if phase < 0 else "after")
    where += "" if where.startswith("phase") else " the phases"
    parts = [f"step {moment.step + 1} of {trace.steps}, " + (where if replay.phases else "no phases"), *left_out(replay)]
    if not trace.check.is_checked:
        parts.append("nothing is checked")
    if trace.by != INTERPRETER:
        parts.append(trace.by.partition(",")[0])
    return " · ".join(parts)


def no_access(moment: Moment, space: Space) -> str:
    """Return a sentence that the step does not access this memory, with the next step of the watched threads that does."""
    what = "shared memory" if space == "shared" else "global memory"
    arrays = moment.trace.arrays
    sites = [
        number for number, site in enumerate(moment.trace.sites)
        if any(arrays[operand.array].space == space for operand in site.operands)
    ]  # fmt: skip
    step = moment.replay.next_step(sites, moment.step, moment.scope)
    return f"Step {moment.step + 1} does not access {what}; " + ("no step does" if step is None else f"step {step + 1} does")


def left_out(replay: Replay) -> list[str]:
    """Return what part of the launch the trace holds; nothing if it holds all of it."""
    trace, parts = replay.trace, []
    if trace.blocks.count < trace.launch.block_count:
        parts.append(f"{trace.blocks.count} of {trace.launch.block_count} blocks")
    if trace.phases is not None:
        first, last = trace.phases[0] + 1, replay.phases
        parts.append(f"only phase {last} traced" if first == last else f"only phases {first} to {last} traced")
    return parts


def action(moment: Moment, labels: LabelStyle = PLAIN) -> str:
    """Return what the watched threads do: "16 threads read A, line 31"."""
    site, active = moment.site, int((moment.arrived >= 0).sum())
    alone = moment.focus.thread is not None
    if alone and not active:
        return "is inactive in this step"
    who = "" if alone else f"{many(active, 'thread')} "
    ending = "s" if alone or active == 1 else ""
    verb, rest = _SYNCHRONISES.get(site.kind, ("", ""))
    if verb:
        return f"{who}{verb}{ending} {rest}"
    parts = []
    for touched in moment.touched:
        array, operand = touched.array, touched.operand
        width = f", {operand.width} elements each" if operand.width > 1 else ""
        if alone and not len(touched.cells):
            continue
        what = element_text(array, int(touched.cells[0]), labels) if alone else array.name
        where = "" if array.space == "global" else " (shared memory)"
        done = "update" if site.is_atomic else operand.access
        parts.append(f"{done}{ending} {what}{where}{width}")
    accesses = " and ".join(parts)
    if site.kind == "matrix":
        accesses = f"multipl{'ies' if ending else 'y'} matrices" + (f": {accesses}" if parts else "")
    return f"{who}{accesses}{', to arrive later' if site.is_async else ''}, line {site.place.line}"


def element_text(array: MemoryArray, element: int, labels: LabelStyle = PLAIN) -> str:
    """Return an element with its indices: "A[3, 5]"."""
    if array.space == "shared":
        return f"{array.name}[{element}]" if len(array.shape) == 1 else PLAIN.element(array.name, *array.place(element))
    return labels.named(array, element)


def cost(moment: Moment) -> str:
    """Return the cost of the step for the watched threads, and the minimum."""
    stop = moment.trace.stop
    if stop is not None and moment.step == moment.replay.steps - 1:
        return f"then the run ends: {stop.sentence}"
    if not moment.touched:
        return "no memory access"
    counts = moment.cost
    if not counts.requests:
        return "no active thread"
    whose = "" if moment.focus.thread is None else "its warp: "
    spaces = {touched.array.space for touched in moment.touched}
    parts = [global_cost(counts, moment.trace.rules)] if "global" in spaces else []
    return whose + "; ".join([*parts, *([shared_cost(counts, moment.trace.rules)] if "shared" in spaces else [])])


def global_cost(counts: Counts, rules: MemoryRules) -> str:
    verb = "moves" if counts.requests == 1 else "move"
    moved = f"{many(counts.requests, 'request')} {verb} {many(counts.sectors, 'sector')} of {rules.sector_bytes} bytes"
    lost = counts.excessive_sectors
    return f"{moved}: {f'{counts.ideal_sectors} needed, {lost} excess' if lost else 'no excess'}"


def shared_cost(counts: Counts, rules: MemoryRules) -> str:
    """Return the cost in shared memory. It is counted per instruction if a warp's lanes are served together."""
    what = "instruction" if rules.request_lanes == rules.warp_size else "request"
    conflicts = counts.excessive_wavefronts
    tail = f"{conflicts} excess (bank conflicts)" if conflicts else "no bank conflicts"
    return f"{many(counts.requests, what)}, {many(counts.wavefronts, 'wavefront')}: {tail}"
