"""Why the run that is shown is as fast as it is, kept up to date; and the run before, where something was tried to help it."""

from dataclasses import replace

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.setup import Setup
from gemmviz.model.speed_case import SpeedCase
from gemmviz.state.shot import Shot
from gemmviz.subjects.background_analysis import Shown
from gemmviz.subjects.speeds import effect_of, speed_case, with_progress


class Why:
    """What doesn't change from step to step is worked out once."""

    def __init__(self) -> None:
        self._before: tuple[Shown, Setup] | None = None  # the run before, and what was to help it
        self._kept: tuple[object, SpeedCase | None] | None = None

    def keep(self, shown: Shown, cure: Setup) -> None:
        """A cure is run now, to be held against this."""
        self._before = shown, cure

    def case(self, shot: Shot, shown: Shown | None, now: Moment | None) -> SpeedCase | None:
        """Of the run that is shown, at its present moment."""
        if self._kept is None or self._kept[0] is not shown:
            self._kept = shown, self._with_effects(speed_case(shot, shown), shown)
        case = self._kept[1]
        return case if case is None or now is None else with_progress(case, now)

    def _with_effects(self, case: SpeedCase | None, shown: Shown | None) -> SpeedCase | None:
        """Before and after, as long as the cure is what is shown."""
        if case is None or shown is None or self._before is None or shown.setup != self._before[1]:
            return case
        return replace(case, effects=(effect_of(self._before[0]), effect_of(shown)))
