"""Sentences about a step: what it does and what it costs, with numbers from the trace."""

from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.divergence import parted_warps
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.device import MemoryRules
from gemmviz.model.labels import PLAIN, LabelStyle
from gemmviz.model.sites import Space
from gemmviz.model.translation import counted, tr, trn
from gemmviz.model.words import many
from gemmviz.scenes.kit.beat import stages_of_run


def step_title(moment: Moment, labels: LabelStyle = PLAIN) -> str:
    """Return the position in the run: "step 12 of 153, phase 1 of 4", the traced part, and the GPU that recorded it."""
    return in_one_line(step_parts(moment, labels))


def step_parts(moment: Moment, labels: LabelStyle) -> list[list[str]]:
    """Return the parts of ``step_title``, each with the pieces that belong together."""
    trace = moment.trace
    parts = [[step_of_steps(moment), *stages_of_run(moment, labels)], *([each] for each in left_out(moment.replay))]
    if not trace.check.is_checked:
        parts.append([tr("nothing is checked")])
    return [*parts, [trace.recorded_on]] if trace.recorded_on else parts


def in_one_line(parts: list[list[str]]) -> str:
    """Return parts of several pieces as a text."""
    return " · ".join(", ".join(pieces) for pieces in parts)


def step_of_steps(moment: Moment) -> str:
    return tr("step {step} of {steps}", step=moment.step + 1, steps=moment.trace.steps)


def no_access(moment: Moment, space: Space) -> str:
    """Return a sentence that the step does not access this memory."""
    what = tr("shared memory") if space == "shared" else tr("global memory")
    return tr("Step {step} does not access {what}", step=moment.step + 1, what=what) + (
        "" if next_access(moment, space) is not None else tr("; no step does")
    )


def next_access(moment: Moment, space: Space) -> int | None:
    """Return the next step of the watched threads that accesses this memory, None if no step does."""
    arrays = moment.trace.arrays
    sites = [
        number for number, site in enumerate(moment.trace.sites)
        if any(arrays[operand.array].space == space for operand in site.operands)
    ]  # fmt: skip
    return moment.replay.next_step(sites, moment.step, moment.scope)


def left_out(replay: Replay) -> list[str]:
    """Return what part of the launch the trace holds; nothing if it holds all of it."""
    trace, parts = replay.trace, []
    if trace.blocks.count < trace.launch.block_count:
        parts.append(tr("{count} of {block_count} blocks", count=trace.blocks.count, block_count=trace.launch.block_count))
    if trace.phases is not None:
        first, last = trace.phases[0] + 1, replay.phases
        parts.append(
            tr("only phase {last} traced", last=last)
            if first == last
            else tr("only phases {first} to {last} traced", first=first, last=last)
        )
    return parts


def cost(moment: Moment) -> str:
    """Return the cost of the step for the watched threads, and the minimum."""
    stop = moment.trace.stop
    if stop is not None and moment.step == moment.replay.steps - 1:
        return tr("then the run ends: {sentence}", sentence=stop.sentence)
    if moment.site.kind == "branch":
        parted, warps = parted_warps(moment)
        values = {"parted": counted(parted), "warps": many(warps, "warp")}
        return tr("{parted} of {warps} part: their ways are executed one after the other", **values)
    if not moment.touched:
        return tr("no memory access")
    counts = moment.cost
    if not counts.requests:
        return tr("no active thread")
    whose = "" if moment.focus.thread is None else tr("its warp: ")
    spaces = {touched.array.space for touched in moment.touched}
    parts = [global_cost(counts, moment.trace.rules)] if "global" in spaces else []
    matrices = moment.site.rows if moment.site.kind == "matrix" else 1
    return whose + "; ".join([*parts, *([shared_cost(counts, moment.trace.rules, matrices)] if "shared" in spaces else [])])


def global_cost(counts: Counts, rules: MemoryRules) -> str:
    requests, sectors = many(counts.requests, "request"), many(counts.sectors, "sector")
    moved = trn(
        "{requests} moves {sectors} of {bytes} bytes", "{requests} move {sectors} of {bytes} bytes", counts.requests,
        requests=requests, sectors=sectors, bytes=rules.sector_bytes,
    )  # fmt: skip
    lost = counts.excessive_sectors
    values = {"needed": counted(counts.ideal_sectors), "lost": counted(lost)}
    excess = tr("{needed} needed, {lost} excess", **values) if lost else counted(tr("no excess"))
    return f"{moved}: {excess}"


def shared_cost(counts: Counts, rules: MemoryRules, matrices: int = 1) -> str:
    """Return the cost in shared memory. It is counted per instruction, of so many ``matrices``, if a warp's lanes are served
    together.
    """
    is_whole, count = rules.request_lanes == rules.warp_size, counts.requests // matrices
    made = many(count, "instruction") if is_whole else many(count, "request")
    lost = counts.excessive_wavefronts
    tail = tr("{conflicts} excess (bank conflicts)", conflicts=counted(lost)) if lost else counted(tr("no bank conflicts"))
    return f"{made}, {many(counts.wavefronts, 'wavefront')}: {tail}"
