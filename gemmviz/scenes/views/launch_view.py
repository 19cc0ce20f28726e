"""A launch: the line with its two dim3, the grid of blocks that grows from one and the block of threads from the other. A grid
that is longer than the device allows is cut into strips.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.model.cases import LaunchCase
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.translation import grouped, many, marked, sized, spaced, tr
from gemmviz.scenes.kit.layout import (
    BOLD,
    CELL_FILL,
    FINE,
    REST,
    ROW_PITCH,
    Box,
    beside,
    cell_squares,
    cells_in,
    fits_cells,
    write,
)
from gemmviz.scenes.kit.primitives import Lines, Primitive, Rects, Scene, Squares, boxes
from gemmviz.scenes.kit.scale import strips_motion, strips_of, strips_still
from gemmviz.scenes.kit.theme import Style
from gemmviz.scenes.kit.view import View, ViewOptions, eased_from, eased_in_turn, message, titled

_MOST_BLOCKS_DRAWN = 64  # blocks along an axis that are drawn
_LARGEST_BLOCK = 124
_BEFORE_VALUE = 30  # from a line of code to what its formulas come to
_GROWN = 0.6  # when the block of threads begins to grow


class _Plan(NamedTuple):
    """The places of a launch: a box for each of its lines of ``code``; the table of the grid and that of one block, and the
    ``rooms`` in which they are.
    """

    code: list[Box]
    grid: Box
    block: Box
    rooms: list[Box]

    @classmethod
    def of(cls, launch: Launch, options: ViewOptions) -> "_Plan":
        pitch = ROW_PITCH * options.theme.type.caption
        *code, _, below = options.room(120, 34).rows(pitch, pitch, pitch, 62, REST)
        rooms = below.columns(REST, REST, gap=100)
        tables = (
            room.tiled(down, across, _LARGEST_BLOCK)
            for room, (across, down, _) in zip(rooms, (_shown_blocks(launch.grid), launch.block), strict=True)
        )
        grid, block = tables
        return cls(code, grid, block, rooms)


def launch_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the lines of the launch, and the names of grid and block. Both are drawn by ``launch_motion``."""
    title, launch = tr("The launch of {what}", what=case.what), case.launch
    if launch is None:
        strips = None if case.requested is None else strips_of(case.requested, case.device)
        said: list[Primitive] = [message(case.refusal, options)]
        pieces = said if strips is None else strips_still(case, strips, options)
        return titled(pieces, title, case.refusal if strips is not None else case.device.name, options)
    plan, theme = _Plan.of(launch, options), options.theme
    cut = tr(" (the first ones are shown)") if _shown_blocks(launch.grid) != launch.grid else ""
    grid = tr(
        "grid: {extents} = {blocks}{cut}", extents=_product_text(launch.grid), blocks=many(launch.block_count, "block"), cut=cut
    )
    block = tr(
        "each block: {extents} = {threads}",
        extents=_product_text(launch.block),
        threads=sized(launch.threads_per_block, "thread"),
    )
    heads = [
        beside(f"{key}-name", room, "top", text, theme.strong, 16)
        for key, room, text in zip(("grid", "block"), plan.rooms, (grid, block), strict=True)
    ]
    note = tr("{block_count} threads in all", block_count=spaced(launch.block_count * launch.threads_per_block))
    return titled([*_code(case.setup.kernel, launch, plan, options), *heads], title, note, options)


def launch_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the blocks on their way out of the grid's line, and one block that grows out of its cell."""
    if case.launch is None:
        strips = None if case.requested is None else strips_of(case.requested, case.device)
        return () if strips is None else tuple(strips_motion(strips, options))
    plan = _Plan.of(case.launch, options)
    threads = _growing_block(case, case.launch, plan, options)
    return (*threads[:1], _flying_blocks(case.launch, plan, options), *threads[1:])  # the ways lie below the other blocks


def _shown_blocks(grid: tuple[int, int, int]) -> tuple[int, int, int]:
    return min(grid[0], _MOST_BLOCKS_DRAWN), min(grid[1], _MOST_BLOCKS_DRAWN), 1


def _product_text(extents: tuple[int, int, int]) -> str:
    x, y, z = extents
    return f"{grouped(x)} × {grouped(y)}" + (f" × {z}" if z > 1 else "")


