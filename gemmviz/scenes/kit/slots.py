"""The warp slots of a multiprocessor as a tray, and the blocks that drop into it, each a piece as long as its warps."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.models import SHARED, WARPS, OccupancyLimits, occupancy_limits
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.cases import LaunchCase
from gemmviz.model.messages import grouped, many, size_text, sized, spaced, tr
from gemmviz.scenes.kit.layout import CELL_FILL, Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, Squares, boxes, fitted, text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import MARGIN, ViewOptions, eased, eased_in_turn

_COLUMNS, _GAP = 16, 2.5
_WIDE, _HIGH = 96.0, 84.0  # of the largest slot
_FALL = 0.3  # share of the motion that one block takes to land, or more if there are few
_SHADES = (1.0, 0.62)  # of the load's colour, in turn, so that neighbouring blocks are told apart

_Run = tuple[int, int, int]


class Tray(Struct, frozen=True):
    """``slots`` in rows of ``columns`` from (x, y), each ``cell`` wide and ``pitch`` high. The lowest row is filled first."""

    x: float
    y: float
    cell: float
    pitch: float
    slots: int
    columns: int

    @classmethod
    def within(cls, room: Box, slots: int) -> "Tray":
        """Return the largest tray that fits."""
        columns = min(_COLUMNS, slots)
        wide, high = min(room.width / columns, _WIDE), min(room.height / -(-slots // columns), _HIGH)
        return cls(room.x, room.y, wide, high, slots, columns)

    @property
    def rows(self) -> int:
        return -(-self.slots // self.columns)

    @property
    def box(self) -> Box:
        return Box(self.x, self.y, self.columns * self.cell, self.rows * self.pitch)

    def runs(self, first: int, count: int) -> list[_Run]:
        """Return the runs of slots in a row that ``count`` slots from ``first`` on take: row from below, column, length."""
        found, last = [], min(first + count, self.slots)
        while first < last:
            row, column = divmod(first, self.columns)
            length = min(self.columns - column, last - first)
            found.append((row, column, length))
            first += length
        return found

    def box_of(self, run: _Run, above: float = 0.0) -> tuple[float, float, float, float]:
        """Return the rectangle of a run, ``above`` rows higher than its place."""
        row, column, length = run
        y = self.y + (self.rows - 1 - row - above) * self.pitch
        return self.x + column * self.cell + _GAP, y + _GAP, length * self.cell - 2 * _GAP, self.pitch - 2 * _GAP


def empty_tray(tray: Tray, theme: Theme) -> list[Primitive]:
    """Draw all slots, empty."""
    fill = np.zeros((tray.rows, tray.columns), np.uint8)
    spare = tray.rows * tray.columns - tray.slots
    fill[0, tray.columns - spare :] = 1 if spare else 0
    palette = (theme.empty, theme.background)
    inks = (theme.faint, theme.faint)
    ground = theme.background
    return [Cells("slots", tray.x, tray.y, tray.cell, fill, palette, inks, line=ground, height=tray.pitch, meaning="slots")]


def empty_name(tray: Tray, taken: int, theme: Theme) -> list[Primitive]:
    """Draw how many slots stay empty, in the longest run of those; nothing if all are taken or it doesn't fit."""
    runs, size = tray.runs(taken, tray.slots - taken), theme.type.least
    if not runs:
        return []
    x, y, wide, high = tray.box_of(max(runs, key=lambda run: (run[2], run[0])))
    text = tr("{free} of {slots} slots stay empty", free=tray.slots - taken, slots=tray.slots)
    if text_width(text, size) + 16 > wide or 1.3 * size > high:
        return []
    half = text_width(text, size) / 2 + 8
    ground = Rects("empty-ground", boxes((x + wide / 2 - half, y + 3, 2 * half, high - 6)), theme.empty)
    at = (x + wide / 2, baseline(y + high / 2, size))
    return [ground, text_at("empty-name", at, text, size, theme.text, "middle")]


def landed(moment: float, blocks: int) -> list[float]:
    """Return how far each block has fallen at a moment: 0 before it appears, 1 once it lies. Blocks fall one after another."""
    fall = max(_FALL, 1.0 / max(1, blocks))
    starts = [(1.0 - fall) * number / max(1, blocks - 1) for number in range(blocks)]
    return [min(1.0, max(0.0, (moment - start) / fall)) if moment < 1.0 else 1.0 for start in starts]


def count_landed(moment: float, blocks: int) -> int:
    """Return the number of blocks that lie at a moment."""
    return sum(share >= 1.0 for share in landed(moment, blocks))


def block_colour(number: int, theme: Theme) -> str:
    """Return the colour of a block by its number."""
    return theme.loaded(_SHADES[number % len(_SHADES)])


