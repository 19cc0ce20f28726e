"""One instruction of a warp: the control fetches it once, and all lanes of the warp execute it, each on its own element."""

from typing import NamedTuple

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import many, marked, tr
from gemmviz.scenes.kit.layout import NEAR, Box, Share, along, beside, round_boxes, square, write_all
from gemmviz.scenes.kit.primitives import Lines, Primitive, Scene, boxes
from gemmviz.scenes.kit.sentence import element_text
from gemmviz.scenes.kit.theme import Style
from gemmviz.scenes.kit.view import View, ViewOptions, framed, message
from gemmviz.scenes.stage.words import code_primitives

_COLUMNS, _BUS, _GAP, _TALLEST = 4, 90, 4, 96  # columns of lanes; width of the ways to them; between them; a lane's height
_CODE, _BOX = 110, 190  # heights of the statement, and of the control around it


class _Plan(NamedTuple):
    """The control at the left; the boxes of the ``lanes`` in ``rows`` at the right."""

    control: Box
    lanes: list[Box]
    rows: int

    @classmethod
    def of(cls, lanes: int, options: ViewOptions) -> "_Plan":
        room = options.room().trimmed(top=44).trimmed(bottom=10)
        columns = min(_COLUMNS * (1 + (lanes > 32)), lanes)
        rows = -(-lanes // columns)
        left, right = room._replace(height=min(room.height, rows * _TALLEST)).columns(Share(2), Share(3), gap=_BUS)
        control = square(left.middle, left.width, min(_BOX, room.height))
        return cls(control, right.grid(rows, columns, _GAP)[:lanes], rows)


def fetch_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the control with the statement that it fetches, the lanes of the watched warp, and the way between them."""
    warp = moment.shown_warp
    if warp is None:
        return framed([message(tr("No thread of this block is active in this step."), options)], moment, options)
    theme, plan = options.theme, _Plan.of(moment.trace.rules.warp_size, options)
    control, first = plan.control, plan.lanes[0]
    lanes, heads = len(_touched(moment, warp, options)), first._replace(width=plan.lanes[-1].right - first.x)
    (source, y), spine = control.at(1), first.x - _BUS / 3
    middles = [box.middle_y for box in plan.lanes[:: -(-len(plan.lanes) // plan.rows)]]
    ways = [(source, y, spine, y), (spine, middles[0], spine, middles[-1]), *((spine, at, first.x, at) for at in middles)]
    said = tr("{lanes} of warp {warp} execute it", lanes=many(lanes, "lane"), warp=warp)
    pieces: list[Primitive] = [
        beside("control-name", control, "top", tr("the control fetches one instruction"), theme.strong),
        beside("lanes-name", heads, "top", said, theme.strong),
        round_boxes("control", control, theme.panel, theme.line),
        *code_primitives(moment, square(control.middle, control.width - 32, _CODE), options),
        Lines("ways", boxes(*ways), theme.line, 3),
    ]
    return framed([*pieces, *_executing_lanes(moment, warp, plan, options)], moment, options)


def fetch_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the instruction on its way: one piece until it leaves the control, then one for each lane."""
    warp = moment.shown_warp
    if warp is None or options.arrived:
        return ()
    plan = _Plan.of(moment.trace.rules.warp_size, options)
    side, start = 0.4 * plan.lanes[0].height, plan.control.at(1)
    ways = [[start, plan.lanes[lane].middle] for lane in _touched(moment, warp, options)]
    chips = [square(along(way, options.way), side) for way in ways]
    return (round_boxes("instruction", chips, _warp_colour(warp, options), options.theme.background),)


def _warp_colour(warp: int, options: ViewOptions) -> str:
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


def _executing_lanes(moment: Moment, warp: int, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the lanes, lit once the instruction has arrived, each with its number and its own element."""
    theme, touched = options.theme, _touched(moment, warp, options)
    dark = [box for lane, box in enumerate(plan.lanes) if lane not in touched]
    lit = [plan.lanes[lane] for lane in touched]
    colour = _warp_colour(warp, options) if options.arrived else theme.empty
    style = theme.small.inked(theme.ink_on(colour)) if options.arrived else theme.aside
    forms = ("{lane}: {name}", "{name}") if options.arrived else ("{lane}",)
    texts = [[form.format(lane=lane, name=name) for lane, name in touched.items()] for form in forms]
    return [
        *([round_boxes("lanes-idle", dark, None, theme.line)] if dark else []),
        round_boxes("lanes", lit, colour, None if options.arrived else theme.line),
        write_all("lanes-names", [box.inset(NEAR - 2, 0) for box in lit], _longest_form(texts, plan, style), style),
    ]


def _longest_form(forms: list[list[str]], plan: _Plan, style: Style) -> list[str]:
    """Return the texts of the lanes in the first form in which all fit, else those of the last one."""
    room = plan.lanes[0].width - 2 * NEAR
    return next((texts for texts in forms if all(style.width(text) <= room for text in texts)), forms[-1])


VIEW = View(marked("Instruction: one fetch for a warp"), Moment, fetch_scene, fetch_motion, order=202)
