"""The addresses that one thread reads from each input in order, their distances, and the lines that they move; below them the
same addresses to scale.
"""

from functools import cached_property

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import stride_of, walk_of
from gemmviz.model.arrays import Longs
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.model.words import listed, many, spaced
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased, framed, message
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.view import View

_MOST, _GAP = 12, 10.0
_STRIP, _LEAST_HEIGHT, _TICK = 18.0, 200.0, 3.0  # height of a strip, of the part below which there is none; width of an address


def walk_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw A above and B below, or the inputs of another problem: a box for each read of the first watched
    thread, later ones faint.
    """
    primitives = [each for part in _parts(moment, options) for each in part.still()]
    names = [moment.trace.arrays[number].name for number in moment.trace.inputs]
    nothing = message(
        tr("The watched thread reads no element of {names} from global memory.", names=listed(names, "or") or tr("an input")),
        options,
    )
    return framed(primitives or [nothing], moment, options)


def walk_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the way from the address of the read before to that of this step."""
    parts = () if options.arrived else _parts(moment, options)
    return tuple(each for part in parts for each in part.jump(eased(options.moment / ARRIVAL)))


def _parts(moment: Moment, options: ViewOptions) -> list["_Part"]:
    room = options.room()
    names = [moment.trace.arrays[number].name for number in moment.trace.inputs]
    high = room.height / max(2, len(names))
    walks = [(place, name, walk) for place, name in enumerate(names) if (walk := walk_of(moment, name)) is not None]
    last = max((int(walk[2].max()) for *_, walk in walks), default=0)
    return [
        _Part(moment, name, *walk, Box(room.x, room.y + place * high, room.width, high), last, options)
        for place, name, walk in walks
    ]


