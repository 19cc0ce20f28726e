"""Quantities that assert the answers of generated questions, at the step and for the threads that the shot shows."""

import numpy as np

from gemmviz.analysis.memory.banks import lane_words
from gemmviz.analysis.memory.warps import warp_rows
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import marked, tr
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import NO_VALUE, Matrix, Whole, quantity


@quantity(marked("element of {array} that the thread in focus accesses at this step"))
def element_accessed(facts: Knowledge, array: Matrix) -> str:
    """The element, labelled as the shot labels elements; ``nothing`` if the thread accesses none."""
    touched = next((each for each in facts.moment.touched if each.array.name == array), None)
    if touched is None or int(touched.elements[0]) < 0:
        return NO_VALUE
    return facts.shot.labels.named(touched.array, int(touched.elements[0]))


@quantity(marked("content of cell {cell} of {array}"))
def cell_content(facts: Knowledge, array: str, cell: Whole) -> str:
    """The element of which a cell of a shared array holds a copy after this step, labelled as the shot labels elements;
    ``nothing`` if it holds no copy. ``cell`` counts the cells of the array from 0, row by row.
    """
    trace = facts.replay.trace
    number = trace.number_of(array)
    content = None if number is None else facts.moment.tiles.get(number)
    if content is None or cell >= len(content.array):
        raise UsageError(tr("there is no cell {cell} of {array}", cell=cell, array=array))
    matrix = int(content.array[cell])
    return NO_VALUE if matrix < 0 else facts.shot.labels.named(trace.arrays[matrix], int(content.element[cell]))


@quantity(marked("value in cell {cell} of {array}"))
def cell_value(facts: Knowledge, array: str, cell: Whole) -> float:
    """The value in a cell of a shared array after this step, by its number as in ``cell_content``. Raises UsageError for an
    unknown one.
    """
    number = facts.replay.trace.number_of(array)
    content = None if number is None else facts.moment.tiles.get(number)
    if content is None or cell >= len(content.value) or np.isnan(content.value[cell]):
        raise UsageError(tr("the value in cell {cell} of {array} is not known", cell=cell, array=array))
    return float(content.value[cell])


@quantity(marked("bank that lane {lane} accesses"))
def bank_of_lane(facts: Knowledge, lane: Whole) -> int:
    """The bank of the element that a lane of the warp in focus accesses at this step, in an array that begins in bank 0."""
    moment, rules = facts.moment, facts.replay.trace.rules
    request = moment.request
    if request is None or moment.main is None or lane >= len(request.lanes) or request.lanes[lane] < 0:
        raise UsageError(tr("lane {lane} accesses nothing at this step", lane=lane))
    words, _ = lane_words(request.lanes[None, lane : lane + 1], moment.main.array.itemsize, rules)
    return int(words[0, 0]) % rules.banks


@quantity(marked("thread that stores element {element} of the result"))
def storing_thread(facts: Knowledge, element: Whole) -> str:
    """The threadIdx and the blockIdx, as ``thread (3, 0, 0) of block (1, 0, 0)``. ``element`` is an offset in the array."""
    replay = facts.replay
    number = replay.owners.thread_of(element)
    if number is None:
        return NO_VALUE
    block, thread = replay.trace.space.indices(number)
    return f"thread {thread} of block {block}"


@quantity(marked("warp and lane of the thread in focus"))
def place_in_request(facts: Knowledge) -> str:
    """The warp and the lane in which the run's requests have the thread in focus, as ``warp 0, lane 9``."""
    scope, rules = facts.moment.scope, facts.replay.trace.rules
    threads = np.arange(scope.of_block.stop - scope.of_block.start)
    warp, lane = np.argwhere(warp_rows(threads[None], rules.warp_size) == scope.first_thread)[0].tolist()
    return f"warp {warp}, lane {lane}"


@quantity(marked("hazards without the barrier in line {line}"))
def hazards_without(facts: Knowledge, line: Whole) -> str:
    """The kinds of hazards in a run without the barriers of a line, separated by commas; ``none`` if there are none."""
    return ", ".join(facts.without_barriers(line).hazard_kinds) or "none"
