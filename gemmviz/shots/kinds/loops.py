"""Loops: the shot's kernel, and the compared one if there is one, each with its counters at every step of a whole run."""

import textwrap

import numpy as np

from gemmviz.analysis.listing import listing_of
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.grid import Owners
from gemmviz.model.cases import Counter, LoopRun, LoopsCase
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.trace import VariableValue, Watched
from gemmviz.model.translation import tr
from gemmviz.shots.knowledge import Context, Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_loops(shot: Shot, context: Context) -> LoopsCase:
    """The runs of a multiplication. Raises UsageError for another problem, and as ``Engine.trace`` does."""
    if not shot.setup.problem.is_multiply:
        raise UsageError(tr("loops are shown for multiplications of matrices only"))
    of_first = replace(shot, focus=Focus())
    before = None if shot.against is None else _loop_run(context.known.about(replace(of_first, setup=shot.against.setup)))
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


SUBJECT = Subject(LoopsCase, _make_loops, is_slow=True, is_comparison=True, order=47)
