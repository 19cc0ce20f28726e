"""One phase of one block of a shot's launch, counted over the whole launch."""

from gemmviz.model.cases import BlockPhase
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import block_phase
from gemmviz.subjects.subject import Context, Subject, kernel_title, launch_counts


def _make(shot: Shot, context: Context) -> BlockPhase:
    """The phase. Raises GemmvizError for a launch that can't be counted, or without equal phases."""
    counts = launch_counts(shot.setup, context.engine_for(shot.setup.kernel), cancelled=context.cancelled)
    return block_phase(shot.setup, counts, kernel_title(shot.setup))


SUBJECT = Subject(BlockPhase, _make, is_slow=True, order=42)
