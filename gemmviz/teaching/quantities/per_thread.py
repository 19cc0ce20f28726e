"""Quantities of single threads: which elements they read, copy, multiply and exchange, and which of them work at all."""

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.private import exchanged_elements, private_values, threads_at_work
from gemmviz.analysis.replay.reads import copies_of, products_of
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import marked, tr
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import NO_VALUE, Factor, Whole, quantity


@quantity(marked("reads of thread {thread}[ up to k = {k}]"))
def reads_of_thread(facts: Knowledge, thread: Whole, k: Whole | None = None) -> int:
    """Elements that a thread of the block reads from global memory, in the whole run or up to and including ``k``."""
    end = facts.setup.problem.depth if k is None else k + 1
    return facts.reads.count(_existing_thread(facts, thread), end, facts.replay.steps)


@quantity(marked("different elements that the block reads"))
def distinct_reads(facts: Knowledge) -> int:
    """Different elements of all inputs that the block in focus reads from global memory in the whole run."""
    return facts.reads.different(facts.replay.steps)


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
