"""Question: what a cell of a tile holds."""

from functools import partial

import numpy as np

from gemmviz.analysis.replay.focus import Focus
from gemmviz.scenes.kit.beat import element_text
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource, element_at, neighbours


def _question(source: QuizSource) -> GeneratedQuestion | None:
    trace = source.replay.trace
    shared = [number for number, array in enumerate(trace.arrays) if array.space == "shared"]
    step = source.step(lambda site: any(op.array in shared and op.access == "read" for op in site.operands))
    if step is None:
        return None
    focus = Focus(source.any_block())
    moment = source.moment(step, focus)
    number = source.random.choice(shared)
    content = moment.tiles.get(number)
    if content is None:
        return None
    full = np.flatnonzero(content.array >= 0)
    if not len(full):
        return None
    cell = int(source.random.choice(full.tolist()))
    matrix = trace.arrays[int(content.array[cell])]
    tile, element = trace.arrays[number], int(content.element[cell])
    row, column = matrix.place(element)
    phase = int(content.phase[cell])

    other = partial(element_at, matrix)
    tile_row, tile_column = tile.place(cell)
    wrong = [
        (_held(source, number, cell, phase - 1, focus), "the content of the previous phase"),
        (_held(source, number, cell, phase + 1, focus), "the content of the next phase"),
        (other(column, row), "row and column swapped"),
        (other(tile_row, tile_column), "the tile's own indices, without block and phase"),
        (other(row, column + 1), "the next column"),
        (other(row + 1, column), "the next row"),
        *neighbours(matrix, element),
    ]
    where = f"block {focus.block[:2]}" if trace.launch.block_count > 1 else "the block"
    text = f"What does {tile.subscripted(cell)} of {where} hold after step {step + 1}?"
    right = element_text(matrix, element)
    why = f"it was stored in phase {phase + 1}" if phase >= 0 else "it was stored before the first phase"
    return GeneratedQuestion(
        text, right, why, source.shot(step, "stage", focus), [(choice, reason) for choice, reason in wrong if choice]
    )


def _held(source: QuizSource, number: int, cell: int, phase: int, focus: Focus) -> str | None:
    """The content of a tile cell at the end of a phase; None if there is no such phase, or the cell is empty."""
    trace = source.replay.trace
    steps = np.flatnonzero((trace.phase == phase) & (phase >= 0))
    content = source.moment(int(steps[-1]), focus).tiles.get(number) if len(steps) else None
    if content is None or content.array[cell] < 0:
        return None
    return element_text(trace.arrays[int(content.array[cell])], int(content.element[cell]))


QUIZ_KIND = QuizKind("Cell of a tile", _question, order=3)
