"""One phase of one block: its loads fly from global memory into the tiles, its operations are counted up, and the blocks that
fit in an SM fill a gauge for each limit, with the loads that they can have pending.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.model.cases import BlockPhase
from gemmviz.model.translation import capital, counted, grouped, many, marked, size_text, sized, spaced, tr
from gemmviz.scenes.kit.hardware import named_memory
from gemmviz.scenes.kit.layout import (
    CELL_FILL,
    NEAR,
    REST,
    Box,
    Line,
    Share,
    beside,
    cell_squares,
    cells_in,
    lines_down,
    round_boxes,
)
from gemmviz.scenes.kit.primitives import Primitive, Scene, Squares
from gemmviz.scenes.kit.theme import HALF, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, titled

_LOADED, _DONE = 0.55, 0.9  # shares of the motion: all loads have arrived; all operations are done
_RESOURCES = {marked("shared memory"): marked("shared"), marked("threads"): marked("threads")}  # names and short names


class _Plan(NamedTuple):
    """Regions: the boxes of both memories, the tables of the tiles in them, and at the right the counts and the gauges."""

    memories: list[Box]
    sources: list[Box]
    tiles: list[Box]
    counts: Box
    gauges: list[Box]

    @classmethod
    def of(cls, case: BlockPhase, options: ViewOptions) -> "_Plan":
        left, right = options.room(124, 34).columns(Share(21), Share(29), gap=60)
        memories, count = left.grid(2, 1, down=40), len(case.tiles)
        inner = memories[0].trimmed(30, 54, 30, 18)
        cell = min(inner.height / max(rows for _, rows, _ in case.tiles),
                   (inner.width - 30 * (count - 1)) / sum(columns for _, _, columns in case.tiles))  # fmt: skip
        sizes = [size for _, _, columns in case.tiles for size in (REST, columns * cell)]
        tables = [
            [part._replace(height=rows * cell) for part, (_, rows, _) in zip(parts, case.tiles, strict=True)]
            for parts in (box.trimmed(top=46).columns(*sizes, REST)[1::2] for box in memories)
        ]
        counts, *gauges = right.rows(REST, *[52] * len(case.fitting), gap=72)
        return cls(memories, tables[0], tables[1], counts, gauges)


def phase_scene(case: BlockPhase, options: ViewOptions) -> Scene:
    """Draw both memories, the empty tiles, and the empty gauges. Loads and counts are drawn by ``phase_motion``."""
    plan, theme = _Plan.of(case, options), options.theme
    names = (tr("global memory"), tr("shared memory of the block: {shared_bytes}", shared_bytes=size_text(case.shared_bytes)))
    pieces = list[Primitive]()
    for number, (box, text) in enumerate(zip(plan.memories, names, strict=True)):
        pieces += named_memory(f"memory-{number}", box, text, theme)
    for (name, rows, columns), matrix, source, tile in zip(case.tiles, case.matrices, plan.sources, plan.tiles, strict=True):
        colours = {"source": mixed(theme.slate, theme.accent(matrix), HALF), "tile": theme.empty}
        for key, box in (("source", source), ("tile", tile)):
            fill = np.zeros((rows, columns), np.uint8)
            pieces.append(cells_in(f"{key}-{name}", box, fill, (colours[key],), theme.background))
    pieces += _empty_gauges(case, plan, options)
    note = tr("{device}; counted over the launch: every block and phase is alike", device=case.device.name)
    return titled(pieces, tr("One phase of one block: {what}", what=case.what), note, options)


def phase_motion(case: BlockPhase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the loads between both memories, and the counts reached so far."""
    plan, theme = _Plan.of(case, options), options.theme
    there, pieces = 0, list[Primitive]()
    for (name, rows, columns), matrix, source, tile in zip(case.tiles, case.matrices, plan.sources, plan.tiles, strict=True):
        number = np.arange(rows * columns)
        share = eased_in_turn(options.moment / _LOADED, number, len(number))[:, None]
        start, end = (cell_squares(box, columns, number, CELL_FILL) for box in (source, tile))
        begun, colour = share[:, 0] > 0, (theme.accent(matrix),)
        there += int((share >= 1).sum())
        now = (start + (end - start) * share)[begun]
        pieces.append(Squares(f"loads-{name}", now, np.zeros(len(now), np.uint8), colour, colour))
    done = float(np.clip((options.moment - _LOADED) / (_DONE - _LOADED), 0, 1))
    loads = case.loads * there // sum(rows * columns for _, rows, columns in case.tiles)
    return (*pieces, *_phase_counts(case, plan, loads, done, options), *_full_gauges(case, plan, options))


