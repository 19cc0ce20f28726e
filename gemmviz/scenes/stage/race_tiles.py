"""The tiles of a race while they are filled: each cell lights up when it is touched, and the one in which two accesses race
turns red.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.model.race import RaceCase
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.palette import NOW, PHASE, REST
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.race_plan import RacePlan, tile_sources, writes

_EMPTY, _BEFORE, _HELD, _NOW, _RACING = range(5)
_MOST_TILES, _GAP, _MOST_CELL, _LABELLED = 3, 40.0, 150.0, 3


def race_tiles(plan: RacePlan) -> list[Primitive]:
    """Draw the tiles as they are after the turns that have happened."""
    case, theme = plan.case, plan.options.theme
    if case.pair is None:
        return []
    sources = tile_sources(case)
    parts: list[Primitive] = []
    for name, (shape, place) in _places(plan).items():
        fill, texts = _content(plan, name, shape)
        colours = _palette(theme, sources.get(name, ""))
        size = plan.options.theme.type.words
        longest = max((text_width(each, size) for each in texts.ravel().tolist()), default=0.0)
        is_labelled = place.width >= _LABELLED * size and longest <= place.width - 8
        cells = Cells(f"race-{name}", place.x, place.y, place.width, fill, colours, tuple(map(theme.ink_on, colours)),
                      texts if is_labelled else None, size, theme.background)  # fmt: skip
        ink = theme.accent(sources[name]) if name in sources else theme.text
        at = points((place.x, place.y - 10))
        frame = boxes((place.x, place.y, shape[1] * place.width, shape[0] * place.width))
        parts += [cells, Rects(f"race-{name}-frame", frame, None, theme.line, 1.5),
                  Labels(f"race-{name}-name", at, (name,), theme.type.name, ink, "start", "semibold")]  # fmt: skip
    return parts


def _palette(theme: Theme, source: str) -> tuple[str, ...]:
    if not source:
        return theme.empty, theme.empty, theme.line, theme.faint, theme.warning
    return theme.empty, *(theme.tint(source, share) for share in (REST, PHASE, NOW)), theme.warning


def _places(plan: RacePlan) -> dict[str, tuple[tuple[int, int], Box]]:
    """Return the shape of each drawn tile, and the box of its first cell."""
    case, room, head = plan.case, plan.tiles, 1.5 * plan.options.theme.type.name
    chosen = sorted(case.tiles, key=lambda tile: tile[0] != _racing(case))[:_MOST_TILES]
    shapes = {name: _flat(shape) for name, shape in case.tiles if (name, shape) in chosen}
    columns = sum(shape[1] for shape in shapes.values())
    if not columns:
        return {}
    x = plan.rows.x
    wide = (room.x + room.width - x - (len(shapes) - 1) * _GAP) / columns
    cell = max(1.0, min(wide, *((room.height - head) / shape[0] for shape in shapes.values()), _MOST_CELL))
    places = {}
    for name, shape in shapes.items():
        places[name] = shape, Box(x, room.y + head, cell, cell)
        x += shape[1] * cell + _GAP
    return places


def _flat(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns of an array: those of its last two dimensions, one below the other."""
    return (int(np.prod(shape[:-1])), shape[-1]) if shape else (1, 1)


def _racing(case: RaceCase) -> str:
    """Return the name of the array in which the pair meets."""
    return "" if case.pair is None else case.turns[case.pair[0]].array


def _content(plan: RacePlan, name: str, shape: tuple[int, int]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.str_]]:
    """Return the state and the value of each cell: values are known where single threads store them."""
    case, count = plan.case, shape[0] * shape[1]
    state, texts = np.full(count, _EMPTY, np.uint8), np.full(count, "", "<U12")
    for place in range(plan.played):
        turn = case.turns[place]
        if turn.array == name and writes(turn):
            cells = list(turn.cells)
            state[cells] = _HELD if place >= case.begin else _BEFORE
            texts[cells] = f"{turn.value:.3g}" if turn.value is not None and len(cells) == 1 else ""
    last = case.turns[plan.played - 1] if plan.played else None
    if last is not None and last.array == name:
        state[list(last.cells)] = _NOW
    if case.pair is not None and plan.played > case.pair[0] and name == _racing(case):
        state[_racing_cells(case)] = _RACING
        texts[case.cell] = _seen(case, plan.played) or texts[case.cell]
    return state.reshape(shape), texts.reshape(shape)


def _racing_cells(case: RaceCase) -> list[int]:
    """Return the cells that both accesses of the pair touch."""
    assert case.pair is not None
    one, other = (set(case.turns[place].cells) for place in case.pair)
    return sorted(one & other)


def _seen(case: RaceCase, played: int) -> str:
    """Return the wrong value that was read, once it was."""
    assert case.pair is not None
    reads = (case.turns[place] for place in case.pair if place < played and case.turns[place].is_spoilt)
    return next((f"{turn.value:.3g}" for turn in reads if turn.value is not None and len(turn.cells) == 1), "")
