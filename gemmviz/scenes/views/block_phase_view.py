"""One phase of one block: its loads fly from global memory into the tiles, its operations are counted up, and the blocks that
fit in an SM fill a gauge for each limit, with the loads that they can have pending.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.cases import BlockPhase
from gemmviz.model.translation import counted, grouped, marked, tr
from gemmviz.model.words import capital, many, size_text, sized, spaced
from gemmviz.scenes.kit.frame import ViewOptions, eased, titled
from gemmviz.scenes.kit.layout import REST, Box, Share, text_at
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, Scene, Squares, boxes
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View

_TOP, _HEAD, _GAP = 124.0, 40.0, 40.0
_LEFT = 0.42  # of the width: the loads
_FLIGHT, _LOADED = 0.3, 0.55  # shares of the motion: of one load; after which all have arrived
_BAR = 52.0


class _Plan(NamedTuple):
    """Regions: ``cell`` of a tile, its upper left corners in global and in shared memory, and the numbers at the right."""

    cell: float
    sources: tuple[tuple[float, float], ...]
    tiles: tuple[tuple[float, float], ...]
    above: Box
    below: Box
    numbers: Box

    @classmethod
    def of(cls, case: BlockPhase, options: ViewOptions) -> "_Plan":
        room = options.room(_TOP, 34)
        left, right = room.columns(Share(_LEFT), Share(1.0 - _LEFT))
        above, below = left.grid(2, 1, down=_GAP)
        rows, columns = max(rows for _, rows, _ in case.tiles), sum(columns for _, _, columns in case.tiles)
        count = len(case.tiles) + 1
        cell = min((above.height - _HEAD - 18) / rows, (left.width - 30 * count) / columns)
        widths = [across * cell for _, _, across in case.tiles]
        parts = left.columns(*(size for width in widths for size in (REST, width)), REST)[1::2]
        tops = [tuple((part.x, box.y + _HEAD) for part in parts) for box in (above, below)]
        return cls(cell, tops[0], tops[1], above, below, right.trimmed(left=60))


def phase_scene(case: BlockPhase, options: ViewOptions) -> Scene:
    """Draw both memories, the empty tiles, and the empty gauges. Loads and counts are drawn by ``phase_motion``."""
    plan, theme = _Plan.of(case, options), options.theme
    size, pieces = theme.type.words, list[Primitive]()
    names = (tr("global memory"), tr("shared memory of the block: {shared_bytes}", shared_bytes=size_text(case.shared_bytes)))
    for number, (box, name) in enumerate(zip((plan.above, plan.below), names, strict=True)):
        pieces.append(Rects(f"memory-{number}", boxes(box), theme.slate, radius=10.0))
        inner = box.inset(18, 0.75 * _HEAD)
        pieces.append(text_line(f"memory-{number}-name", inner[:2], name, size, inner.width, theme.text, "semibold"))
    for place, (name, rows, columns) in enumerate(case.tiles):
        for key, (x, y) in (("source", plan.sources[place]), ("tile", plan.tiles[place])):
            fill, colour = np.zeros((rows, columns), np.uint8), _colour(case, place, theme, key)
            pieces.append(Cells(f"{key}-{name}", x, y, plan.cell, fill, (colour,), (theme.text,), line=theme.background))
    pieces += _gauges(case, plan, options)
    note = tr("{device}; counted over the launch: every block and phase is alike", device=case.device.name)
    return titled(pieces, tr("One phase of one block: {what}", what=case.what), note, options)


def phase_motion(case: BlockPhase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the loads between both memories, and the counts reached so far."""
    plan, theme = _Plan.of(case, options), options.theme
    there, pieces = 0, list[Primitive]()
    for place, (name, rows, columns) in enumerate(case.tiles):
        number = np.arange(rows * columns)
        start = number / len(number) * (_LOADED - _FLIGHT)
        share = eased(np.clip((options.moment - start) / _FLIGHT, 0, 1))
        way = share[:, None]
        now = _cells(plan.sources[place], number, columns, plan.cell) * (1 - way)
        now += _cells(plan.tiles[place], number, columns, plan.cell) * way
        there += int((share >= 1).sum())
        colour = theme.accent(case.matrices[place])
        pieces.append(
            Squares(f"loads-{name}", now[share > 0], np.zeros(int((share > 0).sum()), np.uint8), (colour,), (colour,))
        )
    done = float(np.clip((options.moment - _LOADED) / (0.9 - _LOADED), 0, 1))
    loads = case.loads * there // sum(rows * columns for _, rows, columns in case.tiles)
    return (*pieces, *_counts(case, plan, loads, done, options), *_blocks(case, plan, options))


