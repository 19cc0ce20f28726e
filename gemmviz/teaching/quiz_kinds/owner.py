"""Question: which thread stores an element of the result."""

from gemmviz.analysis.replay.focus import Focus
from gemmviz.scenes.kit.beat import element_text
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace, owners = source.replay.trace, source.replay.owners
    if owners.array is None or not len(owners.elements):
        return None
    at = source.random.randrange(len(owners.elements))
    element, number = int(owners.elements[at]), int(owners.threads[at])
    (bx, by, _), (x, y, _) = trace.space.indices(number)
    row, column = owners.array.place(element)
    dx, dy, _ = trace.launch.block

    def answer(tx: int, ty: int, gx: int, gy: int) -> str:
        return f"thread ({tx}, {ty}) of block ({gx}, {gy})"

    places = (
        ((y, x, bx, by), "x and y of the thread swapped"),
        ((x, y, by, bx), "x and y of the block swapped"),
        ((column % dx, row % dy, column // dx, row // dy), "valid only for one element per thread, with x along a row"),
        ((row % dx, column % dy, row // dx, column // dy), "valid only for one element per thread, with x down a column"),
        ((x + 1, y, bx, by), "a neighbouring thread"),
        ((x, y + 1, bx, by), "a neighbouring thread"),
        ((x - 1, y, bx, by), "a neighbouring thread"),
        ((x, y - 1, bx, by), "a neighbouring thread"),
    )
    limits = (dx, dy, *trace.launch.grid[:2])
    wrong = [
        (answer(*place), why) for place, why in places if all(0 <= at < limit for at, limit in zip(place, limits, strict=True))
    ]
    text = f"Which thread stores {element_text(owners.array, element)}?"
    focus = Focus((bx, by, 0), None, number % trace.space.threads_per_block)
    step = int(owners.steps[at])
    return GeneratedQuestion(
        text, answer(x, y, bx, by), "this thread writes the element", source.shot(step, "stage", focus), wrong
    )


QUIZ_KIND = QuizKind("Thread that stores an element", _question, order=5)
