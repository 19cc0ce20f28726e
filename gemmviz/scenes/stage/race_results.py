"""The result of a block in lockstep, and in the order of a race: wrong elements come last, in red, with their right value."""

import numpy as np

from gemmviz.model.translation import tr
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.palette import PHASE
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.stage.race_plan import RacePlan

_MOST_SIDE, _MOST_CELL = 16, 130.0


def right_result(plan: RacePlan) -> list[Primitive]:
    """Draw the result in lockstep."""
    case = plan.case
    return [*_heading(plan, 0, tr("{result} in lockstep", result=case.result)), _table(plan, 0, np.ones(_shape(plan), bool))]


def spoilt_result(plan: RacePlan) -> list[Primitive]:
    """Draw the result in this order as far as it has come, and the first wrong element in words; nothing for lockstep."""
    if plan.case.ahead < 0:
        return []
    case, theme, share = plan.case, plan.options.theme, plan.result
    bad = case.spoilt[:_MOST_SIDE, :_MOST_SIDE]
    count = int(case.spoilt.sum())
    words = tr("{result} in this order", result=case.result)
    if share > 0:
        words += tr(": {count} wrong", count=spaced(count))
    parts: list[Primitive] = [*_heading(plan, 1, words), _table(plan, 1, ~bad & (share > 0))]
    if not (share > 0 and bad.any()):
        return parts
    x, y, cell = _corner(plan, 1)
    wide, size = cell * share, _label_size(plan)
    middles = [(x + (column + 0.5) * cell, y + (row + 0.5) * cell) for row, column in np.argwhere(bad).tolist()]
    rects = boxes(*((across - wide / 2, down - wide / 2, wide, wide) for across, down in middles))
    parts.append(Rects("result-wrong", rects, theme.warning, theme.background, 1.0))
    if share >= 1 and size:
        at = points(*((across, down + 0.36 * size) for across, down in middles))
        texts = tuple(f"{value:.3g}" for value in case.wrong[:_MOST_SIDE, :_MOST_SIDE][bad].tolist())
        parts.append(Labels("result-wrong-values", at, texts, size, theme.ink_on(theme.warning), "middle"))
    return [*parts, *_first(plan)] if share >= 1 else parts


def _first(plan: RacePlan) -> list[Primitive]:
    """Write the first wrong element with both values below the table."""
    case, sizes, (x, y, cell) = plan.case, plan.options.theme.type, _corner(plan, 1)
    row, column = np.argwhere(case.spoilt)[0].tolist()
    name = plan.options.labels.element(case.result, case.corner[0] + row, case.corner[1] + column)
    words = tr(
        "{name} is {wrong}, right is {right}",
        name=name,
        wrong=f"{case.wrong[row, column]:.3g}",
        right=f"{case.right[row, column]:.3g}",
    )
    at = x, y + _shape(plan)[0] * cell + 1.5 * sizes.words
    return [text_line("result-first", at, words, sizes.words, plan.results.width, plan.options.theme.text)]


def _shape(plan: RacePlan) -> tuple[int, int]:
    rows, columns = (min(each, _MOST_SIDE) for each in plan.case.right.shape)
    return rows, columns


def _corner(plan: RacePlan, number: int) -> tuple[float, float, float]:
    """Return the corner of a table, and the size of its cells."""
    room, (rows, columns), line = plan.results, _shape(plan), plan.options.theme.type.words
    high = room.height / 2
    cell = min(room.width / columns, (high - 3.9 * line) / rows, _MOST_CELL)
    return room.x, room.y + number * high + 1.6 * line, cell


def _heading(plan: RacePlan, number: int, words: str) -> list[Primitive]:
    room, size, shape = plan.results, plan.options.theme.type.words, _shape(plan)
    part = "" if plan.case.right.shape == shape else tr(", first {rows} × {columns}", rows=shape[0], columns=shape[1])
    at = room.x, room.y + number * room.height / 2 + size
    return [text_line(f"result-{number}-name", at, words + part, size, room.width, plan.options.theme.text, "semibold")]


def _table(plan: RacePlan, number: int, is_shown: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]") -> Cells:
    case, theme, (rows, columns) = plan.case, plan.options.theme, _shape(plan)
    x, y, cell = _corner(plan, number)
    values = (case.wrong if number else case.right)[:rows, :columns]
    is_shown = is_shown & ~np.isnan(values)
    texts = np.where(is_shown, np.array([[f"{value:.3g}" for value in row] for row in values.tolist()]), "")
    palette, size = (theme.empty, theme.tint("C", PHASE)), _label_size(plan)
    return Cells(f"result-{number}", x, y, cell, is_shown.astype(np.uint8), palette, tuple(map(theme.ink_on, palette)),
                 texts if size else None, size, theme.background)  # fmt: skip


def _label_size(plan: RacePlan) -> float:
    """Return the size of the values in the cells; 0 if they don't fit."""
    case, theme, cell = plan.case, plan.options.theme, _corner(plan, 0)[2]
    values = np.concatenate([each[:_MOST_SIDE, :_MOST_SIDE].ravel() for each in (case.right, case.wrong)])
    longest = max((text_width(f"{value:.3g}", 1.0) for value in values[~np.isnan(values)].tolist()), default=1.0)
    size = min(theme.type.words, 0.5 * cell, (cell - 8) / longest)
    return size if size >= theme.type.least else 0.0
