"""Question: which warp and lane a thread belongs to."""

from gemmviz.analysis.replay.focus import Focus, thread_place
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace = source.replay.trace
    dx, dy, dz = trace.launch.block
    thread = source.random.randrange(trace.space.threads_per_block)
    x, y, z = thread_place(thread, trace.launch)
    size = trace.rules.warp_size

    def answer(number: int) -> str:
        return f"warp {number // size}, lane {number % size}"

    wrong = [
        (answer(y + x * dy), "x and y swapped: x varies fastest"),
        (f"warp {y}, lane {x}", "a row of the block is a warp only if it is 32 threads wide"),
        (answer(thread + 1), "off by one: numbers start at 0"),
        (f"warp {x}, lane {y}", "x and y mistaken for warp and lane"),
        (answer(2 * thread), "twice the thread's number"),
        (f"warp {thread % 2}, lane {thread // 2}", "consecutive threads belong to the same warp"),
    ]
    text = f"The block is {dx} × {dy} × {dz}. Which warp and lane is thread ({x}, {y}, {z})?"
    right = answer(thread)
    why = f"x + y · {dx} + z · {dx * dy} = {thread}"
    return GeneratedQuestion(text, right, why, source.shot(0, "mapping", Focus(warp=thread // size)), wrong)


QUIZ_KIND = QuizKind("Warp and lane of a thread", _question, order=6)
