"""The words of the stage, its legend, its source lines, and what the step is about."""

import dataclasses
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import focus_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.messages import tr
from gemmviz.model.sites import Site
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.layout import Box, Paragraph, paragraph, paragraphs_in, swatches
from gemmviz.scenes.kit.primitives import (
    JOINED,
    Labels,
    Primitive,
    Rects,
    Told,
    boxes,
    fits_lines,
    fitted,
    points,
    text_width,
    with_last_words,
    wrap_text,
)
from gemmviz.scenes.kit.sentence import beat
from gemmviz.scenes.kit.shapes import group_colours
from gemmviz.scenes.kit.theme import HEAT_LEVELS, Style, Theme, TypeSizes, heat_palette, most_loads
from gemmviz.scenes.kit.view import Layer, ViewOptions, kernel_words
from gemmviz.scenes.stage.cost import request_motion, request_primitives, waiting_lanes
from gemmviz.scenes.stage.layout import Plan, plan_of
from gemmviz.scenes.stage.running_sum import running_sum
from gemmviz.scenes.stage.tile_cells import clashes, collision_words, guilty_sites, tile_matrix

_WORDS_LEADING = 1.22
_PARAGRAPH_GAP, _PAD = 8.0, 10.0  # between the kernel, the sentence and the place; of the ground around them
_MOST_SENTENCE, _MOST_PLACE, _SHORT = 4, 3, 2  # lines; letters
_LEAST_WITH_KERNEL = 8.0  # height of a room with the kernel above the sentence, in sizes of its text


def sentence_words(moment: Moment, plan: Plan, options: ViewOptions, has_block: bool) -> list[Primitive]:
    """Draw the words into their room; nothing without one. ``has_block``: whether the picture says elsewhere which block it
    shows.
    """
    room = plan.rooms.get("sentence")
    if room is None:
        return []
    theme, sizes = options.theme, options.theme.type
    has_kernel = room.height >= _LEAST_WITH_KERNEL * sizes.note
    kernel = wrap_text(kernel_words(moment), sizes.note, room.width, 2) if has_kernel else ()
    place, told = _lines_of_place(moment, options, room.width, has_block)
    spare = room.height - (len(kernel) + len(place)) * _WORDS_LEADING * sizes.note - (2 if kernel else 1) * _PARAGRAPH_GAP
    text = with_last_words(beat(moment, options.labels).text, _SHORT)
    large, said = _fitting_sentence(text, room.width, spare, sizes)
    lines = [
        Paragraph("title", kernel, sizes.note, theme.faint, meaning="title"),
        Paragraph("action", said, large, theme.text, "semibold", "action"),
        Paragraph("progress", place, sizes.note, theme.faint, meaning="progress"),
    ]
    lines = [each for each in lines if each.meaning not in options.hidden]
    facts: dict[str, tuple[Told, ...]] = {
        "title": ("kernel",),
        "action": ("thread",) if moment.focus.thread is not None else ("threads",),
        "progress": told,
    }
    ground = [Rects("words-ground", boxes(room.inset(-_PAD)), theme.background)] if options.clip else []
    drawn = paragraphs_in(room, lines, _PARAGRAPH_GAP, _WORDS_LEADING)[0]
    return [*ground, *(dataclasses.replace(each, tells=facts[each.key]) for each in drawn)]


def _lines_of_place(
    moment: Moment, options: ViewOptions, room: float, has_block: bool
) -> tuple[tuple[str, ...], tuple[Told, ...]]:
    """Return the lines of the place in the run, broken within its parts only if they must be, and what they tell. Step and
    phase stand on the timeline that a window has below the picture.
    """
    size = options.theme.type.note
    whose, facts = _whose(moment, has_block)
    parts = sentence.step_parts(moment, options.labels, has_timeline=options.timeline)
    told: tuple[Told, ...] = (*facts, *(("step", "phase", "k") if options.timeline else ("k",)))
    parts = [[whose], *parts] if whose else parts
    joined = sentence.in_one_line([[text.replace(" ", JOINED) for text in each] for each in parts])
    fits = fits_lines(joined, size, room, _MOST_PLACE)
    return wrap_text(joined if fits else sentence.in_one_line(parts), size, room, _MOST_PLACE) if joined else (), told


