"""One warp's access to shared memory as a punchcard: 32 banks across, wavefronts down, and in each hole the lanes it serves."""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.banks import BANKS, words_of
from gemmviz.analysis.replay import Replay
from gemmviz.model.trace import MemoryArray
from gemmviz.scene.frame import BOTTOM, MARGIN, TOP, WIDTH, StageOptions, framed
from gemmviz.scene.matrix import label_size
from gemmviz.scene.memory_view import first_warp, message
from gemmviz.scene.primitives import Cells, Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scene.theme import Theme
from gemmviz.scene.tile_view import tile_matrix

_IDLE, _FIRST, _AGAIN = range(3)
_LEFT, _HEADING = 190.0, 24.0


def bank_scene(replay: Replay, step: int, options: StageOptions | None = None) -> Scene:
    """The access of the chosen warp (or of the block's first that makes one) at ``step``."""
    options = options or StageOptions()
    theme, array, warp = options.theme, replay.trace.array_of(step), first_warp(replay, step)
    found: list[Primitive]
    if array is None or array.space != "shared" or warp is None:
        found = [message("This step does not touch shared memory.", theme, options.height)]
    else:
        lanes = replay.rows(step)[warp]
        name = tile_matrix(replay, step) or array.name
        found = _punchcard(lanes, array, replay.trace.site_of(step).width, (warp, name), theme, options)
    return framed(found, replay, step, options)


def punchcard(words: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For 32-bit accesses: the first lane that each (wavefront, bank) serves, -1 for none, and how many lanes it serves.

    Within a bank, words come in the order of their first lanes; equal words are one (a broadcast).
    """
    holes: list[list[tuple[int, int, int]]] = [[] for _ in range(BANKS)]
    for lane, word in enumerate(words.tolist()):
        if word < 0:
            continue
        bank = holes[word % BANKS]
        known = next((i for i, (_, other, _) in enumerate(bank) if other == word), None)
        if known is None:
            bank.append((lane, word, 1))
        else:
            bank[known] = (bank[known][0], word, bank[known][2] + 1)
    rows = max(len(bank) for bank in holes)
    first, served = np.full((rows, BANKS), -1, np.int64), np.zeros((rows, BANKS), np.int64)
    for number, bank in enumerate(holes):
        for row, (lane, _, count) in enumerate(bank):
            first[row, number], served[row, number] = lane, count
    return first, served


def _punchcard(
    lanes: npt.NDArray[np.int64], array: MemoryArray, width: int, who: tuple[int, str], theme: Theme, options: StageOptions
) -> list[Primitive]:
    words, per_lane = words_of(lanes[None], array.itemsize, width)
    if per_lane > 1:
        text = f"Each lane touches {per_lane * 4} bytes: the warp is served in groups, which this picture doesn't show."
        return [message(text, theme, options.height)]
    first, served = punchcard(words[0])
    rows = len(first)
    top, bottom = TOP + MARGIN + 56, options.height - BOTTOM
    cell = min((WIDTH - _LEFT - MARGIN) / BANKS, (bottom - top) / max(rows, 1), 42.0)
    x, y = _LEFT + (WIDTH - _LEFT - MARGIN - BANKS * cell) / 2, top + max(0.0, (bottom - top - rows * cell) / 4)
    fill = np.where(first < 0, _IDLE, np.where(np.arange(rows)[:, None] == 0, _FIRST, _AGAIN)).astype(np.uint8)
    palette = (theme.empty, theme.accent(who[1]), theme.warning)
    many = np.char.add("×", served.astype("<U3"))
    texts = np.where(first < 0, "", np.where(served > 1, many, first.astype("<U4")))
    size = label_size("×32", cell, options.zoom)
    inks = (theme.faint, theme.ink_on(palette[1]), theme.ink_on(palette[2]))
    count = f"{rows} wavefront{'s' if rows > 1 else ''}"
    heading = f"{array.name}: {count} for warp {who[0]}; numbers are lanes, ×n: so many share a word"
    banks = [(x + (bank + 0.5) * cell, y - 10) for bank in range(BANKS)]
    return [
        Cells("banks", x, y, cell, fill, palette, inks, texts if size else None, size, theme.background),
        Rects("banks-frame", boxes((x, y, BANKS * cell, rows * cell)), None, theme.line, 1.5),
        Labels(
            "bank-numbers",
            points(*banks),
            tuple(str(bank) for bank in range(BANKS)),
            min(16.0, cell * 0.56),
            theme.faint,
            "middle",
        ),
        Labels("bank-name", points((x - 14, y - 10)), ("bank",), 15.0, theme.faint, "end"),
        Labels("wavefront-name", points((x - 14, y + cell / 2 + 6)), ("wavefront 1",), 18.0, theme.faint, "end"),
        Labels("bank-heading", points((x + BANKS * cell / 2, y - 40)), (heading,), _HEADING, theme.text, "middle", "semibold"),
    ]
