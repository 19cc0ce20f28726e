"""A block that a device refuses: its threads on their way into the device's thread slots, those without a slot in red, and how
many blocks of its shared memory would fit in an SM.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.models import SHARED, occupancy_limits
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.cases import LaunchCase
from gemmviz.model.translation import grouped, many, size_text, sized, spaced, tr
from gemmviz.scenes.kit.layout import CELL_FILL, Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, Squares, boxes
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.view import MARGIN, ViewOptions, eased, eased_in_turn

MOST_DRAWN = 4096  # threads
_TOP, _HEAD, _LARGEST = 168.0, 40.0, 40.0
_SLAB, _SLAB_HEAD = 56.0, 52.0  # heights of the bar of shared memory and of its heading
_APART = 10.0  # between the slots and the threads without one
_WORDS = 190.0  # beside the slots


class _Plan(Struct, frozen=True):
    """The places of a refused block: its threads at ``home``, ``own`` wide, ``across`` in a row; the device's slots at
    ``slots``, ``cell`` wide, a row for each warp, below the words ``held``; ``bar``: the shared memory of an SM.
    """

    threads: int
    most: int
    warp: int
    across: int
    home: Box
    own: float
    slots: Box
    cell: float
    held: str
    bar: Box

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        """The block at the left, the slots at the right, shared memory below if the block has any."""
        assert case.requested is not None
        dx, dy, dz = case.requested.block
        threads, most, warp = dx * dy * dz, case.device.max_threads_per_block, case.device.warp_size
        below = _SLAB + _SLAB_HEAD if case.shared_bytes else 0.0
        room = options.room(_TOP, 40).trimmed(bottom=below)
        own = min(0.42 * room.width / dx, room.height / (dy * dz), _LARGEST)
        left = room.x + dx * own + 90
        rows, count = most // warp, -(-threads // warp)
        cell = min((room.right - left - _WORDS) / warp, (room.height - _APART) / count, _LARGEST)
        slots = Box(left, room.y, warp * cell, rows * cell)
        bar = Box(room.x, room.bottom + _SLAB_HEAD, room.width, _SLAB)
        held = tr("{most} threads fit in a {block}", most=grouped(most), block=tr(case.device.words["block"]))
        return cls(threads, most, warp, dx, Box(room.x, room.y, dx * own, dy * dz * own), own, slots, cell, held, bar)

    def at_home(self, number: Longs) -> Floats:
        """Return the cells of threads in their block: x, y, side."""
        x, y = self.home.x + number % self.across * self.own, self.home.y + number // self.across * self.own
        return np.column_stack([x, y, np.full(len(x), self.own)])

    def in_slots(self, number: Longs) -> Floats:
        """Return the slots of threads, and the places below them of those that have none: x, y, side."""
        apart = np.where(number >= self.most, _APART, 0.0)
        x = self.slots.x + number % self.warp * self.cell
        y = self.slots.y + number // self.warp * self.cell + apart
        return np.column_stack([x, y, np.full(len(x), self.cell)])


def has_too_many_threads(case: LaunchCase) -> bool:
    """Whether a launch is refused for its number of threads, and not for more than can be drawn."""
    requested_launch = case.requested
    return requested_launch is not None and case.device.max_threads_per_block < requested_launch.threads_per_block <= MOST_DRAWN


def refused_block(case: LaunchCase, options: ViewOptions) -> list[Primitive]:
    """Draw the block, the empty slots and their names; filled slots and counts are drawn by ``refused_motion``."""
    plan, theme = _Plan.of(case, options), options.theme
    number, size = np.arange(plan.threads), theme.type.words
    table = number.reshape(-1, plan.across)
    fill = np.where(table < plan.most, table // plan.warp % len(theme.warps), len(theme.warps)).astype(np.uint8)
    palette = (*theme.warps, theme.warning)
    empty = np.zeros((plan.most // plan.warp, plan.warp), np.uint8)
    requested_launch = case.requested
    assert requested_launch is not None
    dx, dy, dz = requested_launch.block
    block = f"{dx} × {dy}" + (f" × {dz}" if dz > 1 else "") + f" = {sized(plan.threads, 'thread')}"
    names = ((plan.home.x, block), (plan.slots.x, plan.held))
    return [
        Cells("refused", plan.home.x, plan.home.y, plan.own, fill, palette, palette, line=theme.background),
        Cells(
            "slots", plan.slots.x, plan.slots.y, plan.cell, empty, (theme.empty,), (theme.faint,), line=theme.background,
            meaning="slots",
        ),
        *(
            text_at(f"refused-name-{place}", (x, plan.home.y - 14), text, size, theme.text, "start", "semibold")
            for place, (x, text) in enumerate(names)
        ),
        *_memory(case, plan, options),
    ]  # fmt: skip


def refused_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the threads between their block and their slots, the counts reached so far, and the slabs of shared memory."""
    plan, theme = _Plan.of(case, options), options.theme
    number = np.arange(plan.threads)
    share = eased_in_turn(options.passed, number, plan.threads)
    under_way, there = number[share > 0], int((share >= 1).sum())
    part = share[share > 0][:, None]
    now = plan.at_home(under_way) * (1 - part) + plan.in_slots(under_way) * part
    now[:, 2] *= CELL_FILL
    fill = np.where(under_way < plan.most, under_way // plan.warp % len(theme.warps), len(theme.warps)).astype(np.uint8)
    palette = (*theme.warps, theme.warning)
    return (Squares("threads", now, fill, palette, palette), *_counts(plan, there, options), *_slabs(case, plan, options))


def _counts(plan: _Plan, there: int, options: ViewOptions) -> list[Primitive]:
    """Draw how many threads have a slot, and how many have none."""
    theme, size = options.theme, options.theme.type.words
    beside = sum(text_width(each, size, "semibold") for each in (plan.held, tr("{most} taken", most=grouped(plan.most)))) + 24
    at = (plan.slots.x + max(plan.slots.width, beside), plan.slots.y - 14)
    pieces: list[Primitive] = [
        text_at(
            "slots-count", at, tr("{there} taken", there=spaced(min(there, plan.most))), size, theme.faint, "end", "semibold"
        )
    ]
    if there > plan.most:
        text = tr("{there} too many", there=spaced(there - plan.most))
        x, y = _beside(plan, text_width(text, size, "semibold"), options)
        ink = theme.legible(theme.warning)
        pieces.append(text_at("too-many", (x, baseline(y, size)), text, size, ink, "start", "semibold"))
    return pieces


def _beside(plan: _Plan, wide: float, options: ViewOptions) -> tuple[float, float]:
    """Return a place for words beside the threads without a slot: after the last one, else beside the slots."""
    last = plan.in_slots(np.array([plan.threads - 1]))[0]
    right = plan.slots.right
    y = last[1] + 0.5 * plan.cell
    after = last[0] + plan.cell + 20
    if after + wide <= right:
        return after, y
    return min(right + 20, options.width - MARGIN - wide), y


def _fitting(case: LaunchCase) -> tuple[int, int]:
    """Return the bytes of shared memory that a block takes, with those that aren't the kernel's, and how many blocks fit."""
    assert case.needs is not None
    limits = occupancy_limits(case.device, case.needs)
    taken, _ = limits.uses[SHARED] or (0, 0)
    return taken, limits.limits[SHARED] or 0


def _memory(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the empty bar of shared memory with its name."""
    if not case.shared_bytes:
        return []
    theme, size, (taken, fitting) = options.theme, options.theme.type.words, _fitting(case)
    words = case.device.words
    text = tr(
        "Shared memory of one {sm}: {shared_per_sm}. ", sm=tr(words["sm"]), shared_per_sm=size_text(case.device.shared_per_sm)
    )
    text += tr(
        "A block takes {taken}, {shared_bytes} of them for its tiles: {blocks} would fit",
        taken=size_text(taken),
        shared_bytes=size_text(case.shared_bytes),
        blocks=many(fitting, "block"),
    )
    return [
        text_line("memory-name", (plan.bar.x, plan.bar.y - 14), text, size, plan.bar.width, theme.text, "semibold"),
        Rects("memory-bar", boxes(plan.bar), theme.empty, radius=4.0),
    ]


def _slabs(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the slabs of shared memory that slide into the bar, one for each block that would fit."""
    if not case.shared_bytes:
        return []
    theme, pieces, (taken, count) = options.theme, list[Primitive](), _fitting(case)
    for number in range(count):
        share = float(eased(min(1.0, max(0.0, options.moment * (count + 1) / 2 - number / 2))))
        whole = plan.bar.width * taken / case.device.shared_per_sm
        x, wide = plan.bar.x + number * whole, whole * share
        if share <= 0:
            continue
        box = boxes((x + 2, plan.bar.y + 2, max(0.5, wide - 4), plan.bar.height - 4))
        pieces.append(Rects(f"slab-{number}", box, theme.level(number % 2 + 1), radius=4.0))
        name, size = (tr("block {number}: {taken}", number=number, taken=size_text(taken)), theme.type.least)
        if share >= 1.0 and text_width(name, size, "semibold") + 16 <= wide:
            at = (x + wide / 2, baseline(plan.bar.middle_y, size))
            ink = theme.ink_on(theme.level(number % 2 + 1))
            pieces.append(text_at(f"slab-{number}-name", at, fitted(name, size, wide), size, ink, "middle", "semibold"))
    return pieces
