"""A launch: the line with its two dim3, the grid of blocks that grows from one and the block of threads from the other. A grid
that is longer than the device allows is cut into strips.
"""

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.cases import LaunchCase
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.model.words import many, sized, spaced
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, eased, eased_from, message, titled
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive, Rects, Scene, Squares, boxes
from gemmviz.scenes.kit.scale import strips_motion, strips_of, strips_still
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.view import View

_TOP, _LEADING, _HEAD = 112.0, 1.45, 62.0
_FILLED = 0.94  # of a cell of the grid: its block
_MOST = 64  # blocks along an axis that are drawn
_LARGEST = 124.0
_BEFORE_VALUE = 30.0  # from a line of code to what its formulas come to
_FLIGHT = 0.3  # share of the motion that one block takes
_GROWN = 0.6  # when the block of threads begins to grow


class _Plan(Struct, frozen=True):
    """The places of a launch: its lines of code from ``code`` on, the grid and one block, each with its cells' size."""

    launch: Launch
    code: float
    grid: Box
    of_grid: float
    block: Box
    of_block: float

    @classmethod
    def of(cls, launch: Launch, options: ViewOptions) -> "_Plan":
        code = _TOP + 8
        top = code + 3 * _LEADING * options.theme.type.caption + _HEAD
        found = []
        for room, (across, down, _) in zip(
            options.room(top, 34).grid(1, 2, 100), (_shown(launch.grid), launch.block), strict=True
        ):
            cell = min(room.width / across, room.height / down, _LARGEST)
            found.append((room._replace(width=across * cell, height=down * cell), cell))
        return cls(launch, code, *found[0], *found[1])


def launch_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the lines of the launch, and the names of grid and block. Both are drawn by ``launch_motion``."""
    title, launch = tr("The launch of {what}", what=case.what), case.launch
    if launch is None:
        strips = None if case.requested is None else strips_of(case.requested, case.device)
        said: list[Primitive] = [message(case.refusal, options)]
        pieces = said if strips is None else strips_still(case, strips, options)
        return titled(pieces, title, case.refusal if strips is not None else case.device.name, options)
    plan, theme = _Plan.of(launch, options), options.theme
    cut = tr(" (the first ones are shown)") if _shown(launch.grid) != launch.grid else ""
    grid = tr(
        "grid: {extents} = {blocks}{cut}", extents=_extents(launch.grid), blocks=many(launch.block_count, "block"), cut=cut
    )
    block = tr(
        "each block: {extents} = {threads}", extents=_extents(launch.block), threads=sized(launch.threads_per_block, "thread")
    )
    names = ((plan.grid.x, grid), (plan.block.x, block))
    y, size = plan.grid.y - 16, theme.type.words
    heads: list[Primitive] = [
        text_at(f"{key}-name", (x, y), text, size, theme.text, "start", "semibold")
        for key, (x, text) in zip(("grid", "block"), names, strict=True)
    ]
    note = tr("{block_count} threads in all", block_count=spaced(launch.block_count * launch.threads_per_block))
    return titled([*_code(case.setup.kernel, plan, options), *heads], title, note, options)


def launch_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the blocks on their way out of the grid's line, and one block that grows out of its cell."""
    if case.launch is None:
        strips = None if case.requested is None else strips_of(case.requested, case.device)
        return () if strips is None else tuple(strips_motion(strips, options))
    plan = _Plan.of(case.launch, options)
    moment = min(1.0, options.moment / ARRIVAL)
    threads = _threads(case, plan, moment, options)
    return (*threads[:1], *_blocks(plan, moment, options), *threads[1:])  # the ways lie below the other blocks


def _shown(grid: tuple[int, int, int]) -> tuple[int, int, int]:
    return min(grid[0], _MOST), min(grid[1], _MOST), 1


def _extents(extents: tuple[int, int, int]) -> str:
    x, y, z = extents
    return f"{grouped(x)} × {grouped(y)}" + (f" × {z}" if z > 1 else "")


def _lines(kernel: KernelSpec, launch: Launch, size: float, room: float) -> tuple[tuple[str, str], ...]:
    """Return the lines of the launch, each with what its formulas come to; formulas that are too long as numbers at once."""
    shared = f", {launch.shared_bytes}" if launch.shared_bytes else ""
    lines = []
    for name, formulas, extents in (("dimGrid", kernel.grid, launch.grid), ("dimBlock", kernel.block, launch.block)):
        numbers = ", ".join(map(str, extents[: len(formulas)]))
        line, value = f"dim3 {name}({', '.join(formulas)});", f"({numbers})"
        fits = text_width(f"{line} = {value}", size, "mono") + _BEFORE_VALUE <= room
        lines.append((line, value) if fits else (f"dim3 {name}{value};", ""))
    return (*lines, (f"{kernel.function}<<<dimGrid, dimBlock{shared}>>>({', '.join(kernel.args)});", ""))