def _whose(moment: Moment, has_block: bool) -> tuple[str, tuple[Told, ...]]:
    """Return the watched block and warp as far as neither the picture nor the sentence says them, and which that are."""
    focus, trace = moment.focus, moment.trace
    is_said = focus.thread is not None or not bool((moment.arrived >= 0).any())
    warp = None if is_said else focus.warp
    if focus.everyone:
        return focus_text(focus, trace), ("blocks",)
    if not has_block:
        return focus_text(structs.replace(focus, warp=warp, thread=None), trace), ("block",) if warp is None else (
            "block",
            "warp",
        )
    return ("", ()) if warp is None else (tr("warp {warp}", warp=warp), ("warp",))


def _fitting_sentence(text: str, width: float, height: float, sizes: TypeSizes) -> tuple[float, tuple[str, ...]]:
    """Return the largest of three sizes in which a sentence fits in whole, and its lines."""
    for size in (sizes.sentence, sizes.words, sizes.least):
        most = max(1, min(_MOST_SENTENCE, int(height / (_WORDS_LEADING * size))))
        if fits_lines(text, size, width, most, "semibold"):
            break
    return size, wrap_text(text, size, width, most, "semibold")


# The legend of colours: chips with texts, line by line.

_Entry = tuple[tuple[str, ...], str]  # colours, and what they mean


