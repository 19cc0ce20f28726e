"""The multiprocessors of a launch over time, a row each: single blocks if there are few, else the number of blocks held."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.models.schedules import WAVE_NS, residents
from gemmviz.model.schedule import GridCase
from gemmviz.model.translation import tr
from gemmviz.model.words import many, number
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme, mixed

_COLUMNS, _LEVELS = 400, 8
_MOST_WAVES = 100
_FEW_BLOCKS, _LEAST_ROW, _MOST_ROW = 64, 24.0, 96.0
_LATER = 0.4  # strength of what has not happened yet
HEAD, _FOOT = 34.0, 34.0


def sm_rows(
    case: GridCase, at_ns: float, span_ns: int, rows: int, room: Box, options: ViewOptions, own_time: bool = False
) -> list[Primitive]:  # fmt: skip
    """Draw the SMs up to ``span_ns``, with a line at ``at_ns``; ``rows``: the most SMs of the launches that are compared, so
    that an SM is equally high in both; ``own_time``: whether the other launch has another axis.
    """
    theme = options.theme
    inner = Box(room.x, room.y + HEAD, room.width, room.height - HEAD - _FOOT)
    pitch = min(inner.height / rows, _MOST_ROW)
    is_few = case.schedule.blocks <= _FEW_BLOCKS and pitch >= _LEAST_ROW
    inner = Box(inner.x, inner.y, inner.width, pitch * case.sms if is_few else inner.height)
    x, bottom = inner.x + inner.width * at_ns / max(1, span_ns), inner.y + inner.height
    return [
        *(_blocks if is_few else _held)(case, at_ns, span_ns, inner, options),
        Lines("instant", np.array([[x, inner.y - 6, x, bottom + 6]]), theme.text, 2.5),
        _heading(case, is_few, span_ns, room, options),
        *_axis(case, span_ns, own_time, inner, theme),
    ]


def _axis(case: GridCase, span_ns: int, own_time: bool, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the names of the waves of a model, if they fit, else the start and the end of the axis."""
    size, y = theme.type.least, room.y + room.height + 28
    count = -(-span_ns // WAVE_NS) if case.is_model else 0
    texts = tuple(tr("wave {wave}", wave=wave + 1) for wave in range(min(count, _MOST_WAVES)))
    if count and all(text_width(text, size) + 12 <= room.width / count for text in texts):
        middles = [(room.x + room.width * (wave + 0.5) * WAVE_NS / span_ns, y) for wave in range(count)]
        return [Labels("lanes-waves", points(*middles), texts, size, theme.faint, "middle")]
    return [
        Labels("lanes-start", points((room.x, y)), ("0",), size, theme.faint),
        Labels("lanes-end", points((room.x + room.width, y)), (_time(case, span_ns, own_time),), size, theme.faint, "end"),
    ]


def _time(case: GridCase, span_ns: int, own_time: bool) -> str:
    time = tr("{waves} (model)", waves=many(-(-span_ns // WAVE_NS), "wave")) if case.is_model else f"{number(span_ns / 1e3)} µs"
    return tr("its own time: {time}", time=time) if own_time else time


def _heading(case: GridCase, is_few: bool, span_ns: int, room: Box, options: ViewOptions) -> Labels:
    most = int(residents_of(case, span_ns).max())
    rows = (
        tr("a row for each SM, with its blocks")
        if is_few
        else tr("{sms} SMs; stronger: more blocks, up to {most}", sms=case.sms, most=most)
    )
    size = options.theme.type.heading
    text = fitted(rows, size, room.width, "semibold")
    return Labels("lanes-name", points((room.x, room.y + 22)), (text,), size, options.theme.text, "start", "semibold")


def _blocks(case: GridCase, at_ns: float, span_ns: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw each block as a bar in the row of its SM, with its number. Blocks of one SM at a time share its row."""
    theme, schedule, size = options.theme, case.schedule, options.theme.type.least
    pitch, shared = room.height / case.sms, max(1, int(schedule.resident().max()))
    start, stop = schedule.start_ns / span_ns * room.width, schedule.stop_ns / span_ns * room.width
    high = pitch / shared
    y = room.y + schedule.sm * pitch + _place_in_row(case, shared) * high
    bars = np.column_stack([room.x + start + 1.5, y + 2, np.maximum(1.0, stop - start - 3), np.full(len(start), high - 4)])
    state = np.where(schedule.stop_ns <= at_ns, 2, np.where(schedule.start_ns <= at_ns, 1, 0))
    fills = (None, theme.loaded(1.0), theme.tint("C", 0.5))
    drawn: list[Primitive] = [
        Cells("lanes", room.x, room.y, room.width, np.zeros((case.sms, 1), np.uint8), (theme.panel,), (theme.faint,),
              line=theme.background, height=pitch),
        *_waves(case, span_ns, room, theme),
    ]  # fmt: skip
    for which, fill in enumerate(fills):
        if (state == which).any():
            stroke = theme.faint if fill is None else None
            drawn.append(Rects(f"bars-{which}", bars[state == which], fill, stroke, 1.5, 4.0))
            drawn += _bar_names(which, fill, bars, state, case, theme)
    ticks = points(*((room.x - 10, room.y + (sm + 0.5) * pitch + 0.36 * size) for sm in range(case.sms)))
    return [*drawn, Labels("lanes-numbers", ticks, tuple(f"SM {sm}" for sm in range(case.sms)), size, theme.faint, "end")]


def _bar_names(
    which: int, fill: str | None, bars: npt.NDArray[np.float64], state: npt.NDArray[np.int64], case: GridCase, theme: Theme
) -> list[Primitive]:  # fmt: skip
    """Draw the name of each block in this state on its bar, if there is room for all."""
    size, names = theme.type.least, block_names(case)
    widest = max(text_width(name, size) for name in names)
    if widest + 8 > bars[:, 2].min() or 1.1 * size > bars[:, 3].min():
        return []
    at = [(x + wide / 2, y + high / 2 + 0.36 * size) for x, y, wide, high in bars[state == which].tolist()]
    some = tuple(name for name, own in zip(names, state, strict=True) if own == which)
    return [Labels(f"bars-{which}-names", points(*at), some, size, theme.ink_on(fill) if fill else theme.faint, "middle")]


def block_names(case: GridCase) -> list[str]:
    """Return x and y of each block, and z if there are planes."""
    columns, rows, planes = case.grid
    numbers = range(case.schedule.blocks)
    places = ((n % columns, n // columns % rows, n // columns // rows) for n in numbers)
    return [f"({x}, {y}, {z})" if planes > 1 else f"({x}, {y})" for x, y, z in places]


def _place_in_row(case: GridCase, shared: int) -> npt.NDArray[np.int64]:
    """Return the place of each block among those that its SM holds at once."""
    schedule = case.schedule
    free: dict[int, list[int]] = {}
    places = np.zeros(schedule.blocks, np.int64)
    for block in np.argsort(schedule.start_ns, kind="stable").tolist():
        ends = free.setdefault(int(schedule.sm[block]), [0] * shared)
        start = int(schedule.start_ns[block])
        place = next((place for place, end in enumerate(ends) if end <= start), 0)
        ends[place], places[block] = int(schedule.stop_ns[block]), place
    return places


def _held(case: GridCase, at_ns: float, span_ns: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the number of blocks that each SM holds over time, and below it how many blocks start."""
    theme, size, pitch = options.theme, options.theme.type.least, room.height / case.sms
    most = max(1, int(residents_of(case, span_ns).max()))
    level = np.ceil(residents_of(case, span_ns) * _LEVELS / most).astype(np.uint8)
    later = np.arange(_COLUMNS) >= at_ns / max(1, span_ns) * _COLUMNS
    fill = np.where(later, level + _LEVELS + 1, level).astype(np.uint8)
    palette = _shades(theme)
    table = Cells("lanes", room.x, room.y, room.width / _COLUMNS, fill, palette, palette, height=pitch)
    frame = [Rects("lanes-frame", boxes(table.box), None, theme.line, 1.5)]
    if 0 <= options.sm < case.sms:
        here = (room.x - 3, room.y + options.sm * pitch - 1, room.width + 6, max(4.0, pitch) + 2)
        frame.append(Rects("sm-here", boxes(here), None, theme.text, 2.0))
    ticks = sorted({0, case.sms - 1})
    at = points(*((room.x - 10, room.y + (sm + 0.5) * pitch + 0.36 * size) for sm in ticks))
    numbers = Labels("lanes-numbers", at, tuple(f"SM {sm}" for sm in ticks), size, theme.faint, "end")
    return [table, *_waves(case, span_ns, room, theme), *frame, numbers]


def _waves(case: GridCase, span_ns: int, room: Box, theme: Theme) -> list[Primitive]:
    """Draw a line between the waves of a model, whose waves all take the same time."""
    ends = [end * WAVE_NS for end in range(1, -(-span_ns // WAVE_NS))] if case.is_model else []
    if not ends or len(ends) > _MOST_WAVES:
        return []
    lines = [(x, room.y - 4, x, room.y + room.height + 4) for x in (room.x + room.width * end / span_ns for end in ends)]
    return [Lines("waves", boxes(*lines), theme.faint, 1.5, dashed=True)]


@lru_cache(maxsize=4)
def residents_of(case: GridCase, span_ns: int) -> npt.NDArray[np.int32]:
    """Return the number of blocks that each SM holds: (SMs, columns)."""
    return residents(case.schedule, case.sms, _COLUMNS, span_ns)


@lru_cache(maxsize=8)
def _shades(theme: Theme) -> tuple[str, ...]:
    """Return the colours of the numbers of blocks, until now and later."""
    until = [theme.loaded(level / _LEVELS) for level in range(_LEVELS + 1)]
    return *until, *(mixed(theme.background, colour, _LATER) for colour in until)