def _code_size(kernel: KernelSpec, launch: Launch, options: ViewOptions) -> float:
    """Return the size of the lines: that of captions if they fit, else that of code."""
    sizes, room = options.theme.type, options.width - 2 * MARGIN
    lines = _lines(kernel, launch, sizes.code, room)
    longest = max(text_width(f"{line} = {value}", sizes.caption, "mono") for line, value in lines)
    return sizes.caption if longest + _BEFORE_VALUE <= room else sizes.code


def _code(kernel: KernelSpec, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    theme, size, pieces = options.theme, _code_size(kernel, plan.launch, options), list[Primitive]()
    room = options.width - 2 * MARGIN
    for place, (line, value) in enumerate(_lines(kernel, plan.launch, options.theme.type.code, room)):
        y = plan.code + (place + 0.8) * _LEADING * size
        text = fitted(line, size, room, "mono")
        pieces.append(text_at(f"code-{place}", (MARGIN, y), text, size, theme.text, "start", "mono"))
        at = MARGIN + text_width(text, size, "mono") + _BEFORE_VALUE
        if value:
            pieces.append(text_at(f"code-{place}-value", (at, y), f"= {value}", size, theme.chosen, "start", "mono"))
    return pieces


def _blocks(plan: _Plan, moment: float, options: ViewOptions) -> list[Primitive]:
    """Draw the blocks of the grid, flying one after another from its line to their places, with (x, y) where that fits."""
    theme, size = options.theme, options.theme.type.least
    across, down, _ = _shown(plan.launch.grid)
    number = np.arange(across * down)
    share = eased(np.clip((moment / _GROWN - number / len(number) * (1 - _FLIGHT)) / _FLIGHT, 0, 1))[:, None]
    end = _cells(plan.grid, number, across, plan.of_grid)
    start = np.array([[MARGIN + 180.0, plan.code, 12.0]])
    now = start + (end - start) * share
    fits = moment >= _GROWN and text_width(f"({across - 1}, {down - 1})", size) + 8 <= plan.of_grid
    there = share[:, 0] > 0
    fill, palette = np.zeros(int(there.sum()), np.uint8), (theme.load,)
    labels = np.array([f"({n % across}, {n // across})" for n in number[there].tolist()]) if fits else None
    ink = (theme.ink_on(theme.load),)
    return [Squares("blocks", now[there], fill, palette, ink, labels, size if fits else 0.0, theme.background)]


def _threads(case: LaunchCase, plan: _Plan, moment: float, options: ViewOptions) -> list[Primitive]:
    """Draw block (0, 0) as it grows from its cell of the grid into a block of threads, coloured by warp; first its ways."""
    share = eased_from(moment, _GROWN, 1 - _GROWN)
    if share <= 0:
        return []
    theme, (dx, dy, _) = options.theme, plan.launch.block
    start = Box(plan.grid.x, plan.grid.y, _FILLED * plan.of_grid, _FILLED * plan.of_grid)
    box = start.towards(plan.block, share)
    number = np.arange(dx * dy).reshape(dy, dx)
    fill = (number // case.device.warp_size % len(theme.warps)).astype(np.uint8)
    inks = tuple(theme.ink_on(each) for each in theme.warps)
    size = theme.type.least
    fits = share >= 1.0 and text_width(f"({dx - 1}, {dy - 1})", size) + 8 <= plan.of_block
    texts = np.array([[f"({n % dx}, {n // dx})" for n in row] for row in number.tolist()]) if fits else None
    ways = boxes((start.right, start.y, box.x, box.y), (start.right, start.bottom, box.x, box.bottom))
    return [
        Lines("ways", ways, theme.faint, 1.5, dashed=True),
        Cells("threads", box.x, box.y, box.width / dx, fill, theme.warps, inks, texts, size if fits else 0.0,
              theme.background, height=box.height / dy, meaning="threads"),
        Rects("block-edge", boxes(start), None, theme.text, 3.0),
    ]  # fmt: skip


def _cells(room: Box, number: Longs, across: int, cell: float) -> Floats:
    """Return the cells of a grid by number: x, y, side."""
    side = np.full(len(number), _FILLED * cell)
    return np.column_stack([room.x + number % across * cell, room.y + number // across * cell, side])


VIEW = View(marked("Launch: grid and block"), LaunchCase, launch_scene, draw_motion=launch_motion, order=40)
