"""One instruction of a warp: the control fetches it once, and all lanes of the warp execute it, each on its own element."""

from typing import NamedTuple

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.beat import element_text
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, framed, message
from gemmviz.scenes.kit.layout import Box, Share, along, baseline, square
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.code_lines import code_primitives

_COLUMNS, _CONTROL, _BUS = 4, 0.4, 90.0  # columns of lanes; share of the width for the control; width of the ways to the lanes
_HEAD, _GAP, _TALLEST = 44.0, 4.0, 96.0
_CODE, _BOX = 110.0, 190.0  # heights of the statement, and of the control around it
_CHIP = 0.4  # of a lane's height: an instruction under way


class _Plan(NamedTuple):
    """The control at the left; the boxes of the ``lanes`` in ``rows`` at the right."""

    control: Box
    lanes: list[Box]
    rows: int

    @classmethod
    def of(cls, lanes: int, options: ViewOptions) -> "_Plan":
        room = options.room(options.top + _HEAD).trimmed(bottom=10)
        columns = min(_COLUMNS * (1 + (lanes > 32)), lanes)
        rows = -(-lanes // columns)
        of_lanes = room._replace(height=min(room.height, rows * _TALLEST))
        left, right = of_lanes.columns(Share(_CONTROL), Share(1.0 - _CONTROL))
        control = left.trimmed(right=_BUS)
        control = square(control.middle, control.width, min(_BOX, room.height))
        return cls(control, [box.trimmed(right=_GAP, bottom=_GAP) for box in right.grid(rows, columns)[:lanes]], rows)


def fetch_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the control with the statement that it fetches, the lanes of the watched warp, and the way between them."""
    warp = _warp(moment)
    if warp is None:
        return framed([message(tr("No thread of this block is active in this step."), options)], moment, options)
    theme, size, plan = options.theme, options.theme.type.words, _Plan.of(moment.trace.rules.warp_size, options)
    control, first, last = plan.control, plan.lanes[0], plan.lanes[-1]
    lanes = len(_touched(moment, warp, options))
    (source, y), spine = control.at(1.0), first.x - 0.4 * _BUS
    middles = [box.middle_y for box in plan.lanes[:: -(-len(plan.lanes) // plan.rows)]]
    ways = [(source, y, spine, y), (spine, middles[0], spine, middles[-1]), *((spine, at, first.x, at) for at in middles)]
    fetched = tr("the control fetches one instruction")
    said = tr("{lanes} of warp {warp} execute it", lanes=many(lanes, "lane"), warp=warp)
    above, heads = (control.x, control.y - 0.5 * size), (first.x, options.top + 0.9 * size)
    pieces: list[Primitive] = [
        text_line("control-name", above, fetched, size, control.width, theme.text, "semibold"),
        text_line("lanes-name", heads, said, size, last.right + _GAP - first.x, theme.text, "semibold"),
        Rects("control", boxes(control), theme.panel, theme.line, 2.0, 10.0),
        *code_primitives(moment, square(control.middle, control.width - 32, _CODE), options),
        Lines("ways", boxes(*ways), theme.line, 3.0),
    ]
    return framed([*pieces, *_lanes(moment, warp, plan, options)], moment, options)


def fetch_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the instruction on its way: one piece until it leaves the control, then one for each lane."""
    warp = _warp(moment)
    if warp is None or options.moment >= ARRIVAL:
        return ()
    plan, share = _Plan.of(moment.trace.rules.warp_size, options), options.way
    start, colour = plan.control.at(1.0), _colour(warp, options)
    side = _CHIP * (plan.lanes[0].height + _GAP)
    ends = [along([start, plan.lanes[lane].middle], share) for lane in _touched(moment, warp, options)]
    now = boxes(*(square(at, side) for at in ends))
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
    lit, dark = [plan.lanes[lane] for lane in touched], [box for lane, box in enumerate(plan.lanes) if lane not in touched]
    arrived = options.moment >= ARRIVAL
    colour = _colour(warp, options) if arrived else theme.empty
    ink = theme.ink_on(colour) if arrived else theme.faint
    pieces: list[Primitive] = [Rects("lanes-idle", boxes(*dark), None, theme.line, 1.5, 5.0)] if dark else []
    pieces.append(Rects("lanes", boxes(*lit), colour, None if arrived else theme.line, 1.5, 5.0))
    forms = ("{lane}: {name}", "{name}") if arrived else ("{lane}",)
    texts = _fitting([[form.format(lane=lane, name=name) for lane, name in touched.items()] for form in forms], plan, least)
    at = [(box.x + 10, baseline(box.middle_y, least)) for box in lit]
    pieces.append(Labels("lanes-names", points(*at), tuple(texts), least, ink))
    return pieces


def _fitting(forms: list[list[str]], plan: _Plan, size: float) -> list[str]:
    """Return the texts of the lanes in the first form in which all fit, else those of the last one, cut."""
    room = plan.lanes[0].width - 16
    whole = next((texts for texts in forms if all(text_width(text, size) <= room for text in texts)), None)
    return whole if whole is not None else [fitted(text, size, room) for text in forms[-1]]


VIEW = View(marked("Instruction: one fetch for a warp"), Moment, fetch_scene, fetch_motion, order=7)
