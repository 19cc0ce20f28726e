"""One warp's access to shared memory: its lanes above, the banks below, and over each bank the lanes that it serves, one in
each wavefront.
"""

import numpy as np

from gemmviz.analysis.memory.banks import Punchcard, access_card
from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment, Request, TouchedOperand
from gemmviz.model.translation import counted, many, marked, tr
from gemmviz.scenes.kit.layout import FINE, Box, all_beside, beside, cells_in, write
from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import label_step
from gemmviz.scenes.kit.theme import HALF
from gemmviz.scenes.kit.view import MARGIN, TURN, View, ViewOptions, eased_in_turn, framed, nothing_accessed
from gemmviz.scenes.stage.cost import matrix_of, stack_cell, waiting_primitives
from gemmviz.scenes.views.memory_view import followed_lane

_NAMES_WIDTH = 210  # of the names of wavefronts
_LANES, _LEAST_THREADS = 34, 110  # height of the lanes, and of the lines from them to the banks
_STACKS = 0.62  # of the height below the lanes, at most


def banks_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the access of the watched warp, or of the first active warp of the block."""
    picture = _access_of(moment, options)
    if picture is None:
        return framed(nothing_accessed(moment, "shared", options), moment, options)
    return framed(picture.primitives(), moment, options)


def banks_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lanes on their way to their banks, one wavefront after the other."""
    picture = None if options.arrived else _access_of(moment, options)
    return () if picture is None else tuple(picture.falling(options.passed))


def _access_of(moment: Moment, options: ViewOptions) -> "_BankAccess | None":
    shared = moment.touched_in("shared")
    request = None if shared is None else moment.request_of(shared.row)
    return None if shared is None or request is None else _BankAccess(moment, shared, request, options)


class _BankAccess:
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
        room = options.room().trimmed(top=44).trimmed(left=_NAMES_WIDTH - MARGIN if options.words else 0, bottom=6)
        self.row, below = room.strip("top", _LANES)
        stacked = min(below.height - _LEAST_THREADS, max(_STACKS * below.height, 150))
        if below.height < 2 * _LEAST_THREADS:  # a low panel has no space for lines
            stacked = below.height - 8
        self.room, _ = below.strip("bottom", stacked)
        self.cell, self.high = stack_cell(self.card, self.room)
        self.floor = self.room.bottom - 36

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
        rows, count = len(self.card.first), len(lane)
        along = eased_in_turn(share, wavefront, rows, TURN if rows > 1 else 1)[:, None]
        start = np.array([self._lane_box(each) for each in lane.tolist()]).reshape(-1, 4)
        top = self.floor - (wavefront + 1) * self.high
        end = np.column_stack([self.room.x + bank * self.cell, top, np.full(count, self.cell), np.full(count, self.high)])
        places = start + (end - start) * along
        lies = (along[:, 0] >= 1) & ~np.isin(wavefront, self.card.starts)
        line = self.theme.background
        return [
            Rects("falling-lanes", places[~lies], self.accent, line),
            Rects("falling-again", places[lies], self.theme.warning, line),
        ]

    def _lane_box(self, lane: int) -> Box:
        wide = self.row.width / len(self.lanes)
        return self.row._replace(x=self.row.x + lane * wide, width=wide)

    def _heading(self) -> list[Primitive]:
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
        line = self.options.room()._replace(height=32)
        return [write("bank-heading", line, text, self.theme.strong, "middle")]

    def _lane_row(self) -> list[Primitive]:
        """Draw the lanes of the warp, each over the bank of its number."""
        theme, count = self.theme, len(self.lanes)
        palette, inks = (theme.empty, self.accent), (theme.faint, theme.ink_on(self.accent))
        fill, texts = (self.lanes >= 0).astype(np.uint8)[None], np.arange(count).astype("<U4")[None]
        size, ground = theme.type.least, theme.background
        row = cells_in("bank-lanes", self.row, fill, palette, ground, inks, "lanes", texts, size)
        return [row, beside("lane-name", self.row, "left", tr("lane"), theme.aside)] if self.options.words else [row]

    def threads(self) -> list[Primitive]:
        """Draw a line from each lane to the stack over its bank."""
        top = self.row.bottom + 2
        if self.room.y - top < _LEAST_THREADS / 2:
            return []
        lane, _, bank = self.card.places.T
        highest = np.zeros(int(bank.max(initial=0)) + 1, np.int64)
        np.maximum.at(highest, bank, self.card.places[:, 1])
        y = self.floor - (highest[bank] + 1) * self.high
        start = [self._lane_box(each).middle_x for each in lane.tolist()]
        end = [self._place(0, each).middle_x for each in bank.tolist()]
        segments = np.column_stack([start, np.full(len(lane), top), end, y])
        return [Lines("bank-threads", segments, self.theme.faded(self.accent, HALF), FINE)]

    def _place(self, wavefront: int, bank: int) -> Box:
        """The place of a lane over a bank."""
        return Box(self.room.x + bank * self.cell, self.floor - (wavefront + 1) * self.high, self.cell, self.high)

    def _names(self) -> list[Primitive]:
        """Name banks and wavefronts at even distances."""
        if not self.options.words:
            return []
        style, rows = self.theme.aside, len(self.card.first)
        shown = range(0, rows, label_step(self.high, style.size + 4, rows))
        texts, places = [tr("wavefront {row}", row=row + 1) for row in shown], [self._place(row, 0) for row in shown]
        numbers = self.room.strip("bottom", self.room.bottom - self.floor)[0]
        return [
            all_beside("wavefront-names", places, "left", texts, style),
            beside("bank-name", numbers, "left", tr("bank"), style),
        ]

    def _followed(self) -> list[Primitive]:
        """Draw a ring around the first place that serves the followed lane."""
        own = np.argwhere(self.card.first == self.followed) if self.followed is not None else np.zeros((0, 2), np.int64)
        if not len(own):
            return []
        wavefront, bank = own[0].tolist()
        return [Rects("followed-lane", boxes(self._place(wavefront, bank)), None, self.theme.text, 4)]


VIEW = View(marked("Banks of shared memory"), Moment, banks_scene, banks_motion, is_count=True, least=140, order=303)
