"""What moves during a step: copies of elements on their way, tiles that a new phase begins with, and threads that meet at a
barrier.

Up to 64 copies are chips with the indices of their elements; more are strips, one for the cells that the lanes of a warp move
side by side. Copies of one element set out as one and part on the last third of the way.
"""

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.tiles import THREADS, Flights
from gemmviz.model.arrays import Bools, Bytes, Floats, Longs, Strings
from gemmviz.model.messages import counted, tr
from gemmviz.model.sites import LabelStyle
from gemmviz.scenes.kit.layout import Box, Point, text_in
from gemmviz.scenes.kit.primitives import Primitive, Rects, Sort, Squares, text_width
from gemmviz.scenes.kit.shapes import GROUPED, thread_colours
from gemmviz.scenes.kit.theme import Theme, TypeSizes, mixed
from gemmviz.scenes.kit.view import ARRIVAL, ViewOptions, eased, eased_from
from gemmviz.scenes.stage.cells import BARRED, LEAST_BARRED, boxes_around, boxes_of_runs, grown, label_size, runs
from gemmviz.scenes.stage.layout import Plan, places, plan_of, sides_of
from gemmviz.scenes.stage.tile_cells import collision_motion

# Courses: boxes that move straight from one place to another, each a little after the one before.

FAN = 2 / 3  # share of the way at which things that set out together part
_ONE_AFTER = 0.016  # of a step: 12 ms of 750
_MOST_APART = 0.35  # of a step, between the first and the last


class Courses(Struct, frozen=True):
    """Boxes (n, 4) at the start and at the end. ``together``: numbers (n,) of groups that set out as one, ascending in the
    order in which they start.
    """

    start: Floats
    end: Floats
    together: Longs
    way: tuple[float, float] = (0.0, 1.0)

    def shares(self, passed: float) -> Floats:
        """Return the share of its way that each has covered: (n, 1). ``passed``: the part of the time that has passed."""
        groups = int(self.together.max(initial=0))
        apart = min(_ONE_AFTER, _MOST_APART / max(1, groups))
        begin = apart * self.together
        own = np.clip((passed - begin) / (1.0 - apart * groups), 0.0, 1.0)
        first, last = self.way
        return np.asarray(first + (last - first) * eased(own))[:, None]

    def at(self, passed: float) -> Floats:
        """Return the boxes (n, 4) at a part of the time. Those that set out together part after ``FAN`` of their way."""
        share = self.shares(passed)
        if self.way != (0.0, 1.0) or not self.parts:
            return self.start + (self.end - self.start) * share
        hub = self.start + (self._means - self.start) * FAN
        early = self.start + (hub - self.start) * (share / FAN)
        late = hub + (self.end - hub) * ((share - FAN) / (1 - FAN))
        return np.where(share < FAN, early, late)

    @property
    def parts(self) -> bool:
        """Whether any set out together."""
        return int(self.together.max(initial=-1)) + 1 < len(self.together)

    @property
    def _means(self) -> Floats:
        """Where the middle of each group ends, with the size that each has at the start."""
        count = np.maximum(1, np.bincount(self.together))
        middle = self.end[:, :2] + self.end[:, 2:] / 2
        mean = np.stack([np.bincount(self.together, middle[:, axis]) / count for axis in (0, 1)], axis=1)[self.together]
        return np.hstack([mean - self.start[:, 2:] / 2, self.start[:, 2:]])


