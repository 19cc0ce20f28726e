"""The cost of a request as squares, one for each sector or wavefront: grey if it is needed, red if it is not.

The numbers are those of the counts: ``needed`` is the fewest sectors or wavefronts that could carry the requested bytes.
"""

import math

import numpy as np
from msgspec import Struct

from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment, Request, TouchedOperand
from gemmviz.model.arrays import Floats
from gemmviz.model.sites import SPACES, Space
from gemmviz.model.translation import counted, grouped, tr, trn
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Face, Labels, Primitive, Rects
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.text import fitted, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed

LARGEST_SQUARE = 44.0
_LEAST_SQUARE, _GAP, _LEADING = 5.0, 0.14, 1.3  # units; of a square's side; of a text's size
_OUTLINED = 12.0  # units: side of a square with an outline
_LEAST_TEXT, _LEAST_ROOM = 20.0, 36.0  # units: size of a text, height of the squares
_ROWS = (4, 8, 16, 32, 64, 128)  # squares of a row


class Meter(Struct, frozen=True):
    """What one warp's request moves and needs, and the same for all ``requests`` of the watched warps.

    ``title``: whose request it is; ``unit``: "sector" or "wavefront"; ``size``: what one of them is, "" for nothing to say.
    """

    title: str
    unit: str
    moved: int
    needed: int
    requests: int = 1
    all_moved: int = 0
    all_needed: int = 0
    size: str = ""

    @property
    def text(self) -> str:
        """What the request costs and needs: "32 moved, 4 needed", of wavefronts "32 wavefronts, 1 needed"."""
        return self._said(self.moved, self.needed)

    def _said(self, moved: int, needed: int) -> str:
        values = {"moved": counted(grouped(moved), moved), "needed": spaced(needed)}
        if self.unit == "sector":
            return tr("{moved} moved, {needed} needed", **values)
        return trn(
            "{count} wavefront, {needed} needed", "{count} wavefronts, {needed} needed", moved, count=values["moved"], **values
        )

    @property
    def sum_text(self) -> str:
        """The sum over all requests, "" if there are no others."""
        if (self.moved, self.needed) == (self.all_moved, self.all_needed):
            return ""
        return tr(
            "all {requests} requests: {sentence}",
            requests=spaced(self.requests),
            sentence=self._said(self.all_moved, self.all_needed),
        )


def meters_of(moment: Moment) -> tuple[Meter, ...]:
    """Return the meters of a moment, one for each kind of memory that the step accesses."""
    return tuple(meter for space in SPACES if (meter := _meter(moment, space)) is not None)


def _meter(moment: Moment, space: Space) -> Meter | None:
    """Return the meter of one kind of memory; of the requests of other blocks if the watched one makes none."""
    touched = moment.touched_in(space)
    if touched is None:
        return None
    rules, total, request = moment.trace.rules, cost_in(moment, space), moment.request_of(touched.row)
    if not total.requests:
        return None
    one, title = total, tr("requests of other blocks")
    if request is not None:
        one = asked_cost(moment, touched, request)
        title = (
            tr("requests of warp {warp}", warp=request.warp)
            if one.requests > 1
            else tr("request of warp {warp}", warp=request.warp)
        )
    if space == "global":
        sums = one.sectors, one.ideal_sectors, total.requests, total.sectors, total.ideal_sectors
        return Meter(title, "sector", *sums, tr("sectors of {sector_bytes} bytes", sector_bytes=rules.sector_bytes))
    sums = one.wavefronts, one.ideal_wavefronts, total.requests, total.wavefronts, total.ideal_wavefronts
    return Meter(title, "wavefront", *sums, tr("of {banks} banks", banks=rules.banks))


def asked_cost(moment: Moment, touched: TouchedOperand, request: Request) -> Counts:
    """Return the counts of one warp's request for an operand."""
    rules = moment.trace.rules
    rows = request.lanes.reshape(-1, rules.request_lanes)
    key = ("request cost", touched.row, request.warp)
    return moment.cached(key, lambda: count_rows(rows, touched.operand, touched.array, rules))


def cost_in(moment: Moment, space: Space) -> Counts:
    """Return the cost of a step in one kind of memory, for the watched warps."""
    if all(each.array.space == space for each in moment.touched):
        return moment.cost
    total = Counts()
    for each in moment.touched:
        if each.array.space == space:
            rows = moment.replay.rows_of_warps(moment.trace.element[each.row : each.row + 1], moment.scope)
            total += count_rows(rows, each.operand, each.array, moment.trace.rules)
    return total


