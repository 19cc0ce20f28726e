"""What a player moves: the steps of a run, or the instants of a launch, whichever the view is of."""

from math import ceil
from typing import Protocol

from gemmviz.model.schedule import GridCase
from gemmviz.scenes.catalog import view_named
from gemmviz.show.shot import Shot

INSTANTS = 60


class Timed(Protocol):
    """Whose time it is."""

    shot: Shot

    @property
    def steps(self) -> int: ...
    @property
    def moment(self) -> float: ...
    @property
    def step(self) -> int: ...
    def go(self, step: int, moment: float = 1.0) -> None: ...
    def go_to_instant(self, instant: float) -> None: ...


class Time:
    """Of a session. The time of a launch has as many steps as ``INSTANTS``."""

    def __init__(self, session: Timed) -> None:
        self.session = session

    @property
    def is_launch(self) -> bool:
        return view_named(self.session.shot.view).subject is GridCase

    @property
    def steps(self) -> int:
        return INSTANTS if self.is_launch else self.session.steps

    @property
    def step(self) -> int:
        return max(0, ceil(self._at) - 1) if self.is_launch else self.session.step

    @property
    def moment(self) -> float:
        return self._at - self.step if self.is_launch else self.session.moment

    @property
    def _at(self) -> float:
        return round(self.session.shot.instant * INSTANTS, 6)

    def go(self, step: int, moment: float = 1.0) -> None:
        """The first of a launch's steps, gone to as a whole, is its very beginning."""
        if not self.is_launch:
            self.session.go(step, moment)
        elif step <= 0 and moment >= 1.0:
            self.session.go_to_instant(0.0)
        else:
            self.session.go_to_instant((step + moment) / INSTANTS)