def _colour(case: BlockPhase, place: int, theme: Theme, key: str) -> str:
    """Return the colour of the cells that are loaded, or of empty ones of a tile."""
    return mixed(theme.slate, theme.accent(case.matrices[place]), 0.45) if key == "source" else theme.empty


def _cells(corner: tuple[float, float], number: Longs, columns: int, cell: float) -> Floats:
    """Return the cells of a tile by number: x, y, side."""
    side = np.full(len(number), 0.9 * cell)
    return np.column_stack([corner[0] + number % columns * cell, corner[1] + number // columns * cell, side])


def _counts(case: BlockPhase, plan: _Plan, loads: int, done: float, options: ViewOptions) -> list[Primitive]:
    """Draw the numbers reached so far: threads, loads with their bytes, operations."""
    theme, large, small = options.theme, 1.25 * options.theme.type.sentence, options.theme.type.words
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
    y, pieces = plan.numbers.y, list[Primitive]()
    for place, (text, more) in enumerate(lines):
        y += 1.1 * large
        at = (plan.numbers.x, y)
        pieces.append(text_line(f"count-{place}", at, text, large, plan.numbers.width, theme.text, "semibold"))
        y += 1.35 * small
        pieces.append(text_line(f"count-{place}-more", (at[0], y), more, small, plan.numbers.width, theme.faint))
        y += 12
    return pieces


def _track(case: BlockPhase, plan: _Plan, place: int) -> Box:
    """Return the box of a gauge, the lowest at the bottom of the numbers."""
    pitch = _BAR + 2.9 * 25
    y = plan.numbers.bottom - (len(case.fitting) - place) * pitch + 1.5 * 25
    return Box(plan.numbers.x, y, plan.numbers.width, _BAR)


def _gauges(case: BlockPhase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the empty gauges, with what an SM has of each resource and a block takes of it."""
    theme, size, words = options.theme, options.theme.type.words, case.device.words
    amounts = {
        marked("shared memory"): (size_text(case.device.shared_per_sm), size_text(case.taken_bytes)),
        marked("threads"): (grouped(case.device.max_threads_per_sm), grouped(case.threads)),
    }
    pieces: list[Primitive] = []
    for place, (name, (held, taken)) in enumerate(amounts.items()):
        box = _track(case, plan, place)
        room = box.width - text_width(_pending(case, case.fitting[name]), size, "semibold") - 30
        short = tr("{held}, {taken} a {block}", held=held, taken=taken, block=tr(words["block"]))
        texts = (f"{capital(tr(name))}: {short}", f"{capital(tr(name.split()[0]))}: {short}", capital(tr(name)))
        text = next((each for each in texts if text_width(each, size) <= room), texts[-1])
        pieces.append(text_line(f"gauge-{place}-name", (box.x, box.y - 12), text, size, room, theme.text))
        pieces.append(Rects(f"gauge-{place}", boxes(box), theme.empty, radius=4.0))
    return pieces


def _blocks(case: BlockPhase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the blocks that have dropped into the gauges, and the loads that they can have pending."""
    theme, size, pieces = options.theme, options.theme.type.words, list[Primitive]()
    shares = (case.taken_bytes / case.device.shared_per_sm, case.threads / case.device.max_threads_per_sm)
    for place, ((name, count), part) in enumerate(zip(case.fitting.items(), shares, strict=True)):
        box = _track(case, plan, place)
        shown = round(count * min(1.0, options.moment))
        parts = [each.inset(2) for each in box.columns(*[part * box.width] * shown)]
        if parts:
            pieces.append(Rects(f"gauge-{place}-blocks", boxes(*parts), theme.load, radius=4.0))
        text = _pending(case, shown)
        at = (box.right, box.y - 12)
        pieces.append(text_at(f"gauge-{place}-{name}", at, text, size, theme.text, "end", "semibold"))
    return pieces


def _pending(case: BlockPhase, blocks: int) -> str:
    return tr("{blocks}: {loads} loads pending", blocks=many(blocks, "block"), loads=spaced(blocks * case.loads))


VIEW = View(marked("One phase of one block"), BlockPhase, phase_scene, phase_motion, order=39)
