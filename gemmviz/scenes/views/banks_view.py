"""One warp's access to shared memory: its lanes above, the banks below, and over each bank the lanes that it serves, one in
each wavefront.
"""

import numpy as np

from gemmviz.analysis.memory.banks import Punchcard, access_card
from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment, Request, TouchedOperand
from gemmviz.model.translation import counted, marked, tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, eased, framed
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, label_step, text_width
from gemmviz.scenes.kit.view import View, nothing_accessed
from gemmviz.scenes.stage.cost import matrix_of, stack_cell, waiting_primitives
from gemmviz.scenes.views.memory_view import followed_lane

_LEFT = 210.0  # for the names of wavefronts
_LANES, _LEAST_THREADS = 34.0, 110.0  # height of the lanes, and of the lines from them to the banks
_STACKED = 0.62  # of the height below the lanes, at most
_STAGGER = 0.55  # of the time: how much later the last wavefront starts than the first


def banks_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the access of the watched warp, or of the first active warp of the block."""
    picture = _picture_of(moment, options)
    if picture is None:
        return framed(nothing_accessed(moment, "shared", options), moment, options)
    return framed(picture.primitives(), moment, options)


def banks_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lanes on their way to their banks, one wavefront after the other."""
    picture = None if options.arrived else _picture_of(moment, options)
    return () if picture is None else tuple(picture.falling(options.moment / ARRIVAL))


def _picture_of(moment: Moment, options: ViewOptions) -> "_Picture | None":
    shared = moment.touched_in("shared")
    request = None if shared is None else moment.request_of(shared.row)
    return None if shared is None or request is None else _Picture(moment, shared, request, options)