def legend(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the legend; nothing for matrix colours, which need none."""
    if options.layer == "matrix":
        return []
    size = options.theme.type.note
    entries = [
        ([(each, None) for each in colours], line)
        for colours, text in _ENTRIES[options.layer](moment, options)
        for line in ((text,) if colours else wrap_text(text, size, room.width, 3))
    ]
    return [*swatches("legend", room, entries, size, options.theme.faint)]


def _warp_entries(moment: Moment, options: ViewOptions) -> list[_Entry]:
    warps = moment.trace.space.warps_per_block
    shown = min(warps, len(options.theme.warps))
    more = tr(", repeating") if warps > shown else ""
    entries: list[_Entry] = [
        ((options.theme.warps[warp],), tr("warp {warp}", warp=warp) + (more if warp == shown - 1 else ""))
        for warp in range(shown)
    ]
    return [*entries, ((options.theme.faint,), tr("several"))] if warps > 1 else entries


def _lane_entries(moment: Moment, options: ViewOptions) -> list[_Entry]:
    each = moment.trace.rules.warp_size // len(options.theme.lanes)
    entries = [((colour,), f"{number * each}…{(number + 1) * each - 1}") for number, colour in enumerate(options.theme.lanes)]
    return [((), tr("lanes")), *entries, ((options.theme.faint,), tr("several"))]


def _block_entries(moment: Moment, options: ViewOptions) -> list[_Entry]:
    (x0, x1), (y0, y1), _ = moment.trace.blocks.ranges
    blocks = [(x, y) for y in range(y0, y1) for x in range(x0, x1)]
    threads = np.arange(min(len(blocks), len(options.theme.warps))) * moment.trace.space.threads_per_block
    colours = group_colours(moment.trace, threads, "block").tolist()
    entries = [((options.theme.warps[colour],), f"{x}, {y}") for colour, (x, y) in zip(colours, blocks, strict=False)]
    more: list[_Entry] = [((), "…")] if len(blocks) > len(entries) else []
    return [((), tr("blocks x, y")), *entries, *more, ((options.theme.faint,), tr("several"))]


def _heat_entries(moment: Moment, options: ViewOptions) -> list[_Entry]:
    """Return the levels with the colours of the first two inputs."""
    top = most_loads(moment.trace.setup.problem)
    bounds = [0, *np.ceil(max(2, top) ** (np.arange(HEAT_LEVELS - 1) / (HEAT_LEVELS - 2)) - 1e-9).astype(int).tolist()]
    levels = [level for level, bound in enumerate(bounds) if level + 1 == len(bounds) or bound != bounds[level + 1]]
    names = [moment.trace.arrays[number].name for number in moment.trace.inputs[:2]]
    palettes = [heat_palette(options.theme, options.theme.accent(name)) for name in names]
    entries = [(tuple(palette[level] for palette in palettes), str(bounds[level])) for level in levels]
    return [((), tr("loads so far, in a tile since stored:")), *entries]


_ENTRIES: dict[Layer, Callable[[Moment, ViewOptions], list[_Entry]]] = {
    "warp": _warp_entries, "lane": _lane_entries, "block": _block_entries, "reuse": _heat_entries,
}  # fmt: skip


# What this step is about, in one room: the request of a warp, the sum of a thread, threads that wait, or threads that collide.


def detail_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw what the step is about; what it costs in words if nothing can be drawn."""
    room = plan.rooms.get("detail")
    if room is None:
        return []
    stop, style = moment.trace.stop, options.theme.plain
    if stop is not None and moment.step == moment.replay.steps - 1:
        return _told_cost(moment, room, style, "stop")
    if options.arrived and clashes(moment):
        return collision_words(moment, room, options)
    if moment.site.is_barrier:
        return waiting_lanes(moment, room, options)
    if adds_products(moment):
        return running_sum(moment, room, options)
    if moment.touched:
        return request_primitives(moment, room, options)
    return _told_cost(moment, room, style, "moved") if moment.site.kind == "branch" else running_sum(moment, room, options)


def adds_products(moment: Moment) -> bool:
    """Whether a step is about the products that it adds: not if it accesses global memory, or banks that are asked twice."""
    is_shared = bool(moment.touched) and all(each.array.space == "shared" for each in moment.touched)
    return is_shared and sentence.products_added(moment) > 0 and not moment.cost.excessive_wavefronts


def detail_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the wavefronts of the request that have passed at ``options.moment``."""
    room = plan_of(moment, options).rooms.get("detail") if options.moment < 1.0 else None
    return () if room is None or adds_products(moment) or clashes(moment) else request_motion(moment, room, options)


def _told_cost(moment: Moment, room: Box, style: Style, fact: Told) -> list[Primitive]:
    """Draw what the step costs in words."""
    said = paragraph("cost", room, sentence.cost(moment), style, meaning="cost", leading=_WORDS_LEADING)
    return [dataclasses.replace(each, tells=(fact,)) for each in said]


_PADDING, _CODE_LEADING = 14.0, 1.4
_LEAST_CHARACTERS = 22  # of a line in the usual size; a narrower room has the least size
_LEAST_CODE_WIDTH = 200.0


class _Listing(Struct, frozen=True):
    """Lines of text and, for each, which characters are highlighted, half-open; ``current``: the lines of the statement;
    ``is_guilty``: whether the highlighted accesses collide.
    """

    lines: tuple[str, ...]
    lit: tuple[tuple[int, int], ...]
    current: range
    is_guilty: bool = False


def code_primitives(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the statement, or as many source lines as fit around it; nothing in a room that is too small."""
    sizes, inner = options.theme.type, room.width - 2 * _PADDING
    size = sizes.code if inner / text_width("0", sizes.code, "mono") >= _LEAST_CHARACTERS else sizes.least
    most = int((room.height - 2 * _PADDING) / (_CODE_LEADING * size))
    if room.width < _LEAST_CODE_WIDTH or most < 1:
        return []
    columns = int(inner / text_width("0", size, "mono"))
    guilty = guilty_sites(moment) if options.arrived else ()
    if guilty:
        listing = _colliding_listing(moment, guilty, columns, most)
    else:
        is_around = options.code and most >= 3
        listing = _lines_around(moment, columns, most) if is_around else _statement_listing(moment, moment.site, columns, most)
    return _drawn_listing(moment, listing, room, size, options.theme)


def _drawn_listing(moment: Moment, listing: _Listing, room: Box, size: float, theme: Theme) -> list[Primitive]:
    leading, advance = _CODE_LEADING * size, text_width("0", size, "mono")
    name = None if moment.main is None else tile_matrix(moment) or moment.main.array.name
    x, y = room.x + _PADDING, room.y + _PADDING
    base = [(x, y + (row + 0.72) * leading) for row in range(len(listing.lines))]
    texts = tuple(fitted(line, size, room.width - 2 * _PADDING, "mono") for line in listing.lines)
    panel = boxes((room.x, room.y, room.width, len(texts) * leading + 2 * _PADDING))
    primitives: list[Primitive] = [Rects("code-panel", panel, theme.panel, radius=8.0)]
    if len(listing.current) < len(texts):
        band = (room.x, y + listing.current.start * leading, room.width, len(listing.current) * leading)
        primitives.append(Rects("code-line", boxes(band), theme.line))
    if listing.is_guilty:
        primitives.append(Rects("code-guilty", boxes((room.x, room.y, 6.0, panel[0, 3])), theme.warning, radius=3.0))
    accent = theme.faint if name is None else theme.accent(name)
    primitives.append(Labels("code", points(*base), texts, size, theme.faint, "start", "mono", "source", tells=("statement",)))
    for row, (first, stop) in enumerate(listing.lit):
        lit, at = texts[row][first:stop], x + first * advance
        if lit.strip():
            under = boxes((at, y + (row + 1) * leading - 5, len(lit) * advance, 3))
            ground = boxes((at - 2, y + row * leading + 2, len(lit) * advance + 4, leading - 4))
            primitives += [
                Rects(f"code-lit-box-{row}", ground, theme.panel),
                Rects(f"code-lit-line-{row}", under, theme.warning if listing.is_guilty else accent),
                Labels("code-lit", np.array([[at, base[row][1]]]), (lit,), size, theme.text, "start", "mono", "source"),
            ]
    return primitives


def _colliding_listing(moment: Moment, sites: tuple[Site, ...], columns: int, most: int) -> _Listing:
    """Return the statements of accesses that collide."""
    parts = [_statement_listing(moment, site, columns, max(1, most // len(sites))) for site in sites]
    rows = [(line, lit) for part in parts for line, lit in zip(part.lines, part.lit, strict=True)]
    return _Listing(tuple(line for line, _ in rows), tuple(lit for _, lit in rows), range(len(rows)), is_guilty=True)


def _statement_listing(moment: Moment, site: Site, columns: int, most: int) -> _Listing:
    """Return the statement of a site, broken between words."""
    whole, (lines, _) = site.statement or site.place, _source_lines(moment.trace.setup.kernel.text)
    flat, lit = "", [0, 0]
    for number in range(whole.line, min(whole.end_line, len(lines)) + 1):
        line = lines[number - 1][: whole.end_column - 1] if number == whole.end_line else lines[number - 1]
        start = whole.column - 1 if number == whole.line else 0
        start += len(line[start:]) - len(line[start:].lstrip())
        base = len(flat) + (1 if flat else 0) - start
        flat = f"{flat} {line[start:].rstrip()}".strip()
        if number == site.place.line:
            lit[0] = base + site.place.column - 1
        if number == site.place.end_line:
            lit[1] = base + site.place.end_column - 1
    return _wrapped_listing(flat, (lit[0], lit[1]), columns, most)


def _wrapped_listing(text: str, lit: tuple[int, int], columns: int, most: int) -> _Listing:
    """Return a text in at most ``most`` lines, those around its highlighted part."""
    starts, at = [], 0
    while at < len(text):
        starts.append(at)
        stop = at + columns
        cut = text.rfind(" ", at, stop + 1) if stop < len(text) else len(text)
        at = cut + 1 if cut > at else stop
    edges = [*starts, len(text) + 1]
    inside = [row for row in range(len(starts)) if lit[0] < edges[row + 1] and lit[1] > edges[row]]
    first = max(0, min((inside[-1] if inside else 0) - most + 1, len(starts) - most))
    rows = range(first, min(len(starts), first + most))
    found = tuple(text[edges[row] : edges[row + 1]].rstrip() for row in rows)
    marks = tuple((max(0, lit[0] - edges[row]), max(0, min(lit[1], edges[row + 1]) - edges[row])) for row in rows)
    return _Listing(found, marks, range(len(found)))


def _lines_around(moment: Moment, columns: int, most: int) -> _Listing:
    """Return the source lines around the current one, which scrolls left if its expression would be cut."""
    (lines, code), place = _source_lines(moment.trace.setup.kernel.text), moment.site.place
    first = max(code, min(place.line - 1 - most // 2, len(lines) - most))
    shown = lines[first : first + most]
    indent = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    row = max(0, min(place.line - 1 - first, len(shown) - 1))  # a line of the header highlights the first visible line
    stop = place.end_column - 1 - indent if place.end_line == place.line else len(shown[row]) - indent
    hidden = max(0, stop + 1 - columns)
    texts = [line[indent:].rstrip() for line in shown]
    if hidden:
        texts[row] = "…" + shown[row][indent + hidden + 1 :].rstrip()
    lit = max(0, place.column - 1 - indent - hidden), stop - hidden
    return _Listing(tuple(texts), tuple(lit if at == row else (0, 0) for at in range(len(texts))), range(row, row + 1))


@lru_cache(maxsize=4)
def _source_lines(text: str) -> tuple[list[str], int]:
    """Return the lines of a text, and the first line after the header."""
    lines = text.removesuffix("\n").split("\n")
    return lines, next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("//")), 0)
