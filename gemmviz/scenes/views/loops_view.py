"""A kernel's loops and the elements of C that they reach: counters tick beside their lines, and cells of C fill as they are
stored. With a second kernel, the one that it is compared with plays first, at the left.
"""

import numpy as np

from gemmviz.model.cases import LoopRun, LoopsCase
from gemmviz.model.translation import many, marked, sized, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, Box, Line, cells_in, lines_down, round_boxes, write, write_all
from gemmviz.scenes.kit.primitives import Labels, Primitive, Scene
from gemmviz.scenes.kit.theme import SOFT, Style, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_GAP, _INSET, _LARGEST = 56, 18, 28  # between kernels; within the panel of a listing; its text
_FIRST_SHARE = 0.72  # of the time, for the run that plays first
_COUNTER = 5.4  # width of a counter, in text sizes
_MOST_CELLS, _LARGEST_CELL = 64, 104  # rows or columns of C with cells of their own; units
_LATER, _NOW, _DONE = range(3)


def loops_scene(case: LoopsCase, options: ViewOptions) -> Scene:
    """Draw the lines of each kernel, and what was done in how many steps, without what moves."""
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
    runs, room, longest = case.runs, options.room(112, 20), [_longest(run) for run in case.runs]
    free = room.width - (len(runs) - 1) * _GAP - 2 * _INSET * len(runs)
    size = max(options.theme.type.least, min(_LARGEST, 0.995 * free / sum(longest)))
    widths = [each / sum(longest) * free + 2 * _INSET for each in longest]
    shown = min(max(len(run.lines) for run in runs), int((0.6 * room.height - 16) / (LINE_PITCH * size)))
    columns = enumerate(zip(runs, room.columns(*widths, gap=_GAP), strict=True))
    return [_Playing(f"loops-{n}", run, box, size, shown, min(widths), options) for n, (run, box) in columns]


def _longest(run: LoopRun) -> float:
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


VIEW = View(marked("Loops and grid"), LoopsCase, loops_scene, loops_motion, order=109)
