"""A kernel's loops and the elements of C that they reach: counters tick beside their lines, and cells of C fill as they are
stored. With a second kernel, the one that it is compared with plays first, at the left.
"""

import numpy as np

from gemmviz.model.cases import LoopRun, LoopsCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many, sized
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.layout import Box, baseline, square, text_in
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.kit.view import View

_TOP, _GAP, _INSET, _LEADING, _LARGEST = 112.0, 56.0, 18.0, 1.34, 28.0
_FIRST_SHARE = 0.72  # of the time, for the run that plays first
_COUNTER = 5.4  # width of a counter, in text sizes
_MOST_CELLS, _LARGEST_CELL = 64, 104.0  # rows or columns of C with cells of their own; units
_REST, _NOW, _DONE = range(3)


def loops_scene(case: LoopsCase, options: ViewOptions) -> Scene:
    """Draw the lines of each kernel, and what was done in how many steps, without what moves."""
    primitives: list[Primitive] = []
    for part in _parts(case, options):
        primitives += part.still()
    title = " → ".join(run.name for run in case.runs)
    return titled(primitives, title, tr("Counters of the first thread; each step is one access of all threads"), options)


def loops_motion(case: LoopsCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the counters and the cells of C at ``options.moment``."""
    parts = _parts(case, options)
    ends = (_FIRST_SHARE, 1.0) if len(parts) == 2 else (1.0,)
    moving: list[Primitive] = []
    start = 0.0
    for part, end in zip(parts, ends, strict=True):
        passed = min(1.0, max(0.0, (options.moment - start) / (end - start)))
        moving += part.moving(round(passed * part.run.steps))
        start = end
    return tuple(moving)


def _parts(case: LoopsCase, options: ViewOptions) -> list["_Part"]:
    """Return the kernels beside each other, each as wide as its lines need in one text size for all."""
    runs, bottom = case.runs, options.height - 20.0
    room = options.width - 2 * MARGIN - (len(runs) - 1) * _GAP
    longest = [_longest(run) for run in runs]
    free = room - 2 * _INSET * len(runs)
    size = max(options.theme.type.least, min(_LARGEST, 0.995 * free / sum(longest)))
    widths = [each / sum(longest) * free + 2 * _INSET for each in longest]
    high = min(_LEADING * size * max(len(run.lines) for run in runs) + 16.0, 0.6 * (bottom - _TOP))
    parts, x = [], MARGIN
    for number, (run, wide) in enumerate(zip(runs, widths, strict=True)):
        box = Box(x, _TOP, wide, bottom - _TOP)
        parts.append(_Part(f"loops-{number}", run, box, size, high, min(widths), options))
        x += wide + _GAP
    return parts


def _longest(run: LoopRun) -> float:
    """Return the width of the longest line with its counter, in text sizes."""
    return max(text_width(line, 1.0, "mono") + (_COUNTER if _counted(run, n) else 0.0) for n, line in enumerate(run.lines))


def _counted(run: LoopRun, line: int) -> bool:
    return any(each.line == line for each in run.counters)


class _Part:
    """One kernel: its lines above, C below."""

    def __init__(
        self, key: str, run: LoopRun, box: Box, size: float, high: float, narrowest: float, options: ViewOptions
    ) -> None:
        self.key, self.run, self.box, self.size, self.options = key, run, box, size, options
        self.theme = options.theme
        self.leading = _LEADING * size
        self.shown = run.lines[: int((high - 16.0) / self.leading + 0.01)]
        self.code = Box(box.x, box.y + 34.0, box.width, self.leading * len(self.shown) + 16.0)
        top = self.box.y + 34.0 + high + 24.0
        rows, columns = run.stored.shape
        self.factor = -(-max(rows, columns) // _MOST_CELLS)
        room = 0.5 * narrowest / -(-columns // self.factor), (box.bottom - top) / -(-rows // self.factor)
        self.cell = min(_LARGEST_CELL, *room)
        self.corner = box.x, top

    def still(self) -> list[Primitive]:
        theme, box, code = self.theme, self.box, self.code
        note = theme.type.note
        at = points(*((code.x + _INSET, baseline(self._middle(n), self.size)) for n in range(len(self.shown))))
        room = code.width - 2 * _INSET
        texts = tuple(fitted(line, self.size, room - self._counter_width(n), "mono") for n, line in enumerate(self.shown))
        return [
            text_line(f"{self.key}-title", (box.x, box.y + 18.0), tr(self.run.title), note, box.width, theme.text, "semibold"),
            Rects(f"{self.key}-panel", boxes(code), theme.panel, radius=8.0),
            Labels(f"{self.key}-lines", at, texts, self.size, theme.text, "start", "mono"),
        ]

    def _middle(self, line: int) -> float:
        return self.code.y + 8.0 + (line + 0.5) * self.leading

    def _counter_width(self, line: int) -> float:
        return _COUNTER * self.size if _counted(self.run, line) else 0.0

    def _words(self, steps: int) -> list[Primitive]:
        """Draw the number of steps so far, and of threads, beside C."""
        theme, (x, y) = self.theme, self.corner
        x += self.run.stored.shape[1] / self.factor * self.cell + 36.0
        size, room = theme.type.title, self.box.right - x
        lines = (many(steps, "step"), tr("by {threads}", threads=sized(self.run.threads, "thread")))
        return [
            text_line(f"{self.key}-words-{n}", (x, y + (n + 0.9) * 1.3 * size), text, size, room, ink, "semibold")
            for n, (text, ink) in enumerate(zip(lines, (theme.text, theme.faint), strict=True))
        ]

    def moving(self, steps: int) -> list[Primitive]:
        """Draw counters and C after so many steps."""
        return [*self._counters(steps), *self._result(steps), *self._words(steps)]

    def _counters(self, steps: int) -> list[Primitive]:
        shown = [each for each in self.run.counters if each.line < len(self.shown)]
        right, drawn = self.code.right - _INSET, list[Primitive]()
        for each in shown:
            value = each.values[steps - 1] if steps else ""
            if value:
                y, text = self._middle(each.line), f"{each.name} = {value}"
                wide = text_width(text, self.size, "semibold") + 24.0
                ground = square((right - wide / 2, y), wide, 0.92 * self.leading)
                key, ink = f"{self.key}-{each.name}", self.theme.text
                drawn.append(Rects(f"{key}-ground", boxes(ground), self.theme.slate, self.theme.line, 1.0, 6.0))
                drawn.append(text_in(key, ground.inset(12, 0), text, self.size, ink, "end", "semibold"))
        return drawn

    def _result(self, steps: int) -> list[Primitive]:
        theme, stored = self.theme, self.run.stored[:: self.factor, :: self.factor]
        later = stored[stored >= steps]
        now = (stored == later.min()) & (steps > 0) if len(later) else np.zeros(stored.shape, bool)
        is_done = (stored >= 0) & (stored < steps)
        fill = np.where(is_done, _DONE, np.where(now, _NOW, _REST)).astype(np.uint8)
        accent = theme.accent("C")
        palette = (theme.empty, mixed(theme.empty, accent, 0.4), accent)
        size = theme.type.least if self.cell >= 2.4 * theme.type.least and self.factor == 1 else 0.0
        rows, columns = stored.shape
        pairs = [[self.options.labels.pair(row, column) for column in range(columns)] for row in range(rows)]
        x, y = self.corner
        inks = (theme.faint, theme.text, theme.ink_on(accent))
        line = theme.background if self.cell > 6 else None
        labels = np.array(pairs) if size else None
        return [Cells(f"{self.key}-C", x, y, self.cell, fill, palette, inks, labels, size, line, self.factor)]


VIEW = View(marked("Loops and grid"), LoopsCase, loops_scene, loops_motion, order=47)
