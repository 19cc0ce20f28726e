"""The focus: the block, warp or thread whose accesses are shown."""

import numpy as np
from msgspec import Struct, structs

from gemmviz.model.arrays import Longs
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import UsageError, all_blocks, tr
from gemmviz.model.sites import Site
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace


class Focus(Struct, frozen=True):
    """One block, one of its warps, one of its threads (numbered within the block) or, with ``everyone``, all traced
    blocks.

    Shared tiles are always those of ``block``.
    """

    block: Triple = (0, 0, 0)
    warp: int | None = None
    thread: int | None = None
    everyone: bool = False

    def within(self, trace: Trace) -> "Focus":
        """The nearest focus that the trace contains: a block that was not traced becomes the first traced one."""
        ranges = trace.blocks.ranges
        inside = all(start <= at < stop for at, (start, stop) in zip(self.block, ranges, strict=True))
        nearest = self.within_launch(trace.launch, trace.rules.warp_size)
        return nearest if inside else structs.replace(nearest, block=(ranges[0][0], ranges[1][0], ranges[2][0]))

    def within_launch(self, launch: Launch, warp_size: int) -> "Focus":
        """The nearest focus that the launch contains: a block, warp or thread beyond the last one becomes the last one."""
        x, y, z = (max(0, min(at, extent - 1)) for at, extent in zip(self.block, launch.grid, strict=True))
        threads = launch.threads_per_block
        thread = self.thread if self.thread is not None and self.thread < threads else None
        warp = self.warp if self.warp is not None and self.warp * warp_size < threads else None
        if thread is not None:
            warp = thread // warp_size
        if self.everyone:
            warp = thread = None
        return structs.replace(self, block=(x, y, z), warp=warp, thread=thread)


class Scope(Struct, frozen=True):
    """The threads in a focus, as columns of a trace's record.

    ``threads``: the chosen threads; ``of_warps``: all threads of their warps, which pay for their requests; ``of_block``: the
    threads of the focus's block; ``in_block``: the chosen threads of that block.
    """

    focus: Focus
    threads: slice
    of_warps: slice
    of_block: slice
    in_block: slice

    @property
    def first_thread(self) -> int:
        """Number in its block of the first chosen thread."""
        return int(self.in_block.start - self.of_block.start)

    @property
    def block_number(self) -> int:
        """Number of the focus's block among the traced ones."""
        return int(self.of_block.start // (self.of_block.stop - self.of_block.start))


def scope_of(focus: Focus, trace: Trace) -> Scope:
    """The columns of a focus, limited to the traced threads."""
    focus, space = focus.within(trace), trace.space
    first, size = space.number(focus.block, (0, 0, 0)), space.warp_size
    of_block = slice(first, first + space.threads_per_block)
    of_warps = of_block
    if focus.everyone:
        of_warps = slice(0, space.thread_count)
    elif focus.warp is not None:
        start = of_block.start + focus.warp * size
        of_warps = slice(start, min(start + size, of_block.stop))
    threads = of_warps
    if focus.thread is not None:
        threads = slice(of_block.start + focus.thread, of_block.start + focus.thread + 1)
    return Scope(focus, threads, of_warps, of_block, of_block if focus.everyone else threads)


def focus_text(focus: Focus, trace: Trace) -> str:
    """The focus in words: "block (1, 0), warp 2"."""
    block = block_label(focus.block, trace.launch)
    if focus.everyone:
        blocks = trace.launch.block_count
        return (
            all_blocks(blocks)
            if trace.blocks.count == blocks
            else tr("{count} of {blocks} blocks", count=trace.blocks.count, blocks=blocks)
        )
    if focus.thread is not None:
        return tr("{block}, thread {thread}", block=block, thread=thread_text(focus.thread, trace.launch))
    return block if focus.warp is None else tr("{block}, warp {warp}", block=block, warp=focus.warp)


def block_label(block: Triple, launch: Launch) -> str:
    """A blockIdx in words: "block (1, 0)"."""
    return tr("block {place}", place=block_place(block, launch))


def block_place(block: Triple, launch: Launch) -> str:
    """A blockIdx: "(1, 0)"."""
    return f"({block[0]}, {block[1]}, {block[2]})" if launch.grid[2] > 1 else f"({block[0]}, {block[1]})"


def thread_place(thread: int, launch: Launch) -> Triple:
    """The threadIdx of a thread by its number in the block."""
    dx, dy, _ = launch.block
    return thread % dx, thread // dx % dy, thread // (dx * dy)


def thread_number(place: Triple, launch: Launch) -> int:
    """The number in the block of a threadIdx; x is fastest."""
    dx, dy, _ = launch.block
    return place[0] + place[1] * dx + place[2] * dx * dy


def thread_text(thread: int, launch: Launch) -> str:
    """The threadIdx of a thread in words: "(3, 1)"."""
    _, dy, dz = launch.block
    x, y, z = thread_place(thread, launch)
    return f"({x}, {y}, {z})" if dz > 1 else f"({x}, {y})" if dy > 1 else f"({x})"


# A step described by what happens there instead of by its number, so that it can be found again in another run.


class Position(Struct, frozen=True):
    """A step with a description: the site's text and line, its accesses to arrays, its phase and the trips around it.

    Within one run, ``step`` alone identifies it. ``share``: the part of the run that has passed, 0 to 1. Raises UsageError for
    values that no run has.
    """

    step: int = 0
    text: str = ""
    line: int = 0
    action: str = ""
    phase: int = -1
    visits: tuple[int, ...] = ()
    share: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.step, self.line, self.phase, *self.visits)
        if not 0.0 <= self.share <= 1.0 or any(abs(number) >= 1 << 31 for number in numbers):
            raise UsageError(tr("no run has such a step"), remedy=tr("save the view again"))


