"""What a player moves: the steps of a run, or the instants of a launch, whichever the view is of."""

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
        return min(INSTANTS - 1, int(self.session.shot.instant * INSTANTS)) if self.is_launch else self.session.step

    @property
    def moment(self) -> float:
        return self.session.shot.instant * INSTANTS - self.step if self.is_launch else self.session.moment

    def go(self, step: int, moment: float = 1.0) -> None:
        if self.is_launch:
            self.session.go_to_instant((step + moment) / INSTANTS)
        else:
            self.session.go(step, moment)
