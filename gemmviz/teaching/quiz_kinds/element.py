"""Question: which element of global memory a thread reads."""

from collections.abc import Iterator

from gemmviz.analysis.replay.focus import Focus, thread_number
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import Triple
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizAccess, QuizKind, QuizSource, off_by_one, swaps


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace, words = source.replay.trace, source.words
    access = source.access(lambda op: trace.arrays[op.array].space == "global" and op.access == "read" and op.width == 1)
    if access is None:
        return None
    block, thread = source.any_block(), source.any_thread()
    element = source.touched(access, access.step, block, thread)
    if element is None:
        return None
    array, line = trace.arrays[access.operand.array], trace.site_of(access.step).place.line
    who = f"{words.thread(thread)}{words.of_block(block)}"
    text = tr(
        "Which element of {name} does {who} read in line {line}{moment}?",
        name=words.name(array),
        who=who,
        line=line,
        moment=words.moment(access.step),
    )
    number = thread_number(thread, trace.launch)
    focus = Focus(block, number // trace.rules.warp_size, number)
    right = words.element(array, element)
    why = tr(
        "{site_of_text} is at offset {offset}", site_of_text=trace.site_of(access.step).text, offset=_offset(array, element)
    )
    expect = (Expectation(f"element_accessed(array={array.name})", source.labels.named(array, element)),)
    wrong = [(words.element(array, other), reason) for other, reason in _wrong_elements(source, access, block, thread)]
    shot, beside = source.shot(access.step, "stage", focus), off_by_one(source, array, element)
    return GeneratedQuestion(text, right, why, shot, wrong, expect, beside)


def _offset(array: MemoryArray, element: int) -> str:
    """The offset of an element, of a matrix with rows and columns: "52 = 6 · 8 + 4"."""
    if len(array.shape) == 1:
        return str(element)
    row, column = array.place(element)
    outer, length, inner = (column, array.shape[-2], row) if array.column_major else (row, array.extents[1], column)
    return f"{element} = {outer} · {length} + {inner}"


def _wrong_elements(source: QuizSource, access: QuizAccess, block: Triple, thread: Triple) -> Iterator[tuple[int, str]]:
    """Elements that others read, or that the thread reads at another time, each with the mistake that leads to it."""
    for other_block, other_thread, reason in _mistaken_threads(source, block, thread):
        element = source.touched(access, access.step, other_block, other_thread)
        if element is not None:
            yield element, reason
    trace, words = source.replay.trace, source.words
    array = trace.arrays[access.operand.array]
    yield from _transposed_element(source, array, source.touched(access, access.step, block, thread))
    for loop in range(len(trace.site_of(access.step).loops)):
        for trips in (-1, 1):
            step = source.step_beside(access.step, loop, trips)
            element = None if step is None else source.touched(access, step, block, thread)
            if step is not None and element is not None:
                early = "early" if trips < 0 else "late"
                yield (
                    element,
                    tr("one trip of a loop too {early}: this one is read{moment}", early=early, moment=words.moment(step)),
                )


def _mistaken_threads(source: QuizSource, block: Triple, thread: Triple) -> Iterator[tuple[Triple, Triple, str]]:
    """Threads that are mistaken for one."""
    words, launch = source.words, source.replay.trace.launch
    for other, names in swaps(thread, launch.block):
        yield (
            block,
            other,
            tr("{names} of the thread are exchanged: this is what {thread} reads", names=names, thread=words.thread(other)),
        )
    for other, names in swaps(block, launch.grid):
        yield (
            other,
            thread,
            tr(
                "{names} of the block are exchanged: this is what the thread in {block} reads",
                names=names,
                block=words.block(other),
            ),
        )
    if any(block):
        yield (
            (0, 0, 0),
            thread,
            tr("blockIdx is left out: this is what the thread in {block} reads", block=words.block((0, 0, 0))),
        )
    if any(thread):
        yield block, (0, 0, 0), tr("threadIdx is left out: this is what {thread} reads", thread=words.thread((0, 0, 0)))


def _transposed_element(source: QuizSource, array: MemoryArray, element: int | None) -> Iterator[tuple[int, str]]:
    """The element with row and column exchanged."""
    if element is None or len(array.shape) < 2:
        return
    row, column = array.place(element)
    if column < array.extents[0] and row < array.extents[1]:
        yield array.element_at(column, row), tr("row and column are exchanged")


QUIZ_KIND = QuizKind(marked("Element that a thread reads"), _question, order=2)