class _Part(Struct, frozen=True, dict=True):
    """The reads of one input. ``last``: the largest address of all inputs, where the strips end."""

    moment: Moment
    name: str
    steps: Longs
    elements: Longs
    addresses: Longs
    room: Box
    last: int
    options: ViewOptions

    @property
    def done(self) -> int:
        """Reads up to this step; until what moves has arrived, up to the step before."""
        step = self.moment.step if self.options.arrived else self.moment.step - 1
        return int(np.count_nonzero(self.steps <= step))

    @cached_property
    def lines(self) -> Longs:
        return self.addresses // self.moment.trace.rules.line_bytes

    @cached_property
    def size(self) -> float:
        return min(self.options.theme.type.least, 0.12 * self.room.height)

    @cached_property
    def heading(self) -> float:
        return min(self.options.theme.type.words, 0.2 * self.room.height)

    @cached_property
    def texts(self) -> list[str]:
        array = self.moment.trace.arrays[self.moment.trace.number_of(self.name) or 0]
        return [self.options.labels.named(array, int(element)) for element in self.elements]

    @cached_property
    def _shown(self) -> range:
        """The reads that have a box: those around the current one."""
        addresses = [tr("byte {each}", each=grouped(int(each))) for each in self.addresses]
        count, total = _fitting([*self.texts, *addresses], self.size, self.room.width), len(self.steps)
        now = int(np.count_nonzero(self.steps <= self.moment.step))
        first = max(0, min(now - count // 2, total - count))
        return range(first, min(first + count, total))

    def _box(self, read: int) -> Box:
        """The box of a read."""
        wide = (self.room.width + _GAP) / len(self._shown) - _GAP
        y, high = self.room.y + 1.9 * self.heading, min(0.33 * self.room.height, 104.0)
        return Box(self.room.x + (read - self._shown.start) * (wide + _GAP), y, wide, high)

    def still(self) -> list[Primitive]:
        theme, rules = self.options.theme, self.moment.trace.rules
        text = tr(
            "{self_}: {summary} of {line_bytes} bytes",
            self_=self.name,
            summary=_summary(self.steps, self.addresses, self.lines),
            line_bytes=rules.line_bytes,
        )
        at = self.room.x, self.room.y + self.heading
        head = text_line(f"{self.name}-walk", at, text, self.heading, self.room.width, theme.accent(self.name), "semibold")
        return [head, *(each for read in self._shown for each in self._read(read)), *self._strip()]

    def _read(self, read: int) -> list[Primitive]:
        """Draw one read: its box, with address and line below."""
        theme, box, size = self.options.theme, self._box(read), self.size
        colours = (theme.empty, theme.tint(self.name, 0.45), theme.accent(self.name))
        state = 0 if read >= self.done else 2 if self.steps[read] == self.moment.step else 1
        inks = (theme.faint, *(theme.ink_on(colour) for colour in colours[1:]))
        line, text, address = (
            tr("line {lines}", lines=grouped(int(self.lines[read]))),
            self.texts[read],
            tr("byte {addresses}", addresses=grouped(int(self.addresses[read]))),
        )
        under = address, line if read == 0 or self.lines[read] != self.lines[read - 1] else tr("same line")
        spots = points(*((box.middle_x, box.bottom + times * size) for times in (1.25, 2.5)))
        tip = np.array([[f"{text}\n{address}\n{line}"]])
        return [
            Cells(
                f"{self.name}-walk-{read}",
                box.x,
                box.y,
                box.width,
                np.array([[state]], np.uint8),
                colours,
                inks,
                np.array([[text]]),
                size,
                height=box.height,
                tips=tip,
            ),
            Labels(f"{self.name}-address-{read}", spots, under, size, theme.text if state else theme.faint, "middle"),
        ]

    def _strip(self) -> list[Primitive]:
        """Draw the memory of the input to scale, with a tick at each address that was read."""
        if self.room.height < _LEAST_HEIGHT or not self.options.words:
            return []
        theme, y = self.options.theme, self._strip_top
        ground = Rects(f"{self.name}-strip", boxes((self.room.x, y, self.room.width, _STRIP)), theme.slate)
        done = self.addresses[: self.done]
        ticks = [(self._x(int(each)), y, _TICK, _STRIP) for each in done]
        last = text_at(
            f"{self.name}-strip-end",
            (self.room.right, y + _STRIP + self.size),
            tr("to scale, up to byte {last}", last=grouped(self.last)),
            self.size,
            theme.faint,
            "end",
        )
        return [ground, *([Rects(f"{self.name}-ticks", boxes(*ticks), theme.accent(self.name))] if ticks else []), last]

    @property
    def _strip_top(self) -> float:
        box = self._box(self._shown.start)
        return box.bottom + 3.1 * self.size

    def _x(self, address: int) -> float:
        return self.room.x + address / max(1, self.last) * (self.room.width - _TICK)

    def jump(self, share: float) -> list[Primitive]:
        """Draw the frame and the tick on their way from the last read to this one; nothing if this step reads nothing."""
        now = self.done
        if now not in self._shown or self.steps[now] != self.moment.step:
            return []
        theme, end = self.options.theme, self._box(now)
        start = self._box(now - 1) if now - 1 in self._shown else Box(end.x, end.y, 0.0, end.height)
        x, wide = start.x + (end.x - start.x) * share, start.width + (end.width - start.width) * share
        moving: list[Primitive] = [
            Rects(f"{self.name}-jump", boxes((x, end.y, wide, end.height)), None, theme.accent(self.name), 4.0)
        ]
        if self._strip():
            first, last = (self._x(int(self.addresses[read])) for read in (max(0, now - 1), now))
            at, y = first + (last - first) * share + _TICK / 2, self._strip_top
            way = np.array([(first + _TICK / 2, y - 5, at, y - 5), (at, y - 5, at, y + _STRIP)])
            moving.append(Lines(f"{self.name}-way", way, theme.accent(self.name), _TICK))
        return moving


def _summary(steps: Longs, addresses: Longs, lines: Longs) -> str:
    """Return the number of reads, their distance, and the number of lines."""
    stride, loads = stride_of(addresses), len(np.unique(steps))
    jump = tr("irregular stride") if stride is None else tr("{stride} bytes apart", stride=spaced(abs(stride)))
    reads = (
        many(len(steps), "read")
        if loads == len(steps)
        else tr("{reads} of {elements}", reads=many(loads, "read"), elements=many(len(steps), "element"))
    )
    return f"{reads}, {jump}; {many(len(np.unique(lines)), 'line')}"


def _fitting(texts: list[str], size: float, room: float) -> int:
    """Return the number of boxes beside each other in which all texts fit."""
    widest = max(text_width(text, size) for text in set(texts))
    return max(1, min(_MOST, int((room + _GAP) / (widest + 10 + _GAP))))


VIEW = View(marked("Addresses of one thread"), Moment, walk_scene, walk_motion, order=37)
