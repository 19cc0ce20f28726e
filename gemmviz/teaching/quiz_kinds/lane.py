"""Question: the warp and the lane of a thread."""

from gemmviz.analysis.replay.focus import Focus, thread_number
from gemmviz.model.translation import marked, tr
from gemmviz.shots.legend import extents_text
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource


def _mistakes(thread: tuple[int, int, int], source: QuizSource) -> tuple[tuple[int, str], ...]:
    """Return the numbers that common mistakes give a thread of a block, each with its mistake."""
    trace = source.replay.trace
    (dx, dy, dz), size, (x, y, z) = trace.launch.block, trace.rules.warp_size, thread
    number = thread_number(thread, trace.launch)
    return (
        (y + x * dy + z * dx * dy, tr("x and y are exchanged: x varies fastest")),
        (z + y * dz + x * dy * dz, tr("the axes are exchanged: x varies fastest, then y, then z")),
        (x + y * dx, tr("z is left out: each layer of the block has its own threads")),
        (x, tr("only x counts: each row of the block has its own threads")),
        (number + 1, tr("one too far: threads and lanes are counted from 0")),
        (number - 1, tr("one too few: the first thread has number 0")),
        (number + dx, tr("one row too far: rows of the block are counted from 0")),
        (
            number - dx,
            tr("one row too few: y = {y} is row {row} of the block", y=y, row=y + 1) if dy > 1 else tr("one block too few"),
        ),
        (number + size, tr("one warp too far: warps are counted from 0")),
        (
            number - size,
            tr(
                "one warp too few: warp {warp} begins with thread {thread}",
                warp=number // size,
                thread=number // size * size,
            ),
        ),
        (y * size + x, tr("each row of the block as a warp: a warp is filled from the next rows")),
        (x * size + y, tr("x is mistaken for the warp, and y for the lane")),
    )


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace, words = source.replay.trace, source.words
    (dx, dy, dz), size = trace.launch.block, trace.rules.warp_size
    thread = source.any_thread()
    number, count = thread_number(thread, trace.launch), trace.space.threads_per_block
    if number == thread[0] and number < size:
        return None  # x is the answer

    def answer(other: int) -> str:
        return tr("warp {warp}, lane {lane}", warp=other // size, lane=other % size)

    numbers = _mistakes(thread, source)
    wrong = [(answer(other), reason) for other, reason in numbers if 0 <= other < count]
    block = extents_text(trace.launch.block)
    text = tr(
        "A block has {block} threads. In which warp is {thread}, and which lane is it?",
        block=block,
        thread=words.thread(thread),
    )
    terms = " + ".join(("x", f"y · {dx}", *([f"z · {dx * dy}"] if dz > 1 else [])))
    why = tr(
        "it has the number {terms} = {number} in the block; a warp has {size} threads", terms=terms, number=number, size=size
    )
    focus = Focus(warp=number // size, thread=number)
    expect = (Expectation("place_in_request", answer(number)),)
    return GeneratedQuestion(text, answer(number), why, source.shot(None, "mapping", focus), wrong, expect)


QUIZ_KIND = QuizKind(marked("Warp and lane of a thread"), _question, order=6)
