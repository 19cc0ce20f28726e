"""Quantities of single threads: what they read, copy, multiply and exchange, and the answers of generated questions."""

import numpy as np

from gemmviz.analysis.costs import lane_words, warp_rows
from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.private import exchanged_elements, private_values, threads_at_work
from gemmviz.analysis.replay.reads import copies_of, first_threads, matrices_read, products_of, read_by_first
from gemmviz.model.messages import UsageError, marked, tr
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import NO_VALUE, Factor, Matrix, Whole, quantity


@quantity(marked("reads of thread {thread}[ up to k = {k}]"))
def reads_of_thread(facts: Knowledge, thread: Whole, k: Whole | None = None) -> int:
    """Elements that a thread of the block reads from global memory, in the whole run or up to and including ``k``."""
    end = facts.setup.problem.depth if k is None else k + 1
    return facts.reads.count(_existing_thread(facts, thread), end, facts.replay.steps)


@quantity(marked("different elements that the block reads"))
def distinct_reads(facts: Knowledge) -> int:
    """Different elements of all inputs that the block in focus reads from global memory in the whole run."""
    return facts.reads.different(facts.replay.steps)


@quantity(marked("elements of {array} that the first blocks read"))
def elements_of_first_blocks(facts: Knowledge, array: Factor) -> int:
    """Different elements of a matrix that all blocks up to the one in focus read from global memory in the whole run."""
    known = matrices_read(facts.replay.trace)
    if array not in known:
        raise UsageError(tr("no thread accesses {array}", array=array))
    return len(read_by_first(facts.replay.trace, known[array][0], first_threads(facts.moment)))


@quantity(marked("element of {array} that thread {thread} reads at k = {k}"))
def element_read(facts: Knowledge, array: Factor, thread: Whole, k: Whole) -> str:
    """The element, labelled as the shot labels elements; ``nothing`` if there is none."""
    trace = facts.replay.trace
    number = trace.number_of(array)
    reads = [e for n, e in facts.reads.of(_existing_thread(facts, thread), k, facts.replay.steps) if n == number]
    if not reads or number is None:
        return NO_VALUE
    return facts.shot.labels.named(trace.arrays[number], reads[0])


@quantity(marked("threads that read the same element of {array} as thread {thread} at k = {k}"))
def sharers(facts: Knowledge, array: Factor, thread: Whole, k: Whole) -> str:
    """The threads of the block that read that element from global memory, as ``"(0, 0), (1, 0)"``; ``nothing`` if the thread
    reads none there.
    """
    number, last = facts.replay.trace.number_of(array), facts.replay.steps
    read = {each for each in facts.reads.of(_existing_thread(facts, thread), k, last) if each[0] == number}
    threads = range(facts.launch.threads_per_block if read else 0)
    same = [other for other in threads if read <= set(facts.reads.of(other, k, last))]
    return ", ".join(thread_text(other, facts.launch) for other in same) or NO_VALUE


@quantity(marked("sum of thread {thread} so far"))
def sum_of_thread(facts: Knowledge, thread: Whole) -> float:
    """The sum of the products that a thread of the block has added up to the shown step. Raises UsageError if it is unknown."""
    held = private_values(facts.moment, _existing_thread(facts, thread), facts.moment.step)
    if held is None or held.sum is None:
        raise UsageError(tr("the sum of thread {thread} is unknown", thread=thread))
    return held.sum


@quantity(marked("elements of {array} that a block copies in a phase"))
def elements_copied(facts: Knowledge, array: Factor) -> int:
    """Elements that the block in focus copies to shared memory in the shown phase."""
    moment, trace = facts.moment, facts.replay.trace
    phase = max(0, moment.phase)
    threads = range(trace.space.threads_per_block)
    return sum(each.matrix == array for t in threads for each in copies_of(trace, moment.scope, t, phase))


@quantity(marked("copy {number} of thread {thread} in phase {phase}"))
def copy_of_thread(facts: Knowledge, number: Whole, thread: Whole, phase: Whole) -> str:
    """Source and target of a copy to shared memory; ``number`` and ``phase`` count from 1."""
    copies = copies_of(facts.replay.trace, facts.moment.scope, thread, phase - 1)
    if not 1 <= number <= len(copies):
        return NO_VALUE
    each, labels = copies[number - 1], facts.shot.labels
    return f"{labels.element(each.matrix, *each.source)} → {labels.element(each.array, *each.target)}"


@quantity(marked("product {number} of thread {thread} in phase {phase}"))
def product_of_thread(facts: Knowledge, number: Whole, thread: Whole, phase: Whole) -> str:
    """The two cells of shared memory that are multiplied; ``number`` and ``phase`` count from 1."""
    products = products_of(facts.replay, facts.moment.scope, thread, phase - 1)
    if not 1 <= number <= len(products):
        return NO_VALUE
    each, labels = products[number - 1], facts.shot.labels
    return f"{labels.element(*each.left)} · {labels.element(*each.right)}"


@quantity(marked("threads that take part in the run"))
def working_threads(facts: Knowledge) -> int:
    """Traced threads that take part in at least one step."""
    return int(threads_at_work(facts.replay.trace).sum())


@quantity(marked("threads that return before their first access"))
def returned_threads(facts: Knowledge) -> int:
    """Traced threads that take part in no step."""
    return int((~threads_at_work(facts.replay.trace)).sum())


@quantity(marked("elements that threads exchange in global memory"))
def exchanged_element_count(facts: Knowledge) -> int:
    """Elements that one thread writes and another thread reads or writes."""
    return exchanged_elements(facts.replay.trace)


def _existing_thread(facts: Knowledge, thread: int) -> int:
    """``thread`` if the block has it. Raises UsageError otherwise."""
    count = facts.launch.threads_per_block
    if thread >= count:
        raise UsageError(tr("a block has no thread {thread}", thread=thread), remedy=tr("choose 0 to {count}", count=count - 1))
    return thread


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
