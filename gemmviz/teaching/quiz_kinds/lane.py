"""Which warp and lane a thread is."""

from gemmviz.analysis.replay.focus import Focus, thread_place
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace = source.replay.trace
    dx, dy, dz = trace.launch.block
    thread = source.random.randrange(trace.space.threads_per_block)
    x, y, z = thread_place(thread, trace.launch)
    size = trace.rules.warp_size

    def said(number: int) -> str:
        return f"warp {number // size}, lane {number % size}"

    wrong = [
        (said(y + x * dy), "x and y swapped: x counts fastest"),
        (f"warp {y}, lane {x}", "a row of the block is a warp only where it is 32 wide"),
        (said(thread + 1), "one further: numbers begin at 0"),
        (f"warp {x}, lane {y}", "x and y swapped, and taken for warp and lane"),
        (said(2 * thread), "twice as far"),
        (f"warp {thread % 2}, lane {thread // 2}", "threads are not dealt out to warps in turn"),
    ]
    text = f"The block is {dx} × {dy} × {dz}. Which warp and lane is thread ({x}, {y}, {z})?"
    right = said(thread)
    why = f"x + y · {dx} + z · {dx * dy} = {thread}"
    return GeneratedQuestion(text, right, why, source.shot(0, "mapping", Focus(warp=thread // size)), wrong)


QUIZ_KIND = QuizKind("Warp and lane of a thread", _question, order=6)