def block_pieces(tray: Tray, blocks: int, warps: int, moment: float, theme: Theme) -> list[Primitive]:
    """Draw the blocks at a moment of their fall, ``warps`` slots each, numbered where a number fits."""
    primitives: list[Primitive] = []
    texts = _fitting_names(tray, blocks, warps, theme)
    for number, share in enumerate(landed(moment, blocks)):
        if share <= 0:
            continue
        runs = tray.runs(number * warps, warps)
        above = (1.0 - float(eased(share))) * (tray.rows - runs[0][0])
        placed = [(run, tray.box_of(run, above)) for run in runs]
        placed = [(run, part) for run, part in placed if part[1] > tray.y - tray.pitch]  # others are above the heading
        if not placed:
            continue
        parts = [part for _, part in placed]
        primitives.append(Rects(f"block-{number}", boxes(*parts), block_colour(number, theme), radius=4.0))
        seams = [
            (x + place * tray.cell - _GAP - 0.75, y + 4, 1.5, high - 8)
            for (_, _, length), (x, y, _, high) in placed
            for place in range(1, length)
        ]
        if seams:
            primitives.append(Rects(f"block-{number}-warps", boxes(*seams), theme.background))
        if texts and min(part[1] for part in parts) >= tray.y:  # a piece that comes from above the tray has no name yet
            colour, longest = block_colour(number, theme), max(parts, key=lambda part: part[2])
            primitives += _name(f"block-{number}-name", texts[number], longest, colour, theme)
    return primitives


def _fitting_names(tray: Tray, blocks: int, warps: int, theme: Theme) -> list[str]:
    """Return the name of each block, all in the longest form that fits every one of them; nothing if none does."""
    size = theme.type.least
    longest = [max(length for _, _, length in tray.runs(number * warps, warps)) * tray.cell for number in range(blocks)]
    for form in (tr("block {}"), "{}"):
        texts = [form.format(number) for number in range(blocks)]
        widths = (text_width(text, size, "semibold") + 16 for text in texts)
        if tray.pitch >= 1.3 * size and all(wide <= room for wide, room in zip(widths, longest, strict=True)):
            return texts
    return []


def _name(key: str, text: str, part: tuple[float, float, float, float], colour: str, theme: Theme) -> list[Primitive]:
    """Draw the name of a block in the middle of its longest run, over the seams between its warps."""
    (x, y, wide, high), size = part, theme.type.least
    half = text_width(text, size, "semibold") / 2 + 6
    ground = boxes((x + wide / 2 - half, y + 3, 2 * half, high - 6))
    at = (x + wide / 2, baseline(y + high / 2, size))
    ink = theme.ink_on(colour)
    return [Rects(f"{key}-ground", ground, colour), text_at(key, at, text, size, ink, "middle", "semibold")]


# The first block that a multiprocessor has no room for: it falls towards the free warp slots, shows which of its warps find
# none, and goes back.

_BEGINS, _STAYS, _LEAVES = 0.45, 0.68, 0.9  # shares of the motion: the blocks that fit have landed; it lies; it goes back
_SLOTS_APART = 10.0  # between the tray and the warps without a slot


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
        left = tray.box.right + _SLOTS_APART
        across = max(1, int((beside.right - left) // tray.cell))
        places = [divmod(n, across) for n in range(self.warps - self.free)]
        top = max(top, beside.y)
        drawn = [(left + column * tray.cell, top + (row - above) * tray.pitch, wide, high) for row, column in places]
        return [box for box in drawn if box[1] >= top - 0.5 * tray.pitch]

    def _name(self, lacking: list[tuple[float, float, float, float]], beside: Box, theme: Theme) -> list[Primitive]:
        """Draw how many warps have no slot: after the last one, or below it if there is no room."""
        text, size = tr("{warps} too many", warps=many(self.warps - self.free, "warp")), theme.type.words
        x, y, wide, high = lacking[-1]
        at = (x + wide + 16, baseline(y + high / 2, size))
        if at[0] + text_width(text, size, "semibold") > beside.right:
            at = (lacking[0][0], y + high + 1.1 * size)
        return [text_at("next-lacking-name", at, text, size, theme.legible(theme.warning), "start", "semibold")]


# A block that a device refuses: its threads on their way into the device's thread slots, those without a slot in red, and how
# many blocks of its shared memory would fit in an SM.

MOST_DRAWN = 4096  # threads
_TOP, _HEAD, _LARGEST = 168.0, 40.0, 40.0
_SLAB, _SLAB_HEAD = 56.0, 52.0  # heights of the bar of shared memory and of its heading
_REFUSED_BLOCK_APART = 10.0  # between the slots and the threads without one
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
        cell = min((room.right - left - _WORDS) / warp, (room.height - _REFUSED_BLOCK_APART) / count, _LARGEST)
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
        apart = np.where(number >= self.most, _REFUSED_BLOCK_APART, 0.0)
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
        *_shared_memory_bar(case, plan, options),
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
    return (Squares("threads", now, fill, palette, palette), *_slot_counts(plan, there, options), *_slabs(case, plan, options))


def _slot_counts(plan: _Plan, there: int, options: ViewOptions) -> list[Primitive]:
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


def _fitting_blocks(case: LaunchCase) -> tuple[int, int]:
    """Return the bytes of shared memory that a block takes, with those that aren't the kernel's, and how many blocks fit."""
    assert case.needs is not None
    limits = occupancy_limits(case.device, case.needs)
    taken, _ = limits.uses[SHARED] or (0, 0)
    return taken, limits.limits[SHARED] or 0


def _shared_memory_bar(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the empty bar of shared memory with its name."""
    if not case.shared_bytes:
        return []
    theme, size, (taken, fitting) = options.theme, options.theme.type.words, _fitting_blocks(case)
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
    theme, pieces, (taken, count) = options.theme, list[Primitive](), _fitting_blocks(case)
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