def _phase_counts(case: BlockPhase, plan: _Plan, loads: int, done: float, options: ViewOptions) -> list[Primitive]:
    """Draw the numbers reached so far: threads, loads with their bytes, operations."""
    theme, large = options.theme, options.theme.large.sized(1.25 * options.theme.type.sentence)
    size, each = case.shared_bytes * loads // max(1, case.loads), counted(f"{case.operations / case.loads:.4g}")
    lines = (
        (
            sized(case.threads, "thread"),
            tr(
                "a block of {width} × {height}, {loads} loads each",
                width=case.block[0],
                height=case.block[1],
                loads=counted(f"{case.loads / case.threads:.4g}"),
            ),
        ),
        (many(loads, "load"), tr("{size} bytes in shared memory", size=spaced(size))),
        (
            many(round(case.operations * done), "operation"),
            tr("multiplications and additions: {operations} for each load", operations=each),
        ),
    )
    said = [Line(f"count-{place}", text, *large, NEAR if place else 0) for place, (text, _) in enumerate(lines)]
    more = [Line(f"count-{place}-more", text, *theme.soft) for place, (_, text) in enumerate(lines)]
    return [*lines_down(plan.counts, [line for pair in zip(said, more, strict=True) for line in pair])]


def _empty_gauges(case: BlockPhase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the empty gauges, with what an SM has of each resource and a block takes of it."""
    theme, device, pieces = options.theme, case.device, list[Primitive]()
    amounts = (
        (size_text(device.shared_per_sm), size_text(case.taken_bytes)),
        (grouped(device.max_threads_per_sm), grouped(case.threads)),
    )
    for place, (name, (held, taken), box) in enumerate(zip(_RESOURCES, amounts, plan.gauges, strict=True)):
        room = box.trimmed(right=theme.strong.width(_pending(case, case.fitting[name])) + 30)
        short = tr("{held}, {taken} a {block}", held=held, taken=taken, block=tr(device.words["block"]))
        texts = (f"{capital(tr(name))}: {short}", f"{capital(tr(_RESOURCES[name]))}: {short}", capital(tr(name)))
        text = next((each for each in texts if theme.plain.width(each) <= room.width), texts[-1])
        pieces += [
            beside(f"gauge-{place}-name", room, "top", text, theme.plain),
            round_boxes(f"gauge-{place}", box, theme.empty),
        ]
    return pieces


def _full_gauges(case: BlockPhase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the blocks that have dropped into the gauges, and the loads that they can have pending."""
    theme, pieces = options.theme, list[Primitive]()
    shares = (case.taken_bytes / case.device.shared_per_sm, case.threads / case.device.max_threads_per_sm)
    for place, (name, share, box) in enumerate(zip(_RESOURCES, shares, plan.gauges, strict=True)):
        shown = round(case.fitting[name] * options.moment)
        if shown:
            parts = [each.inset(min(2, each.width / 4), 2) for each in box.columns(*[share * box.width] * shown)]
            pieces.append(round_boxes(f"gauge-{place}-blocks", parts, theme.load))
        pieces.append(beside(f"gauge-{place}-{name}", box, "top", _pending(case, shown), theme.strong, anchor="end"))
    return pieces


def _pending(case: BlockPhase, blocks: int) -> str:
    return tr("{blocks}: {loads} loads pending", blocks=many(blocks, "block"), loads=spaced(blocks * case.loads))


VIEW = View(marked("One phase of one block"), BlockPhase, phase_scene, phase_motion, order=405)
