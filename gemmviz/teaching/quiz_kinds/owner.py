"""Question: which thread stores an element of the result."""

from collections.abc import Iterator

from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.threads import Triple
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource, swaps

_Thread = tuple[Triple, Triple, str]  # threadIdx, blockIdx and a reason

_ONE_OFF = (
    (
        1, marked("one too far along x: threads are counted from 0"),
        marked("one too far along y: threads are counted from 0"),
        marked("one too far along x: blocks are counted from 0"),
    ),
    (
        -1, marked("one too few along x: threads are counted from 0"),
        marked("one too few along y: threads are counted from 0"),
        marked("one too few along x: blocks are counted from 0"),
    ),
)  # fmt: skip


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace, owners, words = source.replay.trace, source.replay.owners, source.words
    if owners.array is None or owners.array.name in source.racing or trace.space.thread_count == 1 or not len(owners.elements):
        return None
    at = source.random.randrange(len(owners.elements))
    element, number, step = int(owners.elements[at]), int(owners.threads[at]), int(owners.steps[at])
    block, thread = trace.space.indices(number)

    def choices(others: Iterator[_Thread]) -> list[tuple[str, str]]:
        return [
            (f"{words.thread(thread)}{words.of_block(block)}", reason)
            for thread, block, reason in others
            if source.is_thread(thread) and source.is_block(block)
        ]

    own = int((owners.threads == number).sum())
    which = tr("the only element of this thread") if own == 1 else tr("one of {own} elements of this thread", own=own)
    return GeneratedQuestion(
        tr("Which thread stores {element}?", element=words.element(owners.array, element)),
        f"{words.thread(thread)}{words.of_block(block)}",
        tr("line {line} stores it, {what}", line=trace.site_of(step).place.line, what=which),
        source.shot(step, "stage", Focus(block, None, number % trace.space.threads_per_block)),
        choices(_wrong_owners(source, element, thread, block)),
        (Expectation(f"storing_thread(element={element})", f"thread {thread} of block {block}"),),
        choices(_neighbouring_threads(thread, block)),
    )


def _wrong_owners(source: QuizSource, element: int, thread: Triple, block: Triple) -> Iterator[_Thread]:
    """Threads that are found by mistake."""
    launch, array = source.replay.trace.launch, source.replay.owners.array
    for other, names in swaps(thread, launch.block):
        yield other, block, tr("{names} of the thread are exchanged", names=names)
    for other, names in swaps(block, launch.grid):
        yield thread, other, tr("{names} of the block are exchanged", names=names)
        for inner, inner_names in swaps(thread, launch.block):
            if inner_names == names:
                yield inner, other, tr("{names} are exchanged, of the thread and of the block", names=names)
    (x, y, _), (dx, dy, dz) = thread, launch.block
    for layer in range(dz):
        yield (
            (x, y, layer),
            block,
            tr("threads with z = {layer} store other elements", layer=layer) if layer else tr("z is left out"),
        )
    if array is not None and len(array.shape) > 1:
        row, column = array.place(element)
        reason = tr("true if each thread stored one element, with x")
        yield (column % dx, row % dy, 0), (column // dx, row // dy, 0), tr("{reason} along a row", reason=reason)
        yield (row % dx, column % dy, 0), (row // dx, column // dy, 0), tr("{reason} down a column", reason=reason)
        yield (column, row, 0), (0, 0, 0), tr("column and row as threadIdx: they are the place in C, not in the block")
    elif launch.grid[1:] == launch.block[1:] == (1, 1):
        yield (block[0], 0, 0), (x, 0, 0), tr("threadIdx and blockIdx are exchanged")
        yield (element, 0, 0), (0, 0, 0), tr("the index as threadIdx: each block continues where the one before ends")


def _neighbouring_threads(thread: Triple, block: Triple) -> Iterator[_Thread]:
    """The neighbours of a thread."""
    (x, y, z), (bx, by, bz) = thread, block
    for by_one, along_x, along_y, block_x in _ONE_OFF:
        yield (x + by_one, y, z), block, tr(along_x)
        yield (x, y + by_one, z), block, tr(along_y)
        yield thread, (bx + by_one, by, bz), tr(block_x)


QUIZ_KIND = QuizKind(marked("Thread that stores an element"), _question, order=5)
