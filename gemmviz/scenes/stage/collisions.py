"""A race as it happens: both threads meet in the element that they touch without a barrier between, which turns red, and words
that say who does what.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.hazards.hazard import Hazard
from gemmviz.analysis.replay.flights import THREADS
from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.records import replace
from gemmviz.model.sites import Site
from gemmviz.model.translation import all_blocks, capital, many, tr
from gemmviz.scenes.kit.layout import Box, Paragraph, paragraph, paragraphs_in
from gemmviz.scenes.kit.primitives import Primitive, Rects, Told
from gemmviz.scenes.kit.text import wrap_text
from gemmviz.scenes.kit.view import ViewOptions, eased
from gemmviz.scenes.stage.cells import boxes_around
from gemmviz.scenes.stage.layout import Plan, places, sides_of

_MEET, _SHAKES = 0.6, 0.85  # shares of the step: the threads have met; the cells come to rest
_SWINGS, _SWING = 3, 0.09  # how often a cell shakes, and how far, in cells
_MOST_MET, _AWAY = 16, 1.5  # cells whose threads are drawn; distance in cells at which a thread without a place begins
_DOT, _ASIDE = 0.4, 0.24  # size of a thread and its distance from the middle, in cells
_LEADING, _GAP = 1.25, 6.0
_FACTS: dict[str, Told] = {"clash-count": "collisions", "clash-so-far": "collisions so far", "clash-words": "who collides"}


class Clash(Struct, frozen=True):
    """Collisions in one array at one step. ``elements`` (n,): each element once, with the ``earlier`` and ``later`` thread of
    one collision, by their numbers in the block, -1 for one of another block; ``count``: collisions of the watched block;
    ``sites``: the earlier and the later access; ``words``: who does what.
    """

    array: int
    elements: Longs
    earlier: Longs
    later: Longs
    count: int
    sites: tuple[Site, Site]
    words: str


def clashes(moment: Moment) -> tuple[Clash, ...]:
    """Return the collisions at a moment, of the watched block in shared memory and of all blocks in global memory."""
    return moment.cached("clashes", lambda: (*_in_shared(moment), *_in_global(moment)))


def _in_shared(moment: Moment) -> list[Clash]:
    found = []
    for number in dict.fromkeys(operand.array for operand in moment.site.operands):
        all_ = moment.replay.conflicts.at(moment.step, number, moment.scope.block_number)
        if not len(all_):
            continue
        elements, first = np.unique(all_.elements, return_index=True)
        threads = all_.earlier[first], all_.later[first]
        earlier = moment.trace.site_of(int(all_.before[first[0]]))
        words = _who_does_what(
            moment, number, int(elements[0]), (earlier, moment.site), (int(threads[0][0]), int(threads[1][0]))
        )
        found.append(Clash(number, elements, *threads, len(all_), (earlier, moment.site), words))
    return found


def _who_does_what(moment: Moment, number: int, element: int, sites: tuple[Site, Site], threads: tuple[int, int]) -> str:
    """Return who does what, the later access first."""
    before, after = (tr("writes") if _stores_into(site, number) else tr("reads") for site in sites)
    one, other = (tr("thread {thread}", thread=thread_text(thread, moment.trace.launch)) for thread in threads)
    what = moment.trace.arrays[number].subscripted(element)
    return tr(
        "{other} {after} {what}, line {line}; {one} {before} it, line {earlier_line}, with no barrier between",
        other=capital(other),
        after=after,
        what=what,
        line=sites[1].place.line,
        one=one,
        before=before,
        earlier_line=sites[0].place.line,
    )


def _stores_into(site: Site, array: int) -> bool:
    return any(each.array == array and each.access == "write" for each in site.operands)


def _in_global(moment: Moment) -> list[Clash]:
    """Return the first collision of each kind in global memory, at the step of its later access."""
    names = {array.name: number for number, array in enumerate(moment.trace.arrays) if array.space == "global"}
    return [
        _of_hazard(each, names[each.array], moment) for each in moment.replay.hazards
        if each.step == moment.step and each.array in names
    ]  # fmt: skip


def _of_hazard(hazard: Hazard, number: int, moment: Moment) -> Clash:
    block = moment.scope.focus.block
    blocks = (hazard.block if hazard.earlier_block is None else hazard.earlier_block), hazard.block
    earlier, later = (np.array([t if at == block else -1]) for t, at in zip(hazard.threads, blocks, strict=True))
    return Clash(
        number, np.array([hazard.element]), earlier, later, hazard.count, (hazard.earlier, hazard.later),
        capital(hazard.words),
    )  # fmt: skip


def guilty_sites(moment: Moment) -> tuple[Site, ...]:
    """Return the accesses that collide at a moment, in the order of the source."""
    sites = dict.fromkeys(site for clash in clashes(moment) for site in clash.sites)
    return tuple(sorted(sites, key=lambda site: (site.place.line, site.place.column)))


def collision_marks(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the elements in which threads have met, red, with both threads."""
    if not options.arrived and options.shows_flights:
        return []
    return [part for clash in clashes(moment) for part in _clash(moment, clash, plan, 1.0, options)]


