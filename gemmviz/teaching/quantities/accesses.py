"""Quantities of the memory accesses at the step that the shot shows, and of arrays in memory."""

from typing import Literal

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.reads import stride_of, walk_of
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.sites import Space
from gemmviz.model.translation import marked, tr
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import Factor, Matrix, Whole, matrix_named, quantity


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
    focus = moment.focus if moment.focus.warp is not None else replace(moment.focus, warp=0)
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