class _Picture:
    """The parts of the picture and their places."""

    def __init__(self, moment: Moment, shared: TouchedOperand, request: Request, options: ViewOptions) -> None:
        rules = moment.trace.rules
        self.card: Punchcard = access_card(request.lanes, shared.operand, shared.array, rules)
        rows = request.lanes.reshape(-1, rules.request_lanes)
        self.cost: Counts = count_rows(rows, shared.operand, shared.array, rules)
        self.who = tr("{array}, warp {warp}", array=shared.array.name, warp=request.warp)
        self.lanes, self.followed = request.lanes, followed_lane(moment)
        self.options, self.theme = options, options.theme
        self.accent = options.theme.accent(matrix_of(moment, shared))
        top, bottom = options.top + 44, options.bottom - 6
        self.lane_y, left = top, _LEFT if options.words else MARGIN
        below = top + _LANES
        stacked = min(bottom - below - _LEAST_THREADS, max(_STACKED * (bottom - below), 150.0))
        if bottom - below < 2 * _LEAST_THREADS:  # a low panel has no space for lines
            stacked = bottom - below - 8
        self.room = Box(left, bottom - stacked, options.width - left - MARGIN, stacked)
        self.cell, self.high = stack_cell(self.card, self.room)
        self.floor = bottom - (self.room.height - self._stack_room)

    @property
    def _stack_room(self) -> float:
        return self.room.height - 36.0

    def _stacks(self) -> list[Primitive]:
        """Draw the banks and, once they have arrived, the lanes over them."""
        drawn = waiting_primitives(self.card, self.room, self.accent, self.theme, numbers=self.theme.type.least)
        return drawn if self.options.arrived else [each for each in drawn if not isinstance(each, Cells)]

    def primitives(self) -> list[Primitive]:
        arrived = [*self.threads(), *self._followed()] if self.options.arrived else []
        return [*self._heading(), *self._lane_row(), *self._stacks(), *arrived, *self._names()]

    def falling(self, share: float) -> list[Primitive]:
        """Draw the lanes between their row and their banks; a wavefront but the first is waste once it lies on another one."""
        lane, wavefront, bank = self.card.places.T
        rows, wide = len(self.card.first), self.room.width / len(self.lanes)
        stagger = _STAGGER if rows > 1 else 0.0
        begins = stagger * wavefront / max(1, rows - 1)
        along = eased(np.clip((share - begins) / (1.0 - stagger), 0.0, 1.0))[:, None]
        start = np.stack(
            [self.room.x + lane * wide, *(np.full(len(lane), each) for each in (self.lane_y, wide, _LANES))], axis=1
        )
        high = np.full(len(lane), self.high)
        end = np.stack(
            [self.room.x + bank * self.cell, self.floor - (wavefront + 1) * high, np.full(len(lane), self.cell), high], axis=1
        )
        places = start + (end - start) * along
        lies = (along[:, 0] >= 1.0) & ~np.isin(wavefront, self.card.starts)
        line = self.theme.background
        return [
            Rects("falling-lanes", places[~lies], self.accent, line, 1.0),
            Rects("falling-again", places[lies], self.theme.warning, line, 1.0),
        ]

    def _heading(self) -> list[Primitive]:
        theme, size = self.theme, self.theme.type.words
        groups, size_of_group = len(self.card.starts), len(self.lanes) // len(self.card.starts)
        several = tr(", in {groups} groups of {size} lanes", groups=counted(groups), size=size_of_group)
        each = several if groups > 1 else ""
        shared = tr("; ×n: a broadcast to n lanes") if (self.card.served > 1).any() else ""
        needed = (
            tr(", {ideal_wavefronts} needed", ideal_wavefronts=counted(self.cost.ideal_wavefronts))
            if self.cost.excessive_wavefronts
            else ""
        )
        text = f"{self.who}: {many(self.cost.wavefronts, 'wavefront')}{needed}{each}{shared}"
        at = (self.options.width / 2, self.options.top + 24)
        text = fitted(text, size, self.options.width - 2 * MARGIN, "semibold")
        return [text_at("bank-heading", at, text, size, theme.text, "middle", "semibold")]

    def _lane_row(self) -> list[Primitive]:
        """Draw the lanes of the warp, each over the bank of its number."""
        theme, count = self.theme, len(self.lanes)
        wide = self.room.width / count
        size = theme.type.least if text_width("31", theme.type.least) < wide else 0.0
        texts = np.arange(count).astype("<U4")[None] if size else None
        palette = (theme.empty, self.accent)
        fill = (self.lanes >= 0).astype(np.uint8)[None]
        inks = (theme.faint, theme.ink_on(self.accent))
        name = text_at("lane-name", (self.room.x - 14, self.lane_y + 25), tr("lane"), theme.type.least, theme.faint, "end")
        row = Cells(
            "bank-lanes", self.room.x, self.lane_y, wide, fill, palette, inks, texts, size, theme.background, 1, _LANES,
            meaning="lanes",
        )  # fmt: skip
        return [row, name] if self.options.words else [row]

    def threads(self) -> list[Primitive]:
        """Draw a line from each lane to the stack over its bank."""
        top = self.lane_y + _LANES + 2
        if self.room.y - top < 0.5 * _LEAST_THREADS:
            return []
        lane, wavefront, bank = self.card.places.T
        start = self.room.x + (lane + 0.5) * self.room.width / len(self.lanes)
        end = self.room.x + (bank + 0.5) * self.cell
        highest = np.zeros(int(bank.max(initial=0)) + 1, np.int64)
        np.maximum.at(highest, bank, wavefront)
        y = self.floor - (highest[bank] + 1) * self.high
        segments = np.stack([start, np.full(len(lane), top), end, y], axis=1)
        return [Lines("bank-threads", segments, self.theme.faded(self.accent, 0.5), 1.5)]

    def _names(self) -> list[Primitive]:
        """Name banks and wavefronts at even distances."""
        if not self.options.words:
            return []
        theme, size, rows = self.theme, self.theme.type.least, len(self.card.first)
        shown = range(0, rows, label_step(self.high, size + 4, rows))
        at = points(*((self.room.x - 14, baseline(self.floor - (row + 0.5) * self.high, size)) for row in shown))
        texts = tuple(tr("wavefront {row}", row=row + 1) for row in shown)
        bank = (self.room.x - 14, self.room.bottom - 8)
        return [
            Labels("wavefront-names", at, texts, size, theme.faint, "end"),
            text_at("bank-name", bank, tr("bank"), size, theme.faint, "end"),
        ]

    def _followed(self) -> list[Primitive]:
        """Draw a ring around the first place that serves the followed lane."""
        own = np.argwhere(self.card.first == self.followed) if self.followed is not None else np.zeros((0, 2), np.int64)
        if not len(own):
            return []
        wavefront, bank = own[0].tolist()
        box = boxes((self.room.x + bank * self.cell, self.floor - (wavefront + 1) * self.high, self.cell, self.high))
        return [Rects("followed-lane", box, None, self.theme.text, 4.0)]


VIEW = View(marked("Banks of shared memory"), Moment, banks_scene, banks_motion, is_count=True, least=140.0, order=3)
