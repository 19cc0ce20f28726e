"""The rooms of the stage that tell what the step costs: the meter, and the request of a warp."""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Primitive, points
from gemmviz.scenes.kit.text import wrap_text
from gemmviz.scenes.stage.layout import Plan, plan_of
from gemmviz.scenes.stage.meter import meter_primitives, meters_of
from gemmviz.scenes.stage.request import request_motion, request_primitives
from gemmviz.scenes.stage.words import stop_words

_LEADING = 1.22
_AIR = 24.0
_LEAST_METER = 84.0  # units: height of a meter with a row of squares


def cost_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the meter and the request into their rooms; of a step without memory access, a sentence."""
    primitives: list[Primitive] = []
    if "meter" in plan.rooms:
        primitives += _meters(moment, plan.rooms["meter"], options)
    if "request" in plan.rooms:
        primitives += request_primitives(moment, plan.rooms["request"], options)
    return primitives


def cost_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the wavefronts of the request that have passed at ``options.moment``."""
    room = plan_of(moment, options).rooms.get("request") if options.moment < 1.0 else None
    return () if room is None else request_motion(moment, room, options)


def _meters(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw what the step costs; at a step that ends the run early, why it ends."""
    if moment.trace.stop is not None and moment.step == moment.replay.steps - 1:
        return stop_words(moment, room, options.theme)
    meters, theme = meters_of(moment), options.theme
    if not meters or room.height < _LEAST_METER:
        return _sentence(moment, room, options)
    primitives: list[Primitive] = []
    high = (room.height - _AIR * (len(meters) - 1)) / len(meters)
    is_side_by_side = high < _LEAST_METER
    wide = (room.width - _AIR * (len(meters) - 1)) / len(meters) if is_side_by_side else room.width
    for place, meter in enumerate(meters):
        box = Box(room.x, room.y + place * (high + _AIR), room.width, high)
        if is_side_by_side:
            box = Box(room.x + place * (wide + _AIR), room.y, wide, room.height)
        key = "meter" if len(meters) == 1 else f"meter-{meter.unit}"
        primitives += meter_primitives(meter, box, theme, key, share=options.counted)
    return primitives


def _sentence(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    size = options.theme.type.words
    lines = wrap_text(sentence.cost(moment), size, room.width, max(1, int(room.height / (_LEADING * size))))
    at = points(*((room.x, room.y + (number + 0.8) * _LEADING * size) for number in range(len(lines))))
    return [Labels("cost", at, lines, size, options.theme.faint)]
