"""The loops around the products of a sum as source lines, each with its trip at this moment and the number of its trips: a
tiled kernel has two short loops where another has a long one.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.model.sites import Site
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width

_LEADING, _MOST, _INDENT = 1.45, 3, 2
_LEAST_WIDE = 300.0
_NEVER = np.iinfo(np.int32).max


def loop_lines(moment: Moment, steps: Longs, left: float, options: ViewOptions) -> list[Primitive]:
    """Draw the loops at the lower right, from ``left`` on at most; nothing in a narrow room. ``steps``: those at which the
    products are complete.
    """
    if options.width - MARGIN - left < _LEAST_WIDE:
        return []
    done = steps[steps < _NEVER]
    sites = {int(moment.trace.site[step]) for step in done.tolist() if step < moment.trace.steps}
    if len(sites) != 1:
        return []
    number = sites.pop()
    site, theme = moment.trace.sites[number], options.theme
    done = np.flatnonzero(moment.trace.site == number)  # those of the thread's other elements, too
    visits = moment.trace.visits[done][:, : len(site.loops)]
    reached = done[done <= (moment.step if options.arrived else moment.step - 1)]
    lines, size = _lines(moment, site), theme.type.least
    y = options.bottom - 16 - _LEADING * size * (len(lines) - 1)
    right, trips = (
        options.width - MARGIN,
        [tr("trip 88 of {count}", count=count) for count in (visits.max(axis=0) + 1).tolist()],
    )
    aside = max((text_width(each, size) for each in trips), default=0.0) + 24
    wide = min(right - left - 60, max(text_width(each, size, "mono") for each in lines) + aside) if lines else 0.0
    primitives: list[Primitive] = []
    for place, text in enumerate(lines):
        depth = len(site.loops) - len(lines) + place
        count = int(visits[:, depth].max()) + 1
        now = (
            tr("trip {visits} of {count}", visits=int(moment.trace.visits[int(reached.max()), depth]) + 1, count=count)
            if len(reached)
            else tr("{count} trips", count=count)
        )
        shown = fitted(text, size, wide - aside, "mono")
        primitives += [
            Labels(f"loop-{place}", points((right - wide, y)), (shown,), size, theme.text, "start", "mono"),
            Labels(f"loop-{place}-trip", points((right, y)), (now,), size, theme.faint, "end"),
        ]
        y += _LEADING * size
    top = options.bottom - 16 - _LEADING * size * len(lines)
    rule = boxes((right - wide - 20, top + 4, right - wide - 20, options.bottom - 10))
    return [Lines("loops-rule", rule, theme.line, 3.0), *primitives] if primitives else []


def _lines(moment: Moment, site: Site) -> list[str]:
    """Return the source lines of the innermost loops around a site, outermost first, each indented further."""
    source = moment.trace.setup.kernel.text.split("\n")
    places = [moment.trace.loops[number].place.line for number in site.loops][-_MOST:]
    texts = [source[line - 1].strip().rstrip("{").strip() for line in places if 1 <= line <= len(source)]
    return [" " * _INDENT * depth + text for depth, text in enumerate(texts)]