def position_of(trace: Trace, step: int) -> Position:
    """The position of ``step``."""
    site = trace.site_of(step)
    visits = tuple(int(trip) for trip in trace.visits[step, : len(site.loops)])
    return Position(
        step, site.text, site.place.line, _act_of(trace, site), int(trace.phase[step]), visits, step / max(1, trace.steps - 1)
    )


def site_position(site: Site) -> Position:
    """The first step of a site, in any trace of its kernel."""
    return Position(text=site.text, line=site.place.line, phase=0, visits=(0,) * len(site.loops))


def step_at(trace: Trace, position: Position) -> int:
    """The step of a trace that matches a position best: the same site (else one with the same accesses), in the same or the
    nearest phase and trips; without such a site, the step at the same share of the run.
    """
    step = position.step
    if 0 <= step < trace.steps and position_of(trace, step) == position:
        return step
    sites = _sites_like(trace, position)
    candidates = np.flatnonzero(np.isin(trace.site, sites))
    if not len(candidates):
        return round(position.share * (trace.steps - 1)) if position.text else max(0, min(step, trace.steps - 1))
    return _nearest(trace, candidates, position)


def _sites_like(trace: Trace, position: Position) -> list[int]:
    """The sites that are the same, else those with the same text, else those with the same accesses."""
    sites = list(enumerate(trace.sites))
    for same in (
        lambda site: (site.text, site.place.line) == (position.text, position.line),
        lambda site: site.text == position.text,
        lambda site: _act_of(trace, site) == position.action,
    ):
        alike = [number for number, site in sites if same(site)]
        if alike:
            return alike
    return []


_ACCESS_KINDS = ("load", "store", "copy")  # kinds that are described by their accesses alone


def _act_of(trace: Trace, site: Site) -> str:
    """Description of a site's accesses: "read A", or "barrier"."""
    accesses = ", ".join(f"{operand.access} {trace.arrays[operand.array].name}" for operand in site.operands)
    return accesses if site.kind in _ACCESS_KINDS else f"{site.kind} {accesses}".strip()


def _nearest(trace: Trace, candidates: Longs, position: Position) -> int:
    """The first of the steps that are nearest in phases, then in the trips of the loops, outermost first. Loops are matched
    from the innermost one outwards; a loop that a site lacks doesn't count.
    """
    away = np.abs(trace.phase[candidates] - position.phase)
    candidates = candidates[away == away.min()]
    visits = np.array(position.visits, np.int64)
    depths = np.array([len(site.loops) for site in trace.sites], np.int64)[trace.site[candidates]]
    for place in range(len(visits)):
        column = depths - (len(visits) - place)
        has = np.flatnonzero(column >= 0)
        away = np.zeros(len(candidates), np.int64)
        away[has] = np.abs(trace.visits[candidates[has], column[has]] - visits[place])
        nearest = away == away.min()
        candidates, depths = candidates[nearest], depths[nearest]
    return int(candidates[0])


def focus_inside(focus: Focus, trace: Trace) -> Focus:
    """The focus with its warp and thread resolved. Raises UsageError if the trace doesn't contain it."""
    inside = focus.within(trace)
    is_there = all(number is None or number >= 0 for number in (focus.warp, focus.thread))
    if not is_there or (inside.block, inside.thread) != (focus.block, focus.thread) or focus.warp not in (None, inside.warp):
        warp = "" if focus.warp is None else tr(", warp {warp}", warp=focus.warp)
        thread = "" if focus.thread is None else tr(", thread {thread}", thread=focus.thread)
        x, y, _ = focus.block
        raise UsageError(tr(
            "block {x},{y}{warp}{thread} is not in the trace (blocks {blocks})",
            x=x, y=y, warp=warp, thread=thread, blocks=trace.blocks,
        ))  # fmt: skip
    return inside
