"""One warp's access to shared memory as a punchcard: 32 banks across, wavefronts down, and the served lanes in each hole."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.banks import lane_words, passes_by_one_word, served_groups
from gemmviz.analysis.memory.warps import moved_by_lane
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.sites import MemoryArray, Operand
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.sentence import no_access
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.matrix import label_size
from gemmviz.scenes.stage.tile_cells import tile_matrix
from gemmviz.scenes.views.memory_view import followed_lane

_IDLE, _FIRST, _AGAIN = range(3)
_LEFT, _HEADING = 190.0, 24.0
_LEAST_ROW = 11.0  # pixels
NVIDIA = MemoryRules()


@dataclass(frozen=True)
class Punchcard:
    """The access by wavefront and bank.

    ``first`` (wavefronts, banks): the first lane that each hole serves, -1 for none; ``served``: the number of lanes it
    serves; ``starts``: the first wavefront of each group of lanes.
    """

    first: npt.NDArray[np.int64]
    served: npt.NDArray[np.int64]
    starts: tuple[int, ...]


def banks_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the access of the watched warp, or of the first active warp of the block."""
    shared = moment.touched_in("shared")
    request = None if shared is None else moment.request_of(shared.row)
    if shared is None or request is None:
        return framed([message(no_access(moment, "shared"), options)], moment, options)
    card = access_card(request.lanes, shared.operand, shared.array, moment.trace.rules)
    accent = options.theme.accent(tile_matrix(moment) or shared.array.name)
    return framed(
        _card(card, f"{shared.array.name}, warp {request.warp}", accent, options, followed_lane(moment)), moment, options
    )


def access_card(lanes: Longs, operand: Operand, array: MemoryArray, rules: MemoryRules) -> Punchcard:
    """The card of one request (lanes,), -1 inactive: one below the other those of the runs that its layout is made of."""
    cards = []
    for run in operand.layout.runs:
        moved = moved_by_lane(lanes.reshape(-1, rules.request_lanes), run.first, rules).reshape(1, -1)
        words, per_lane = lane_words(moved, array.itemsize, rules, run.width)
        cards.append(punchcard(words[0], per_lane, operand.access == "read", rules))
    begins = np.cumsum([0, *(len(card.first) for card in cards)]).tolist()
    starts = tuple(begin + start for begin, card in zip(begins[:-1], cards, strict=True) for start in card.starts)
    return Punchcard(np.vstack([card.first for card in cards]), np.vstack([card.served for card in cards]), starts)


def punchcard(
    words: npt.NDArray[np.int64], per_lane: int = 1, is_load: bool = True, rules: MemoryRules = NVIDIA
) -> Punchcard:  # fmt: skip
    """Return the punchcard of an access.

    ``words``: the first 4-byte word of each lane (-1 inactive), of ``per_lane`` words. Within a bank, words are ordered by
    their first lanes; equal words are one (a broadcast).
    """
    firsts, counts, starts, rows = [], [], [], 0
    for first, served in _groups(words, per_lane, is_load, rules):
        starts.append(rows)
        rows += len(first)
        firsts.append(first)
        counts.append(served)
    return Punchcard(np.concatenate(firsts), np.concatenate(counts), tuple(starts))


