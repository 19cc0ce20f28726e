"""Source of a shot's kernel, with that of the compared kernel if there is one, and counts of the launch."""

from gemmviz.analysis.listing import compared, filled_line, first_line, listing_of
from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.cuda.launch.catalog import lesson_kernel_names, load_kernel
from gemmviz.cuda.launch.legality import launch_for
from gemmviz.cuda.program import program_for
from gemmviz.model.cases import CodeCase, Listing, Stop
from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.sites import shared_bytes
from gemmviz.model.translation import spaced, tr
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_code(shot: Shot, context: Context) -> CodeCase:
    main = listing_of(shot.setup.kernel)
    if shot.against is None:
        case = CodeCase(_with_filled(main, shot.setup.kernel))
    else:
        case = compared(main, listing_of(shot.against.setup.kernel))
    try:
        launch = launch_for(shot.setup, with_nearest=False)
    except GemmvizError:
        return case
    try:
        counts = context.known.counts
    except KernelFault as fault:
        return _stopped(case, shot.setup, launch, fault)
    except GemmvizError:
        return case
    tiles = tuple((array.name, *array.extents) for array in counts.arrays if array.space == "shared")
    # An exercise needs the room of the facts for its lines.
    facts = () if shot.setup.kernel.blanks else _code_facts(shot.setup, launch, counts)
    return replace(case, facts=facts, block=launch.block, tiles=tiles)


def _with_filled(listing: Listing, kernel: KernelSpec) -> Listing:
    """The listing of a kernel with the line of the blank that was filled in last highlighted, if it comes from a worksheet."""
    worksheet = load_kernel(kernel.name) if kernel.name in lesson_kernel_names() else None
    if worksheet is None or not worksheet.blanks or worksheet.entry != kernel.entry:
        return listing
    line = filled_line(kernel, worksheet)
    return listing if line is None else replace(listing, lit=frozenset({line}))


def _stopped(case: CodeCase, setup: Setup, launch: Launch, fault: KernelFault) -> CodeCase:
    """The case of a launch that a fault ends, with its line marked."""
    if fault.place is None:
        return case
    line = fault.place.line - 1 - first_line(setup.kernel)
    threads = (tr("threads of a block"), " × ".join(map(str, launch.block[: 3 if launch.block[2] > 1 else 2])))
    facts = (threads, *((name, spaced(value)) for name, value in setup.parameters.items()))
    declared = program_for(setup.kernel, setup.definitions).shared
    tiles = tuple((each.name, *each.dims) for each in declared if each.dims is not None and len(each.dims) == 2)
    stop = Stop(line, fault.what)
    return replace(case, facts=facts, block=launch.block, tiles=tiles, stop=stop)


def _code_facts(setup: Setup, launch: Launch, counts: LaunchCounts) -> tuple[tuple[str, str], ...]:
    """Names and values of counts of a launch."""
    return (
        (tr("blocks"), spaced(launch.block_count)),
        (tr("threads per block"), spaced(launch.threads_per_block)),
        (tr("shared bytes per block"), spaced(shared_bytes(counts.arrays))),
        (tr("global reads"), spaced(counts.elements("global", "read"))),
        (tr("shared writes"), spaced(counts.elements("shared", "write"))),
        (tr("shared reads"), spaced(counts.elements("shared", "read"))),
        *(
            (tr("elements of {name} stored", name=name), spaced(counts.elements("global", "write", name)))
            for name in setup.problem.output_names
        ),
    )


SUBJECT = Subject(CodeCase, _make_code, is_slow=True, order=48)
