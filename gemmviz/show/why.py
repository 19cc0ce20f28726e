"""Why the run that is shown is as fast as it is, kept up to date; and the run before, where something was tried to help it."""

from dataclasses import replace

from gemmviz.analysis.moment import Moment
from gemmviz.model.speed_case import Effect, SpeedCase
from gemmviz.show.findings import Shown
from gemmviz.show.shot import Shot
from gemmviz.show.speeds import effect_of, speed_case, with_progress


class Why:
    """What doesn't change from step to step is worked out once."""

    def __init__(self) -> None:
        self._before: Effect | None = None
        self._kept: tuple[object, SpeedCase | None] | None = None

    def keep(self, shown: Shown) -> None:
        """Something else is run now, to be held against this."""
        self._before = effect_of(shown)

    def case(self, shot: Shot, shown: Shown | None, now: Moment | None) -> SpeedCase | None:
        """Of the run that is shown, at its present moment."""
        if self._kept is None or self._kept[0] is not shown:
            self._kept = shown, _with_effects(speed_case(shot, shown), self._before, shown)
        case = self._kept[1]
        return case if case is None or now is None else with_progress(case, now)


def _with_effects(case: SpeedCase | None, before: Effect | None, shown: Shown | None) -> SpeedCase | None:
    if case is None or before is None or shown is None:
        return case
    after = effect_of(shown)
    return case if after.label == before.label else replace(case, effects=(before, after))
