"""Questions about elements: who computes, loads and holds them, and when a tile may be read."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from gemmviz.analysis.replay.focus import Focus, thread_number
from gemmviz.model.messages import GemmvizError, marked, tr
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import Triple
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizAccess, QuizKind, QuizSource, off_by_one, swaps

# Question: which element of global memory a thread reads.


def _question_element(source: QuizSource) -> GeneratedQuestion | None:
    trace, words = source.replay.trace, source.words
    access = source.access(lambda op: trace.arrays[op.array].space == "global" and op.access == "read" and op.width == 1)
    if access is None:
        return None
    block, thread = source.any_block(), source.any_thread()
    element = source.touched(access, access.step, block, thread)
    if element is None:
        return None
    array, line = trace.arrays[access.operand.array], trace.site_of(access.step).place.line
    who = f"{words.thread(thread)}{words.of_block(block)}"
    text = tr(
        "Which element of {name} does {who} read in line {line}{moment}?",
        name=words.name(array),
        who=who,
        line=line,
        moment=words.moment(access.step),
    )
    number = thread_number(thread, trace.launch)
    focus = Focus(block, number // trace.rules.warp_size, number)
    right = words.element(array, element)
    why = tr(
        "{site_of_text} is at offset {offset}", site_of_text=trace.site_of(access.step).text, offset=_offset(array, element)
    )
    expect = (Expectation(f"element_accessed(array={array.name})", source.labels.named(array, element)),)
    wrong = [(words.element(array, other), reason) for other, reason in _wrong_elements(source, access, block, thread)]
    shot, beside = source.shot(access.step, "stage", focus), off_by_one(source, array, element)
    return GeneratedQuestion(text, right, why, shot, wrong, expect, beside)


def _offset(array: MemoryArray, element: int) -> str:
    """The offset of an element, of a matrix with rows and columns: "52 = 6 · 8 + 4"."""
    if len(array.shape) == 1:
        return str(element)
    row, column = array.place(element)
    outer, length, inner = (column, array.shape[-2], row) if array.column_major else (row, array.extents[1], column)
    return f"{element} = {outer} · {length} + {inner}"


def _wrong_elements(source: QuizSource, access: QuizAccess, block: Triple, thread: Triple) -> Iterator[tuple[int, str]]:
    """Elements that others read, or that the thread reads at another time, each with the mistake that leads to it."""
    for other_block, other_thread, reason in _mistaken_threads(source, block, thread):
        element = source.touched(access, access.step, other_block, other_thread)
        if element is not None:
            yield element, reason
    trace, words = source.replay.trace, source.words
    array = trace.arrays[access.operand.array]
    yield from _transposed_element(source, array, source.touched(access, access.step, block, thread))
    for loop in range(len(trace.site_of(access.step).loops)):
        for trips in (-1, 1):
            step = source.step_beside(access.step, loop, trips)
            element = None if step is None else source.touched(access, step, block, thread)
            if step is not None and element is not None:
                early = "early" if trips < 0 else "late"
                yield (
                    element,
                    tr("one trip of a loop too {early}: this one is read{moment}", early=early, moment=words.moment(step)),
                )


def _mistaken_threads(source: QuizSource, block: Triple, thread: Triple) -> Iterator[tuple[Triple, Triple, str]]:
    """Threads that are mistaken for one."""
    words, launch = source.words, source.replay.trace.launch
    for other, names in swaps(thread, launch.block):
        yield (
            block,
            other,
            tr("{names} of the thread are exchanged: this is what {thread} reads", names=names, thread=words.thread(other)),
        )
    for other, names in swaps(block, launch.grid):
        yield (
            other,
            thread,
            tr(
                "{names} of the block are exchanged: this is what the thread in {block} reads",
                names=names,
                block=words.block(other),
            ),
        )
    if any(block):
        yield (
            (0, 0, 0),
            thread,
            tr("blockIdx is left out: this is what the thread in {block} reads", block=words.block((0, 0, 0))),
        )
    if any(thread):
        yield block, (0, 0, 0), tr("threadIdx is left out: this is what {thread} reads", thread=words.thread((0, 0, 0)))


def _transposed_element(source: QuizSource, array: MemoryArray, element: int | None) -> Iterator[tuple[int, str]]:
    """The element with row and column exchanged."""
    if element is None or len(array.shape) < 2:
        return
    row, column = array.place(element)
    if column < array.extents[0] and row < array.extents[1]:
        yield array.element_at(column, row), tr("row and column are exchanged")


# Question: which thread stores an element of the result.

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


def _question_owner(source: QuizSource) -> GeneratedQuestion | None:
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


# Question: what a cell of a tile in shared memory holds.

_Element = tuple[int, int]  # the number of a matrix, and the element of it


def _question_tile(source: QuizSource) -> GeneratedQuestion | None:
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


def _held_in(source: QuizSource, access: QuizAccess, step: int, block: Triple, cell: int) -> _Element | None:
    """The element of a matrix that a cell holds at a step; None if it holds anything else."""
    content = source.moment(step, Focus(block)).tiles.get(access.operand.array)
    if content is None or content.array[cell] < 0:
        return None
    return int(content.array[cell]), int(content.element[cell])


def _not_held(
    source: QuizSource, access: QuizAccess, block: Triple, cell: int, held: _Element
) -> Iterator[tuple[_Element, str]]:
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


# Question: what can happen without a barrier.

_OUTCOMES = {  # by kind of hazard: what happens, why, and why it doesn't
    "read-after-write": (
        marked("a thread reads an element before another thread has stored it"),
        marked("only this barrier separates the stores from reads by other threads"),
        marked("no element is read too early: between the store and a read by another thread is another barrier"),
    ),
    "write-after-read": (
        marked("a thread overwrites an element that another thread has yet to read"),
        marked("only this barrier separates the reads from stores by other threads"),
        marked("no element is overwritten too early: no other thread stores into it before the next barrier"),
    ),
    "none": (
        marked("nothing: every order of the threads gives the same result"),
        marked("a search of the launch without this barrier finds no two threads whose order matters"),
        marked("a search of the launch without this barrier finds threads whose order matters"),
    ),
    "stuck": (
        marked("the threads of a block wait for each other, and the kernel never ends"),
        "",
        marked("a barrier that is not there holds nobody up, and all threads still reach the others"),
    ),
}


def _question_barrier(source: QuizSource) -> GeneratedQuestion | None:
    kinds = source.cached("without barriers", lambda: _hazard_kinds(source))
    if len(set(kinds.values())) < 2:
        return None  # all barriers have one answer, or there is none
    line, kind = source.random.choice(list(kinds.items()))
    right, why, _ = _OUTCOMES[kind]
    wrong = [(text, why_not) for other, (text, _, why_not) in _OUTCOMES.items() if other != kind]
    text = tr("The barrier in line {line} is removed, and nothing else is changed. What can happen in this launch?", line=line)
    site = next(site for site in source.replay.trace.sites if site.kind == "barrier" and site.place.line == line)
    expect = (Expectation(f"hazards_without(line={line})", kind),)
    return GeneratedQuestion(text, right, why, source.shot(_first_step_at(source, site), "stage"), wrong, expect)


def _first_step_at(source: QuizSource, site: Site) -> int:
    """The first step at a barrier."""
    trace = source.replay.trace
    return next(step for step in range(trace.steps) if trace.site_of(step) == site)


def _hazard_kinds(source: QuizSource) -> dict[int, str]:
    """The kind of hazard, or "none", without the barrier in each line; lines without a single answer are left out."""
    kinds: dict[int, str] = {}
    for line in sorted({site.place.line for site in source.replay.trace.sites if site.kind == "barrier"}):
        with suppress(GemmvizError):  # such a kernel doesn't run
            found = source.known.without_barriers(line).hazard_kinds
            kind = "none" if not found else found[0] if len(found) == 1 else ""
            if kind in _OUTCOMES and not source.replay.hazards:
                kinds[line] = kind
    return kinds


QUIZ_KINDS = {
    "barrier": QuizKind(marked("Missing barrier"), _question_barrier, order=8),
    "element": QuizKind(marked("Element that a thread reads"), _question_element, order=2),
    "owner": QuizKind(marked("Thread that stores an element"), _question_owner, order=5),
    "tile": QuizKind(marked("Cell of a tile"), _question_tile, order=3),
}
