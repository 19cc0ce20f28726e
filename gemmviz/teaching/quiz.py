"""Questions made from a trace: each answer is read off the run, and each wrong choice is what a known misconception gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

import numpy as np

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.analysis.memory.banks import words_of
from gemmviz.analysis.replay.focus import Focus, thread_number, thread_place, thread_text
from gemmviz.analysis.replay.moment import Moment, Reader, Touched
from gemmviz.analysis.replay.position import position_of
from gemmviz.analysis.replay.replay import Replay
from gemmviz.launch.legality import device_for
from gemmviz.model.errors import GemmvizError, Place, UsageError
from gemmviz.model.labels import PLAIN
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray, Site, Space
from gemmviz.model.threads import Triple
from gemmviz.model.words import capital, many
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Engine
from gemmviz.scenes.kit.sentence import element_text
from gemmviz.state.shot import Shot
from gemmviz.subjects.picture import run
from gemmviz.subjects.subjects import title_of_launch
from gemmviz.teaching.lesson import Choice, Lesson, LessonStep, Question

_MOST_CHOICES, _LEAST_CHOICES = 4, 3
_TRIES = 60
Wrong = tuple[str, str]  # a choice, and the misconception that gives it
GeneratedQuestion = tuple[
    str, str, str, Shot, list[Wrong]
]  # a question, what is right and why, what shows it, and what is wrong


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

    def any_block(self) -> Triple:
        """Of those that were traced."""
        (x0, x1), (y0, y1), (z0, _) = self.replay.trace.blocks.ranges
        return self.random.randrange(x0, x1), self.random.randrange(y0, y1), z0

    def request(self, space: Space) -> "_Request | None":
        """Any warp's request to a kind of memory; None where what was drawn asks for nothing."""
        trace = self.replay.trace
        step = self.step(lambda site: {trace.arrays[each.array].space for each in site.operands} == {space})
        if step is None:
            return None
        focus = Focus(self.any_block(), self.random.randrange(trace.space.warps_per_block))
        moment = self.moment(step, focus)
        return None if moment.main is None else _Request(step, focus, moment, moment.main)

    def moment(self, step: int, focus: Focus | None = None) -> Moment:
        return Reader(self.replay, focus or Focus()).at(step)

    def shot(self, step: int, view: str, focus: Focus | None = None) -> Shot:
        return Shot(self.setup, focus or Focus(), view, position_of(self.replay.trace, step))


@dataclass(frozen=True)
class _Request:
    """What a warp asks for in a step: ``main`` is the array, and what of it."""

    step: int
    focus: Focus
    moment: Moment
    main: Touched

    @property
    def who(self) -> str:
        """The warp, and its block where there are several."""
        where = f" of block {self.focus.block[:2]}" if self.moment.trace.launch.block_count > 1 else ""
        return f"warp {self.focus.warp}{where}"

    @property
    def verb(self) -> str:
        return "reads" if self.main.operand.access == "read" else "writes"

    @property
    def line(self) -> int:
        return self.moment.site.place.line


Maker = Callable[[_Source], GeneratedQuestion | None]


def quiz_of(setup: Setup, engine: Engine, count: int, seed: int = 0) -> Lesson:
    """So many different questions about a run, as a lesson. Raises UsageError where it has not so many to ask."""
    if count < 1:
        raise UsageError("a quiz has at least one question")
    outcome = run(setup, (0, 0, 0), engine, values=False)
    if outcome.trace is None or outcome.fault is not None:
        raise outcome.fault or GemmvizError("the kernel gives no trace")
    source = _Source(setup, Replay.of(outcome.trace), Random(seed))
    stops: list[LessonStep] = []
    asked: set[str] = set()
    for number in range(_TRIES * count):
        if len(stops) == count:
            break
        made = _MAKERS[number % len(_MAKERS)](source)
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


def _stop(
    source: _Source, number: int, text: str, right: str, why: str, shot: Shot, wrong: Sequence[Wrong]
) -> LessonStep | None:
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
    return LessonStep(asked, f"Question {number}", text, minutes=1.0, question=Question(text, tuple(choices)))


# What is asked


def _sectors(source: _Source) -> GeneratedQuestion | None:
    """How many sectors a request moves."""
    asked, rules = source.request("global"), source.replay.trace.rules
    if asked is None or not asked.moment.cost.requests:
        return None
    cost, size = asked.moment.cost, rules.sector_bytes
    where = f"{capital(asked.who)} {asked.verb} {asked.main.array.name} in line {asked.line}, step {asked.step + 1}."
    text = f"{where} How many sectors does its request move?"
    wrong = [
        (many(cost.lanes, "sector"), "one for each lane, as if no two lanes shared one"),
        (many(cost.ideal_sectors, "sector"), "as many as its bytes would take side by side"),
        (many(cost.lines, "sector"), f"that is how many lines of {rules.line_bytes} bytes it touches"),
        (many(1, "sector"), "one request is not one sector"),
        (many(cost.sectors * 4, "sector"), f"one for every {size // 4} bytes: sectors have {size}"),
        (many(2 * cost.sectors, "sector"), f"twice as many: sectors have {size} bytes, not {size // 2}"),
        (many(cost.sectors + 1, "sector"), "one more than it touches: it begins where a sector does"),
    ]
    why = f"its {many(cost.lanes, 'lane')} move {many(cost.sectors, 'sector')} of {size} bytes"
    return text, many(cost.sectors, "sector"), why, source.shot(asked.step, "memory", asked.focus), wrong


