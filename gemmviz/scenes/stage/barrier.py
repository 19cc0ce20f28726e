"""A barrier: a bar across the cells of a block, which fills from the threads that wait and lifts once all have arrived that are
still running.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Bools, Floats, Longs
from gemmviz.scenes.kit.frame import ViewOptions, eased, eased_from
from gemmviz.scenes.kit.primitives import Primitive, Rects
from gemmviz.scenes.kit.shapes import thread_colours
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.stage.layout import Plan
from gemmviz.scenes.stage.strips import boxes_around, boxes_of_runs, runs

# Courses: boxes that move straight from one place to another, each a little after the one before.

FAN = 2 / 3  # share of the way at which things that set out together part
_APART = 0.016  # of a step: 12 ms of 750
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
        apart = min(_APART, _MOST_APART / max(1, groups))
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
_MOST_SINGLE = 64
_LEAST_HIGH, _MOST_HIGH, _SHARE_OF_CELL, _DOT = 8.0, 22.0, 0.36, 0.4


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
    return [part for bar in _bars(moment, plan) for part in _drawn(moment, bar, bar.slots, 0.0, options)]


def barrier_motion(moment: Moment, plan: Plan, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the threads that arrive, from their elements of the result to their part of the bar, and the bar that lifts."""
    lift = 0.0 if _stays(moment) else eased_from(options.moment, _LIFTS, 1.0 - _LIFTS)
    come, drawn = min(1.0, options.moment / _FULL), []
    for number, bar in enumerate(moment.cached(("bars", plan), lambda: _bars(moment, plan))):
        courses = moment.cached(("bar", plan, number), lambda bar=bar: _courses(moment, bar, plan))  # type: ignore[misc]
        drawn += _drawn(moment, bar, courses.at(come), lift, options)
    return tuple(drawn)


def _stays(moment: Moment) -> bool:
    """Whether the run ends here because threads wait forever."""
    return moment.trace.stop is not None and moment.step == moment.trace.steps - 1


def _bars(moment: Moment, plan: Plan) -> list[_Bar]:
    """Return a bar for the block or, where threads wait for their warp, one for each warp."""
    home = plan.home(moment)
    threads = moment.trace.space.threads_per_block
    if home is None or np.isnan(moment.homes).all():
        return _over_tile(moment, plan)
    size = moment.trace.rules.warp_size if moment.site.is_warp_barrier else threads
    waits = moment.trace.element[int(moment.trace.row[moment.step]), moment.scope.of_block] >= 0
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
            bars.append(_bar((x, y, wide, tall), group, waits[group], home.cell))
    return bars


def _over_tile(moment: Moment, plan: Plan) -> list[_Bar]:
    """Return a bar over the block's part of C for a multiplication that doesn't store it: its rows of A, its columns of B."""
    numbers = [moment.trace.number_of(name) for name in "AB"]
    areas = [None if number is None else moment.area(number) for number in numbers]
    if not moment.trace.is_multiply or areas[0] is None or areas[1] is None:
        return []
    home, group = plan.matrices["C"], np.arange(moment.trace.space.threads_per_block)
    x, y, wide, tall = home.part(areas[0][:2], areas[1][2:])
    waits = moment.trace.element[int(moment.trace.row[moment.step]), moment.scope.of_block] >= 0
    return [_bar((x, y, wide, tall), group, waits, home.cell)] if wide and tall and waits.any() else []


def _bar(area: tuple[float, float, float, float], group: Longs, waits: Bools, cell: float) -> _Bar:
    """Return the bar across the middle of an area; each thread of the group has an equal part of it."""
    x, y, wide, tall = area
    high = min(tall, max(_LEAST_HIGH, min(_MOST_HIGH, _SHARE_OF_CELL * cell)))
    top, part = y + (tall - high) / 2, wide / len(group)
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
    if len(bar.threads) > _MOST_SINGLE:
        centre = bar.slots[:, :2] + bar.slots[:, 2:] / 2
        run = runs(((np.where(unseen[:, None], centre, middle), home.cell), (centre, bar.slots[0, 2])), warp)
        start, end = boxes_of_runs(start, run), boxes_of_runs(bar.slots, run)
        return Courses(start, end, np.arange(len(start)))
    return Courses(start, bar.slots, np.arange(len(start)))


def _drawn(moment: Moment, bar: _Bar, filled: Floats, lift: float, options: ViewOptions) -> list[Primitive]:
    """Draw a bar, its filled parts, and how far it has lifted."""
    theme, key = options.theme, f"barrier-{int(bar.threads[0])}"
    up = np.array([0.0, -lift * 2.5 * bar.box[3], 0.0, 0.0])
    ground, rim, fill = (mixed(theme.background, colour, 1 - lift) for colour in (theme.panel, theme.line, theme.faint))
    parts: list[Primitive] = [Rects(f"{key}-bar", np.array([bar.box]) + up, ground, rim, 1.5, 3.0)]
    if options.layer == "matrix" or len(filled) != len(bar.threads):
        return [*parts, Rects(f"{key}-filled", filled + up, fill)]
    threads = bar.threads + moment.scope.of_block.start
    palette, which = thread_colours(moment.trace, threads, options.layer, theme, theme.faint)
    return parts + [
        Rects(f"{key}-filled-{number}", filled[which == number] + up, mixed(theme.background, palette[number], 1 - lift))
        for number in np.unique(which).tolist()
    ]
