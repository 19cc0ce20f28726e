"""The blocks of a launch over C: waiting, running on an SM, or done; beside them the SMs over time. Two launches, or one on
two devices, stand side by side.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import structs

from gemmviz.analysis.models import DONE, RUNNING, WAITING, WAVE_NS, residents, states, waves
from gemmviz.model.arrays import Floats, Ints, Longs, Strings
from gemmviz.model.messages import language, many, marked, number, spaced, tr
from gemmviz.model.timing import GridCase
from gemmviz.scenes.kit.layout import (
    AIR,
    FINE,
    LINE_PITCH,
    NEAR,
    REST,
    STROKE,
    Box,
    Share,
    all_beside,
    beside,
    cells_in,
    fits_box,
    names_of_parts,
    path,
    swatches,
    text_at,
    upright,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import (
    SIDES,
    Cells,
    Hit,
    Labels,
    Lines,
    Primitive,
    Rects,
    Scene,
    boxes,
    fitted,
    text_line,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.shapes import moved
from gemmviz.scenes.kit.theme import HALF, SOFT, Theme, mixed
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, title_words

# The multiprocessors of a launch over time, a row each: single blocks if there are few, else the number of blocks held.

_COLUMNS, _LEVELS = 400, 8
_MOST_WAVES = 100
_FEW_BLOCKS, _LEAST_ROW, _MOST_ROW = 64, 24, 96
HEAD, _AXIS, _NEAR = 34, 34, 10  # above the rows for their heading, below them for their axis; beside them


def sm_rows(
    case: GridCase, at_ns: float, span_ns: int, rows: int, room: Box, options: ViewOptions, own_time: bool = False
) -> list[Primitive]:  # fmt: skip
    """Draw the SMs up to ``span_ns``, with a line at ``at_ns``; ``rows``: the most SMs of the launches that are compared, so
    that an SM is equally high in both; ``own_time``: whether the other launch has another axis.
    """
    theme = options.theme
    inner = room.trimmed(top=HEAD, bottom=_AXIS)
    pitch = min(inner.height / rows, _MOST_ROW)
    is_few = case.schedule.blocks <= _FEW_BLOCKS and pitch >= _LEAST_ROW
    inner = inner._replace(height=pitch * case.sms) if is_few else inner
    x = inner.x + inner.width * at_ns / max(1, span_ns)
    return [
        *(_bars_of_blocks if is_few else _held_over_time)(case, at_ns, span_ns, inner, options),
        upright("instant", x, inner, theme.text),
        _time_heading(case, is_few, span_ns, room, options),
        *_time_axis(case, span_ns, own_time, inner, theme),
    ]


def _time_axis(case: GridCase, span_ns: int, own_time: bool, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the names of the waves of a model, if they fit, else the start and the end of the axis."""
    count = -(-span_ns // WAVE_NS) if case.is_model else 0
    texts = tuple(tr("wave {wave}", wave=wave + 1) for wave in range(min(count, _MOST_WAVES)))
    if count and all(theme.aside.width(text) + NEAR <= room.width / count for text in texts):
        whole = room._replace(width=room.width * count * WAVE_NS / span_ns).columns(*[REST] * count)
        return [all_beside("lanes-waves", whole, "bottom", texts, theme.aside, anchor="middle")]
    return [
        beside("lanes-start", room, "bottom", "0", theme.aside),
        beside("lanes-end", room, "bottom", _axis_time(case, span_ns, own_time), theme.aside, anchor="end"),
    ]


def _axis_time(case: GridCase, span_ns: int, own_time: bool) -> str:
    time = tr("{waves} (model)", waves=many(-(-span_ns // WAVE_NS), "wave")) if case.is_model else f"{number(span_ns / 1e3)} µs"
    return tr("its own time: {time}", time=time) if own_time else time


def _time_heading(case: GridCase, is_few: bool, span_ns: int, room: Box, options: ViewOptions) -> Labels:
    most = int(residents_of(case, span_ns).max())
    rows = (
        tr("a row for each SM, with its blocks")
        if is_few
        else tr("{sms} SMs; stronger: more blocks, up to {most}", sms=case.sms, most=most)
    )
    return write("lanes-name", room.strip("top", HEAD - NEAR)[0], rows, options.theme.strong.sized(options.theme.type.heading))


def _bars_of_blocks(case: GridCase, at_ns: float, span_ns: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw each block as a bar in the row of its SM, with its number. Blocks of one SM at a time share its row."""
    theme, schedule, size = options.theme, case.schedule, options.theme.type.least
    pitch, shared = room.height / case.sms, max(1, int(schedule.resident().max()))
    start, stop = schedule.start_ns / span_ns * room.width, schedule.stop_ns / span_ns * room.width
    high = pitch / shared
    y = room.y + schedule.sm * pitch + _place_in_row(case, shared) * high
    wide = np.maximum(1.0, stop - start - 2 * FINE)
    bars = np.column_stack([room.x + start + FINE, y + STROKE, wide, np.full(len(start), high - 2 * STROKE)])
    state = np.where(schedule.stop_ns <= at_ns, 2, np.where(schedule.start_ns <= at_ns, 1, 0))
    fills = (None, theme.loaded(1), theme.tint("C", HALF))
    drawn: list[Primitive] = [
        cells_in("lanes", room, np.zeros((case.sms, 1), np.uint8), (theme.panel,), theme.background, (theme.faint,), "sms"),
        *_waves(case, span_ns, room, theme),
    ]  # fmt: skip
    for which, fill in enumerate(fills):
        if (state == which).any():
            stroke = theme.faint if fill is None else None
            drawn.append(Rects(f"bars-{which}", bars[state == which], fill, stroke, FINE, 4))
            drawn += _bar_names(which, fill, bars, state, case, theme)
    return [
        *drawn,
        names_of_parts("lanes-numbers", room, [f"SM {sm}" for sm in range(case.sms)], size, theme.faint, "left", _NEAR, None),
    ]


def _bar_names(
    which: int, fill: str | None, bars: Floats, state: Longs, case: GridCase, theme: Theme
) -> list[Primitive]:  # fmt: skip
    """Draw the name of each block in this state on its bar, if there is room for all."""
    names = block_names(case)
    style = theme.small.inked(theme.ink_on(fill) if fill else theme.faint)
    if not fits_box(Box(0, 0, bars[:, 2].min(), bars[:, 3].min()), names, style, NEAR):
        return []
    some = [name for name, own in zip(names, state, strict=True) if own == which]
    return [write_all(f"bars-{which}-names", [Box(*bar) for bar in bars[state == which].tolist()], some, style, "middle")]


def block_names(case: GridCase) -> list[str]:
    """Return x and y of each block, and z if there are planes."""
    columns, rows, planes = case.grid
    numbers = range(case.schedule.blocks)
    places = ((n % columns, n // columns % rows, n // columns // rows) for n in numbers)
    return [f"({x}, {y}, {z})" if planes > 1 else f"({x}, {y})" for x, y, z in places]


def _place_in_row(case: GridCase, shared: int) -> Longs:
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


def _held_over_time(case: GridCase, at_ns: float, span_ns: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the number of blocks that each SM holds over time, and below it how many blocks start."""
    theme, pitch = options.theme, room.height / case.sms
    held = residents_of(case, span_ns)
    level = np.ceil(held * _LEVELS / max(1, int(held.max()))).astype(np.uint8)
    later = np.arange(_COLUMNS) >= at_ns / max(1, span_ns) * _COLUMNS
    fill = np.where(later, level + _LEVELS + 1, level).astype(np.uint8)
    table = cells_in("lanes", room, fill, _held_shades(theme), None, meaning="sms")
    frame = [Rects("lanes-frame", boxes(table.box), None, theme.line, FINE)]
    if 0 <= options.sm < case.sms:
        here = room.shifted(y=options.sm * pitch)._replace(height=max(4, pitch)).inset(-3, -1)
        frame.append(Rects("sm-here", boxes(here), None, theme.text, 2))
    ends, rows = sorted({0, case.sms - 1}), room.grid(case.sms, 1)
    numbers = all_beside("lanes-numbers", [rows[sm] for sm in ends], "left", [f"SM {sm}" for sm in ends], theme.aside)
    return [table, *_waves(case, span_ns, room, theme), *frame, numbers]


def _waves(case: GridCase, span_ns: int, room: Box, theme: Theme) -> list[Primitive]:
    """Draw a line between the waves of a model, whose waves all take the same time."""
    ends = [end * WAVE_NS for end in range(1, -(-span_ns // WAVE_NS))] if case.is_model else []
    if not ends or len(ends) > _MOST_WAVES:
        return []
    lines = [(x, room.y - 4, x, room.bottom + 4) for x in (room.x + room.width * end / span_ns for end in ends)]
    return [Lines("waves", boxes(*lines), theme.faint, FINE, dashed=True)]


@lru_cache(maxsize=4)
def residents_of(case: GridCase, span_ns: int) -> Ints:
    """Return the number of blocks that each SM holds: (SMs, columns)."""
    return residents(case.schedule, case.sms, _COLUMNS, span_ns)


@lru_cache(maxsize=8)
def _held_shades(theme: Theme) -> tuple[str, ...]:
    """Return the colours of the numbers of blocks, until now and later."""
    until = [theme.loaded(level / _LEVELS) for level in range(_LEVELS + 1)]
    return *until, *(mixed(theme.background, colour, SOFT) for colour in until)


_TOP, _FOOT, _LEAVES = 118, 132, 29  # above and below a picture; what the words leave free below them
_LINE_HEIGHT = 28
_SOURCE_LINES = 2
_MOST_TIPS, _MOST_LABELS = 4096, 256
_NUMBERS_ROOM, _LARGEST, _LEAST_CELL = 84, 170, 8
_NARROW_ASPECT = 1.2
_LEGEND, _LEGEND_NARROW = 28, 100  # from the lower edge of the frame to the legend
_HERE = len(["waiting", "running", "done"])  # palette entries from here on are of the marked SM


def grid_scene(case: GridCase, options: ViewOptions) -> Scene:
    """Draw the grid at ``options.instant``, a share of the total time; of the longer one of two launches."""
    if case.beside is None:
        return _alone(case, options, case.schedule.duration_ns, case.sms)
    sides = case.beside, case
    span, rows = max(side.schedule.duration_ns for side in sides), max(side.sms for side in sides)
    half = structs.replace(options, width=options.width / 2, clip=None)
    own = not case.shares_time
    scenes = [_alone(side, half, side.schedule.duration_ns if own else span, rows, own) for side in sides]
    primitives: list[Primitive] = [
        path("between", [(half.width, 12), (half.width, options.height - 12)], options.theme.line, 2)
    ]
    words: list[Primitive] = []
    for place, scene in enumerate(scenes):
        x, side = place * half.width, SIDES[place]
        primitives += [moved(each, x, 0, side) for each in scene.primitives]
        words += [moved(each, x, 0, side) for each in scene.words]
    return Scene(options.width, options.height, options.theme.background, tuple(primitives), words=tuple(words))


def _alone(case: GridCase, options: ViewOptions, span_ns: int, rows: int, has_own_time: bool = False) -> Scene:
    """Draw one launch on an axis of ``span_ns``; ``rows``: SMs of the larger device; ``has_own_time``: whether the other half
    has another axis.
    """
    width, height = options.width, options.height
    whole = options.room(_TOP, _FOOT + options.lacking(_LEAVES) if options.words and "action" not in options.hidden else 14)
    if _is_narrow(options):
        room = whole.trimmed(top=_SOURCE_LINES * _LINE_HEIGHT if options.words else 0)
        blocks = room.rows(Share(5), Share(3), gap=AIR)[0]
        taken = HEAD + _block_side(case, blocks) * case.grid[1] * case.grid[2] + 24
        lanes = room.trimmed(_NUMBERS_ROOM, taken)  # the SMs take what is left
    else:
        left, right = whole.columns(REST, REST)
        blocks, lanes = left.trimmed(right=20), right.trimmed(left=_NUMBERS_ROOM)
    at_ns = options.instant * span_ns
    state = states(case.schedule, at_ns)
    primitives = [
        *_grid_of_blocks(case, state, blocks, options),
        *sm_rows(case, at_ns, span_ns, rows, lanes, options, has_own_time),
    ]
    words = _grid_words(case, state, at_ns, options) if options.words else []
    return Scene(width, height, options.theme.background, tuple(primitives), words=tuple(words))


def _block_side(case: GridCase, room: Box) -> float:
    columns, rows, planes = case.grid
    return min(room.width / columns, (room.height - HEAD) / (rows * planes), _LARGEST)


def _grid_of_blocks(case: GridCase, state: npt.NDArray[np.int8], room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw one cell for each block, planes of z stacked; the blocks of the marked SM stand out."""
    theme, (columns, rows, planes) = options.theme, case.grid
    high, cell = rows * planes, _block_side(case, room)
    x, y = room.x + (room.width - columns * cell) / 2, room.y + HEAD
    fill = np.where(case.schedule.sm == options.sm, state + _HERE, state).astype(np.uint8).reshape(high, columns)
    palette = _grid_palette(theme)
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    size = theme.type.least
    labels = _block_labels(case, cell, size)
    line = theme.background if cell * options.pixels >= _LEAST_CELL else None
    tips = _block_tips(case, state).reshape(high, columns) if len(state) <= _MOST_TIPS else None
    table = Cells("grid", x, y, cell, fill, palette, inks, labels, size if labels is not None else 0, line, tips=tips,
                  meaning="grid")  # fmt: skip
    name = (
        tr("{columns} × {rows} × {planes} blocks over C", columns=columns, rows=rows, planes=planes)
        if planes > 1
        else tr("{columns} × {rows} blocks over C", columns=columns, rows=rows)
    )
    frame = Rects("grid-frame", boxes(table.box), None, theme.line, FINE)
    head = room.strip("top", HEAD - NEAR)[0]._replace(x=x)
    heading = write("grid-name", head, name, theme.strong.sized(theme.type.heading).inked(theme.accent("C")))
    return [table, frame, heading]


def _grid_palette(theme: Theme) -> tuple[str, ...]:
    """Return the colours of waiting, running and done blocks, then of those of the marked SM."""
    colours = _state_colours(theme)
    return *colours, mixed(colours[0], theme.text, SOFT), theme.text, mixed(colours[2], theme.text, HALF)


def _state_colours(theme: Theme) -> tuple[str, str, str]:
    """Return the colours by state."""
    by_state = {WAITING: theme.empty, RUNNING: theme.loaded(1), DONE: theme.tint("C", HALF)}
    return by_state[0], by_state[1], by_state[2]


def _block_labels(case: GridCase, cell: float, size: float) -> Strings | None:
    """Return the names of the blocks, None if there are many or they don't fit."""
    if case.schedule.blocks > _MOST_LABELS:
        return None
    names = block_names(case)
    fits = max(text_width(name, size) for name in names) + 6 <= cell
    return np.array(names).reshape(-1, case.grid[0]) if fits else None


def _block_tips(case: GridCase, state: npt.NDArray[np.int8]) -> Strings:
    """Return the hover text of each block: its place, its state, and the SM that runs it."""
    waits, runs, ran = _tips_by_state(case, language())
    return np.where(state == DONE, ran, np.where(state == RUNNING, runs, waits))


@lru_cache(maxsize=2)
def _tips_by_state(case: GridCase, code: str) -> tuple[Strings, ...]:
    """Return the hover texts of all blocks while they wait, run, and after they ran, in the language of ``code``."""
    names, sms = block_names(case), case.schedule.sm.tolist()
    verbs = {WAITING: tr("waits for"), RUNNING: tr("runs on"), DONE: tr("ran on")}
    return tuple(
        np.array(
            [
                tr("block {name}\n{verbs} SM {sm}", name=name, verbs=verbs[state], sm=sm)
                for name, sm in zip(names, sms, strict=True)
            ]
        )
        for state in (WAITING, RUNNING, DONE)
    )


def sm_under(case: GridCase, hit: Hit) -> int | None:
    """Return the SM of a row of the SMs over time, or of a block of the grid; None for other cells."""
    if case.beside is not None:
        return None
    if hit.cells.meaning == "sms":
        return hit.row
    return int(case.schedule.sm[hit.row * case.grid[0] + hit.column]) if hit.cells.meaning == "grid" else None


def _grid_words(case: GridCase, state: npt.NDArray[np.int8], at_ns: float, options: ViewOptions) -> list[Primitive]:
    theme, sizes, height = options.theme, options.theme.type, options.height - options.lacking(_LEAVES)
    waiting, running, done = (int((state == which).sum()) for which in (WAITING, RUNNING, DONE))
    now = tr(
        "{waiting} waiting, {running} running, {done} done", waiting=spaced(waiting), running=spaced(running), done=spaced(done)
    )
    if 0 <= options.sm < case.sms and case.beside is None:
        now = tr(
            "SM {sm} runs {blocks} in all · {now}",
            sm=options.sm,
            blocks=many(int((case.schedule.sm == options.sm).sum()), "block"),
            now=now,
        )
    rounds = waves(len(state), case.sms, case.blocks_per_sm)
    most, least = ("", "") if case.is_certain else (tr("at most "), tr("at least "))
    held = tr(
        "an SM holds {most}{blocks} at once: {least}{waves}",
        most=most,
        blocks=many(case.blocks_per_sm, "block"),
        least=least,
        waves=many(rounds, "wave"),
    )
    time = (
        tr("wave {wave} of {waves}", wave=min(rounds, int(at_ns // WAVE_NS) + 1), waves=rounds)
        if case.is_model
        else f"{at_ns / 1e3:.1f} µs"
    )
    room = options.width - 2 * MARGIN
    size = sizes.caption if text_width(now, sizes.caption, "semibold") <= room else sizes.words
    return [
        *_grid_heading(case, time, options),
        text_line("action", (MARGIN, height - 70), now, size, room, theme.text, "semibold", "action"),
        text_line("cost", (MARGIN, height - 34), held, sizes.words, room, theme.faint, meaning="cost"),
        *_state_legend(options),
    ]


def _grid_heading(case: GridCase, time: str, options: ViewOptions) -> list[Primitive]:
    """Draw device, launch, time and source; on several lines in a narrow frame."""
    theme, sizes, room = options.theme, options.theme.type, options.width - 2 * MARGIN
    title = case.device if _is_narrow(options) else f"{case.device}: {case.what}"
    beside = room - text_width(time, sizes.progress) - MARGIN
    lines = [(fitted(case.source, sizes.words, room), theme.faint)]
    if _is_narrow(options):
        lines = [
            (fitted(case.what, sizes.words, room), theme.text),
            *((line, theme.faint) for line in wrap_text(case.source, sizes.words, room, _SOURCE_LINES)),
        ]
    return [
        title_words(title, beside, options),
        text_at("progress", (MARGIN + room, options.title_y), time, sizes.progress, theme.faint, "end", meaning="progress"),
        *(
            text_at(f"note-{place}", (MARGIN, options.note_y + place * _LINE_HEIGHT), line, sizes.words, colour, meaning="note")
            for place, (line, colour) in enumerate(lines)
        ),
    ]


def _state_legend(options: ViewOptions) -> list[Primitive]:
    """Draw what the colours of the blocks mean, at the lower right; above the words in a narrow frame."""
    theme, size = options.theme, options.theme.type.least
    names = (tr("waiting"), tr("running"), tr("done"))
    entries = [([(colour, theme.line)], name) for colour, name in zip(_state_colours(theme), names, strict=True)]
    row = options.room(foot=_LEGEND_NARROW if _is_narrow(options) else _LEGEND).strip("bottom", LINE_PITCH * size)[0]
    return [*swatches("legend", row, entries, size, theme.faint, "end")]


def _is_narrow(options: ViewOptions) -> bool:
    """Whether the rows of the SMs stand below the blocks instead of beside them."""
    return options.width < _NARROW_ASPECT * options.height


VIEW = View(marked("Grid: all blocks of the launch"), GridCase, grid_scene, order=402)
