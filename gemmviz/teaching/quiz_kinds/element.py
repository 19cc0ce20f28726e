"""Question: which element a thread reads from global memory."""

from functools import partial

from gemmviz.analysis.replay.focus import Focus, thread_number, thread_place, thread_text
from gemmviz.model.threads import Triple
from gemmviz.scenes.kit.beat import element_text
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource, element_at, neighbours


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace = source.replay.trace
    step = source.step(
        lambda site: any(
            trace.arrays[op.array].space == "global" and op.access == "read" and op.width == 1 for op in site.operands
        )
    )
    if step is None:
        return None
    thread = source.random.randrange(trace.space.threads_per_block)
    focus = Focus(source.any_block(), thread // trace.rules.warp_size, thread)
    moment = source.moment(step, focus)
    main = moment.main
    if main is None or int(main.elements[0]) < 0 or main.array.space != "global":
        return None
    element = int(main.elements[0])
    row, column = main.array.place(element)
    x, y, _ = thread_place(thread, trace.launch)
    other = partial(element_at, main.array)
    wrong = [
        (other(column, row), "row and column swapped"),
        (_read_by(source, step, focus.block, (y, x)), "the element of the thread with x and y swapped"),
        (other(row, column + 1), "the next element in the row"),
        (other(row + 1, column), "the next element in the column"),
        (other(row, column - 1), "the previous element: k counts from 0"),
        (other(y, x), "the thread's own indices, without block and k"),
        *neighbours(main.array, element),
    ]
    where = f" of block {focus.block[:2]}" if trace.launch.block_count > 1 else ""
    who = thread_text(thread, trace.launch)
    text = (
        f"Which element of {main.array.name} does thread {who}{where} read in step {step + 1}, line {moment.site.place.line}?"
    )
    right = element_text(main.array, element)
    return GeneratedQuestion(
        text, right, f"offset {element} of the matrix", source.shot(step, "stage", focus), [(c, r) for c, r in wrong if c]
    )


def _read_by(source: QuizSource, step: int, block: Triple, place: tuple[int, int]) -> str | None:
    """The element that thread (x, y) of a block reads in a step; None if there is no such thread, or it reads nothing."""
    trace, (x, y) = source.replay.trace, place
    dx, dy, _ = trace.launch.block
    if x >= dx or y >= dy:
        return None
    thread = thread_number((x, y, 0), trace.launch)
    main = source.moment(step, Focus(block, thread // trace.rules.warp_size, thread)).main
    return None if main is None or int(main.elements[0]) < 0 else element_text(main.array, int(main.elements[0]))


QUIZ_KIND = QuizKind("Element that a thread reads", _question, order=2)
