"""Race: the watched block in an order of threads that corrupts C, beside lockstep."""

from gemmviz.model.race import RaceCase
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_race(shot: Shot, context: Context) -> RaceCase:
    """The race of the block in focus. Raises as ``Engine.race``."""
    return context.known.race


SUBJECT = Subject(RaceCase, _make_race, is_slow=True, order=49)
