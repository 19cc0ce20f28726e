"""What a player moves: the steps of a run, or the instants of a launch, whichever the view is of."""

from math import ceil
from typing import Protocol

from gemmviz.model.schedule import GridCase
from gemmviz.scenes.catalog import view_named
from gemmviz.state.shot import Shot

INSTANTS = 60


def instant_place(instant: float) -> tuple[int, float]:
    """The step of a launch's time that an instant is in, and how much of that has passed."""
    at = round(instant * INSTANTS, 6)
    step = max(0, ceil(at) - 1)
    return step, at - step


class HasTime(Protocol):
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

    def __init__(self, session: HasTime) -> None:
        self.session = session

    @property
    def is_launch(self) -> bool:
        return view_named(self.session.shot.view).subject is GridCase

    @property
    def steps(self) -> int:
        return INSTANTS if self.is_launch else self.session.steps

    @property
    def step(self) -> int:
        return instant_place(self.session.shot.instant)[0] if self.is_launch else self.session.step

    @property
    def moment(self) -> float:
        return instant_place(self.session.shot.instant)[1] if self.is_launch else self.session.moment

    def go(self, step: int, moment: float = 1.0) -> None:
        """The first of a launch's steps, gone to as a whole, is its very beginning."""
        if not self.is_launch:
            self.session.go(step, moment)
        elif step <= 0 and moment >= 1.0:
            self.session.go_to_instant(0.0)
        else:
            self.session.go_to_instant((step + moment) / INSTANTS)
