"""Source of a shot's kernel, with that of the compared kernel if there is one, and counts of the launch."""

from dataclasses import replace

from gemmviz.analysis.listing import compared, listing_of
from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.launch.legality import launch_for
from gemmviz.model.code_case import CodeCase
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import Launch
from gemmviz.model.setup import Setup
from gemmviz.model.sites import shared_bytes
from gemmviz.model.words import spaced
from gemmviz.state.shot import Shot
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.subject import Context, Subject


def _make(shot: Shot, context: Context) -> CodeCase:
    main = listing_of(shot.setup.kernel)
    case = CodeCase(main) if shot.against is None else compared(main, listing_of(shot.against.setup.kernel))
    try:
        launch = launch_for(shot.setup, with_nearest=False)
        counts = launch_counts(shot.setup, context.engine_for(shot.setup.kernel), cancelled=context.cancelled)
    except GemmvizError:
        return case
    tiles = tuple((array.name, *array.extents) for array in counts.arrays if array.space == "shared")
    return replace(case, facts=_facts(shot.setup, launch, counts), block=launch.block, tiles=tiles)


def _facts(setup: Setup, launch: Launch, counts: LaunchCounts) -> tuple[tuple[str, str], ...]:
    """Names and values of counts of a launch."""
    return (
        ("blocks", spaced(launch.block_count)),
        ("threads per block", spaced(launch.threads_per_block)),
        ("shared bytes per block", spaced(shared_bytes(counts.arrays))),
        ("global reads", spaced(counts.elements("global", "read"))),
        ("shared writes", spaced(counts.elements("shared", "write"))),
        ("shared reads", spaced(counts.elements("shared", "read"))),
        *(
            (f"elements of {name} stored", spaced(counts.elements("global", "write", name)))
            for name in setup.problem.output_names
        ),
    )


SUBJECT = Subject(CodeCase, _make, is_slow=True, order=48)
