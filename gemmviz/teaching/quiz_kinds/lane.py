"""Question: the warp and the lane of a thread."""

from gemmviz.analysis.replay.focus import Focus, thread_number
from gemmviz.subjects.legend import extents_text
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace, words = source.replay.trace, source.words
    (dx, dy, dz), size = trace.launch.block, trace.rules.warp_size
    x, y, z = thread = source.any_thread()
    number, count = thread_number(thread, trace.launch), trace.space.threads_per_block
    if number == x and number < size:
        return None  # x is the answer

    def answer(other: int) -> str:
        return f"warp {other // size}, lane {other % size}"

    numbers = (
        (y + x * dy + z * dx * dy, "x and y are exchanged: x varies fastest"),
        (z + y * dz + x * dy * dz, "the axes are exchanged: x varies fastest, then y, then z"),
        (x + y * dx, "z is left out: each layer of the block has its own threads"),
        (x, "only x counts: each row of the block has its own threads"),
        (number + 1, "one too far: threads and lanes are counted from 0"),
        (number - 1, "one too few: the first thread has number 0"),
        (number + dx, "one row too far: rows of the block are counted from 0"),
        (number - dx, f"one row too few: y = {y} is row {y + 1} of the block" if dy > 1 else "one block too few"),
        (number + size, "one warp too far: warps are counted from 0"),
        (number - size, f"one warp too few: warp {number // size} begins with thread {number // size * size}"),
        (y * size + x, "each row of the block as a warp: a warp is filled from the next rows"),
        (x * size + y, "x is mistaken for the warp, and y for the lane"),
    )
    wrong = [(answer(other), reason) for other, reason in numbers if 0 <= other < count]
    block = extents_text(trace.launch.block)
    text = f"A block has {block} threads. In which warp is {words.thread(thread)}, and which lane is it?"
    terms = " + ".join(("x", f"y · {dx}", *([f"z · {dx * dy}"] if dz > 1 else [])))
    why = f"it has the number {terms} = {number} in the block; a warp has {size} threads"
    focus = Focus(warp=number // size, thread=number)
    expect = (Expectation("place_in_request", answer(number)),)
    return GeneratedQuestion(text, answer(number), why, source.shot(None, "mapping", focus), wrong, expect)


QUIZ_KIND = QuizKind("Warp and lane of a thread", _question, order=6)
