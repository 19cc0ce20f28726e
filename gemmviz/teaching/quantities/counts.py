"""Quantities of counts and of results of a run."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import structs

from gemmviz.analysis.counts import Counts, intensity
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.reads import stride_of, walk_of
from gemmviz.model.cases import Profile
from gemmviz.model.messages import UsageError, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.sites import Access, MemoryArray, Space
from gemmviz.shots.kinds.counted import PER_THREAD, dram_traffic, loads_per_phase, loads_row, operations_per_phase
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.subject import value_of
from gemmviz.teaching.quantities.quantity import (
    Factor,
    GlobalMatrix,
    Matrix,
    MatrixAxis,
    Measure,
    Whole,
    matrix_named,
    quantity,
)


@quantity(marked("{space} memory {access}s[ of {array}], in elements"), origin="counts")
def elements(facts: Knowledge, space: Space, access: Access, array: Matrix | None = None) -> int:
    """Elements that lanes request, repetitions included."""
    if array is None:
        return facts.counts.elements(space, access)
    matrix_named(facts.counts.arrays, array)
    return facts.counts.elements(space, access, array)


@quantity(marked("global memory reads with {parameter} = {value}, in elements"), origin="counts")
def elements_read_with(facts: Knowledge, parameter: str, value: Whole) -> int:
    """Elements that lanes read from global memory, with another value of a parameter."""
    setup = facts.setup.changed(**{parameter: value})
    return int(elements.compute(facts.about(structs.replace(facts.shot, setup=setup)), space="global", access="read"))


@quantity(marked("times each element of {array} is read"), origin="counts")
def reads_per_element(facts: Knowledge, array: Factor) -> float:
    """Mean number of reads of each element from global memory."""
    size = matrix_named(facts.counts.arrays, array).size
    return facts.counts.elements("global", "read", array) / size


@quantity(marked("bytes {measure} in global memory[ by {access}s]"), origin="counts")
def global_bytes(facts: Knowledge, measure: Measure, access: Access | None = None) -> int:
    """Bytes that lanes request, or that whole sectors move, for reads, writes or both."""
    total = facts.counts.total("global") if access is None else facts.counts.total("global", access)
    return total.bytes_asked if measure == "requested" else total.bytes_moved(facts.counts.rules)


@quantity(marked("GiB {measure} in global memory[ by {access}s]"), origin="counts")
def global_gibibytes(facts: Knowledge, measure: Measure, access: Access | None = None) -> float:
    """Bytes of ``global_bytes`` in GiB."""
    return float(global_bytes.compute(facts, measure, access)) / 2**30


@quantity(marked("bytes from DRAM"), origin="recorded")
def dram_bytes(facts: Knowledge) -> float:
    """Bytes that DRAM moved, as recorded. Raises UsageError for a launch that was not recorded."""
    traffic = dram_traffic(facts.setup)
    if traffic is None:
        raise UsageError(tr("the traffic of DRAM was not recorded for this launch"))
    return traffic.size_bytes


@quantity(marked("{name}, as a profiler counted"), origin="recorded")
def counter(facts: Knowledge, name: str) -> int:
    """A hardware counter of exactly this launch, such as global_load_sectors. Raises UsageError for one without a record."""
    value = value_of(Profile, facts).value(name)
    if value is None:
        raise UsageError(tr("no counter {name} was recorded", name=name))
    return value


@quantity(marked("GiB from DRAM"), origin="recorded")
def dram_gibibytes(facts: Knowledge) -> float:
    """Bytes of ``dram_bytes`` in GiB."""
    return float(dram_bytes.compute(facts)) / 2**30


@quantity(marked("GiB from DRAM with {parameter} = {value}"), origin="recorded")
def dram_gibibytes_with(facts: Knowledge, parameter: str, value: Whole) -> float:
    """The same of the launch with another value of a parameter."""
    other = facts.setup.changed(**{parameter: value})
    return float(dram_gibibytes.compute(facts.about(structs.replace(facts.shot, setup=other))))


@quantity(marked("{measure} of the launch"), origin="counts")
def launch_cost(facts: Knowledge, measure: Literal["sectors", "requests", "wavefronts"]) -> int:
    """Memory transactions of the whole launch."""
    return int(getattr(facts.counts.total(), measure))


@quantity(marked("{measure} of the compared launch"), origin="counts")
def compared_launch_cost(facts: Knowledge, measure: Literal["sectors", "requests", "wavefronts"]) -> int:
    """Memory transactions of the launch that the shot compares with. Raises UsageError where there is none."""
    return int(launch_cost.compute(facts.compared, measure))


@quantity(marked("executions of branches at which warps part"), origin="counts")
def divergent_branches(facts: Knowledge) -> int:
    """Executions of a branch by a warp at which its lanes go different ways, over the whole launch."""
    return sum(each.parted for each in facts.counts.branches.values())


@quantity(marked("executions of branches at which warps of the compared launch part"), origin="counts")
def compared_divergent_branches(facts: Knowledge) -> int:
    """The same of the launch that the shot compares with. Raises UsageError where there is none."""
    return int(divergent_branches.compute(facts.compared))


@quantity(marked("sectors per request of {array}[, {access}s only]"), origin="counts")
def sectors_per_request(facts: Knowledge, array: GlobalMatrix, access: Access | None = None) -> float:
    """Mean number of sectors that a warp's request of a matrix moves, over the whole launch."""
    matrix_named(facts.counts.arrays, array)
    total = _total_of(facts, lambda each, kind: each.space == "global" and each.name == array and access in (None, kind))
    if not total.requests:
        raise UsageError(f"no thread accesses {array}" if access is None else f"there are no {access}s of {array}")
    return total.sectors / total.requests


