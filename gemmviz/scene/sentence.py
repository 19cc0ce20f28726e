"""Says in words what a step does and what it costs, every number from the trace."""

from gemmviz.analysis.counts import Counts
from gemmviz.analysis.replay import Replay
from gemmviz.model.trace import INTERPRETER, MemoryArray
from gemmviz.model.words import many


def step_title(replay: Replay, step: int) -> str:
    """Where in the run a step is: "step 12 of 153, phase 1 of 4"; what part of it was traced; and by which GPU, if by one."""
    trace = replay.trace
    phase = int(trace.phase[step])
    of = f" of {replay.phases}" if trace.phases is None else ""
    where = f"phase {phase + 1}{of}" if 0 <= phase < replay.phases else ("before" if phase < 0 else "after")
    where += "" if where.startswith("phase") else " the phases"
    found = [f"step {step + 1} of {trace.steps}, " + (where if replay.phases else "no phases"), *left_out(replay)]
    if trace.executor != INTERPRETER:
        found.append(trace.executor.partition(",")[0])
    return " · ".join(found)


def left_out(replay: Replay) -> list[str]:
    """What of the launch the trace holds, where that is not all of it."""
    trace, found = replay.trace, []
    if trace.window.blocks < trace.launch.blocks:
        found.append(f"{trace.window.blocks} of {trace.launch.blocks} blocks")
    if trace.phases is not None:
        first, last = trace.phases[0] + 1, replay.phases
        found.append(f"only phase {last} traced" if first == last else f"only phases {first} to {last} traced")
    return found


def action(replay: Replay, step: int) -> str:
    """What the chosen threads do at a step: "16 threads load A into registers"."""
    site, array = replay.trace.site_of(step), replay.trace.array_of(step)
    touched = replay.elements(step)
    active = int((touched >= 0).sum())
    if replay.thread is not None:
        who, plural = "", "s"
        if not active:
            return "takes no part in this step"
    else:
        who, plural = f"{many(active, 'thread')} ", "s" if active == 1 else ""
    if array is None:
        return who + (f"wait{plural} for the warp" if site.kind == "warp barrier" else f"wait{plural} at the barrier")
    width = f", {site.width} elements each" if site.width > 1 else ""
    verb = ("read" if site.kind == "load" else "write") + plural
    what = array.name if replay.thread is None else element_text(array, int(touched[touched >= 0][0]))
    where = "" if array.space == "global" else " (shared memory)"
    return f"{who}{verb} {what}{where}{width}, line {site.place.line}"


def element_text(array: MemoryArray, element: int) -> str:
    """An element by its indices: "A[3, 5]"."""
    if len(array.shape) == 1:
        return f"{array.name}[{element}]"
    row, column = array.row_column(element)  # type: ignore[arg-type]
    return f"{array.name}[{int(row)}, {int(column)}]"


def cost(replay: Replay, step: int) -> str:
    """What a step costs the chosen threads, and the least that it could."""
    array = replay.trace.array_of(step)
    found = replay.cost(step)
    if replay.trace.stop is not None and step == replay.steps - 1:
        return f"then the run ends: {replay.trace.stop.sentence}"
    if array is None:
        return "no memory access"
    if not found.requests:
        return "no thread is active here"
    whose = "" if replay.thread is None else "its warp: "
    return whose + (global_cost(found) if array.space == "global" else shared_cost(found))


def global_cost(found: Counts) -> str:
    verb = "moves" if found.requests == 1 else "move"
    moved = f"{many(found.requests, 'request')} {verb} {many(found.sectors, 'sector')} of 32 bytes"
    lost = found.excessive_sectors
    return f"{moved}: {f'{lost} too many, {found.ideal_sectors} would do' if lost else 'none too many'}"


def shared_cost(found: Counts) -> str:
    conflicts = found.excessive_wavefronts
    tail = f"{conflicts} too many: bank conflicts" if conflicts else "no bank conflict"
    return f"{many(found.requests, 'instruction')}, {many(found.wavefronts, 'wavefront')}: {tail}"
