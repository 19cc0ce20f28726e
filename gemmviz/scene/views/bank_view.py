"""One warp's access to shared memory as a punchcard: 32 banks across, wavefronts down, and in each hole the lanes it serves."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.banks import BANKS, served_groups, words_of
from gemmviz.analysis.replay import Replay
from gemmviz.scene.frame import MARGIN, WIDTH, ViewOptions, framed, message
from gemmviz.scene.matrix import label_size
from gemmviz.scene.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scene.tile_cells import tile_matrix

_IDLE, _FIRST, _AGAIN = range(3)
_LEFT, _HEADING = 190.0, 24.0


@dataclass(frozen=True)
class Punchcard:
    """``first`` (wavefronts, banks): the first lane that each hole serves, -1 for none; ``served``: how many lanes it serves;
    ``starts``: the wavefront that each group of lanes begins with.
    """

    first: npt.NDArray[np.int64]
    served: npt.NDArray[np.int64]
    starts: tuple[int, ...]


def bank_scene(replay: Replay, step: int, options: ViewOptions | None = None) -> Scene:
    """The access of the chosen warp (or of the block's first that makes one) at ``step``."""
    options = options or ViewOptions()
    array, request = replay.trace.array_of(step), replay.request(step)
    if array is None or array.space != "shared" or request is None:
        return framed([message("This step does not touch shared memory.", options)], replay, step, options)
    site = replay.trace.site_of(step)
    words, per_lane = words_of(request[1][None], array.itemsize, site.width)
    card = punchcard(words[0], per_lane, site.kind == "load")
    accent = options.theme.accent(tile_matrix(replay, step) or array.name)
    return framed(_card(card, f"{array.name}, warp {request[0]}", accent, options), replay, step, options)


def punchcard(words: npt.NDArray[np.int64], per_lane: int = 1, is_load: bool = True) -> Punchcard:
    """``words``: the first 4-byte word of each lane (-1 inactive), of ``per_lane`` that it touches.

    Within a bank, words come in the order of their first lanes; equal words are one (a broadcast).
    """
    firsts, counts, starts, rows = [], [], [], 0
    for group in served_groups(words, per_lane, is_load):
        first, served = _group(words, per_lane, group)
        starts.append(rows)
        rows += len(first)
        firsts.append(first)
        counts.append(served)
    return Punchcard(np.concatenate(firsts), np.concatenate(counts), tuple(starts))


def _group(words: npt.NDArray[np.int64], per_lane: int, group: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    holes: list[dict[int, list[int]]] = [{} for _ in range(BANKS)]
    for lane in range(group.start, group.stop):
        for word in range(int(words[lane]), int(words[lane]) + per_lane) if words[lane] >= 0 else ():
            holes[word % BANKS].setdefault(word, []).append(lane)
    rows = max(len(bank) for bank in holes)
    first, served = np.full((rows, BANKS), -1, np.int64), np.zeros((rows, BANKS), np.int64)
    for number, bank in enumerate(holes):
        for row, lanes in enumerate(bank.values()):
            first[row, number], served[row, number] = lanes[0], len(lanes)
    return first, served


def _card(card: Punchcard, who: str, accent: str, options: ViewOptions) -> list[Primitive]:
    theme, first, served = options.theme, card.first, card.served
    rows = len(first)
    top, bottom = options.top + 62, options.bottom - 8
    cell, high = (WIDTH - _LEFT - MARGIN) / BANKS, min((bottom - top) / rows, 42.0)
    x, y = _LEFT, top + max(0.0, (bottom - top - rows * high) / 4)
    starts = np.isin(np.arange(rows), card.starts)[:, None]
    fill = np.where(first < 0, _IDLE, np.where(starts, _FIRST, _AGAIN)).astype(np.uint8)
    palette = (theme.empty, accent, theme.warning)
    texts = np.where(first < 0, "", np.where(served > 1, np.char.add("×", served.astype("<U3")), first.astype("<U4")))
    size = label_size("×32" if (served > 1).any() else "31", min(cell, 1.6 * high), options.zoom)
    inks = (theme.faint, theme.ink_on(palette[1]), theme.ink_on(palette[2]))
    count = f"{rows} wavefront{'s' if rows > 1 else ''}"
    needed = f", in {len(card.starts)} groups of {len(first) and 32 // len(card.starts)} lanes" if len(card.starts) > 1 else ""
    shared = "; ×n: n lanes share one word, a broadcast" if (served > 1).any() else ""
    heading = f"{who}: {count}{needed}; numbers are lanes{shared}"
    banks = [(x + (bank + 0.5) * cell, y - 8) for bank in range(BANKS)]
    line = theme.background if high > 7 else None
    found: list[Primitive] = [
        Cells("banks", x, y, cell, fill, palette, inks, texts if size else None, size, line, 1, high),
        Rects("banks-frame", boxes((x, y, BANKS * cell, rows * high)), None, theme.line, 1.5),
        Labels("bank-numbers", points(*banks), tuple(str(bank) for bank in range(BANKS)), 16.0, theme.faint,
               "middle"),
        Labels("bank-name", points((x - 14, y - 8)), ("bank",), 16.0, theme.faint, "end"),
        Labels("wavefront-name", points((x - 14, y + high / 2 + 6)), ("wavefront 1",), 18.0, theme.faint, "end"),
        Labels("bank-heading", points((WIDTH / 2, y - 36)), (heading,), _HEADING, theme.text, "middle", "semibold"),
    ]  # fmt: skip
    if rows > 1:
        last = points((x - 14, y + (rows - 0.5) * high + 6))
        found.append(Labels("last-wavefront", last, (f"wavefront {rows}",), 18.0, theme.faint, "end"))
    if len(card.starts) > 1:
        cuts = np.array([(x - 8, y + row * high, x + BANKS * cell, y + row * high) for row in card.starts[1:]])
        found.append(Lines("groups", cuts, theme.text, 2.0))
    return found
