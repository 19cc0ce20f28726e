"""Quantities of the run: how it ended, its steps and phases, its sums, and the part of C that a block or a warp computes."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import UsageError
from gemmviz.model.translation import marked, tr
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import MatrixAxis, quantity

HazardId = Literal["read-after-write", "write-after-read", "write-after-write"]


@quantity("C")
def result(facts: Knowledge) -> str:
    """``right`` or ``wrong``, by the check of the outputs; ``unwritten`` if the traced threads store nothing that could be
    compared, ``unchecked`` if the problem is unknown. Raises the fault that ended the run early.
    """
    fault = facts.outcome.fault
    if fault is not None and fault.id == "no-access":
        return "unwritten"
    if fault is not None:
        raise fault
    check = facts.replay.trace.check
    if not check.is_checked:
        return "unchecked"
    if not check.compared:
        return "unwritten"
    return "right" if check.passed else "wrong"


@quantity(marked("C of the compared launch"))
def compared_result(facts: Knowledge) -> str:
    """``result`` of the launch that the shot compares with. Raises UsageError where there is none."""
    return str(result.compute(facts.compared))


@quantity(marked("wrong elements of C"))
def wrong_elements(facts: Knowledge) -> int:
    """Elements of the outputs that differ from the expected ones by more than rounding, in a complete run."""
    return facts.replay.trace.check.wrong


@quantity(marked("elements of C that are never written"))
def unwritten_elements(facts: Knowledge) -> int:
    """Elements of the outputs that no thread stores, in a complete run of the whole launch."""
    return facts.replay.trace.check.unwritten


@quantity("fault")
def fault(facts: Knowledge) -> str:
    """Id of the fault that ended the run early; ``""`` for a complete run."""
    return "" if facts.outcome.fault is None else facts.outcome.fault.id


@quantity(marked("{kind} hazards[ of {array}]"))
def hazards(facts: Knowledge, kind: HazardId, array: str | None = None) -> int:
    """Pairs of accesses without a barrier between them, of one kind, to all arrays or to one."""
    words = kind.replace("-", " ")
    return sum(each.count for each in facts.replay.hazards if each.kind == words and array in (None, each.array))


@quantity(marked("units that race"))
def racing_units(facts: Knowledge) -> str:
    """``warps``, or ``threads`` for a block of a single warp."""
    return facts.race.kind


@quantity(marked("elements of C that the race spoils"))
def race_wrong_elements(facts: Knowledge) -> int:
    """Wrong elements of C in the adverse order that was found."""
    return int(facts.race.spoilt.sum())


@quantity(marked("steps ahead in the race"))
def race_lead(facts: Knowledge) -> int:
    """Shortest lead that spoils C, in steps since the last barrier that all units reach; 0 if no order does."""
    return facts.race.lead


@quantity(marked("largest error of C"))
def largest_error(facts: Knowledge) -> float:
    """Largest error of an element of the output, compared with float64."""
    return facts.replay.trace.check.worst_error or 0.0


@quantity(marked("largest error of the compared run's C, in multiples of this one's"))
def compared_error_ratio(facts: Knowledge) -> float:
    """Largest error of the run that the shot compares with, divided by the shot's own. Raises UsageError without one."""
    own = float(largest_error.compute(facts))
    other = float(largest_error.compute(facts.compared))
    return other / own if own else 0.0


@quantity("steps")
def step_count(facts: Knowledge) -> int:
    """Steps of the run."""
    return facts.replay.steps


@quantity(marked("steps of the compared run"))
def compared_step_count(facts: Knowledge) -> int:
    """Steps of the run that the shot compares with. Raises UsageError where there is none."""
    return int(step_count.compute(facts.compared))


@quantity("phases")
def phase_count(facts: Knowledge) -> int:
    """Trips of the outermost loop with a barrier."""
    return facts.replay.phases


@quantity(marked("threads that take no part in this step"))
def absent_threads(facts: Knowledge) -> int:
    """Threads in focus that are inactive at the shown step."""
    return int((facts.moment.arrived < 0).sum())


