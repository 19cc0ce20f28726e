"""Reads of shared memory for each multiply-add, counted for each number of elements that a thread computes."""

from gemmviz.cuda.launch.legality import can_run, launch_for
from gemmviz.model.cases import LoadsCase, LoadsRow
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.translation import tr
from gemmviz.shots.kinds.block_phase import loaded_from
from gemmviz.shots.knowledge import Context, Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

PER_THREAD = "PER_THREAD"


def _make_loads(shot: Shot, context: Context) -> LoadsCase:
    """The compared launch if there is one, then the shot's with each number of elements that runs. Raises UsageError for a
    kernel without tiles of A and B.
    """
    setup, before = shot.setup, () if shot.against is None else (shot.against.setup,)
    choices = next((each.choices for each in setup.kernel.parameters if each.name == PER_THREAD), None) or ()
    tried = [setup.changed(**{PER_THREAD: each}) for each in choices] or [setup]
    shots = [replace(shot, setup=each, against=None) for each in (*before, *filter(can_run, tried))]
    return LoadsCase(tuple(loads_row(context.known.about(each)) for each in shots))


def loads_row(known: Knowledge) -> LoadsRow:
    """The row of a shot's launch. Raises UsageError for a kernel without tiles of A and B."""
    setup, counts = known.setup, known.counts
    tiles = {loaded_from(counts, array.name): array.name for array in counts.arrays if array.space == "shared"}
    if not setup.problem.is_multiply or not {"A", "B"} <= tiles.keys():
        raise UsageError(tr("this kernel has no tiles of A and B in shared memory"))
    turns = launch_for(setup).block_count * launch_for(setup).threads_per_block * setup.problem.K
    a, b = (counts.elements("shared", "read", tiles[name]) // turns for name in "AB")
    if not (a and b):
        raise UsageError(tr("the threads of this kernel don't read elements of A and B from tiles one by one"))
    return LoadsRow((a, b), (setup.problem.flops or 0) // 2 // turns)


SUBJECT = Subject(LoadsCase, _make_loads, is_slow=True, is_comparison=True, order=46)
