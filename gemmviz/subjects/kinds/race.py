"""Race: the watched block in an order of threads that corrupts C, beside lockstep."""

from gemmviz.model.race import RaceCase
from gemmviz.run.cpu.race import race_of
from gemmviz.state.shot import Shot
from gemmviz.subjects.subject import Context, Subject
from gemmviz.subjects.titles import launch_title


def _make(shot: Shot, context: Context) -> RaceCase:
    """The race of the watched block. Raises as ``race_of`` does."""
    return race_of(shot.setup, shot.focus.block, launch_title(shot.setup), context.cancelled)


SUBJECT = Subject(RaceCase, _make, is_slow=True, order=49)
