"""The first block that a multiprocessor has no room for: it falls towards the free warp slots, shows which of its warps find
none, and goes back.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.models.occupancy import WARPS, OccupancyLimits
from gemmviz.model.translation import tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import eased
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.slots import Tray, block_colour
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme

_BEGINS, _STAYS, _LEAVES = 0.45, 0.68, 0.9  # shares of the motion: the blocks that fit have landed; it lies; it goes back
_APART = 10.0  # between the tray and the warps without a slot


class TurnedAway(Struct, frozen=True):
    """A block of ``warps``, the ``number``-th, that finds only ``free`` slots."""

    number: int
    warps: int
    free: int

    @classmethod
    def of(cls, limits: OccupancyLimits) -> "TurnedAway | None":
        """Return the block after those that an SM holds; None if warps don't limit, or no slot is free."""
        uses, blocks = limits.uses[WARPS], limits.blocks_per_sm
        if WARPS not in limits.limiting or uses is None or not blocks:
            return None
        free = uses[1] - blocks * uses[0]
        return cls(blocks, uses[0], free) if 0 < free < uses[0] else None

    @staticmethod
    def before(moment: float) -> float:
        """Return the share of the fall of the other blocks that has passed at a moment."""
        return min(1.0, moment / _BEGINS)

    def pieces(self, tray: Tray, beside: Box, moment: float, theme: Theme) -> list[Primitive]:
        """Draw the block at a moment; ``beside``: where its warps without a slot may lie, at the right of the tray."""
        if not _BEGINS < moment < 1.0:
            return []
        share = float(eased(np.interp(moment, (_BEGINS, _STAYS, _LEAVES, 1.0), (0.0, 1.0, 1.0, 0.0))))
        first = self.number * self.warps
        above = (1.0 - share) * (tray.rows - first // tray.columns)
        slots = [(row, column + n, 1) for row, column, length in tray.runs(first, self.free) for n in range(length)]
        found = [box for box in (tray.box_of(slot, above) for slot in slots) if box[1] > tray.y - tray.pitch]
        lacking = self._lacking(tray, beside, above)
        pieces: list[Primitive] = [
            Rects("next-block", boxes(*found), block_colour(self.number, theme), radius=4.0),
            Rects("next-lacking", boxes(*lacking), theme.warning, radius=4.0),
        ]
        return [*pieces, *self._name(lacking, beside, theme)] if _STAYS <= moment <= _LEAVES else pieces

    def _lacking(self, tray: Tray, beside: Box, above: float) -> list[tuple[float, float, float, float]]:
        """Return the boxes of the warps without a slot, as large as slots, in rows at the right of the tray."""
        _, top, wide, high = tray.box_of((tray.rows - 1, 0, 1))
        left = tray.box.x + tray.box.width + _APART
        across = max(1, int((beside.x + beside.width - left) // tray.cell))
        places = [divmod(n, across) for n in range(self.warps - self.free)]
        top = max(top, beside.y)
        drawn = [(left + column * tray.cell, top + (row - above) * tray.pitch, wide, high) for row, column in places]
        return [box for box in drawn if box[1] >= top - 0.5 * tray.pitch]

    def _name(self, lacking: list[tuple[float, float, float, float]], beside: Box, theme: Theme) -> list[Primitive]:
        """Draw how many warps have no slot: after the last one, or below it if there is no room."""
        text, size = tr("{warps} too many", warps=many(self.warps - self.free, "warp")), theme.type.words
        x, y, wide, high = lacking[-1]
        at = (x + wide + 16, y + high / 2 + 0.36 * size)
        if at[0] + text_width(text, size, "semibold") > beside.x + beside.width:
            at = (lacking[0][0], y + high + 1.1 * size)
        return [Labels("next-lacking-name", points(at), (text,), size, theme.legible(theme.warning), "start", "semibold")]