def collision_motion(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the threads on their way to the element in which they meet, and the shaking that follows."""
    if options.arrived or not options.shows_flights:
        return []
    return [part for clash in clashes(moment) for part in _clash(moment, clash, plan, options.moment, options)]


def _clash(moment: Moment, clash: Clash, plan: Plan, passed: float, options: ViewOptions) -> list[Primitive]:
    theme, sides = options.theme, sides_of(moment, plan, clash.array)
    cell = sides[1]
    middle = places(moment, plan, clash.array, clash.elements)
    known = ~np.isnan(middle).any(axis=1)
    middle = middle[known]
    if not len(middle):
        return []
    parts: list[Primitive] = []
    if passed >= _MEET:
        past = min(1.0, (passed - _MEET) / (_SHAKES - _MEET))
        swing = np.array([_SWING * cell * (1 - past) * np.sin(2 * np.pi * _SWINGS * past), 0.0])
        parts.append(Rects(f"clash-{clash.array}", boxes_around(middle + swing, sides), theme.warning, theme.background, 1.0))
    share, at = eased(min(1.0, passed / _MEET)), middle[:_MOST_MET]
    dot = max(5.0, _DOT * cell)
    for side, threads in ((-1, clash.earlier), (1, clash.later)):
        end = at + np.array([side * _ASIDE * cell, 0.0])
        start = _starts(moment, plan, threads[known][:_MOST_MET], end, side * _AWAY * cell)
        boxes = boxes_around(start + (end - start) * share, dot)
        parts.append(Rects(f"clash-{clash.array}-thread-{side}", boxes, theme.slate, theme.faint, 2.0, dot / 2))
    return parts


def _starts(moment: Moment, plan: Plan, threads: Longs, end: Floats, aside: float) -> Floats:
    """Return where threads come from: from where they compute, or from beside the element if that is not another place."""
    homes = places(moment, plan, THREADS, np.maximum(threads, 0))
    near = np.hypot(*(homes - end).T) < 2 * abs(aside)
    is_elsewhere = (threads >= 0) & ~np.isnan(homes).any(axis=1) & ~near
    return np.where(is_elsewhere[:, None], homes, end + np.array([aside, 0.0]))


def collision_words(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw how many collide at this step and up to now, and who does what in the first collision."""
    theme, sizes, found = options.theme, options.theme.type, clashes(moment)
    count = many(sum(each.count for each in found), "collision")
    so_far = _so_far(moment, options) if moment.trace.arrays[found[0].array].space == "shared" else ""
    so_far_lines = wrap_text(so_far, sizes.least, room.width, 2) if so_far else ()
    lines = [
        Paragraph("clash-count", (count,), sizes.sentence, theme.warning, "semibold"),
        Paragraph("clash-so-far", so_far_lines, sizes.least, theme.faint),
    ]
    drawn, rest = paragraphs_in(room, lines, _GAP, _LEADING)
    if rest.height >= _LEADING * sizes.note:
        drawn += paragraph("clash-words", rest, found[0].words, theme.plain.sized(sizes.note), leading=_LEADING)
    return [replace(each, tells=(_FACTS[each.key],)) for each in drawn]


def _so_far(moment: Moment, options: ViewOptions) -> str:
    """Return how many collisions have happened in shared memory, of how many in the run."""
    conflicts, last = moment.replay.conflicts, moment.step if options.arrived else moment.step - 1
    whole, blocks = conflicts.count(moment.trace.steps), moment.trace.blocks.count
    return tr(
        "so far {count} of {whole} in {all_blocks}", count=conflicts.count(last), whole=whole, all_blocks=all_blocks(blocks)
    )
