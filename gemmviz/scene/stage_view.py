"""The stage: B above C, A to its left, the block's shared tiles in the corner between, and a line that says what happens.

One frame is 1600 units wide and, on a slide, 900 high, so that 22 units of text are readable from the last row. A window may
ask for another height, so that no room is lost.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay import Replay
from gemmviz.model.trace import MemoryArray
from gemmviz.scene.code_view import code_primitives
from gemmviz.scene.frame import BOTTOM, HEIGHT, MARGIN, TOP, WIDTH, StageOptions, framed
from gemmviz.scene.matrix import AREA, LIT, SOURCE, matrix_cells
from gemmviz.scene.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scene.text import text_width
from gemmviz.scene.theme import Theme
from gemmviz.scene.tile_view import Box, tile_primitives

_GAP = 46.0
_LEAST_TILES = 150.0
_NAME = 28.0


@dataclass(frozen=True, slots=True)
class Cross:
    """Where the three matrices stand: side of a cell, and the top left corners; the room for tiles and for source lines."""

    cell: float
    at: dict[str, tuple[float, float]]
    corner: Box
    code: Box


def stage_scene(replay: Replay, step: int, options: StageOptions | None = None) -> Scene:
    """The stage after ``step`` (0-based) as the replay's block, or its chosen warp, sees it."""
    options = options or StageOptions()
    theme, problem = options.theme, replay.trace.settings.problem
    cross = cross_layout(problem.M, problem.N, problem.K, options.height)
    found: list[Primitive] = []
    for number, array in enumerate(replay.trace.arrays):
        if array.space == "global":
            found += _matrix(replay, step, number, array, cross, options)
    found += _guides(replay, step, cross, theme)
    found += tile_primitives(replay, step, cross.corner, theme, options.zoom)
    found += code_primitives(replay, step, _code_room(replay, cross), theme)
    return framed(found, replay, step, options)


def _code_room(replay: Replay, cross: Cross) -> Box:
    """The source lines' place: all of the left side for a kernel without shared tiles."""
    if any(array.space == "shared" for array in replay.trace.arrays) or cross.code.y > cross.at["A"][1]:
        return cross.code
    left = Box(cross.code.x, cross.corner.y, cross.code.width, cross.code.y + cross.code.height - cross.corner.y)
    return max(left, cross.corner, key=lambda box: min(box.width / 560, box.height / 320))


@lru_cache(maxsize=16)
def cross_layout(m: int, n: int, k: int, frame_height: float = HEIGHT) -> Cross:
    """The cross, as large as the frame allows, at the right; what is left of it belongs to tiles and source lines."""
    width, bottom = WIDTH - 2 * MARGIN, frame_height - BOTTOM
    height = bottom - TOP - MARGIN
    least_corner = 0.27 * width
    cell = min((height - _GAP) / (k + m), (width - 2 * _GAP) / (k + n), (width - least_corner - _GAP) / n, 64.0)
    across, down = k * cell + _GAP + n * cell, k * cell + _GAP + m * cell
    c_x = WIDTH - MARGIN - n * cell - max(0.0, (width - across) / 12)
    top = TOP + MARGIN + max(0.0, (height - down) / 2)
    c_y, a_x = top + k * cell + _GAP, c_x - _GAP - k * cell
    corner = Box(MARGIN, TOP + MARGIN, c_x - _GAP - MARGIN, c_y - _GAP - TOP - MARGIN)
    beside = Box(MARGIN, c_y, a_x - _GAP - MARGIN, bottom - c_y)
    below = Box(MARGIN, c_y + m * cell + 1.2 * _GAP, c_x + n * cell - MARGIN, bottom - c_y - m * cell - 1.2 * _GAP)
    code = max(beside, below, key=lambda box: min(box.width / 560, box.height / 200))
    if corner.height < _LEAST_TILES and code is beside:  # a short B leaves no room: tiles and lines share the left side
        corner = Box(MARGIN, TOP + MARGIN, beside.width, 0.42 * (bottom - TOP - MARGIN))
        code = Box(MARGIN, corner.y + corner.height + _GAP, beside.width, bottom - corner.y - corner.height - _GAP)
    return Cross(cell, {"A": (a_x, c_y), "B": (c_x, top), "C": (c_x, c_y)}, corner, code)