def _launch_lines(kernel: KernelSpec, launch: Launch, style: Style, room: float) -> tuple[tuple[str, str], ...]:
    """Return the lines of the launch, each with what its formulas come to; formulas that are too long as numbers at once."""
    shared = f", {launch.shared_bytes}" if launch.shared_bytes else ""
    lines = []
    for name, formulas, extents in (("dimGrid", kernel.grid, launch.grid), ("dimBlock", kernel.block, launch.block)):
        numbers = ", ".join(map(str, extents[: len(formulas)]))
        line, value = f"dim3 {name}({', '.join(formulas)});", f"({numbers})"
        fits = style.width(f"{line} = {value}") + _BEFORE_VALUE <= room
        lines.append((line, value) if fits else (f"dim3 {name}{value};", ""))
    return (*lines, (f"{kernel.function}<<<dimGrid, dimBlock{shared}>>>({', '.join(kernel.args)});", ""))


def _code(kernel: KernelSpec, launch: Launch, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the lines of the launch: as large as captions if they fit, else as code."""
    theme, room, pieces = options.theme, plan.code[0].width, list[Primitive]()
    style = Style(theme.type.code, theme.text, "mono")
    lines = _launch_lines(kernel, launch, style, room)
    larger = style.sized(theme.type.caption)
    if max(larger.width(f"{line} = {value}") for line, value in lines) + _BEFORE_VALUE <= room:
        style = larger
    for place, ((line, value), box) in enumerate(zip(lines, plan.code, strict=True)):
        pieces.append(write(f"code-{place}", box, line, style))
        if value:
            after = box.trimmed(left=style.width(line) + _BEFORE_VALUE)
            pieces.append(write(f"code-{place}-value", after, f"= {value}", style.inked(theme.chosen)))
    return pieces


def _flying_blocks(launch: Launch, plan: _Plan, options: ViewOptions) -> Squares:
    """Draw the blocks of the grid, flying one after another from its line to their places, with (x, y) where that fits."""
    theme, (across, down, _), cell = options.theme, _shown_blocks(launch.grid), plan.grid.width / _shown_blocks(launch.grid)[0]
    number = np.arange(across * down)
    share = eased_in_turn(options.passed / _GROWN, number, len(number))[:, None]
    end = cell_squares(plan.grid, across, number, CELL_FILL)
    start = np.array([[plan.code[0].x + 180, plan.code[0].y, 12]])
    there = share[:, 0] > 0
    texts = np.array([f"({n % across}, {n // across})" for n in number[there].tolist()])
    fits = options.passed >= _GROWN and fits_cells(texts, theme.type.least, cell, cell)
    now, fill, ink = (start + (end - start) * share)[there], np.zeros(int(there.sum()), np.uint8), theme.ink_on(theme.load)
    labels, size = (texts, theme.type.least) if fits else (None, 0)
    return Squares("blocks", now, fill, (theme.load,), (ink,), labels, size, theme.background)


def _growing_block(case: LaunchCase, launch: Launch, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw block (0, 0) as it grows from its cell of the grid into a block of threads, coloured by warp; first its ways."""
    share = eased_from(options.passed, _GROWN, 1 - _GROWN)
    if share <= 0:
        return []
    theme, (dx, dy, _), side = options.theme, launch.block, CELL_FILL * plan.grid.width / _shown_blocks(launch.grid)[0]
    start = Box(plan.grid.x, plan.grid.y, side, side)
    box = start.towards(plan.block, share)
    number = np.arange(dx * dy).reshape(dy, dx)
    fill = (number // case.device.warp_size % len(theme.warps)).astype(np.uint8)
    texts = np.array([[f"({n % dx}, {n // dx})" for n in row] for row in number.tolist()])
    inks = tuple(theme.ink_on(each) for each in theme.warps)
    ways = boxes((*start.at(1, 0), *box.at(0, 0)), (*start.at(1, 1), *box.at(0, 1)))
    size = theme.type.least if share >= 1 else 0
    return [
        Lines("ways", ways, theme.faint, FINE, dashed=True),
        cells_in("threads", box, fill, theme.warps, theme.background, inks, "threads", texts, size),
        Rects("block-edge", boxes(start), None, theme.text, BOLD),
    ]


VIEW = View(marked("Launch: grid and block"), LaunchCase, launch_scene, draw_motion=launch_motion, order=403)
