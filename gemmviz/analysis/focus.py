"""Whose accesses are looked at."""

from dataclasses import dataclass, replace

from gemmviz.model.kernel import Launch
from gemmviz.model.lanes import Triple
from gemmviz.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Focus:
    """One block, one of its warps, one of its threads (numbered within the block) or, with ``everyone``, all traced blocks.

    Shared tiles are those of ``block`` in any case.
    """

    block: Triple = (0, 0, 0)
    warp: int | None = None
    thread: int | None = None
    everyone: bool = False

    def within(self, trace: Trace) -> "Focus":
        """The same as far as the trace holds it: a block outside its window gives way to the window's first."""
        window = trace.window
        ranges = (window.x, window.y, window.z)
        inside = all(start <= at < stop for at, (start, stop) in zip(self.block, ranges, strict=True))
        thread = self.thread if self.thread is not None and self.thread < trace.space.threads else None
        warp = self.warp if self.warp is not None and self.warp < trace.space.warps else None
        if thread is not None:
            warp = thread // trace.warp_size
        if self.everyone:
            warp = thread = None
        return replace(self, block=self.block if inside else (window.x[0], window.y[0], window.z[0]), warp=warp, thread=thread)


def focus_text(focus: Focus, trace: Trace) -> str:
    """Who is looked at, in words: "block (1, 0), warp 2"."""
    block = f"block ({focus.block[0]}, {focus.block[1]}" + (f", {focus.block[2]})" if trace.launch.grid[2] > 1 else ")")
    if focus.everyone:
        whole = trace.window.blocks == trace.launch.blocks
        return f"all {trace.launch.blocks} blocks" if whole else f"{trace.window.blocks} of {trace.launch.blocks} blocks"
    if focus.thread is not None:
        return f"{block}, thread {thread_text(focus.thread, trace)}"
    return block if focus.warp is None else f"{block}, warp {focus.warp}"


def thread_place(thread: int, launch: Launch) -> Triple:
    """The threadIdx of a thread by its number in the block."""
    dx, dy, _ = launch.block
    return thread % dx, thread // dx % dy, thread // (dx * dy)


def thread_text(thread: int, trace: Trace) -> str:
    """The threadIdx in words: "(3, 1)"."""
    _, dy, dz = trace.launch.block
    x, y, z = thread_place(thread, trace.launch)
    return f"({x}, {y}, {z})" if dz > 1 else f"({x}, {y})" if dy > 1 else f"({x})"
