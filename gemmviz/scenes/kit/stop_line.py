"""The line of a listing at which a run ended early: a mark that goes down to it from the first line, and the reason."""

from gemmviz.model.code_case import Stop
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.listing import INSET, LEADING, Sheet
from gemmviz.scenes.kit.primitives import Primitive, Rects, boxes
from gemmviz.scenes.kit.text import text_line, text_width

_MARK, _GAP = 6.0, 20.0
_LEAST_BESIDE = 240.0


def stop_line(stop: Stop, sheet: Sheet, options: ViewOptions) -> list[Primitive]:
    """Draw the mark at ``options.moment`` and, once it has arrived, why the run ended."""
    theme, box, leading = options.theme, sheet.box, LEADING * sheet.size
    if stop.line not in sheet.middles:
        return []
    first, last = min(sheet.middles.values()), sheet.middles[stop.line]
    y = first + (last - first) * options.way
    mark = boxes((box.x, y - leading / 2, _MARK, leading))
    if not options.arrived:
        return [Rects("stop-mark", mark, theme.text, radius=3.0)]
    frame = boxes((box.x, y - leading / 2, box.width, leading))
    end = INSET + text_width(sheet.listing.lines[stop.line], sheet.size, "mono")
    room, size = box.width - end - 2 * _GAP, theme.type.words
    pieces: list[Primitive] = [
        Rects("stop-line", frame, None, theme.warning, 3.0, 4.0), Rects("stop-mark", mark, theme.warning)
    ]  # fmt: skip
    if room < _LEAST_BESIDE:
        return pieces
    at = box.x + end + _GAP, y + 0.36 * size
    return [*pieces, text_line("stop-why", at, tr("the run stops: {why}", why=stop.why), size, room, theme.warning, "semibold")]