@quantity(marked("bank conflicts[ of {array}]"), origin="counts")
def bank_conflicts(facts: Knowledge, array: str = "") -> int:
    """Wavefronts of shared memory beyond those without conflicts, over the whole launch. Raises UsageError for an array that
    the kernel doesn't have.
    """
    if array and array not in (each.name for each in facts.counts.arrays if each.space == "shared"):
        raise UsageError(f"the kernel has no array {array} in shared memory")
    return _total_of(facts, lambda each, kind: each.space == "shared" and array in ("", each.name)).excessive_wavefronts


@quantity(marked("bytes of {array} read per block"), origin="counts")
def bytes_read_per_block(facts: Knowledge, array: GlobalMatrix) -> float:
    """Bytes of a matrix that lanes request in reads of global memory, for each block of the grid."""
    matrix_named(facts.counts.arrays, array)
    total = _total_of(facts, lambda each, kind: (each.space, each.name, kind) == ("global", array, "read"))
    return total.bytes_asked / facts.launch.block_count


def _total_of(facts: Knowledge, is_chosen: Callable[[MemoryArray, Access], bool]) -> Counts:
    """Costs of the accesses that are chosen by their array and direction."""
    counts = facts.counts
    return sum(
        (cost for (_, each), cost in counts.accesses.items() if is_chosen(counts.arrays[each.array], each.access)), Counts()
    )


@quantity(
    marked("reads of shared memory for each multiply-add[, with {per_thread} × {per_thread} elements a thread]"),
    origin="counts",
)
def reads_per_product(facts: Knowledge, per_thread: Whole = 0) -> float:
    """Elements of the tiles of A and B that a thread reads for each of its multiply-adds."""
    setup = facts.setup.changed(**{PER_THREAD: per_thread}) if per_thread else facts.setup
    return loads_row(facts.about(structs.replace(facts.shot, setup=setup))).per_product


@quantity(marked("elements read per block and phase"), origin="counts")
def elements_per_phase(facts: Knowledge) -> int:
    """Elements that a block reads from global memory in one phase. Raises UsageError unless all phases are alike."""
    return loads_per_phase(facts.setup, facts.counts)


@quantity(marked("floating-point operations per block and phase"), origin="definition")
def flops_per_phase(facts: Knowledge) -> int:
    """Multiplications and additions of a block in one phase. Raises UsageError unless all phases are alike."""
    return operations_per_phase(facts.setup)


def flops_of(problem: Problem) -> int:
    """Floating-point operations of a problem. Raises UsageError if it has none to count."""
    if problem.flops is None:
        raise UsageError(
            tr("no floating-point operations can be counted: {why_no_flops}", why_no_flops=problem.kind.why_no_flops)
        )
    return problem.flops