@quantity(marked("terms per sum"))
def term_count(facts: Knowledge) -> int:
    """Products in the sum of one element of C."""
    return 0 if facts.moment.terms is None else facts.moment.terms.length


@quantity(marked("additions per sum"))
def addition_count(facts: Knowledge) -> int:
    """Additions that the products of one element of C take: one fewer than there are products."""
    return max(0, int(term_count.compute(facts)) - 1)


@quantity(marked("terms so far"))
def terms_so_far(facts: Knowledge) -> int:
    """Products added up to the shown step by the threads in focus; the least of their elements."""
    terms = facts.moment.thread_terms
    return 0 if terms is None else int(terms.done.min())


@quantity(marked("terms in order of k"))
def terms_in_order(facts: Knowledge) -> bool:
    """Whether the products of each sum are added in ascending order of k."""
    terms = facts.moment.terms
    return terms is not None and bool((np.diff(terms.steps, axis=1) >= 0).all())


@quantity(marked("formula of the products of an element"))
def product_formula(facts: Knowledge) -> str:
    """The elements of the inputs that the sum of C(i, j) multiplies, in the labels of the shot: ``A(i, k) · B(k, j)``. Raises
    UsageError where no such formula holds of all products of the block in focus.
    """
    trace, first = facts.replay.trace, facts.moment.scope.of_block.start
    numbers = () if trace.result is None else (trace.result, *trace.inputs)
    rows = []
    for thread in range(facts.launch.threads_per_block):
        own = facts.replay.owners.of(slice(first + thread, first + thread + 1))[0]
        for k in range(facts.setup.problem.depth if len(own) == 1 else 0):
            cells = dict(facts.reads.of(thread, k, facts.replay.steps)) | {trace.result: int(own[0])}
            if cells.keys() >= {*numbers}:
                places = [facts.shot.labels.ordered(trace.arrays[each].indices(cells[each])) for each in numbers]
                rows.append([k + facts.shot.labels.first, *(index for place in places for index in place)])
    k_i_j, indices = np.split(np.array(rows, np.int64).T if rows else np.zeros((3, 0)), [3])
    names = [next((name for name, own in zip("kij", k_i_j, strict=True) if (own == each).all()), "") for each in indices]
    if not all(names) or len(names) != 4:
        raise UsageError(tr("no formula of i, j and k gives the products of these threads"))
    return "{}({}, {}) · {}({}, {})".format(
        *np.ravel([[trace.arrays[n].name, *names[2 * p : 2 * p + 2]] for p, n in enumerate(trace.inputs)])
    )


@quantity(marked("{axis} of C of the block"))
def block_range(facts: Knowledge, axis: MatrixAxis) -> str:
    """First and last row or column that the block in focus stores, as ``"0–1"``."""
    indices = _stored_places(facts, facts.moment.scope.of_block, axis)
    return f"{int(indices.min())}–{int(indices.max())}"


@quantity(marked("{axis} of C of the warp"))
def warp_extent(facts: Knowledge, axis: MatrixAxis) -> int:
    """Number of different rows or columns that the warp in focus stores, else the block's first warp."""
    moment = facts.moment
    size, block = moment.trace.rules.warp_size, moment.scope.of_block
    start = block.start + size * (moment.focus.warp or 0)
    return len(np.unique(_stored_places(facts, slice(start, min(start + size, block.stop)), axis)))


@quantity(marked("{axis} of C of the warp of the compared launch"))
def compared_warp_extent(facts: Knowledge, axis: MatrixAxis) -> int:
    """Rows or columns that a warp stores in the launch that the shot compares with. Raises UsageError where there is none."""
    return int(warp_extent.compute(facts.compared, axis=axis))


def _stored_places(facts: Knowledge, threads: slice, axis: MatrixAxis) -> npt.NDArray[np.integer]:
    """Rows or columns of the elements of C that ``threads`` store. Raises UsageError if they store none."""
    stored, _ = facts.replay.owners.of(threads)
    array = facts.replay.owners.array
    if array is None or not len(stored):
        raise UsageError(tr("these threads store nothing into C"))
    return np.asarray(array.row_column(stored)[axis == "columns"])
