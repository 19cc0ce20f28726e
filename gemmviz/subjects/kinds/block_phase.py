"""One phase of one block of a shot's launch, counted over the whole launch."""

from gemmviz.model.block_phase import BlockPhase
from gemmviz.state.shot import Shot
from gemmviz.subjects.block_phase import block_phase
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.subject import Context, Subject
from gemmviz.subjects.titles import kernel_title


def _make(shot: Shot, context: Context) -> BlockPhase:
    """The phase. Raises GemmvizError for a launch that can't be counted, or without equal phases."""
    counts = launch_counts(shot.setup, context.engine_for(shot.setup.kernel), cancelled=context.cancelled)
    return block_phase(shot.setup, counts, kernel_title(shot.setup))


SUBJECT = Subject(BlockPhase, _make, is_slow=True, order=42)