def _bank(source: _Source) -> GeneratedQuestion | None:
    """Which bank a lane hits."""
    asked, rules = source.request("shared"), source.replay.trace.rules
    request = None if asked is None else asked.moment.request
    if asked is None or request is None or asked.main.operand.width > 1 or asked.main.array.itemsize > rules.bank_bytes:
        return None  # of several banks one would have to say which
    main = asked.main
    lane = source.random.choice(np.flatnonzero(request.lanes >= 0).tolist())
    element = int(request.lanes[lane])
    word = int(words_of(np.array([[element]]), main.array.itemsize, rules)[0][0, 0])
    bank = word % rules.banks
    row, column = main.array.place(element)
    rows = main.array.shape[0]
    what = f"Lane {lane} of {asked.who} {asked.verb} {main.array.subscripted(element)} (step {asked.step + 1})."
    text = f"{what} In which of the {rules.banks} banks does it lie?"
    wrong = [
        (f"bank {lane % rules.banks}", "a lane's number is not the bank's: the address decides"),
        (f"bank {(column * rows + row) % rules.banks}", "row and column swapped"),
        (f"bank {column % rules.banks}", "the column alone: rows before it count, too"),
        (f"bank {row % rules.banks}", "the row alone"),
        (f"bank {element * main.array.itemsize % rules.banks}", f"the byte's number: banks are {rules.bank_bytes} bytes wide"),
        (f"bank {(bank + 1) % rules.banks}", "one off: banks count from 0"),
    ]
    why = f"word {word} of the array, modulo {rules.banks}"
    return text, f"bank {bank}", why, source.shot(asked.step, "banks", asked.focus), wrong


def _tile(source: _Source) -> GeneratedQuestion | None:
    """What a cell of a tile holds."""
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

    other = partial(_element_at, matrix)
    tile_row, tile_column = tile.place(cell)
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


def _element(source: _Source) -> GeneratedQuestion | None:
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
    focus = Focus(source.any_block(), thread // trace.rules.warp_size, thread)
    moment = source.moment(step, focus)
    main = moment.main
    if main is None or int(main.elements[0]) < 0 or main.array.space != "global":
        return None
    element = int(main.elements[0])
    row, column = main.array.place(element)
    x, y, _ = thread_place(thread, trace.launch)
    other = partial(_element_at, main.array)
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


def _element_at(matrix: MemoryArray, row: int, column: int) -> str | None:
    """An element by its indices; None outside of the matrix."""
    is_inside = 0 <= row < matrix.shape[0] and 0 <= column < matrix.shape[-1]
    return PLAIN.element(matrix.name, row, column) if is_inside else None


def _read_by(source: _Source, step: int, block: Triple, place: tuple[int, int]) -> str | None:
    """What the thread (x, y) of a block reads in a step; None where there is none, or it reads nothing."""
    trace, (x, y) = source.replay.trace, place
    dx, dy, _ = trace.launch.block
    if x >= dx or y >= dy:
        return None
    thread = thread_number((x, y, 0), trace.launch)
    main = source.moment(step, Focus(block, thread // trace.rules.warp_size, thread)).main
    return None if main is None or int(main.elements[0]) < 0 else element_text(main.array, int(main.elements[0]))


def _lane(source: _Source) -> GeneratedQuestion | None:
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
        (said(2 * thread), "twice as far"),
        (f"warp {thread % 2}, lane {thread // 2}", "threads are not dealt out to warps in turn"),
    ]
    text = f"The block is {dx} × {dy} × {dz}. Which warp and lane is thread ({x}, {y}, {z})?"
    right = said(thread)
    why = f"x + y · {dx} + z · {dx * dy} = {thread}"
    return text, right, why, source.shot(0, "mapping", Focus(warp=thread // size)), wrong


def _owner(source: _Source) -> GeneratedQuestion | None:
    """Which thread stores an element of C."""
    trace, owners = source.replay.trace, source.replay.owners
    if owners.array is None or not len(owners.elements):
        return None
    at = source.random.randrange(len(owners.elements))
    element, number = int(owners.elements[at]), int(owners.threads[at])
    (bx, by, _), (x, y, _) = trace.space.indices(number)
    row, column = owners.array.place(element)
    dx, dy, _ = trace.launch.block

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
    limits = (dx, dy, *trace.launch.grid[:2])
    wrong = [
        (said(*place), why) for place, why in places if all(0 <= at < limit for at, limit in zip(place, limits, strict=True))
    ]
    text = f"Which thread stores C[{row}, {column}]?"
    focus = Focus((bx, by, 0), None, number % trace.space.threads_per_block)
    step = int(owners.steps[at])
    return text, said(x, y, bx, by), "it is the one that writes there", source.shot(step, "stage", focus), wrong


def _wavefronts(source: _Source) -> GeneratedQuestion | None:
    """How many passes a request to shared memory takes."""
    asked, rules = source.request("shared"), source.replay.trace.rules
    if asked is None or not asked.moment.cost.requests:
        return None
    cost, main, request = asked.moment.cost, asked.main, asked.moment.request
    words = len(np.unique(request.lanes[request.lanes >= 0])) if request is not None else 1
    where = f"{capital(asked.who)} {asked.verb} {main.array.name} in step {asked.step + 1}, line {asked.line}."
    text = f"{where} How many wavefronts does that take?"
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
    return text, str(cost.wavefronts), why, source.shot(asked.step, "banks", asked.focus), wrong


def _barrier(source: _Source) -> GeneratedQuestion | None:
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
        return outcome.fault is None and outcome.trace is not None and not ordering_of(outcome.trace).hazards

    return source.replay.kept(("may go", places), made)


_MAKERS: tuple[Maker, ...] = (_sectors, _element, _tile, _bank, _owner, _lane, _wavefronts, _barrier)
