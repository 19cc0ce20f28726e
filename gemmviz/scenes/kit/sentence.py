"""Says in words what a step does and what it costs, every number from the trace."""

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
    """Where in the run a step is: "step 12 of 153, phase 1 of 4"; what part of it was traced; and by which GPU, if by one."""
    trace, replay, phase = moment.trace, moment.replay, moment.phase
    of = f" of {replay.phases}" if trace.phases is None else ""
    where = f"phase {phase + 1}{of}" if 0 <= phase < replay.phases else ("before" if phase < 0 else "after")
    where += "" if where.startswith("phase") else " the phases"
    found = [f"step {moment.step + 1} of {trace.steps}, " + (where if replay.phases else "no phases"), *left_out(replay)]
    if trace.by != INTERPRETER:
        found.append(trace.by.partition(",")[0])
    return " · ".join(found)


def no_access(moment: Moment, space: Space) -> str:
    """That a step does not touch this memory, and which one of the watched threads' does."""
    what = "shared memory" if space == "shared" else "global memory"
    arrays = moment.trace.arrays
    sites = [
        number for number, site in enumerate(moment.trace.sites)
        if any(arrays[operand.array].space == space for operand in site.operands)
    ]  # fmt: skip
    step = moment.replay.next_step(sites, moment.step, moment.scope)
    return f"Step {moment.step + 1} does not touch {what}: " + ("no step does" if step is None else f"step {step + 1} does")


def left_out(replay: Replay) -> list[str]:
    """What of the launch the trace holds, where that is not all of it."""
    trace, found = replay.trace, []
    if trace.blocks.count < trace.launch.block_count:
        found.append(f"{trace.blocks.count} of {trace.launch.block_count} blocks")
    if trace.phases is not None:
        first, last = trace.phases[0] + 1, replay.phases
        found.append(f"only phase {last} traced" if first == last else f"only phases {first} to {last} traced")
    return found


def action(moment: Moment, labels: LabelStyle = PLAIN) -> str:
    """What the chosen threads do: "16 threads read A, line 31"."""
    site, active = moment.site, int((moment.arrived >= 0).sum())
    alone = moment.focus.thread is not None
    if alone and not active:
        return "takes no part in this step"
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
    """An element by its indices: "A[3, 5]"."""
    if len(array.shape) == 1:
        return f"{array.name}[{element}]"
    return (labels if array.space == "global" else PLAIN).element(array.name, *array.place(element))


def cost(moment: Moment) -> str:
    """What a step costs the chosen threads, and the least that it could."""
    stop = moment.trace.stop
    if stop is not None and moment.step == moment.replay.steps - 1:
        return f"then the run ends: {stop.sentence}"
    if not moment.touched:
        return "no memory access"
    found = moment.cost
    if not found.requests:
        return "no thread is active here"
    whose = "" if moment.focus.thread is None else "its warp: "
    spaces = {touched.array.space for touched in moment.touched}
    parts = [global_cost(found, moment.trace.rules)] if "global" in spaces else []
    return whose + "; ".join([*parts, *([shared_cost(found, moment.trace.rules)] if "shared" in spaces else [])])


def global_cost(found: Counts, rules: MemoryRules) -> str:
    verb = "moves" if found.requests == 1 else "move"
    moved = f"{many(found.requests, 'request')} {verb} {many(found.sectors, 'sector')} of {rules.sector_bytes} bytes"
    lost = found.excessive_sectors
    return f"{moved}: {f'{lost} too many, {found.ideal_sectors} would do' if lost else 'none too many'}"


def shared_cost(found: Counts, rules: MemoryRules) -> str:
    """An instruction is one request, where a warp's lanes are not served in parts."""
    what = "instruction" if rules.request_lanes == rules.warp_size else "request"
    conflicts = found.excessive_wavefronts
    tail = f"{conflicts} too many: bank conflicts" if conflicts else "no bank conflict"
    return f"{many(found.requests, what)}, {many(found.wavefronts, 'wavefront')}: {tail}"