def _groups(
    words: npt.NDArray[np.int64], per_lane: int, is_load: bool, rules: MemoryRules
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return the holes of lanes that are served together, group by group; half a warp each if a pass broadcasts one word."""
    if rules.broadcast == "each word":
        for group in served_groups(words, per_lane, is_load):
            yield _group(words, per_lane, group, rules.banks)
        return
    for start in range(0, len(words), rules.request_lanes):
        half = words[start : start + rules.request_lanes]
        for part in range(per_lane):
            passes = passes_by_one_word(np.where(half >= 0, half + part, -1), rules)
            first = np.full((len(passes), rules.banks), -1, np.int64)
            served = np.zeros((len(passes), rules.banks), np.int64)
            for row, banks in enumerate(passes):
                for bank, lanes in banks.items():
                    first[row, bank], served[row, bank] = start + lanes[0], len(lanes)
            if len(passes):
                yield first, served


def _group(
    words: npt.NDArray[np.int64], per_lane: int, group: slice, banks: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    holes: list[dict[int, list[int]]] = [{} for _ in range(banks)]
    for lane in range(group.start, group.stop):
        for word in range(int(words[lane]), int(words[lane]) + per_lane) if words[lane] >= 0 else ():
            holes[word % banks].setdefault(word, []).append(lane)
    rows = max(len(bank) for bank in holes)
    first, served = np.full((rows, banks), -1, np.int64), np.zeros((rows, banks), np.int64)
    for number, bank in enumerate(holes):
        for row, lanes in enumerate(bank.values()):
            first[row, number], served[row, number] = lanes[0], len(lanes)
    return first, served


def _card(card: Punchcard, who: str, accent: str, options: ViewOptions, followed: int | None = None) -> list[Primitive]:
    """Draw banks across and wavefronts down; in a low frame, wavefronts across and the used banks down."""
    rows, banks = card.first.shape
    top, bottom = options.top + 62, options.bottom - 8
    used = np.flatnonzero((card.first >= 0).any(axis=0))
    lies = (bottom - top) / rows * options.pixels < _LEAST_ROW and len(used) < rows
    if lies:
        return _lying(card, used, who, accent, options, followed)
    cell, high = (options.width - _LEFT - MARGIN) / banks, min((bottom - top) / rows, 42.0)
    x, y = _LEFT, top + max(0.0, (bottom - top - rows * high) / 4)
    primitives = _holes(card, (x, y, cell, high), accent, options, followed)
    theme = options.theme
    every = max(1, int(np.ceil(22 / high)))
    shown = [0, *range(every - 1 if every > 1 else 1, rows, every)] if rows > 1 else [0]
    shown = [row for place, row in enumerate(shown) if place == 0 or row >= every]
    names = tuple(f"wavefront {row + 1}" for row in shown)
    primitives += [
        Labels("bank-name", points((x - 14, y - 8)), ("bank",), 16.0, theme.faint, "end"),
        Labels("wavefront-names", points(*((x - 14, y + (row + 0.5) * high + 6) for row in shown)), names, 18.0, theme.faint,
               "end"),
        Labels("bank-numbers", points(*((x + (bank + 0.5) * cell, y - 8) for bank in range(banks))),
               tuple(map(str, range(banks))), 16.0, theme.faint, "middle"),
        Labels("bank-heading", points((options.width / 2, y - 36)), (_heading(card, who),), _HEADING, theme.text, "middle",
               "semibold"),
    ]  # fmt: skip
    if len(card.starts) > 1:
        cuts = np.array([(x - 8, y + row * high, x + banks * cell, y + row * high) for row in card.starts[1:]])
        primitives.append(Lines("groups", cuts, theme.text, 2.0))
    return primitives


def _lying(
    card: Punchcard, used: npt.NDArray[np.int64], who: str, accent: str, options: ViewOptions, followed: int | None
) -> list[Primitive]:
    """Draw the card on its side, without unused banks."""
    theme, (rows, _) = options.theme, card.first.shape
    turned = Punchcard(card.first[:, used].T, card.served[:, used].T, card.starts)
    top = options.top + 62
    cell, high = (options.width - _LEFT - MARGIN) / rows, min((options.bottom - 8 - top) / len(used), 42.0)
    primitives = _holes(turned, (_LEFT, top, cell, high), accent, options, followed, across=True)
    every = max(1, int(np.ceil(18 / high)))
    banks = used[::every]
    at = points(*((_LEFT - 14, top + (place * every + 0.5) * high + 6) for place in range(len(banks))))
    return [
        *primitives,
        Labels("bank-numbers", at, tuple(f"bank {bank}" for bank in banks), 18.0, theme.faint, "end"),
        Labels("wavefront-name", points((_LEFT - 14, top - 8)), ("wavefront",), 16.0, theme.faint, "end"),
        Labels("wavefront-names", points(*((_LEFT + (row + 0.5) * cell, top - 8) for row in range(rows))),
               tuple(str(row + 1) for row in range(rows)), 16.0, theme.faint, "middle"),
        Labels("bank-heading", points((options.width / 2, top - 36)), (_heading(card, who),), _HEADING, theme.text, "middle",
               "semibold"),
    ]  # fmt: skip


def _heading(card: Punchcard, who: str) -> str:
    rows = len(card.first)
    count = f"{rows} wavefront{'s' if rows > 1 else ''}"
    needed = f", in {len(card.starts)} groups of {32 // len(card.starts)} lanes" if len(card.starts) > 1 else ""
    shared = "; ×n: a broadcast to n lanes" if (card.served > 1).any() else ""
    return f"{who}: {count}{needed}; numbers are lanes{shared}"


def _holes(
    card: Punchcard, at: tuple[float, float, float, float], accent: str, options: ViewOptions, followed: int | None,
    across: bool = False,
) -> list[Primitive]:  # fmt: skip
    """Draw the cells, with a ring around the first one that serves the followed lane. ``across``: wavefronts are the
    columns.
    """
    theme, first, served, (x, y, cell, high) = options.theme, card.first, card.served, at
    rows, columns = first.shape
    starts = np.isin(np.arange(columns if across else rows), card.starts)
    starts = starts[None, :] if across else starts[:, None]
    fill = np.where(first < 0, _IDLE, np.where(starts, _FIRST, _AGAIN)).astype(np.uint8)
    palette = (theme.empty, accent, theme.warning)
    texts = np.where(first < 0, "", np.where(served > 1, np.char.add("×", served.astype("<U3")), first.astype("<U4")))
    size = label_size("×32" if (served > 1).any() else "31", min(cell, 1.6 * high), options.pixels)
    inks = (theme.faint, theme.ink_on(palette[1]), theme.ink_on(palette[2]))
    line = theme.background if high > 7 else None
    primitives: list[Primitive] = [
        Cells("banks", x, y, cell, fill, palette, inks, texts if size else None, size, line, 1, high),
        Rects("banks-frame", boxes((x, y, columns * cell, rows * high)), None, theme.line, 1.5),
    ]
    own = np.argwhere(first == followed) if followed is not None else np.zeros((0, 2), np.int64)
    if len(own):
        row, column = own[0].tolist()
        primitives.append(Rects("followed-lane", boxes((x + column * cell, y + row * high, cell, high)), None, theme.text, 4.0))
    return primitives


VIEW = View("Banks of shared memory", Moment, banks_scene, is_count=True, order=3)
