"""One instruction of a warp: the control fetches it once, and all lanes of the warp execute it, each on its own element."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.beat import element_text
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.layout import Box, baseline
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.code_lines import code_primitives

_COLUMNS, _CONTROL, _BUS = 4, 0.4, 90.0  # columns of lanes; share of the width for the control; width of the ways to the lanes
_HEAD, _GAP, _TALLEST = 44.0, 4.0, 96.0
_CODE, _BOX = 110.0, 190.0  # heights of the statement, and of the control around it
_CHIP = 0.4  # of a lane's height: an instruction under way


class _Plan(Struct, frozen=True):
    """The control at the left; the lanes from (x, y), each ``wide`` and ``high``, ``columns`` in a row."""

    control: Box
    x: float
    y: float
    wide: float
    high: float
    columns: int

    @classmethod
    def of(cls, lanes: int, options: ViewOptions) -> "_Plan":
        room = Box(MARGIN, options.top + _HEAD, options.width - 2 * MARGIN, options.bottom - options.top - _HEAD - 10)
        columns = min(_COLUMNS * (1 + (lanes > 32)), lanes)
        left = room.x + _CONTROL * room.width
        wide, high = (room.width - _CONTROL * room.width) / columns, min(room.height / -(-lanes // columns), _TALLEST)
        box = min(_BOX, room.height)
        control = Box(room.x, room.y + (high * -(-lanes // columns) - box) / 2, left - room.x - _BUS, box)
        return cls(control, left, room.y, wide, high, columns)

    def box(self, lane: int) -> tuple[float, float, float, float]:
        x, y = self.x + lane % self.columns * self.wide, self.y + lane // self.columns * self.high
        return x, y, self.wide - _GAP, self.high - _GAP


def fetch_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the control with the statement that it fetches, the lanes of the watched warp, and the way between them."""
    warp = _warp(moment)
    if warp is None:
        return framed([message(tr("No thread of this block is active in this step."), options)], moment, options)
    theme, size, plan = options.theme, options.theme.type.words, _Plan.of(moment.trace.rules.warp_size, options)
    control, heads = plan.control, options.top + 0.9 * size
    lanes = len(_touched(moment, warp, options))
    rows = -(-moment.trace.rules.warp_size // plan.columns)
    spine, middles = plan.x - 0.4 * _BUS, [plan.y + (row + 0.5) * plan.high - _GAP / 2 for row in range(rows)]
    source, y = control.right, control.middle_y
    ways = [(source, y, spine, y), (spine, middles[0], spine, middles[-1]), *((spine, at, plan.x, at) for at in middles)]
    code = Box(control.x + 16, y - _CODE / 2, control.width - 32, _CODE)
    name = control.y - 0.5 * size
    pieces: list[Primitive] = [
        text_line(
            "control-name",
            (control.x, name),
            tr("the control fetches one instruction"),
            size,
            control.width,
            theme.text,
            "semibold",
        ),
        text_line(
            "lanes-name",
            (plan.x, heads),
            tr("{lanes} of warp {warp} execute it", lanes=many(lanes, "lane"), warp=warp),
            size,
            plan.wide * plan.columns,
            theme.text,
            "semibold",
        ),
        Rects("control", boxes(control), theme.panel, theme.line, 2.0, 10.0),
        *code_primitives(moment, code, options),
        Lines("ways", boxes(*ways), theme.line, 3.0),
    ]
    return framed([*pieces, *_lanes(moment, warp, plan, options)], moment, options)


def fetch_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the instruction on its way: one piece until it leaves the control, then one for each lane."""
    warp = _warp(moment)
    if warp is None or options.moment >= ARRIVAL:
        return ()
    plan, share = _Plan.of(moment.trace.rules.warp_size, options), options.way
    start, colour = plan.control, _colour(warp, options)
    side = _CHIP * plan.high
    begin = np.array([start.right, start.middle_y])
    lanes = np.array([plan.box(lane) for lane in _touched(moment, warp, options)])
    ends = lanes[:, :2] + lanes[:, 2:] / 2
    middle = begin * (1 - share) + ends * share
    now = np.column_stack([middle - side / 2, np.full((len(middle), 2), side)])
    return (Rects("instruction", now, colour, options.theme.background, 1.5, 5.0),)


def _warp(moment: Moment) -> int | None:
    if moment.focus.warp is not None:
        return moment.focus.warp
    return moment.request.warp if moment.request else None


def _colour(warp: int, options: ViewOptions) -> str:
    return options.theme.warps[warp % len(options.theme.warps)]


def _touched(moment: Moment, warp: int, options: ViewOptions) -> dict[int, str]:
    """Return what each active lane accesses: the name of an element, or what it does without one."""
    trace, found = moment.trace, dict[int, str]()
    size, of_block = trace.rules.warp_size, moment.scope.of_block
    for lane in range(min(size, trace.space.threads_per_block - warp * size)):
        column = of_block.start + warp * size + lane
        if (trace.element[trace.row[moment.step] : trace.row[moment.step + 1], column] < 0).all():
            continue
        touched = next((each for each in moment.touched if trace.element[each.row, column] >= 0), None)
        if touched is None:
            found[lane] = moment.site.kind
            continue
        element = int(trace.element[touched.row, column]) + int(touched.operand.layout.offset(0, trace.lane[column]))
        found[lane] = element_text(touched.array, element, options.labels)
    return found


def _lanes(moment: Moment, warp: int, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the lanes, lit once the instruction has arrived, each with its number and its own element."""
    theme, least, touched = options.theme, options.theme.type.least, _touched(moment, warp, options)
    count = moment.trace.rules.warp_size
    lit, dark = [plan.box(lane) for lane in touched], [plan.box(lane) for lane in range(count) if lane not in touched]
    arrived = options.moment >= ARRIVAL
    colour = _colour(warp, options) if arrived else theme.empty
    ink = theme.ink_on(colour) if arrived else theme.faint
    pieces: list[Primitive] = [Rects("lanes-idle", boxes(*dark), None, theme.line, 1.5, 5.0)] if dark else []
    pieces.append(Rects("lanes", boxes(*lit), colour, None if arrived else theme.line, 1.5, 5.0))
    forms = ("{lane}: {name}", "{name}") if arrived else ("{lane}",)
    texts = _fitting([[form.format(lane=lane, name=name) for lane, name in touched.items()] for form in forms], plan, least)
    at = [(x + 10, baseline(y + high / 2, least)) for x, y, _, high in lit]
    pieces.append(Labels("lanes-names", points(*at), tuple(texts), least, ink))
    return pieces


def _fitting(forms: list[list[str]], plan: _Plan, size: float) -> list[str]:
    """Return the texts of the lanes in the first form in which all fit, else those of the last one, cut."""
    room = plan.wide - _GAP - 16
    whole = next((texts for texts in forms if all(text_width(text, size) <= room for text in texts)), None)
    return whole if whole is not None else [fitted(text, size, room) for text in forms[-1]]


VIEW = View(marked("Instruction: one fetch for a warp"), Moment, fetch_scene, fetch_motion, order=7)
