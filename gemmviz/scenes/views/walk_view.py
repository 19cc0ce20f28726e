"""The addresses that one thread reads from each input in order, their distances, and the lines that they move; below them the
same addresses to scale.
"""

from functools import cached_property

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import stride_of, walk_of
from gemmviz.model.arrays import Longs
from gemmviz.model.records import replace
from gemmviz.model.translation import grouped, listed, many, marked, spaced, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, NEAR, ROW_PITCH, Box, beside, cells_in, path, write, write_all
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import HALF
from gemmviz.scenes.kit.view import View, ViewOptions, framed, message

_MOST, _GAP = 12, 10
_STRIP, _LEAST_HIGH, _TICK = 18, 200, 3  # height of a strip, of the part below which there is none; width of an address


def walk_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw A above and B below, or the inputs of another problem: a box for each read of the first watched
    thread, later ones faint.
    """
    primitives = [each for part in _walks(moment, options) for each in part.still()]
    names = [moment.trace.arrays[number].name for number in moment.trace.inputs]
    nothing = message(
        tr("The watched thread reads no element of {names} from global memory.", names=listed(names, "or") or tr("an input")),
        options,
    )
    return framed(primitives or [nothing], moment, options)


def walk_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the way from the address of the read before to that of this step."""
    parts = () if options.arrived else _walks(moment, options)
    return tuple(each for part in parts for each in part.jump(options.way))


def _walks(moment: Moment, options: ViewOptions) -> list["_InputWalk"]:
    names = [moment.trace.arrays[number].name for number in moment.trace.inputs]
    rooms = options.room().grid(max(2, len(names)), 1)
    walks = [
        (name, walk, room) for name, room in zip(names, rooms, strict=False) if (walk := walk_of(moment, name)) is not None
    ]
    last = max((int(walk[2].max()) for _, walk, _ in walks), default=0)
    return [_InputWalk(moment, name, *walk, room, last, options) for name, walk, room in walks]


class _InputWalk(Struct, frozen=True, dict=True):
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
        return min(self.options.theme.type.least, self.room.height / 8)

    @cached_property
    def heading(self) -> float:
        return min(self.options.theme.type.words, self.room.height / 5)

    @cached_property
    def texts(self) -> list[str]:
        array = self.moment.trace.arrays[self.moment.trace.number_of(self.name) or 0]
        return [self.options.labels.named(array, int(element)) for element in self.elements]

    @cached_property
    def _shown(self) -> range:
        """The reads that have a box: those around the current one."""
        addresses = [tr("byte {each}", each=grouped(int(each))) for each in self.addresses]
        count, total = _most_beside([*self.texts, *addresses], self.size, self.room.width), len(self.steps)
        now = int(np.count_nonzero(self.steps <= self.moment.step))
        first = max(0, min(now - count // 2, total - count))
        return range(first, min(first + count, total))

    @cached_property
    def _boxes(self) -> dict[int, Box]:
        """The box of each read that is shown."""
        row = self.room.trimmed(top=LINE_PITCH * self.heading + NEAR)._replace(height=min(self.room.height / 3, 104))
        return dict(zip(self._shown, row.grid(1, len(self._shown), _GAP), strict=True))

    def still(self) -> list[Primitive]:
        theme, rules = self.options.theme, self.moment.trace.rules
        text = tr(
            "{self_}: {summary} of {line_bytes} bytes",
            self_=self.name,
            summary=_summary(self.steps, self.addresses, self.lines),
            line_bytes=rules.line_bytes,
        )
        style = self.options.theme.strong.sized(self.heading).inked(theme.accent(self.name))
        head = write(f"{self.name}-walk", self.room._replace(height=LINE_PITCH * self.heading), text, style)
        return [head, *(each for read in self._shown for each in self._read(read)), *self._strip()]

    def _read(self, read: int) -> list[Primitive]:
        """Draw one read: its box, with address and line below."""
        theme, box, size = self.options.theme, self._boxes[read], self.size
        colours = (theme.empty, theme.tint(self.name, HALF), theme.accent(self.name))
        state = 0 if read >= self.done else 2 if self.steps[read] == self.moment.step else 1
        inks = (theme.faint, *(theme.ink_on(colour) for colour in colours[1:]))
        line, text = tr("line {lines}", lines=grouped(int(self.lines[read]))), self.texts[read]
        address = tr("byte {addresses}", addresses=grouped(int(self.addresses[read])))
        under = address, line if read == 0 or self.lines[read] != self.lines[read - 1] else tr("same line")
        lines = Box(box.x, box.bottom + 4, box.width, 2 * LINE_PITCH * size).grid(2, 1)
        tip, fill = np.array([[f"{text}\n{address}\n{line}"]]), np.array([[state]], np.uint8)
        key, style = f"{self.name}-walk-{read}", theme.small.sized(size).inked(theme.text if state else theme.faint)
        cells = cells_in(key, box, fill, colours, None, inks, texts=np.array([[text]]), size=size)
        return [replace(cells, tips=tip), write_all(f"{self.name}-address-{read}", lines, under, style, "middle")]

    def _strip(self) -> list[Primitive]:
        """Draw the memory of the input to scale, with a tick at each address that was read."""
        if self.room.height < _LEAST_HIGH or not self.options.words:
            return []
        theme, strip = self.options.theme, self._track
        ticks = [strip._replace(x=self._x(int(each)), width=_TICK) for each in self.addresses[: self.done]]
        text, style = tr("to scale, up to byte {last}", last=grouped(self.last)), theme.aside.sized(self.size)
        return [
            Rects(f"{self.name}-strip", boxes(strip), theme.slate),
            *([Rects(f"{self.name}-ticks", boxes(*ticks), theme.accent(self.name))] if ticks else []),
            beside(f"{self.name}-strip-end", strip, "bottom", text, style, 4, "end"),
        ]

    @property
    def _track(self) -> Box:
        """The strip of memory below the boxes."""
        return self.room._replace(y=self._boxes[self._shown.start].bottom + 2 * ROW_PITCH * self.size, height=_STRIP)

    def _x(self, address: int) -> float:
        return self.room.x + address / max(1, self.last) * (self.room.width - _TICK)

    def jump(self, share: float) -> list[Primitive]:
        """Draw the frame and the tick on their way from the last read to this one; nothing if this step reads nothing."""
        now = self.done
        if now not in self._shown or self.steps[now] != self.moment.step:
            return []
        accent, end = self.options.theme.accent(self.name), self._boxes[now]
        frame = self._boxes.get(now - 1, end._replace(width=0)).towards(end, share)
        moving: list[Primitive] = [Rects(f"{self.name}-jump", boxes(frame), None, accent, 4)]
        if self._strip():
            first, last = (self._x(int(self.addresses[read])) + _TICK / 2 for read in (max(0, now - 1), now))
            at, strip = first + (last - first) * share, self._track
            way = [(first, strip.y - 5), (at, strip.y - 5), (at, strip.bottom)]
            moving.append(path(f"{self.name}-way", way, accent, _TICK))
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


def _most_beside(texts: list[str], size: float, room: float) -> int:
    """Return the number of boxes beside each other in which all texts fit."""
    widest = max(text_width(text, size) for text in set(texts))
    return max(1, min(_MOST, int((room + _GAP) / (widest + 10 + _GAP))))


VIEW = View(marked("Addresses of one thread"), Moment, walk_scene, walk_motion, order=305)
