"""Source of a shot's kernel, with that of the compared kernel if there is one, and counts of the launch."""

from dataclasses import replace

from gemmviz.analysis.listing import compared, listing_of
from gemmviz.launch.legality import launch_for
from gemmviz.model.code_case import CodeCase
from gemmviz.model.errors import GemmvizError
from gemmviz.model.setup import Setup
from gemmviz.model.sites import shared_bytes
from gemmviz.model.words import spaced
from gemmviz.state.shot import Shot
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.subject import Context, Subject


def _make(shot: Shot, context: Context) -> CodeCase:
    main = listing_of(shot.setup.kernel)
    case = CodeCase(main) if shot.against is None else compared(main, listing_of(shot.against.setup.kernel))
    return replace(case, facts=_facts(shot.setup, context))


def _facts(setup: Setup, context: Context) -> tuple[tuple[str, str], ...]:
    """Names and values of counts of a launch; empty if it can't be counted."""
    try:
        launch = launch_for(setup, with_nearest=False)
        counts = launch_counts(setup, context.engine_for(setup.kernel), cancelled=context.cancelled)
    except GemmvizError:
        return ()
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
