"""The active lanes of each warp of a block, as bars. The dark part of a bar is lanes that are off."""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes, text_line
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, framed
from gemmviz_example.activity import active_lanes

_NAMES, _NUMBERS, _MOST = 140.0, 180.0, 16  # widths beside the bars; warps that are drawn
_THICKEST = 48.0


def activity_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw a bar for each warp. Colours and sizes of text come from the theme, numbers from the trace."""
    theme, size = options.theme, moment.trace.rules.warp_size
    counts = active_lanes(moment.trace, moment.step, moment.scope.of_block)[:_MOST]
    left, room = MARGIN + _NAMES, options.width - 2 * MARGIN - _NAMES - _NUMBERS
    high = (options.bottom - options.top) / len(counts)
    thick = min(0.6 * high, _THICKEST)
    drawn: list[Primitive] = []
    for warp, count in enumerate(counts.tolist()):
        y = options.top + (warp + 0.5) * high
        drawn += [
            Rects(f"room-{warp}", boxes((left, y - thick / 2, room, thick)), theme.slate, radius=4.0),
            Rects(f"active-{warp}", boxes((left, y - thick / 2, room * count / size, thick)), theme.text, radius=4.0),
            text_line(f"warp-{warp}", (MARGIN, y + 8), f"warp {warp}", theme.type.words, _NAMES, theme.text),
            text_line(f"count-{warp}", (left + room + 20, y + 8), f"{count} of {size}", theme.type.words, _NUMBERS, theme.text),
        ]
    return framed(drawn, moment, options)


VIEW = View("Active lanes of each warp", Moment, activity_scene, order=6)