def matrix_state(replay: Replay, step: int, number: int) -> npt.NDArray[np.uint8]:
    """What each element of a matrix is at a step, uint8 (rows, columns): see ``gemmviz.scene.matrix``."""
    array = replay.trace.arrays[number]
    state = np.zeros(array.shape, np.uint8)
    if array.name == "C":
        rows, columns = array.row_column(np.flatnonzero(replay.written(number, step)))
        state[rows, columns] = AREA
    area = replay.footprint(number, step)
    if area is not None and array.name != "C":
        state[area[0] : area[1], area[2] : area[3]] = AREA
    sources = _sources(replay, step, number)
    if sources.size:
        rows, columns = array.row_column(sources)
        state[rows, columns] = SOURCE
    site = replay.trace.site_of(step)
    if site.array == number:
        touched = replay.elements(step)
        touched = touched[touched >= 0]
        for component in range(site.width):
            rows, columns = array.row_column(touched + component)
            state[rows, columns] = LIT
    return state


def _sources(replay: Replay, step: int, number: int) -> npt.NDArray[Any]:
    """The elements of a matrix whose copies in shared memory are touched at this step."""
    site, array = replay.trace.site_of(step), replay.trace.array_of(step)
    if array is None or array.space != "shared":
        return np.zeros(0, np.int64)
    content = replay.tiles(step).get(site.array)
    if content is None:
        return np.zeros(0, np.int64)
    cells = replay.elements(step)
    cells = (cells[cells >= 0][:, None] + np.arange(site.width)).ravel()
    return np.asarray(content.element[cells][content.array[cells] == number])


def _matrix(replay: Replay, step: int, number: int, array: MemoryArray, cross: Cross, options: StageOptions) -> list[Primitive]:
    theme, (x, y) = options.theme, cross.at[array.name]
    state = matrix_state(replay, step, number)
    found: list[Primitive] = [matrix_cells(array.name, array.name, state, x, y, cross.cell, theme, options.zoom)]
    rows, columns = array.shape
    found.append(Rects(f"{array.name}-frame", boxes((x, y, columns * cross.cell, rows * cross.cell)), None, theme.line, 1.5))
    area = replay.footprint(number, step)
    if area is not None:
        r0, r1, c0, c1 = area
        box = (x + c0 * cross.cell, y + r0 * cross.cell, (c1 - c0) * cross.cell, (r1 - r0) * cross.cell)
        found.append(Rects(f"{array.name}-area", boxes(box), None, theme.accent(array.name), 4.0))
    found.append(_name(array, x, y, cross.cell, theme))
    return found


def _name(array: MemoryArray, x: float, y: float, cell: float, theme: Theme) -> Labels:
    rows, columns = array.shape
    text = f"{array.name}  {rows} × {columns}"
    if array.name == "A" and text_width(text, _NAME, "semibold") > columns * cell:
        return Labels("A-name", points((x + columns * cell, y - 12)), (text,), _NAME, theme.accent("A"), "end", "semibold")
    if array.name != "C":
        at = points((x, y - 12))
        return Labels(f"{array.name}-name", at, (text,), _NAME, theme.accent(array.name), "start", "semibold")
    at = points((x + columns * cell, y + rows * cell + _NAME + 4))
    return Labels("C-name", at, (text,), _NAME, theme.accent("C"), "end", "semibold")


def _guides(replay: Replay, step: int, cross: Cross, theme: Theme) -> list[Primitive]:
    """Faint lines from the block's area of C to its rows of A and its columns of B: why a block needs just these."""
    numbers = {array.name: n for n, array in enumerate(replay.trace.arrays) if array.space == "global"}
    if not {"A", "B", "C"} <= numbers.keys():
        return []
    areas = {name: replay.footprint(number, step) for name, number in numbers.items()}
    c_area = areas["C"]
    if c_area is None:
        return []
    (ax, _), (cx, cy), (_, by), s = cross.at["A"], cross.at["C"], cross.at["B"], cross.cell
    segments = []
    if areas["A"] is not None:
        x0 = ax + areas["A"][3] * s
        segments += [(x0, cy + r * s, cx + c_area[2] * s, cy + r * s) for r in c_area[:2]]
    if areas["B"] is not None:
        y0 = by + areas["B"][1] * s
        segments += [(cx + c * s, y0, cx + c * s, cy + c_area[0] * s) for c in c_area[2:]]
    return [Lines("guides", np.asarray(segments, np.float64), theme.faint, 1.5, dashed=True)] if segments else []
