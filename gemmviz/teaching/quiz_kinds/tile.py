"""Question: what a cell of a tile in shared memory holds."""

from collections.abc import Iterator

import numpy as np

from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.threads import Triple
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizAccess, QuizKind, QuizSource, off_by_one, swaps

_Held = tuple[int, int]  # the number of a matrix, and the element of it


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace, words = source.replay.trace, source.words
    access = source.access(lambda op: trace.arrays[op.array].space == "shared" and op.access == "read")
    if access is None or trace.arrays[access.operand.array].name in source.racing:
        return None
    tile, block = trace.arrays[access.operand.array], source.any_block()
    cell = source.random.randrange(tile.size)
    held = _held_in(source, access, access.step, block, cell)
    if held is None or any(_held_in(source, access, step, block, cell) != held for step in _end_steps(source, access)):
        return None  # it is no copy of an element, or it changes while the line runs
    if _is_in_flight(source, access, block, cell):
        return None  # it holds either element
    matrix, element = trace.arrays[held[0]], held[1]
    line, when = trace.site_of(access.step).place.line, _phase(source, access)
    text = tr(
        "Which element does {subscripted}{of_block} hold when line {line} reads {tile}{when}?",
        subscripted=tile.subscripted(cell),
        of_block=words.of_block(block),
        line=line,
        tile=tile.name,
        when=when,
    )
    stored = int(source.moment(access.step, Focus(block)).tiles[access.operand.array].phase[cell])
    why = (
        tr("{storing} there in phase {stored}", storing=_storing(source, access.operand.array), stored=stored + 1)
        if stored >= 0
        else tr("{storing} there", storing=_storing(source, access.operand.array))
    )
    wrong = [
        (words.element(trace.arrays[number], other), reason)
        for (number, other), reason in _not_held(source, access, block, cell, held)
    ]
    expect = (Expectation(f"cell_content(array={tile.name}, cell={cell})", source.labels.named(matrix, element)),)
    shot, beside = source.shot(access.step, "stage", Focus(block)), off_by_one(source, matrix, element)
    return GeneratedQuestion(text, words.element(matrix, element), why, shot, wrong, expect, beside)


def _storing(source: QuizSource, tile: int) -> str:
    """What stores into a shared array: its line if there is one."""
    lines = {site.place.line for site in source.replay.trace.sites for op in site.accesses("write") if op.array == tile}
    return tr("line {lines} stores it", lines=min(lines)) if len(lines) == 1 else tr("it is stored")


def _phase(source: QuizSource, access: QuizAccess) -> str:
    """The phase of a step, without the counters of the inner loops."""
    loops = source.replay.trace.site_of(access.step).loops
    return source.words.moment(access.step, has_inner=False) if loops else ""


def _end_steps(source: QuizSource, access: QuizAccess) -> list[int]:
    """The first and the last step of a line in the phase of a step."""
    trace = source.replay.trace
    steps = [step for step in source.steps_of(int(trace.site[access.step])) if trace.phase[step] == trace.phase[access.step]]
    return [steps[0], steps[-1]]


def _is_in_flight(source: QuizSource, access: QuizAccess, block: Triple, cell: int) -> bool:
    """Whether an asynchronous copy into a cell has begun at a step and is not waited for yet."""
    begun = np.flatnonzero(source.replay.trace.completes[: access.step] > access.step).tolist()
    touched = (each for step in begun for each in source.moment(step, Focus(block)).touched)
    return any(each.operand.array == access.operand.array and cell in each.block_cells for each in touched)


def _held_in(source: QuizSource, access: QuizAccess, step: int, block: Triple, cell: int) -> _Held | None:
    """The element of a matrix that a cell holds at a step; None if it holds anything else."""
    content = source.moment(step, Focus(block)).tiles.get(access.operand.array)
    if content is None or content.array[cell] < 0:
        return None
    return int(content.array[cell]), int(content.element[cell])


def _not_held(source: QuizSource, access: QuizAccess, block: Triple, cell: int, held: _Held) -> Iterator[tuple[_Held, str]]:
    """What others hold, or the cell at another time, with the mistake that leads to it."""
    for other_block, other_cell, reason in _mistaken_cells(source, access, block, cell):
        other = _held_in(source, access, access.step, other_block, other_cell)
        if other is not None:
            yield other, reason
    trace = source.replay.trace
    loops = trace.site_of(access.step).loops
    if trace.phase_loop in loops:
        for trips in (-1, 1):
            step = source.step_beside(access.step, loops.index(trace.phase_loop), trips)
            other = None if step is None else _held_in(source, access, step, block, cell)
            if other is not None:
                yield other, tr("the content of phase {phase}", phase=int(trace.phase[access.step]) + 1 + trips)
    number, matrix, tile = held[0], trace.arrays[held[0]], trace.arrays[access.operand.array]
    row, column = matrix.place(held[1])
    own = tile.place(cell)
    if len(matrix.shape) > 1 and column < matrix.extents[0] and row < matrix.extents[1]:
        yield (number, matrix.element_at(column, row)), tr("row and column are exchanged")
    if len(matrix.shape) > 1 and own[0] < matrix.extents[0] and own[1] < matrix.extents[1]:
        yield (number, matrix.element_at(*own)), tr("the subscripts of the tile: they count from the tile's first element")


def _mistaken_cells(source: QuizSource, access: QuizAccess, block: Triple, cell: int) -> Iterator[tuple[Triple, int, str]]:
    """Blocks and cells that are mistaken for the right ones."""
    tile, words = source.replay.trace.arrays[access.operand.array], source.words
    row, column = tile.place(cell)
    if column < tile.extents[0] and row < tile.extents[1]:
        other = tile.element_at(column, row)
        yield (
            block,
            other,
            tr("the subscripts are exchanged: this is what {subscripted} holds", subscripted=tile.subscripted(other)),
        )
    for other_block, names in swaps(block, source.replay.trace.launch.grid):
        if source.is_traced(other_block):
            yield (
                other_block,
                cell,
                tr(
                    "{names} of the block are exchanged: this is in the tile of {block}",
                    names=names,
                    block=words.block(other_block),
                ),
            )
    if any(block) and source.is_traced((0, 0, 0)):
        yield (0, 0, 0), cell, tr("blockIdx is left out: this is in the tile of {block}", block=words.block((0, 0, 0)))


QUIZ_KIND = QuizKind(marked("Cell of a tile"), _question, order=3)
