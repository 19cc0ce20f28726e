"""Subjects of one run: a step, its loops, its source, and an order of threads that corrupts its result."""

import textwrap

import numpy as np
from msgspec import structs

from gemmviz.analysis.counts import LaunchCounts
from gemmviz.analysis.listing import PrintedSource, compared, filled_line, first_line, listing_of, printed_source
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.grid import Owners
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.catalog import lesson_kernel_names, load_kernel
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.cuda.program import program_for
from gemmviz.model.cases import CodeCase, Counter, Listing, LoopRun, LoopsCase, Stop
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.messages import GemmvizError, KernelFault, UsageError, marked, spaced, tr
from gemmviz.model.setup import Setup
from gemmviz.model.sites import shared_bytes
from gemmviz.model.trace import RaceCase, VariableValue, Watched
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.sentence import beat
from gemmviz.shots.knowledge import Context, Knowledge
from gemmviz.shots.picture import LaunchWords
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject, focus_at

# One step of a shot's run.

_COUNTED_WORDS = marked("Every number is counted from the trace of the run.")


def _make_moment(shot: Shot, context: Context) -> Moment | None:
    return context.moment


def _at_moment(moment: Moment, now: Moment) -> Moment:
    return now


def _click_moment(moment: Moment, shot: Shot, hit: Hit) -> Shot | None:
    """Follow the thread of a cell. Raises UsageError if there is none."""
    focus = focus_at(moment, hit)
    warp_size = device_for(shot.setup).warp_size
    return None if focus is None else structs.replace(shot, focus=focus.within_launch(moment.trace.launch, warp_size))


def _texts_at(moment: Moment) -> tuple[str, str, str]:
    title = f"{moment.trace.setup.kernel.name}: {sentence.step_title(moment)}"
    return title, f"{beat(moment).text}; {sentence.cost(moment)}", f"{_COUNTED_WORDS} {moment.trace.check}"


# Loops: the shot's kernel, and the compared one if there is one, each with its counters at every step of a whole run.


def _make_loops(shot: Shot, context: Context) -> LoopsCase:
    """The runs of a multiplication. Raises UsageError for another problem, and as ``Engine.trace`` does."""
    if not shot.setup.problem.is_multiply:
        raise UsageError(tr("loops are shown for multiplications of matrices only"))
    of_first = structs.replace(shot, focus=Focus())
    before = (
        None if shot.against is None else _loop_run(context.known.about(structs.replace(of_first, setup=shot.against.setup)))
    )
    return LoopsCase(shot.setup.problem, _loop_run(context.known.about(of_first)), before)


def _loop_run(known: Knowledge) -> LoopRun:
    setup, trace = known.setup, known.outcome.whole
    owners, sizes = Owners(trace), setup.problem
    stored = np.full((sizes.M, sizes.N), -1, np.int64)
    if owners.array is not None:
        stored[owners.array.row_column(owners.elements)] = owners.steps
    body = _body_lines(setup)
    threads = trace.launch.block_count * trace.space.threads_per_block
    watched = known.watched
    is_whole = watched is not None and len(watched.rows) == trace.steps  # other blocks may have steps that its thread lacks
    counters = _loop_counters(watched, [*body]) if watched is not None and is_whole else ()
    return LoopRun(setup.kernel.name, setup.kernel.title, tuple(body.values()), threads, trace.steps, stored, counters)


def _body_lines(setup: Setup) -> dict[int, str]:
    """The lines of the kernel's body by their numbers in its file, without comments and closing braces."""
    listing, whole = listing_of(setup.kernel).lines, setup.kernel.text.rstrip().split("\n")
    start = next((place for place, line in enumerate(listing) if line == "{"), -1) + 1
    first = len(whole) - len(listing) + start + 1
    bare = {first + place: line.partition("//")[0].rstrip() for place, line in enumerate(listing[start:])}
    body = {number: line for number, line in bare.items() if line.strip() not in ("", "}")}
    return dict(zip(body, textwrap.dedent("\n".join(body.values())).split("\n"), strict=True))


def _loop_counters(watched: Watched, lines: list[int]) -> tuple[Counter, ...]:
    """The variables that are declared in these lines and have several whole numbers in turn."""
    found, unset = [], (None,) * len(watched.variables)
    values = [watched.during(step) or unset for step in range(len(watched.rows))]
    for place, variable in enumerate(watched.variables):
        during = tuple(_whole_text(each[place]) for each in values)
        if len(set(during) - {""}) > 1 and variable.first_line in lines:
            found.append(Counter(variable.name, lines.index(variable.first_line), during))
    return tuple(found)


def _whole_text(value: VariableValue) -> str:
    """A whole number as text, "" for any other value."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


# Source of a shot's kernel, with that of the compared kernel if there is one, and counts of the launch.


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
    return structs.replace(case, facts=facts, block=launch.block, tiles=tiles)


def _with_filled(listing: Listing, kernel: KernelSpec) -> Listing:
    """The listing of a kernel with the line of the blank that was filled in last highlighted, if it comes from a worksheet."""
    worksheet = load_kernel(kernel.name) if kernel.name in lesson_kernel_names() else None
    if worksheet is None or not worksheet.blanks or worksheet.entry != kernel.entry:
        return listing
    line = filled_line(kernel, worksheet)
    return listing if line is None else structs.replace(listing, lit=frozenset({line}))


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
    return structs.replace(case, facts=facts, block=launch.block, tiles=tiles, stop=stop)


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


# Source of a shot's kernel as it is printed with a question, and a legend of the launch.


def _make_listing(shot: Shot, context: Context) -> PrintedSource:
    try:
        legend = LaunchWords(shot.setup, shot.labels).legend
    except GemmvizError:
        legend = ""  # the launch can't run; the source can be read all the same
    return printed_source(shot.setup.kernel, shot.at.line, legend)


# Race: the watched block in an order of threads that corrupts C, beside lockstep.


def _make_race(shot: Shot, context: Context) -> RaceCase:
    """The race of the block in focus. Raises as ``Engine.race``."""
    return context.known.race


SUBJECTS = {
    "code": Subject(CodeCase, _make_code, is_slow=True, order=48),
    "listing": Subject(PrintedSource, _make_listing, is_slow=True, order=49),
    "loops": Subject(LoopsCase, _make_loops, is_slow=True, is_comparison=True, order=47),
    "moment": Subject(
        Moment, _make_moment, needs=("moment",), time="run", advance=_at_moment, click=_click_moment, texts=_texts_at, order=1
    ),
    "race": Subject(RaceCase, _make_race, is_slow=True, order=49),
}