@quantity(marked("FLOP per byte read, by bytes {measure}"), origin="counts")
def arithmetic_intensity(facts: Knowledge, measure: Measure) -> float:
    """Arithmetic intensity in FLOP/byte over global reads; the stores of C are left out."""
    return intensity(flops_of(facts.setup.problem), int(global_bytes.compute(facts, measure, "read")))


@quantity(marked("FLOP per byte, stores included"), origin="counts")
def arithmetic_intensity_with_stores(facts: Knowledge) -> float:
    """Arithmetic intensity in FLOP/byte over all requested bytes of global memory."""
    return intensity(flops_of(facts.setup.problem), facts.counts.total("global").bytes_asked)


@quantity(marked("roofline in GFLOP/s, by bytes {measure}"), origin="model")
def roofline_gflops(facts: Knowledge, measure: Measure) -> float:
    """Attainable rate at the launch's arithmetic intensity, in GFLOP/s."""
    return facts.device.roof(float(arithmetic_intensity.compute(facts, measure)))


@quantity(marked("roofline in GFLOP/s, stores included"), origin="model")
def roofline_gflops_with_stores(facts: Knowledge) -> float:
    """Attainable rate at the arithmetic intensity of all requested bytes, in GFLOP/s."""
    return facts.device.roof(float(arithmetic_intensity_with_stores.compute(facts)))


@quantity(marked("{measure} of this step"))
def step_cost(facts: Knowledge, measure: Literal["sectors", "lines", "wavefronts", "lanes", "requests"]) -> int:
    """Transactions of the shown step, or lanes that take part, for the threads in focus."""
    return int(getattr(facts.moment.cost, measure))


@quantity(marked("{measure} per request of {array}"))
def request_cost(facts: Knowledge, array: str, measure: Literal["sectors", "lines", "wavefronts", "lanes"]) -> int:
    """Transactions of the first access to an array by the warp in focus, else by the block's first warp."""
    moment = facts.moment
    number = facts.replay.trace.number_of(array)
    if number is None:
        raise UsageError(tr("the kernel has no array {array}", array=array))
    first = next((int(t.steps[0]) for t in facts.replay.trace.touches_of(number) if len(t.steps)), None)
    if first is None:
        raise UsageError(tr("no thread accesses {array}", array=array))
    focus = moment.focus if moment.focus.warp is not None else structs.replace(moment.focus, warp=0)
    return int(getattr(Reader(facts.replay, focus).at(first).cost, measure))


@quantity(marked("bytes of {space} memory requested so far"))
def bytes_so_far(facts: Knowledge, space: Space) -> int:
    """Bytes that the threads in focus requested up to the shown step."""
    return facts.moment.so_far(space).bytes_asked


@quantity(marked("tiles of {array} that the block reads"))
def tiles_read(facts: Knowledge, array: Factor) -> int:
    """Number of different tiles of a matrix that the block in focus reads."""
    return len(facts.moment.areas(array))


@quantity(marked("stride of {array} in bytes"))
def stride(facts: Knowledge, array: Factor) -> int:
    """Bytes between consecutive reads of a matrix by the thread in focus; -1 where they are not evenly spaced."""
    matrix_named(facts.replay.trace.arrays, array)
    walk = walk_of(facts.moment, array)
    step = None if walk is None else stride_of(walk[2])
    return -1 if step is None else step


@quantity(marked("offset of {array} at row {row}, column {column}"), origin="definition")
def element_offset(facts: Knowledge, array: Matrix, row: Whole, column: Whole) -> int:
    """Offset of an element in elements, in the order in which the kernel stores the matrix."""
    stored = matrix_named(facts.replay.trace.arrays, array)
    rows, columns = stored.extents
    if row >= rows or column >= columns:
        raise UsageError(
            tr(
                "{array} has {rows} × {columns} elements: none at row {row}, column {column}",
                array=array,
                rows=rows,
                columns=columns,
                row=row,
                column=column,
            )
        )
    return stored.element_at(row, column)


# Quantities of the run: how it ended, its steps and phases, its sums, and the part of C that a block or a warp computes.

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
