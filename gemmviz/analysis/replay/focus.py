"""The focus: the block, warp or thread whose accesses are shown."""

from msgspec import Struct

from gemmviz.model.kernel import Launch
from gemmviz.model.records import replace
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr
from gemmviz.model.words import all_blocks


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
        return nearest if inside else replace(nearest, block=(ranges[0][0], ranges[1][0], ranges[2][0]))

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
        return replace(self, block=(x, y, z), warp=warp, thread=thread)


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
    return (
        tr("block ({x}, {y}, {z})", x=block[0], y=block[1], z=block[2])
        if launch.grid[2] > 1
        else tr("block ({x}, {y})", x=block[0], y=block[1])
    )


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