def meter_primitives(
    meter: Meter,
    box: Box,
    theme: Theme,
    key: str = "meter",
    *,
    share: float = 1.0,
    side: float = 0.0,
    largest: float = LARGEST_SQUARE,
) -> list[Primitive]:
    """Draw a meter within a box: whose request it is, the squares, what they say, and the sum over all requests.

    ``share``: how many of the squares are shown, 0 to 1. ``side``: the side of a square, 0 for as large as fits, up to
    ``largest``.
    """
    lines = _lines(meter, box, theme)
    head, foot = _LEADING * theme.type.words, sum(_LEADING * size for _, _, size, _ in lines) + 6.0
    while lines[1:] and box.height - head - foot < _LEAST_ROOM:
        foot -= _LEADING * lines.pop()[2]
    room = Box(box.x, box.y + head + 8.0, box.width, box.height - head - foot - 8.0)
    title = _line(f"{key}-title", meter.title, theme.type.words, theme.faint, box.x, box.y + 0.8 * head, box.width)
    squares, end = meter_squares(meter, room, theme, key, share=share, side=side, largest=largest)
    primitives, y = [title, *squares], end + 6.0
    for name, text, size, colour in lines:
        y += _LEADING * size
        primitives.append(_line(f"{key}-{name}", text, size, colour, box.x, y - 0.25 * size, box.width))
    return primitives


def _lines(meter: Meter, box: Box, theme: Theme) -> list[tuple[str, str, float, str]]:
    """Return key, text, size and colour of the lines below the squares, the most important ones first."""
    sizes = theme.type
    sums = wrap_text(meter.sum_text, sizes.note, box.width, 2) if meter.sum_text else ()
    return [
        ("text", meter.text, sizes.title, theme.text),
        *((f"sum-{place}", line, sizes.note, theme.text) for place, line in enumerate(sums)),
        ("size", meter.size, sizes.note, theme.faint),
    ]


def _line(key: str, text: str, size: float, colour: str, x: float, y: float, room: float) -> Labels:
    """Return a line of text, smaller if it is too long; semibold if it is large."""
    face: Face = "semibold" if key.endswith("-text") else "regular"
    least = min(size, _LEAST_TEXT)
    fits = min(size, size * room / max(1.0, text_width(text, size, face)))
    size = max(least, fits)
    return text_at(key, (x, y), fitted(text, size, room, face), size, colour, "start", face)


def square_side(count: int, room: Box, largest: float = LARGEST_SQUARE) -> tuple[float, int]:
    """Return the side of the largest squares that fit a room, and how many stand in a row."""
    if count <= _ROWS[0]:
        return min(largest, room.height, room.width / _ROWS[0]), _ROWS[0]
    sides = ((min(largest, room.width / row, room.height / math.ceil(count / row)), row) for row in _ROWS)
    return max(sides, key=lambda each: (round(each[0], 3), -each[1]))


def meter_squares(
    meter: Meter, room: Box, theme: Theme, key: str, *, share: float = 1.0, side: float = 0.0, largest: float = LARGEST_SQUARE
) -> tuple[list[Primitive], float]:
    """Draw the squares of a meter, those that are needed first, and return their lower edge. More squares than fit are a bar
    with the same shares.
    """
    fitting, row = square_side(meter.moved, room, largest)
    side = min(side, fitting) if side else fitting
    if side < _LEAST_SQUARE:
        return _bar(meter, room, theme, key, share)
    count = math.ceil(share * meter.moved)
    places = np.arange(count)
    air = _GAP * side
    corners = np.stack([room.x + places % row * side, room.y + places // row * side], axis=1)
    boxes = np.hstack([corners, np.full((count, 2), side - air)])
    needed, wasted = boxes[: meter.needed], boxes[meter.needed :]
    end = room.y + math.ceil(meter.moved / row) * side
    return _squares(key, needed, wasted, side, theme), end


def _squares(key: str, needed: Floats, wasted: Floats, side: float, theme: Theme) -> list[Primitive]:
    radius = 0.12 * side
    primitives: list[Primitive] = (
        [Rects(f"{key}-needed", needed, theme.faint, radius=radius, meaning="count")] if len(needed) else []
    )
    if len(wasted):
        fill = mixed(theme.background, theme.warning, 0.3)
        outline = theme.warning if side >= _OUTLINED else None
        primitives.append(Rects(f"{key}-wasted", wasted, fill if outline else theme.warning, outline, 2.0, radius, "count"))
        if outline:
            primitives.append(hatching(f"{key}-hatching", _inner(wasted, 0.12 * side), theme.warning, "count"))
    return primitives


def _inner(boxes: Floats, inset: float) -> Floats:
    return np.hstack([boxes[:, :2] + inset, boxes[:, 2:] - 2 * inset])


def _bar(meter: Meter, room: Box, theme: Theme, key: str, share: float) -> tuple[list[Primitive], float]:
    high, wide = min(LARGEST_SQUARE, room.height), room.width * share
    needed = wide * meter.needed / max(1, meter.moved)
    primitives: list[Primitive] = [
        Rects(f"{key}-needed", np.array([(room.x, room.y, needed, high)]), theme.faint, meaning="count"),
        Rects(f"{key}-wasted", np.array([(room.x + needed, room.y, wide - needed, high)]), theme.warning, meaning="count"),
    ]
    return primitives, room.y + high