def together(start: Floats) -> Longs:
    """Return numbers of groups of equal boxes, in the order in which each first occurs."""
    _, first, which = np.unique(np.round(start, 3), axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[which.ravel()]


_FULL, _LIFTS = 0.5, 0.6  # shares of the step: all threads wait; the bar begins to lift, for 300 of 750 ms
_MOST_SINGLE_THREADS = 64
_LEAST_HIGH, _MOST_HIGH, _BAR_OF_CELL, _DOT, _BESIDE_WORD = 20.0, 30.0, 0.36, 0.4, 8.0
_ABOVE_ROW = 0.05  # of a cell: how far a bar reaches into the row above, whose marks of incomplete sums stay clear of it


class _Bar(Struct, frozen=True):
    """A bar (x, y, width, height), and the threads that wait at it: their numbers in the block, and the part of the bar that
    each fills (n, 4).
    """

    box: tuple[float, float, float, float]
    threads: Longs
    slots: Floats


def barrier_bar(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the bars of a step at which threads wait, filled and not yet lifted, for a picture without motion."""
    if not moment.site.is_barrier or (options.shows_flights and options.moment < 1.0):
        return []
    return [part for bar in _barrier_bars(moment, plan) for part in _drawn_bar(moment, bar, bar.slots, 0.0, options)]


def barrier_motion(moment: Moment, plan: Plan, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the threads that arrive, from their elements of the result to their part of the bar, and the bar that lifts."""
    lift = 0.0 if _stays(moment) else eased_from(options.moment, _LIFTS, 1.0 - _LIFTS)
    come, drawn = min(1.0, options.moment / _FULL), []
    for number, bar in enumerate(moment.cached(("bars", plan), lambda: _barrier_bars(moment, plan))):
        courses = moment.cached(("bar", plan, number), lambda bar=bar: _courses(moment, bar, plan))  # type: ignore[misc]
        drawn += _drawn_bar(moment, bar, courses.at(come), lift, options)
    return tuple(drawn)


def _stays(moment: Moment) -> bool:
    """Whether the run ends here because threads wait forever."""
    return moment.trace.stop is not None and moment.step == moment.trace.steps - 1


def _barrier_bars(moment: Moment, plan: Plan) -> list[_Bar]:
    """Return a bar for the block or, where threads wait for their warp, one for each warp."""
    home = plan.home(moment)
    threads = moment.trace.space.threads_per_block
    if home is None or np.isnan(moment.homes).all():
        return _over_tile(moment, plan)
    size = moment.trace.rules.warp_size if moment.site.is_warp_barrier else threads
    waits = moment.takes_part
    bars = []
    for first in range(0, threads, size):
        group = np.arange(first, min(first + size, threads))
        own = moment.homes[group]
        own = own[~np.isnan(own).any(axis=1)]
        if not waits[group].any() or not len(own):
            continue
        (top, left), (bottom, right) = np.floor(own.min(axis=0)), np.ceil(own.max(axis=0)) + 1
        x, y, wide, tall = home.part((int(top), int(bottom)), (int(left), int(right)))
        if wide and tall:
            bars.append(_bar_across((x, y, wide, tall), group, waits[group], home.cell))
    return bars


def _over_tile(moment: Moment, plan: Plan) -> list[_Bar]:
    """Return a bar over the block's part of C for a multiplication that doesn't store it: its rows of A, its columns of B."""
    numbers = [moment.trace.number_of(name) for name in "AB"]
    areas = [None if number is None else moment.area(number) for number in numbers]
    if not moment.trace.is_multiply or areas[0] is None or areas[1] is None:
        return []
    home, group = plan.matrices["C"], np.arange(moment.trace.space.threads_per_block)
    x, y, wide, tall = home.part(areas[0][:2], areas[1][2:])
    waits = moment.takes_part
    return [_bar_across((x, y, wide, tall), group, waits, home.cell)] if wide and tall and waits.any() else []


def _bar_across(area: tuple[float, float, float, float], group: Longs, waits: Bools, cell: float) -> _Bar:
    """Return the bar across the middle of an area; each thread of the group has an equal part of it. Where cells are large
    enough, the bar begins with the row there and ends above the middle of its cells, so that it covers neither their texts nor
    the marks of incomplete sums.
    """
    x, y, wide, tall = area
    high = min(tall, max(_LEAST_HIGH, min(_MOST_HIGH, _BAR_OF_CELL * cell)))
    top = y + (tall - high) / 2
    if cell >= LEAST_BARRED:
        high = min(high, (1 - BARRED) * cell)
        top = y + (round(tall / cell) // 2 - _ABOVE_ROW) * cell
    more = max(0.0, text_width(tr("waiting"), TypeSizes().least) + 2 * _BESIDE_WORD - wide)
    x, wide = x - more / 2, wide + more
    part = wide / len(group)
    at = np.flatnonzero(waits)
    slots = np.stack([x + at * part, np.full(len(at), top), np.full(len(at), part), np.full(len(at), high)], axis=1)
    return _Bar((x, top, wide, high), group[at], slots)


def _courses(moment: Moment, bar: _Bar, plan: Plan) -> Courses:
    """Return the ways of the threads to the bar. Threads of many go in strips; one that isn't visible appears at the bar."""
    home = plan.home(moment)
    if home is None or np.isnan(moment.homes[bar.threads]).all():
        return Courses(bar.slots * (1, 1, 0, 1), bar.slots, np.arange(len(bar.slots)))
    own = moment.homes[bar.threads]
    middle = home.middle(own[:, 0], own[:, 1])
    unseen = np.isnan(middle).any(axis=1) | ~home.holds(own[:, 0], own[:, 1])
    start = boxes_around(middle, _DOT * home.cell)
    start[unseen] = bar.slots[unseen] * (1, 1, 0, 1)
    warp = bar.threads // moment.trace.rules.warp_size
    if len(bar.threads) > _MOST_SINGLE_THREADS:
        centre = bar.slots[:, :2] + bar.slots[:, 2:] / 2
        run = runs(((np.where(unseen[:, None], centre, middle), home.sides), (centre, bar.slots[0, 2])), warp)
        start, end = boxes_of_runs(start, run), boxes_of_runs(bar.slots, run)
        return Courses(start, end, np.arange(len(start)))
    return Courses(start, bar.slots, np.arange(len(start)))


def _drawn_bar(moment: Moment, bar: _Bar, filled: Floats, lift: float, options: ViewOptions) -> list[Primitive]:
    """Draw a bar, its filled parts, and how far it has lifted: its lower edge rises to the upper one."""
    theme, key, left = options.theme, f"barrier-{int(bar.threads[0])}", np.array([1.0, 1.0, 1.0, 1.0 - lift])
    parts: list[Primitive] = [Rects(f"{key}-bar", np.array([bar.box]) * left, theme.panel, theme.line, 1.5, 3.0)]
    word = _word_on(bar, lift, options)
    if options.layer == "matrix" or len(filled) != len(bar.threads):
        return [*parts, Rects(f"{key}-filled", filled * left, theme.faint), *word]
    threads = bar.threads + moment.scope.of_block.start
    palette, which = thread_colours(moment.trace, threads, options.layer, theme, theme.faint)
    return (
        parts
        + [
            Rects(f"{key}-filled-{number}", filled[which == number] * left, palette[number])
            for number in np.unique(which).tolist()
        ]
        + word
    )


def _word_on(bar: _Bar, lift: float, options: ViewOptions) -> list[Primitive]:
    """Write on a bar that has not lifted that its threads wait; nothing on a low one."""
    size, theme, box = TypeSizes().least, options.theme, Box(*bar.box)
    if lift or box.height < size:
        return []
    ink = theme.ink_on(theme.faint if len(bar.threads) else theme.panel)
    return [text_in(f"barrier-{int(bar.threads[0])}-name", box, tr("waiting"), size, ink, face="semibold")]


_SHARE_OF_CELL, _LEAST_SIDE, _SEED = 0.94, 4.0, 0.25  # _SEED: of a cell: a value that its thread stores in its own cell
_MOST_SINGLE, _MOST_RINGS, _RESTING = 64, 600, 0.35  # the last: strength of the colour of copies that are halfway
TRAIL = ((0.08, 0.16), (0.04, 0.34))  # how long ago, in shares of a step, and how strong
_NOBODY = -1


def stage_motion(moment: Moment, options: ViewOptions, plan: Plan | None = None) -> tuple[Primitive, ...]:
    """Draw the copies that travel at ``options.moment``, and those that are under way. ``plan``: the layout, by default that of
    the stage.

    Copies that wait in a register stay visible until the end of the step, those that nobody has waited for even longer. Without
    motion, rings around the accessed cells fade.
    """
    plan = plan or plan_of(moment, options)
    under_way = [group for group in moment.flights if group.stays and len(group)]
    if options.moment >= 1.0:
        return tuple(each for group in under_way for each in _flight(moment, group, plan, options))
    if moment.site.is_barrier:
        resting = [each for group in under_way for each in _flight(moment, group, plan, options)]
        return (*resting, *barrier_motion(moment, plan, options)) if options.shows_flights else tuple(resting)
    if not options.shows_flights:
        resting = [each for group in under_way for each in _flight(moment, group, plan, structs.replace(options, moment=1.0))]
        return *resting, *_fading_rings(moment, plan, options)
    met = collision_motion(moment, plan, options)
    moving = [each for group in moment.flights if len(group) for each in _flight(moment, group, plan, options)]
    if options.arrived:
        return (*_fading_rings(moment, plan, options), *moving)
    return (*moving, *met)


def _fading_rings(moment: Moment, plan: Plan, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw thinning rings around the accessed cells."""
    primitives = []
    left = (1.0 - options.moment) / (1.0 - ARRIVAL if options.shows_flights else 1.0)
    for touched in moment.touched:
        number = touched.operand.array
        cells = touched.cells if touched.array.space == "global" else touched.block_cells
        middle = places(moment, plan, number, np.unique(cells)[:_MOST_RINGS])
        middle, sides = middle[~np.isnan(middle).any(axis=1)], sides_of(moment, plan, number)
        content = moment.tiles.get(number)
        names = np.array([number]) if content is None else np.unique(content.array[touched.block_cells])
        colour = _colour(moment, int(names[0]) if len(names) == 1 else _NOBODY, options.theme)
        width = max(1.0, 5.0 * left)
        primitives.append(Rects(f"fading-{number}", grown(boxes_around(middle, sides), width / 2), None, colour, width))
    return tuple(each for each in primitives if len(each.boxes))


class _Cargo(Struct, frozen=True):
    """What is under way, thread by thread: centres (n, 2) of start and end with the widths and heights of their cells;
    ``matrix``: number of the array that each is an element of, or _NOBODY; ``thread`` within the block; ``element``: of its
    source.
    """

    start: Floats
    end: Floats
    sides: tuple[Point, Point]
    matrix: Longs
    thread: Longs
    target: Longs
    element: Longs


def _flight(moment: Moment, group: Flights, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the copies of one group, with their trails below them."""
    if options.arrived and group.way[1] == 1.0:
        return []
    known = group.source, group.target, group.way, group.issued, plan
    cargo = moment.cached(("cargo", *known), lambda: _cargo(moment, group, plan))
    if not len(cargo.thread):
        return []
    passed, is_single = min(1.0, options.moment / ARRIVAL), len(cargo.thread) <= _MOST_SINGLE
    palette, fill = _copy_colours(moment, cargo, options)
    key = f"moving-{group.source}-{group.target}" + ("" if group.issued < 0 else f"-{group.issued}")
    make = _single_courses if is_single else _strips
    courses, chosen = moment.cached(
        ("courses", key, group.way, plan, is_single, options.layer), lambda: make(moment, cargo, group, fill)
    )
    rests = group.way[0] == group.way[1]
    palette = tuple(options.theme.faded(colour, _RESTING) for colour in palette) if rests else palette
    is_moving = 0.0 < passed < 1.0 and not rests
    trail = _trail(key, courses, fill[chosen], palette, passed, options) if is_moving else []
    now = courses.at(passed)
    if is_single:
        texts = _chip_texts(moment, group.source, cargo, courses, passed, options.labels)
        return [*trail, _flying_chips(key, now, fill[chosen], palette, texts, options)]
    return [*trail, *_rects_by_colour(key, now, fill[chosen], palette, options.theme.background)]


def _cargo(moment: Moment, group: Flights, plan: Plan) -> _Cargo:
    order = np.argsort(group.thread, kind="stable")
    start, end = (
        places(moment, plan, array, at[order]) for array, at in ((group.source, group.start), (group.target, group.end))
    )
    known = ~(np.isnan(start).any(axis=1) | np.isnan(end).any(axis=1))
    sides = sides_of(moment, plan, group.source), sides_of(moment, plan, group.target)
    order = order[known]
    thread, element = group.thread[order], group.start[order]
    return _Cargo(start[known], end[known], sides, _matrix_of(moment, group)[order], thread, group.end[order], element)


def _matrix_of(moment: Moment, group: Flights) -> Longs:
    """Return the number of the matrix that each copy is of, _NOBODY for constants and computed values."""
    arrays = moment.trace.arrays
    if group.source != THREADS and arrays[group.source].space == "global":
        return np.full(len(group), group.source)
    shared, cells = (group.target, group.end) if group.source == THREADS else (group.source, group.start)
    if arrays[shared].space == "global":
        return np.full(len(group), shared)
    content = (moment.tiles if group.source == THREADS else moment.tiles_before).get(shared)
    return np.full(len(group), _NOBODY) if content is None else np.maximum(content.array[cells].astype(np.int64), _NOBODY)


def _copy_colours(moment: Moment, cargo: _Cargo, options: ViewOptions) -> tuple[tuple[str, ...], Bytes]:
    """Return colours, and the index of each copy's: that of its matrix or, if colours mean threads, of its thread."""
    if options.layer in GROUPED:
        return thread_colours(moment.trace, cargo.thread + moment.scope.of_block.start, options.layer, options.theme, "")
    numbers, fill = np.unique(cargo.matrix, return_inverse=True)
    return tuple(_colour(moment, number, options.theme) for number in numbers.tolist()), fill.ravel().astype(np.uint8)


def _colour(moment: Moment, number: int, theme: Theme) -> str:
    array = None if number < 0 else moment.trace.arrays[number]
    return theme.faint if array is None or array.space == "shared" else theme.accent(array.name)


def _sides(cargo: _Cargo, group: Flights) -> tuple[float, float]:
    """Return the sides of a chip at the start and at the end."""
    start, end = (max(_LEAST_SIDE, _SHARE_OF_CELL * high) for _, high in cargo.sides)
    is_own = group.source == THREADS and (cargo.start == cargo.end).all()
    return (max(_LEAST_SIDE, _SEED * cargo.sides[0][1]) if is_own else start), end


def _single_courses(moment: Moment, cargo: _Cargo, group: Flights, fill: Bytes) -> tuple[Courses, Longs]:
    """Return a course for each copy; copies to one place come to rest side by side."""
    first, last = _sides(cargo, group)
    start = boxes_around(cargo.start, first)
    end = boxes_around(_side_by_side(cargo.end, cargo.target, last), last)
    return Courses(start, end, together(start), group.way), np.arange(len(start))


def _strips(moment: Moment, cargo: _Cargo, group: Flights, fill: Bytes) -> tuple[Courses, Longs]:
    """Return a course for each run of a warp's copies, and the first copy of each."""
    warp = cargo.thread // moment.trace.rules.warp_size
    run = runs(((cargo.start, cargo.sides[0]), (cargo.end, cargo.sides[1])), warp * (1 + int(fill.max())) + fill)
    first, last = _sides(cargo, group)
    start, end = boxes_of_runs(boxes_around(cargo.start, first), run), boxes_of_runs(boxes_around(cargo.end, last), run)
    chosen = np.unique(run, return_index=True)[1]
    return Courses(start, end, together(start), group.way), chosen


def _side_by_side(end: Floats, target: Longs, side: float) -> Floats:
    """Return where copies come to rest: next to each other if several go to one place."""
    order = np.argsort(target, kind="stable")
    sorted_ = target[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_[1:] != sorted_[:-1]]))
    if len(starts) == len(target):
        return end
    length = np.diff([*starts.tolist(), len(target)])
    rank = np.arange(len(target)) - np.repeat(starts, length)
    moved = end.copy()
    moved[order, 0] += (rank - (np.repeat(length, length) - 1) / 2) * 0.5 * side
    return moved


def _trail(
    key: str, courses: Courses, fill: Bytes, palette: tuple[str, ...], passed: float, options: ViewOptions
) -> list[Primitive]:
    """Draw where the copies were shortly before, fading."""
    drawn: list[Primitive] = []
    for number, (ago, strength) in enumerate(TRAIL):
        faded = tuple(mixed(options.theme.background, colour, strength) for colour in palette)
        at = courses.at(max(0.0, passed - ago / ARRIVAL))
        drawn += _rects_by_colour(f"{key}-trail-{number}", at, fill, faded, None, "trail")
    return drawn


def is_trail(primitive: Primitive) -> bool:
    """Whether a primitive shows where copies were shortly before."""
    return primitive.meaning == "trail"


def _rects_by_colour(
    key: str, boxes: Floats, fill: Bytes, palette: tuple[str, ...], line: str | None, meaning: Sort = "moving"
) -> list[Primitive]:  # fmt: skip
    """Draw rectangles, one primitive for each colour."""
    numbers = np.flatnonzero(np.bincount(fill)).tolist()
    return [Rects(f"{key}-{number}", boxes[fill == number], palette[number], line, 1.0, 2.0, meaning) for number in numbers]


def _flying_chips(
    key: str, boxes: Floats, fill: Bytes, palette: tuple[str, ...], texts: Strings,
    options: ViewOptions,
) -> Squares:  # fmt: skip
    side = float(boxes[:, 2].min()) / _SHARE_OF_CELL  # as in a cell
    size = label_size(max(texts.tolist(), key=len) or "0", side, options.pixels, options.least)
    inks = tuple(options.theme.ink_on(colour) for colour in palette)
    return Squares(key, boxes[:, :3], fill, palette, inks, texts if size else None, size, options.theme.background, "moving")


def _chip_texts(moment: Moment, source: int, cargo: _Cargo, courses: Courses, passed: float, labels: LabelStyle) -> Strings:
    """Return the indices of the element that each copy is of; as long as several are one, their number."""
    names = moment.cached(("names", source, labels), lambda: _copied_names(moment, source, cargo, labels))
    if not courses.parts or courses.way != (0.0, 1.0):
        return names
    count = np.bincount(courses.together)[courses.together]
    many = np.array([f"×{counted(each)}" for each in count.tolist()])
    return np.where((courses.shares(passed)[:, 0] < FAN) & (count > 1), many, names)


def _copied_names(moment: Moment, source: int, cargo: _Cargo, labels: LabelStyle) -> Strings:
    arrays, element = moment.trace.arrays, cargo.element
    if source == THREADS:
        return np.full(len(element), "")
    if arrays[source].space == "shared":
        content = moment.tiles_before.get(source)
        if content is None:
            return np.full(len(element), "")
        element = content.element[element].astype(np.int64)
    pairs = zip(cargo.matrix.tolist(), element.tolist(), strict=True)
    return np.array([labels.indices(arrays[number], each) if number >= 0 else "" for number, each in pairs])
