"""What can be shown besides the replay of one run: occupancy, the grid of a launch, why a kernel is as fast as it is, two runs
at once, and what is made of a shot alone. Keeps what each needs, and says what a click on it asks for.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.jobs.engines import Engines
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.code_case import CodeCase
from gemmviz.model.errors import GemmvizError
from gemmviz.model.host_run import TransferCase
from gemmviz.model.launch_case import LaunchCase
from gemmviz.model.occupancy import OccupancyCase
from gemmviz.model.race import RaceCase
from gemmviz.model.schedule import GridCase
from gemmviz.model.speed_case import SpeedCase
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.traffic import TrafficCase
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.views.occupancy_view import value_at
from gemmviz.scenes.views.why_view import CURE
from gemmviz.state.shot import Against, Shot
from gemmviz.subjects.background_analysis import Shown
from gemmviz.subjects.beside import Beside
from gemmviz.subjects.cache import SubjectCache
from gemmviz.subjects.cases import OF_SHOTS
from gemmviz.subjects.launches import Launches
from gemmviz.subjects.subjects import occupancy_case, trial_of
from gemmviz.subjects.why import Why

WorkedOut = OccupancyCase | GridCase | SpeedCase | Pair | LaunchCase | CodeCase | TrafficCase | RaceCase | TransferCase
CARDS: tuple[type, ...] = get_args(WorkedOut)


class Subjects:
    """``changed`` is called when more is known of what is shown; ``failed`` with an error of the run beside."""

    def __init__(self, post: Post, runners: Engines, changed: Callable[[], Any], failed: Callable[[GemmvizError], Any]) -> None:
        self.runners = runners
        self.launches = Launches(post, runners, changed)
        self.why = Why()
        self.made = SubjectCache(post, changed)
        self.beside = Beside(post, changed, failed)

    def subject(self, kind: type, shot: Shot, shown: Shown | None, now: Moment | None) -> WorkedOut | None:
        """What views of this kind of subject show now; None as long as that is not known."""
        if kind in OF_SHOTS:
            found: WorkedOut | None = self.made.case(kind, shot)
            return found
        speed = _speed_of(shot, shown)
        if kind is OccupancyCase:
            return occupancy_case(shot, speed)
        if kind is GridCase:
            return self.launches.case(shot, speed)
        if kind is SpeedCase:
            return self.why.case(shot, shown, now)
        against = shot.against
        return None if against is None or shown is None or now is None else self.beside.pair(now, shown, against)

    def missing(self, kind: type, shot: Shot) -> str:
        """Why nothing is shown of a shot in views of what is made of it alone; "" for other views."""
        return self.made.missing(kind, shot) if kind in OF_SHOTS else ""

    def pointed(self, subject: WorkedOut, shot: Shot, shown: Shown | None, hit: Hit) -> Shot | None:
        """The shot that a click on a cell asks for; None for a cell that means nothing."""
        match subject:
            case OccupancyCase():
                needs = value_at(subject, hit.cells.key, hit.column)
                return None if needs is None else replace(shot, trial=trial_of(subject, needs))
            case SpeedCase():
                return self._cured(subject, shot, shown, hit)
            case Pair():
                return _marked(shot, hit)
        return None

    def _cured(self, case: SpeedCase, shot: Shot, shown: Shown | None, hit: Hit) -> Shot | None:
        """What may help is run, and held against what was."""
        if not hit.cells.key.startswith(CURE) or shown is None:
            return None
        setup = case.cures[int(hit.cells.key.removeprefix(CURE))].setup
        self.why.keep(shown, setup)
        return replace(shot, setup=setup)

    def follow(self, shot: Shot) -> None:
        """Has what a shot is held against run, unless it has."""
        against = shot.against
        self.beside.watch(shot.focus)
        self.beside.show(None if against is None else against.setup, self.runners.engine_for((against or shot).setup.kernel))

    def hold(self, shot: Shot, shown: Shown) -> Shot:
        """What is shown stays beside whatever comes: its run is not run again. One warp is watched where nobody was chosen:
        what two kernels do differently its lanes tell.
        """
        engine = self.runners.recorded if shown.from_file else self.runners.engine_for(shown.setup.kernel)
        self.beside.take(shown, engine)
        focus = replace(shot.focus, warp=0) if shot.focus == Focus(shot.focus.block) else shot.focus
        return replace(shot, against=Against(shown.setup), view=view_of_two(shot.view), focus=focus)

    @property
    def lanes(self) -> tuple[LatestTask[Any], ...]:
        return (self.launches.lane, self.made.lane, *self.beside.lanes)

    def close(self) -> None:
        for lane in self.lanes:
            lane.close()


def view_of_two(view: str) -> str:
    """Where two stand side by side: in the grid, where that is looked at."""
    return view if view_named(view).subject is GridCase else "pair"


def _speed_of(shot: Shot, shown: Shown | None) -> KernelSpeed | None:
    """That of exactly what is asked for."""
    return shown.speed if shown is not None and shown.setup == shot.setup else None


def _marked(shot: Shot, hit: Hit) -> Shot | None:
    """With the element under the pointer followed in both runs, or let go again."""
    key, against = hit.cells.key.rpartition("-")[2], shot.against
    if against is None or key not in ("A", "B", "C"):
        return None
    row, column = ((at + first) * hit.cells.factor for at, first in zip((hit.row, hit.column), hit.cells.origin, strict=True))
    marked = f"{key}[{row},{column}]"
    return replace(shot, against=replace(against, marked="" if marked == against.marked else marked))
