"""Views of the order in which threads and loops reach elements."""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import exchanged_elements
from gemmviz.model.arrays import Longs
from gemmviz.model.cases import LoopRun, LoopsCase
from gemmviz.model.messages import capital, many, marked, sized, spaced, tr, trn
from gemmviz.model.trace import RaceCase, Turn
from gemmviz.scenes.kit.layout import (
    LINE_PITCH,
    REST,
    Box,
    Line,
    Paragraph,
    cells_in,
    lines_down,
    paragraphs_in,
    round_boxes,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Labels, Primitive, Scene, wrap_text
from gemmviz.scenes.kit.theme import SOFT, Style, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased, framed, message, titled
from gemmviz.scenes.stage.cells import final_values, label_size, longest_of, value_texts
from gemmviz.scenes.stage.race import RacePlan, bad_result, pair_of, played_turns, race_tiles, right_result, turn_table

# Elements in any order.

_ORDER_LARGEST, _HEAD = 110, 44
_TURNS = (marked("row by row"), marked("from the last column"), marked("shuffled"))
_MOST_ORDERED = 64  # rows and columns with cells of their own
_SEED = 7


def order_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The result in three orders of its threads, or of its blocks where threads share memory: row by row, from the last
    column, and shuffled. Each ends with the same result, because none needs what another one computes.

    Draw the names of the orders, and what threads exchange.
    """
    if _shape_of_result(moment) is None:
        return framed([message(tr("This kernel stores no result, or one with too many elements"), options)], moment, options)
    if not options.words:
        return framed([], moment, options)
    theme, (foot, columns) = options.theme, _order_places(options)
    style = theme.strong.sized(theme.type.caption)
    primitives: list[Primitive] = [
        write(f"order-{number}-name", head, tr(name), style)
        for number, (name, (head, _)) in enumerate(zip(_TURNS, columns, strict=True))
    ]
    count = moment.replay.cached("exchanged", lambda: exchanged_elements(moment.trace))
    shared = tr("no element") if not count else many(count, "element")
    note = tr(
        "counted in the run: {shared} of global memory that one thread writes and another one reads or writes", shared=shared
    )
    return framed([*primitives, write("order-note", foot, note, theme.soft.sized(theme.type.note))], moment, options)


def order_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements that are computed at ``options.moment`` in each order."""
    shape, number = _shape_of_result(moment), moment.trace.result
    if shape is None or number is None:
        return ()
    theme, array = options.theme, moment.trace.arrays[number]
    orders = moment.replay.cached("orders", lambda: _turns_taken(moment, shape))
    count = round(eased(options.moment) * (orders[0].max(initial=0) + 1))
    drawn: list[Primitive] = []
    for place, (ranks, (_, room)) in enumerate(zip(orders, _order_places(options)[1], strict=True)):
        box = room.tiled(*shape, _ORDER_LARGEST)
        cell = box.width / shape[1]
        fill = ((ranks >= 0) & (ranks < count)).astype(np.uint8)
        texts = _stored_texts(moment, number, cell, options.least)
        size = label_size(longest_of(texts.ravel().tolist()), cell, options.pixels, options.least)
        accent = theme.accent(array.name)
        labels = np.where(fill > 0, texts, "") if size else None
        palette, line = (theme.empty, accent), theme.background if cell > 7 else None
        inks = (theme.faint, theme.ink_on(accent))
        drawn.append(cells_in(f"order-{place}", box, fill, palette, line, inks, texts=labels, size=size))
    return tuple(drawn)


def _shape_of_result(moment: Moment) -> tuple[int, int] | None:
    """Return the rows and columns of the result; None if there are too many, or nothing is stored."""
    owners = moment.replay.owners
    array = owners.array
    if array is None or not len(owners.elements) or max(array.extents) > _MOST_ORDERED:
        return None
    return array.extents[0], array.extents[1]


def _order_places(options: ViewOptions) -> tuple[Box, list[list[Box]]]:
    """Return the place of the note, and for each order those of its name and its table."""
    head, low = (_HEAD, 40) if options.words else (0, 0)
    foot, room = options.room().strip("bottom", low, 8)
    return foot, [column.rows(head, REST) for column in room.columns(*[REST] * len(_TURNS), gap=60)]


def _turns_taken(moment: Moment, shape: tuple[int, int]) -> tuple[Longs, ...]:
    """Return the turn in which each element is computed, in each order: (rows, columns), -1 for one that is never stored."""
    row, column = np.indices(shape).reshape(2, -1)
    unit = _storing_units(moment, shape)
    count = int(unit.max(initial=-1)) + 1
    first = np.full((2, count), max(shape))
    for axis, place in enumerate((row, column)):
        np.minimum.at(first[axis], unit[unit >= 0], place[unit >= 0])
    shuffled = np.random.default_rng(_SEED).permutation(count)
    turns = np.argsort(np.stack([np.lexsort((first[1], first[0])), np.lexsort((first[0], -first[1])), shuffled]), axis=1)
    return tuple(np.append(turn, -1)[unit].reshape(shape) for turn in turns)


def _storing_units(moment: Moment, shape: tuple[int, int]) -> Longs:
    """Return the thread that stores each element, flat; its block if threads of a block share memory; -1 for none."""
    owners, trace = moment.replay.owners, moment.trace
    assert owners.array is not None
    is_shared = any(array.space == "shared" for array in trace.arrays)
    units = owners.threads // (trace.space.threads_per_block if is_shared else 1)
    found = np.full(shape, -1)
    found[owners.array.row_column(owners.elements)] = np.unique(units, return_inverse=True)[1]
    return found.ravel()


def _stored_texts(moment: Moment, number: int, cell: float, least: float) -> np.ndarray:
    """Return what the run stored in each element, as text; "" where it is unknown or doesn't fit."""
    array = moment.trace.arrays[number]
    last = moment.replay.cached(("stored values", id(moment.replay.value)), lambda: final_values(moment, number))
    texts = None if last is None else value_texts(last, cell, least)
    table = np.full(array.extents, "", "<U12")
    if texts is not None:
        table[array.row_column(np.arange(array.size))] = texts
    return table


# Race: an order that makes the result wrong.


def race_scene(case: RaceCase, options: ViewOptions) -> Scene:
    """A race as it ran: the turns of the threads and the tiles that they fill, an arrow from the write to the read that came
    too early or too late, and the wrong C beside the right one.

    Draw the rows of the turns and the right result. What happens in the race is drawn by ``race_motion``.
    """
    plan = RacePlan(case, options)
    return titled([*turn_table(plan), *right_result(plan)], capital(_race_title(case)), _race_note(case), options)


def race_motion(case: RaceCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the turns one after another with the tiles that they fill, then the arrow, then the wrong elements."""
    plan = RacePlan(case, options)
    return (*played_turns(plan), *race_tiles(plan), *bad_result(plan), *_race_words(plan))


def _race_title(case: RaceCase) -> str:
    one = case.kind[:-1]
    if case.ahead >= 0:
        count = int(case.spoilt.sum())
        steps, elements = many(case.lead, "step"), many(count, "element")
        return trn(
            "{unit} {number} is {steps} ahead, and {elements} of {result} is wrong",
            "{unit} {number} is {steps} ahead, and {elements} of {result} are wrong",
            count, unit=tr(one), number=case.ahead, steps=steps, elements=elements, result=case.result,
        )  # fmt: skip
    if case.pair is not None:
        return tr(
            "Two {kind} race, though no order was found that makes {result} wrong", kind=tr(case.kind), result=case.result
        )
    return tr("No order found that makes {result} wrong", result=case.result)


def _race_note(case: RaceCase) -> str:
    """Return what was run, and how many orders."""
    units = many(case.units, "thread") if case.kind == "threads" else many(case.units, "warp")
    orders = trn(
        "{orders} of the {units} of a block was run", "{orders} of the {units} of a block were run", case.tried,
        orders=many(case.tried, "order"), units=units,
    )  # fmt: skip
    if case.ahead >= 0:
        return tr("{how}. No shorter lead since the last barrier would do", how=case.what)
    rest = case.orders - case.tried
    more = trn(". {rest} more was not tried", ". {rest} more were not tried", rest, rest=spaced(rest)) if rest else ""
    return f"{case.what}. {orders}{more}"


def story(case: RaceCase) -> list[str]:
    """Return sentences about what went wrong, or about the pair that races."""
    pair = pair_of(case)
    if pair is None:
        return (
            []
            if case.ahead >= 0
            else [
                tr("between two barriers, no element that one of the {kind} writes is touched by another", kind=tr(case.kind))
            ]
        )
    write, read = (case.turns[place] for place in pair)
    if case.ahead < 0:
        return [tr("{writer} and {reader}, with no barrier between", writer=_who(case, write), reader=_who(case, read))]
    if not read.is_spoilt:
        return [f"{_who(case, write)}; {_who(case, read)}"]
    late = pair[0] > pair[1]
    several = tr("the old values") if late else tr("the new values")
    values = (
        tr("{read_value} instead of {expected}", read_value=f"{read.value:.3g}", expected=f"{read.expected:.3g}")
        if len(read.cells) == 1
        else several
    )
    return [
        tr("{who} and gets {values}", who=_who(case, read), values=values),
        f"{_who(case, write)} {(tr('too late') if late else tr('too early'))}",
    ]


def _who(case: RaceCase, turn: Turn) -> str:
    values = {"unit": tr(case.kind[:-1]), "number": turn.unit, "what": turn.what, "line": turn.line}
    if turn.action == "write":
        return tr("{unit} {number} writes {what} (line {line})", **values)
    return tr("{unit} {number} reads {what} (line {line})", **values)


def _race_words(plan: RacePlan) -> list[Primitive]:
    """Write the sentences in as many lines as fit, once the arrow is there."""
    if plan.arrow < 1 and plan.case.ahead >= 0:
        return []
    size, room, ink = plan.options.theme.type.caption, plan.story, plan.options.theme.text
    lines = [line for each in story(plan.case) for line in wrap_text(capital(each), size, room.width, 2, "semibold")]
    fits = lines[: max(1, int(room.height / (LINE_PITCH * size)))]
    return [*paragraphs_in(room, [Paragraph("race-story", fits, size, ink, "semibold")])[0]]


# Loops and grid.

_GAP, _INSET, _LOOPS_LARGEST = 56, 18, 28  # between kernels; within the panel of a listing; its text
_FIRST_SHARE = 0.72  # of the time, for the run that plays first
_COUNTER = 5.4  # width of a counter, in text sizes
_MOST_CELLS, _LARGEST_CELL = 64, 104  # rows or columns of C with cells of their own; units
_LATER, _NOW, _DONE = range(3)


def loops_scene(case: LoopsCase, options: ViewOptions) -> Scene:
    """A kernel's loops and the elements of C that they reach: counters tick beside their lines, and cells of C fill as they
    are stored. With a second kernel, the one that it is compared with plays first, at the left.

    Draw the lines of each kernel, and what was done in how many steps, without what moves.
    """
    primitives: list[Primitive] = []
    for part in _playing(case, options):
        primitives += part.still()
    title = " → ".join(run.name for run in case.runs)
    return titled(primitives, title, tr("Counters of the first thread; each step is one access of all threads"), options)


def loops_motion(case: LoopsCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the counters and the cells of C at ``options.moment``."""
    parts, moving, start = _playing(case, options), list[Primitive](), 0.0
    for part, end in zip(parts, (_FIRST_SHARE, 1) if len(parts) == 2 else (1,), strict=True):
        passed = min(1, max(0, (options.moment - start) / (end - start)))
        moving += part.moving(round(passed * part.run.steps))
        start = end
    return tuple(moving)


def _playing(case: LoopsCase, options: ViewOptions) -> list["_Playing"]:
    """Return the kernels beside each other, each as wide as its lines need in one text size for all."""
    runs, room, longest = case.runs, options.room(112, 20), [_longest_line(run) for run in case.runs]
    free = room.width - (len(runs) - 1) * _GAP - 2 * _INSET * len(runs)
    size = max(options.theme.type.least, min(_LOOPS_LARGEST, 0.995 * free / sum(longest)))
    widths = [each / sum(longest) * free + 2 * _INSET for each in longest]
    shown = min(max(len(run.lines) for run in runs), int((0.6 * room.height - 16) / (LINE_PITCH * size)))
    columns = enumerate(zip(runs, room.columns(*widths, gap=_GAP), strict=True))
    return [_Playing(f"loops-{n}", run, box, size, shown, min(widths), options) for n, (run, box) in columns]


def _longest_line(run: LoopRun) -> float:
    """Return the width of the longest line with its counter, in text sizes."""
    return max(Style(1, "", "mono").width(line) + (_COUNTER if _has_counter(run, n) else 0) for n, line in enumerate(run.lines))


def _has_counter(run: LoopRun, line: int) -> bool:
    return any(each.line == line for each in run.counters)


class _Playing:
    """One kernel: its lines above, C below with the number of steps beside it."""

    def __init__(
        self, key: str, run: LoopRun, box: Box, size: float, most: int, narrowest: float, options: ViewOptions
    ) -> None:
        self.key, self.run, self.options, self.theme = key, run, options, options.theme
        self.style = Style(size, options.theme.text, "mono")
        pitch, shown = LINE_PITCH * size, min(len(run.lines), most)
        self.head, code, _, below = box.rows(34, pitch * most + 16, 24, REST)
        self.lines = code.inset(_INSET, 8).rows(*[pitch] * shown)
        self.code = code._replace(height=pitch * shown + 16)
        self.factor = -(-max(run.stored.shape) // _MOST_CELLS)
        self.stored = run.stored[:: self.factor, :: self.factor]
        rows, columns = self.stored.shape
        self.table = below._replace(width=narrowest / 2).tiled(rows, columns, _LARGEST_CELL)
        self.beside = below.trimmed(left=self.table.width + 36)

    def still(self) -> list[Primitive]:
        boxes = [
            box.trimmed(right=_COUNTER * self.style.size if _has_counter(self.run, n) else 0)
            for n, box in enumerate(self.lines)
        ]
        return [
            write(f"{self.key}-title", self.head, tr(self.run.title), self.theme.strong.sized(self.theme.type.note)),
            round_boxes(f"{self.key}-panel", self.code, self.theme.panel),
            write_all(f"{self.key}-lines", boxes, self.run.lines[: len(boxes)], self.style),
        ]

    def _words(self, steps: int) -> list[Labels]:
        """Draw the number of steps so far, and of threads, beside C."""
        style = self.theme.strong.sized(self.theme.type.title)
        threads = tr("by {threads}", threads=sized(self.run.threads, "thread"))
        first = Line(f"{self.key}-words-0", many(steps, "step"), *style)
        return lines_down(self.beside, [first, Line(f"{self.key}-words-1", threads, *style.inked(self.theme.faint))])

    def moving(self, steps: int) -> list[Primitive]:
        """Draw counters and C after so many steps."""
        return [*self._counters(steps), *self._result(steps), *self._words(steps)]

    def _counters(self, steps: int) -> list[Primitive]:
        style, drawn = self.theme.strong.sized(self.style.size), list[Primitive]()
        for each in self.run.counters:
            value = each.values[steps - 1] if steps else ""
            if value and each.line < len(self.lines):
                text, key = f"{each.name} = {value}", f"{self.key}-{each.name}"
                ground, _ = self.lines[each.line].inset(0, 2).strip("right", style.width(text) + 24)
                drawn.append(round_boxes(f"{key}-ground", ground, self.theme.slate, self.theme.line))
                drawn.append(write(key, ground, text, style, "middle"))
        return drawn

    def _result(self, steps: int) -> list[Primitive]:
        theme, stored, accent = self.theme, self.stored, self.theme.accent("C")
        later = stored[stored >= steps]
        now = (stored == later.min()) & (steps > 0) if len(later) else np.zeros(stored.shape, bool)
        is_done = (stored >= 0) & (stored < steps)
        fill = np.where(is_done, _DONE, np.where(now, _NOW, _LATER)).astype(np.uint8)
        palette, inks = (theme.empty, mixed(theme.empty, accent, SOFT), accent), (theme.faint, theme.text, theme.ink_on(accent))
        rows, columns = stored.shape
        pairs = np.array([[self.options.labels.pair(row, column) for column in range(columns)] for row in range(rows)])
        texts = pairs if self.factor == 1 else None
        line = theme.background if self.table.width > 6 * columns else None
        key, size = f"{self.key}-C", theme.type.least
        return [cells_in(key, self.table, fill, palette, line, inks, texts=texts, size=size, factor=self.factor)]


VIEWS = {
    "loops": View(marked("Loops and grid"), LoopsCase, loops_scene, loops_motion, order=109),
    "order": View(marked("Elements in any order"), Moment, order_scene, order_motion, order=207),
    "race": View(marked("Race: an order that makes the result wrong"), RaceCase, race_scene, race_motion, order=208),
}
