"""Questions made from a trace: each answer is read off the run, and each wrong choice is what a known misconception gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from gemmviz.analysis.banks import words_of
from gemmviz.analysis.focus import Focus, thread_place, thread_text
from gemmviz.analysis.hazards import find_hazards
from gemmviz.analysis.moment import Moment, Reader
from gemmviz.analysis.position import position_of
from gemmviz.analysis.replay import Replay
from gemmviz.model.errors import GemmvizError, Place, UsageError
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import Triple
from gemmviz.model.words import many
from gemmviz.run.engine import Engine
from gemmviz.run.interpreter import Interpreter
from gemmviz.scenes.sentence import element_text
from gemmviz.show.lesson import Choice, Lesson, Question, Stop
from gemmviz.show.picture import run
from gemmviz.show.shot import Shot
from gemmviz.show.subjects import title_of_launch
from gemmviz.spec.legality import device_for

_MOST_CHOICES, _LEAST_CHOICES = 4, 3
_TRIES = 60
Wrong = tuple[str, str]  # a choice, and the misconception that gives it


@dataclass(frozen=True)
class _Source:
    """What questions are made from."""

    setup: Setup
    replay: Replay
    random: Random

    def step(self, wanted: Callable[[Site], bool]) -> int | None:
        """Any step of such a site."""
        sites = [number for number, site in enumerate(self.replay.trace.sites) if wanted(site)]
        steps = np.flatnonzero(np.isin(self.replay.trace.site, sites))
        return int(self.random.choice(steps.tolist())) if len(steps) else None

    def of_warp(self) -> Focus:
        """Any warp of any traced block."""
        return Focus(_any_block(self), self.random.randrange(self.replay.trace.space.warps_per_block))

    def who(self, focus: Focus) -> str:
        """A warp, and its block where there are several."""
        where = f" of block {focus.block[:2]}" if self.replay.trace.launch.block_count > 1 else ""
        return f"warp {focus.warp}{where}"

    def moment(self, step: int, focus: Focus | None = None) -> Moment:
        return Reader(self.replay, focus or Focus()).at(step)

    def shot(self, step: int, view: str, focus: Focus | None = None) -> Shot:
        return Shot(self.setup, focus or Focus(), view, position_of(self.replay.trace, step))


Maker = Callable[[_Source], "tuple[str, str, str, Shot, list[Wrong]] | None"]


def quiz_of(setup: Setup, engine: Engine, count: int, seed: int = 0) -> Lesson:
    """So many different questions about a run, as a lesson. Raises UsageError where it has not so many to ask."""
    if count < 1:
        raise UsageError("a quiz has at least one question")
    outcome = run(setup, (0, 0, 0), engine, values=False)
    if outcome.trace is None or outcome.fault is not None:
        raise outcome.fault or GemmvizError("the kernel gives no trace")
    source = _Source(setup, Replay.of(outcome.trace), Random(seed))
    stops: list[Stop] = []
    asked: set[str] = set()
    makers = list(_MAKERS)
    for number in range(_TRIES * count):
        if len(stops) == count:
            break
        made = makers[number % len(makers)](source)
        if made is None or made[0] in asked:
            continue
        stop = _stop(source, len(stops) + 1, *made)
        if stop is not None:
            asked.add(made[0])
            stops.append(stop)
    if len(stops) < count:
        raise UsageError(
            f"this run gives {many(len(stops), 'question')}, not {count}", remedy="ask for fewer, or choose larger sizes"
        )
    about = f"{title_of_launch(setup)}, on {device_for(setup).name}; steps count from 1"
    return Lesson(f"Questions about {setup.kernel.name}", tuple(stops), about)


def _stop(source: _Source, number: int, text: str, right: str, why: str, shot: Shot, wrong: Sequence[Wrong]) -> Stop | None:
    """A question with its choices in any order; None where too few of them are different."""
    others: dict[str, str] = {}
    for choice, reason in wrong:
        if choice != right and choice not in others:
            others[choice] = reason
    if len(others) + 1 < _LEAST_CHOICES:
        return None
    kept = list(others.items())[: _MOST_CHOICES - 1]
    choices = [Choice(right, True, why, shot), *(Choice(choice, False, reason, shot) for choice, reason in kept)]
    source.random.shuffle(choices)
    asked = replace(shot, view="code")  # the picture that answers it comes with the choices
    return Stop(asked, f"Question {number}", text, minutes=1.0, question=Question(text, tuple(choices)))


# What is asked


def _sectors(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """How many sectors a request moves."""
    trace = source.replay.trace
    step = source.step(lambda site: bool(site.operands) and trace.arrays[site.operands[0].array].space == "global")
    if step is None:
        return None
    focus = source.of_warp()
    moment = source.moment(step, focus)
    cost, main = moment.cost, moment.main
    if main is None or not cost.requests:
        return None
    verb = "reads" if main.operand.access == "read" else "writes"
    where = f"W{source.who(focus)[1:]} {verb} {main.array.name} in line {moment.site.place.line}, step {step + 1}."
    text = f"{where} How many sectors does its request move?"
    size = trace.rules.sector_bytes
    wrong = [
        (many(cost.lanes, "sector"), "one for each lane, as if no two lanes shared one"),
        (many(cost.ideal_sectors, "sector"), "as many as its bytes would take side by side"),
        (many(cost.lines, "sector"), f"that is how many lines of {trace.rules.line_bytes} bytes it touches"),
        (many(1, "sector"), "one request is not one sector"),
        (many(cost.sectors * 4, "sector"), f"one for every {size // 4} bytes: sectors have {size}"),
        (many(2 * cost.sectors, "sector"), f"twice as many: sectors have {size} bytes, not {size // 2}"),
        (many(cost.sectors + 1, "sector"), "one more than it touches: it begins where a sector does"),
    ]
    why = f"its {many(cost.lanes, 'lane')} move {many(cost.sectors, 'sector')} of {trace.rules.sector_bytes} bytes"
    return text, many(cost.sectors, "sector"), why, source.shot(step, "memory", focus), wrong


def _bank(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """Which bank a lane hits."""
    trace = source.replay.trace
    step = source.step(lambda site: bool(site.operands) and trace.arrays[site.operands[0].array].space == "shared")
    if step is None:
        return None
    focus = source.of_warp()
    moment = source.moment(step, focus)
    request, main = moment.request, moment.main
    if request is None or main is None or main.operand.width > 1 or main.array.itemsize > trace.rules.bank_bytes:
        return None  # of several banks one would have to say which
    lanes = np.flatnonzero(request.lanes >= 0).tolist()
    lane = source.random.choice(lanes)
    element, rules = int(request.lanes[lane]), trace.rules
    word = int(words_of(np.array([[element]]), main.array.itemsize, rules)[0][0, 0])
    bank = word % rules.banks
    row, column = _place(main.array, element)
    rows = main.array.shape[0]
    verb = "reads" if main.operand.access == "read" else "writes"
    cell = main.array.subscripted(element)
    text = (
        f"Lane {lane} of {source.who(focus)} {verb} {cell} (step {step + 1}). In which of the {rules.banks} banks does it lie?"
    )
    wrong = [
        (f"bank {lane % rules.banks}", "a lane's number is not the bank's: the address decides"),
        (f"bank {(column * rows + row) % rules.banks}", "row and column swapped"),
        (f"bank {column % rules.banks}", "the column alone: rows before it count, too"),
        (f"bank {row % rules.banks}", "the row alone"),
        (f"bank {element * main.array.itemsize % rules.banks}", f"the byte's number: banks are {rules.bank_bytes} bytes wide"),
        (f"bank {(bank + 1) % rules.banks}", "one off: banks count from 0"),
    ]
    why = f"word {word} of the array, modulo {rules.banks}"
    return text, f"bank {bank}", why, source.shot(step, "banks", focus), wrong


def _tile(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """What a cell of a tile holds."""
    trace = source.replay.trace
    shared = [number for number, array in enumerate(trace.arrays) if array.space == "shared"]
    step = source.step(lambda site: any(op.array in shared and op.access == "read" for op in site.operands))
    if step is None:
        return None
    focus = Focus(_any_block(source))
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
    row, column = _place(matrix, element)
    phase = int(content.phase[cell])

    def other(r: int, c: int) -> str | None:
        rows, columns = matrix.shape[0], matrix.shape[-1]
        return f"{matrix.name}[{r}, {c}]" if 0 <= r < rows and 0 <= c < columns else None

    tile_row, tile_column = _place(tile, cell)
    found = [
        (_held(source, number, cell, phase - 1, focus), "that was there a phase earlier"),
        (_held(source, number, cell, phase + 1, focus), "that comes a phase later"),
        (other(column, row), "row and column swapped"),
        (other(tile_row, tile_column), "the tile's own indices: the block and the phase are left out"),
        (other(row, column + 1), "one column further"),
        (other(row + 1, column), "one row further"),
    ]
    where = f"block {focus.block[:2]}" if trace.launch.block_count > 1 else "the block"
    text = f"What does {tile.subscripted(cell)} of {where} hold after step {step + 1}?"
    right = element_text(matrix, element)
    why = f"it was stored in phase {phase + 1}" if phase >= 0 else "it was stored before the phases"
    return text, right, why, source.shot(step, "stage", focus), [(choice, reason) for choice, reason in found if choice]


def _held(source: _Source, number: int, cell: int, phase: int, focus: Focus) -> str | None:
    """What a cell of a tile holds at the end of a phase; None where there is no such phase, or nothing in it."""
    trace = source.replay.trace
    steps = np.flatnonzero((trace.phase == phase) & (phase >= 0))
    content = source.moment(int(steps[-1]), focus).tiles.get(number) if len(steps) else None
    if content is None or content.array[cell] < 0:
        return None
    return element_text(trace.arrays[int(content.array[cell])], int(content.element[cell]))


def _element(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """Which element a thread reads from global memory."""
    trace = source.replay.trace
    step = source.step(
        lambda site: any(
            trace.arrays[op.array].space == "global" and op.access == "read" and op.width == 1 for op in site.operands
        )
    )
    if step is None:
        return None
    thread = source.random.randrange(trace.space.threads_per_block)
    focus = Focus(_any_block(source), thread // trace.rules.warp_size, thread)
    moment = source.moment(step, focus)
    main = moment.main
    if main is None or int(main.elements[0]) < 0 or main.array.space != "global":
        return None
    element = int(main.elements[0])
    row, column = _place(main.array, element)
    x, y, _ = thread_place(thread, trace.launch)
    rows, columns = main.array.shape[0], main.array.shape[-1]

    def other(r: int, c: int) -> str | None:
        return f"{main.array.name}[{r}, {c}]" if 0 <= r < rows and 0 <= c < columns else None

    found = [
        (other(column, row), "row and column swapped"),
        (_read_by(source, step, focus.block, (y, x)), "that is read by the thread with x and y swapped"),
        (other(row, column + 1), "one further along the row"),
        (other(row + 1, column), "one further down the column"),
        (other(row, column - 1), "one before: k counts from 0"),
        (other(y, x), "its own indices: block and k are left out"),
    ]
    where = f" of block {focus.block[:2]}" if trace.launch.block_count > 1 else ""
    who = thread_text(thread, trace.launch)
    text = (
        f"Which element of {main.array.name} does thread {who}{where} read in step {step + 1}, line {moment.site.place.line}?"
    )
    right = element_text(main.array, element)
    return text, right, f"offset {element} of the matrix", source.shot(step, "stage", focus), [(c, r) for c, r in found if c]


def _read_by(source: _Source, step: int, block: Triple, place: tuple[int, int]) -> str | None:
    """What the thread (x, y) of a block reads in a step; None where there is none, or it reads nothing."""
    trace, (x, y) = source.replay.trace, place
    dx, dy, _ = trace.launch.block
    if x >= dx or y >= dy:
        return None
    thread = x + y * dx
    main = source.moment(step, Focus(block, thread // trace.rules.warp_size, thread)).main
    return None if main is None or int(main.elements[0]) < 0 else element_text(main.array, int(main.elements[0]))


def _lane(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """Which warp and lane a thread is."""
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
        (said((x + y * dx + z * dx * dy) * 2), "twice as far"),
        (f"warp {thread % 2}, lane {thread // 2}", "threads are not dealt out to warps in turn"),
    ]
    text = f"The block is {dx} × {dy} × {dz}. Which warp and lane is thread ({x}, {y}, {z})?"
    right = said(thread)
    why = f"x + y · {dx} + z · {dx * dy} = {thread}"
    return text, right, why, source.shot(0, "mapping", Focus(warp=thread // size)), wrong


def _owner(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """Which thread stores an element of C."""
    trace, owners = source.replay.trace, source.replay.owners
    if owners.array is None or not len(owners.elements):
        return None
    at = source.random.randrange(len(owners.elements))
    element, number = int(owners.elements[at]), int(owners.threads[at])
    (bx, by, _), (x, y, _) = trace.space.indices(number)
    row, column = _place(owners.array, element)
    dx, dy, _ = trace.launch.block

    grid = trace.launch.grid

    def said(tx: int, ty: int, gx: int, gy: int) -> str:
        return f"thread ({tx}, {ty}) of block ({gx}, {gy})"

    places = (
        ((y, x, bx, by), "x and y of the thread swapped"),
        ((x, y, by, bx), "x and y of the block swapped"),
        ((column % dx, row % dy, column // dx, row // dy), "as if each thread had one element, x along a row"),
        ((row % dx, column % dy, row // dx, column // dy), "as if each thread had one element, x down a column"),
        ((x + 1, y, bx, by), "the thread beside it"),
        ((x, y + 1, bx, by), "the thread below it"),
        ((x - 1, y, bx, by), "the thread beside it"),
        ((x, y - 1, bx, by), "the thread above it"),
    )
    limits = (dx, dy, grid[0], grid[1])
    wrong = [
        (said(*place), why) for place, why in places if all(0 <= at < limit for at, limit in zip(place, limits, strict=True))
    ]
    text = f"Which thread stores C[{row}, {column}]?"
    focus = Focus((bx, by, 0), None, number % trace.space.threads_per_block)
    step = int(owners.steps[at])
    return text, said(x, y, bx, by), "it is the one that writes there", source.shot(step, "stage", focus), wrong


def _wavefronts(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """How many passes a request to shared memory takes."""
    trace = source.replay.trace
    step = source.step(lambda site: bool(site.operands) and trace.arrays[site.operands[0].array].space == "shared")
    if step is None:
        return None
    focus = source.of_warp()
    moment = source.moment(step, focus)
    cost, main = moment.cost, moment.main
    if main is None or not cost.requests:
        return None
    words = len(np.unique(moment.request.lanes[moment.request.lanes >= 0])) if moment.request is not None else 1
    verb = "reads" if main.operand.access == "read" else "writes"
    where = f"W{source.who(focus)[1:]} {verb} {main.array.name} in step {step + 1}, line {moment.site.place.line}."
    text = f"{where} How many wavefronts does that take?"
    rules = trace.rules
    parts = -(-rules.warp_size // rules.request_lanes)
    is_plain = parts == 1 and main.operand.width * main.array.itemsize <= rules.bank_bytes
    alone = "one, as if there were no conflict" if is_plain else "one for the whole warp: its lanes are served in parts"
    wrong = [
        (str(cost.lanes), "one for each lane: different banks are served at once"),
        (str(words), "one for each different word: those in different banks go together"),
        (str(1), alone),
        (str(2 * cost.wavefronts), "twice as many"),
        (str(cost.wavefronts + 1), "one more than needed"),
        (str(rules.banks), "one for each bank"),
    ]
    why = f"the most different words that it needs from one bank: {cost.wavefronts}"
    if not is_plain:
        why = f"its lanes are served in parts, each with the words that it needs most from one bank: {cost.wavefronts} in all"
    return text, str(cost.wavefronts), why, source.shot(step, "banks", focus), wrong


def _barrier(source: _Source) -> tuple[str, str, str, Shot, list[Wrong]] | None:
    """Which of the barriers may go."""
    trace = source.replay.trace
    places = {site.place.line: site.place for site in trace.sites if site.kind == "barrier"}
    lines = sorted(places)
    if len(lines) < 2 or len({site.place for site in trace.sites if site.kind == "barrier"}) > len(lines):
        return None
    free = [line for line in lines if _may_go(source, (places[line],))]
    all_may = len(free) == len(lines) and _may_go(source, tuple(places.values()))
    if len(free) > 1 and not all_may:
        return None  # each may go, but not with the others: no one answer is right
    right = "all of them" if all_may else "none of them" if not free else f"that in line {free[0]}"
    wrong = [] if not free else [("none of them", f"that in line {free[0]} may go")]
    wrong += [] if all_may else [("all of them", "then two threads collide in shared memory")]
    for line in lines:
        why = "it may go, and so may the others" if all_may else "without it two threads collide in shared memory"
        if f"that in line {line}" != right:
            wrong.append((f"that in line {line}", why))
    said = " and ".join(map(str, lines))
    text = (
        f"{title_of_launch(source.setup)} has barriers in lines {said}. "
        "Which one may go in this launch, with C right in every order of threads?"
    )
    first = next(step for step in range(trace.steps) if trace.site_of(step).kind == "barrier")
    reason = "each was taken out, and the run searched for threads that collide"
    return text, right, reason, source.shot(first, "stage"), wrong


def _may_go(source: _Source, places: tuple[Place, ...]) -> bool:
    """Whether no two threads collide without some barriers: they are taken out, and the kernel run."""

    def made() -> bool:
        kernel = source.setup.kernel
        lines = kernel.text.split("\n")
        for place in places:
            line = lines[place.line - 1]
            lines[place.line - 1] = (
                line[: place.column - 1] + " " * (place.end_column - place.column) + line[place.end_column - 1 :]
            )
        other = replace(source.setup, kernel=replace(kernel, text="\n".join(lines), is_shipped=False))
        outcome = run(other, (0, 0, 0), Interpreter())
        return outcome.fault is None and outcome.trace is not None and not find_hazards(outcome.trace)

    return source.replay.kept(("may go", places), lambda: (made(),))[0]


def _any_block(source: _Source) -> tuple[int, int, int]:
    (x0, x1), (y0, y1), (z0, _) = source.replay.trace.blocks.ranges
    return source.random.randrange(x0, x1), source.random.randrange(y0, y1), z0


def _place(array: MemoryArray, element: int) -> tuple[int, int]:
    row, column = array.row_column(np.array(element))
    return int(row), int(column)


_MAKERS: tuple[Maker, ...] = (_sectors, _element, _tile, _bank, _owner, _lane, _wavefronts, _barrier)
