"""Race: the watched block in an order of threads that corrupts C, beside lockstep."""

from gemmviz.model.race import RaceCase
from gemmviz.state.shot import Shot
from gemmviz.subjects.subject import Context, Subject, launch_title


def _make(shot: Shot, context: Context) -> RaceCase:
    """The race of the block in focus. Raises as ``Engine.race``."""
    engine = context.engine_for(shot.setup.kernel)
    return engine.race(shot.setup, shot.focus.block, launch_title(shot.setup), cancelled=context.cancelled)


SUBJECT = Subject(RaceCase, _make, is_slow=True, order=49)
