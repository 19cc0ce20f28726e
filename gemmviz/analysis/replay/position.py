"""A step described by what happens there instead of by its number, so that it can be found again in another run."""

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Longs
from gemmviz.model.errors import UsageError
from gemmviz.model.sites import Site
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr


class Position(Struct, frozen=True):
    """A step with a description: the site's text and line, its accesses to arrays, its phase and the trips around it.

    Within one run, ``step`` alone identifies it. ``share``: the part of the run that has passed, 0 to 1. Raises UsageError for
    values that no run has.
    """

    step: int = 0
    text: str = ""
    line: int = 0
    action: str = ""
    phase: int = -1
    visits: tuple[int, ...] = ()
    share: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.step, self.line, self.phase, *self.visits)
        if not 0.0 <= self.share <= 1.0 or any(abs(number) >= 1 << 31 for number in numbers):
            raise UsageError(tr("no run has such a step"), remedy=tr("save the view again"))


def position_of(trace: Trace, step: int) -> Position:
    """The position of ``step``."""
    site = trace.site_of(step)
    visits = tuple(int(trip) for trip in trace.visits[step, : len(site.loops)])
    return Position(
        step, site.text, site.place.line, _action(trace, site), int(trace.phase[step]), visits, step / max(1, trace.steps - 1)
    )


def site_position(site: Site) -> Position:
    """The first step of a site, in any trace of its kernel."""
    return Position(text=site.text, line=site.place.line, phase=0, visits=(0,) * len(site.loops))


def step_at(trace: Trace, position: Position) -> int:
    """The step of a trace that matches a position best: the same site (else one with the same accesses), in the same or the
    nearest phase and trips; without such a site, the step at the same share of the run.
    """
    step = position.step
    if 0 <= step < trace.steps and position_of(trace, step) == position:
        return step
    sites = _alike(trace, position)
    candidates = np.flatnonzero(np.isin(trace.site, sites))
    if not len(candidates):
        return round(position.share * (trace.steps - 1)) if position.text else max(0, min(step, trace.steps - 1))
    return _nearest(trace, candidates, position)


def _alike(trace: Trace, position: Position) -> list[int]:
    """The sites that are the same, else those with the same text, else those with the same accesses."""
    sites = list(enumerate(trace.sites))
    for same in (
        lambda site: (site.text, site.place.line) == (position.text, position.line),
        lambda site: site.text == position.text,
        lambda site: _action(trace, site) == position.action,
    ):
        alike = [number for number, site in sites if same(site)]
        if alike:
            return alike
    return []


_ACCESSES = ("load", "store", "copy")  # kinds that are described by their accesses alone


def _action(trace: Trace, site: Site) -> str:
    """Description of a site's accesses: "read A", or "barrier"."""
    accesses = ", ".join(f"{operand.access} {trace.arrays[operand.array].name}" for operand in site.operands)
    return accesses if site.kind in _ACCESSES else f"{site.kind} {accesses}".strip()


def _nearest(trace: Trace, candidates: Longs, position: Position) -> int:
    """The first of the steps that are nearest in phases, then in the trips of the loops, outermost first. Loops are matched
    from the innermost one outwards; a loop that a site lacks doesn't count.
    """
    away = np.abs(trace.phase[candidates] - position.phase)
    candidates = candidates[away == away.min()]
    visits = np.array(position.visits, np.int64)
    depths = np.array([len(site.loops) for site in trace.sites], np.int64)[trace.site[candidates]]
    for place in range(len(visits)):
        column = depths - (len(visits) - place)
        has = np.flatnonzero(column >= 0)
        away = np.zeros(len(candidates), np.int64)
        away[has] = np.abs(trace.visits[candidates[has], column[has]] - visits[place])
        nearest = away == away.min()
        candidates, depths = candidates[nearest], depths[nearest]
    return int(candidates[0])
