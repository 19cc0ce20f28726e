"""Movements of elements at a step: from a matrix to a tile, or to the thread that loads them, and from a thread to the
element that it stores.

The path of a copy that a thread stores into a shared tile is covered half by the load and half by the store; in between, the
copy is in a register. An asynchronous copy covers half of its path when it is issued and half when it is waited for, and is
halfway in between.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import Scope
from gemmviz.analysis.replay.tiles import stored_at
from gemmviz.model.arrays import Ints, Longs
from gemmviz.model.records import replace
from gemmviz.model.sites import Operand
from gemmviz.model.trace import Trace

THREADS = -1
_ROWS_AHEAD = 64


class Flights(Struct, frozen=True):
    """Movements, one entry each. ``source`` and ``target`` are array numbers, or THREADS; ``start`` and ``end`` the elements
    there, or the thread's number in the block; ``thread`` the thread that moves it. ``way`` is the part of the path that the
    step covers. ``issued``: the step at which they set out if that is another one, else -1; ``stays``: whether they are still
    under way after this step.
    """

    source: int
    target: int
    start: Longs
    end: Longs
    thread: Longs
    way: tuple[float, float] = (0.0, 1.0)
    issued: int = -1
    stays: bool = False

    def __len__(self) -> int:
        return len(self.start)


def flights(trace: Trace, step: int, scope: Scope) -> list[Flights]:
    """Elements that the chosen threads of the block move at ``step``; empty for a site without operands."""
    site, moves = trace.site_of(step), []
    for place, operand in enumerate(site.operands):
        space = trace.arrays[operand.array].space
        threads, elements = _accessed(trace, trace.element[int(trace.row[step]) + place, scope.in_block], operand, scope)
        threads += scope.first_thread
        if operand.access == "write" and space == "shared":
            moves += _into_tile(trace, step, operand, threads, elements, scope)
        elif operand.access == "write":
            moves.append(Flights(THREADS, operand.array, threads, elements, threads))
        elif operand.access == "read" and space == "shared":
            moves.append(Flights(operand.array, THREADS, elements, threads, threads))
        elif operand.access == "read" and site.kind != "copy":
            moves += _from_matrix(trace, step, operand, threads, elements, scope)
    return moves + _under_way(trace, step, scope)


def _under_way(trace: Trace, step: int, scope: Scope) -> list[Flights]:
    """The copies that set out before a step and are still under way, or arrive in it."""
    moves: list[Flights] = []
    for issued in np.flatnonzero(trace.completes[:step] >= step).tolist():
        arrives = int(trace.completes[issued]) == step
        for place, operand in enumerate(trace.site_of(issued).operands):
            if operand.access == "write" and trace.arrays[operand.array].space == "shared":
                rows = trace.element[int(trace.row[issued]) + place, scope.in_block]
                threads, elements = _accessed(trace, rows, operand, scope)
                copied = _into_tile(trace, issued, operand, threads + scope.first_thread, elements, scope)
                way = (0.5, 1.0) if arrives else (0.5, 0.5)
                moves += [replace(each, way=way, issued=issued, stays=not arrives) for each in copied]
    return moves


def _accessed(trace: Trace, touched: Ints, operand: Operand, scope: Scope) -> tuple[Longs, Longs]:
    """The active threads, counted from 0, and the elements that they touch, with the elements of a wide access one after the
    other.
    """
    active = np.flatnonzero(touched >= 0)
    elements = operand.layout.spread(touched[active], trace.lane[scope.in_block][active]).T.ravel()
    return np.tile(active, operand.width), elements


def _into_tile(trace: Trace, step: int, operand: Operand, threads: Longs, cells: Longs, scope: Scope) -> list[Flights]:
    """Movements into a tile: copies of matrix elements start at the matrix, computed values at their thread."""
    first = int(np.searchsorted(trace.origin_step, step))
    if first == len(trace.origin_step) or trace.origin_step[first] != step:
        return [Flights(THREADS, operand.array, threads, cells, threads)]
    columns = threads + scope.of_block.start
    row = first + np.repeat(np.arange(operand.width), len(threads) // operand.width)
    matrix, element = trace.origin_array[row, columns], trace.origin[row, columns].astype(np.int64)
    stays = len(trace.completes) > 0 and int(trace.completes[step]) > step
    way = (0.0, 0.5) if stays else (0.0, 1.0) if trace.site_of(step).kind == "copy" else (0.5, 1.0)
    moves = []
    for number in np.unique(matrix).tolist():
        these = matrix == number
        if number >= 0:
            moves.append(Flights(number, operand.array, element[these], cells[these], threads[these], way, stays=stays))
        else:
            moves.append(Flights(THREADS, operand.array, threads[these], cells[these], threads[these]))
    return moves


def _from_matrix(trace: Trace, step: int, operand: Operand, threads: Longs, elements: Longs, scope: Scope) -> list[Flights]:
    """Movements from a matrix: elements that are stored into a tile next cover half of the path to it; others go to their
    thread.
    """
    columns = threads + scope.of_block.start
    tile, cell = np.full(len(threads), THREADS), np.zeros(len(threads), np.int64)
    first = int(np.searchsorted(trace.origin_step, step + 1))
    for row in range(first, min(first + _ROWS_AHEAD, len(trace.origin_step))):
        record, stored, component = stored_at(trace, row)
        offset = np.broadcast_to(stored.layout.offset(component, trace.lane[columns]), columns.shape)
        same = (trace.origin_array[row, columns] == operand.array) & (trace.origin[row, columns] == elements)
        same &= (trace.element[record, columns] >= 0) & (tile == THREADS)
        tile[same], cell[same] = stored.array, trace.element[record, columns][same] + offset[same]
        if (tile != THREADS).all():
            break
    moves = []
    for number in np.unique(tile).tolist():
        these = tile == number
        ends, way = (threads, (0.0, 1.0)) if number == THREADS else (cell, (0.0, 0.5))
        moves.append(Flights(operand.array, number, elements[these], ends[these], threads[these], way))
    return moves
