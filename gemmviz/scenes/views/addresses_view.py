"""Views of addresses: of a matrix in memory, and of the elements that a thread reads."""

import dataclasses
from functools import cached_property

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import stride_of, walk_of
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.messages import grouped, listed, many, marked, spaced, tr
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.kit.layout import (
    CELL_FILL,
    LINE_PITCH,
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    Paragraph,
    beside,
    cells_in,
    names_of_parts,
    paragraphs_in,
    path,
    text_at,
    text_in,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import ArrayCells, Cells, Part, Primitive, Rects, Scene, Squares, boxes, fitted, text_width
from gemmviz.scenes.kit.theme import DIM, HALF, Theme, TypeSizes, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, framed, message

# Memory layout.

_ORDERS = ((marked("C order: row after row"), False), (marked("Fortran order: column after column"), True))
_MOST_OF_MATRIX_DRAWN = 8  # most rows and columns drawn
_SHORT, _PER_LINE = 16, 32  # elements of a strip in one line, else of a line
_HEAD, _PITCH, _OFFSETS = 28, 62, 26  # heights: of a name, of one line of a strip, of the offsets in it
_ABOVE, _APART, _BESIDE, _UNDER = 20, 20, 60, 3  # the matrix; between it and the strips or its formulas; a strip
_MOST_STRIPS, _MOST_OF_MATRIX, _LARGEST = 0.62, 0.42, 110  # of the height; of the width; side of a cell
_LOOSE_LEADING = 1.9  # of the size of the formulas: from one to the next
_LIT = 8  # palette entries: one for each row, then one for the current access


def layout_scene(moment: Moment, options: ViewOptions) -> Scene:
    """A matrix and its memory as a strip: row by row (C order) or column by column (Fortran order), with the place of each
    element. Elements move from the matrix to their places in both strips.

    Draw the matrix in global memory that is accessed now, else A.
    """
    pieces = _layout(moment, options)
    if not options.arrived:
        pieces = [_emptied(each, options) if _is_strip(each) else each for each in pieces]
    return framed(pieces, moment, options)


def layout_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements on their way from the matrix to their places in the strips, one after another in memory order."""
    if options.arrived:
        return ()
    pieces = _layout(moment, options)
    matrix = next(each for each in pieces if isinstance(each, Cells) and isinstance(each.meaning, ArrayCells))
    flying: list[Primitive] = []
    for place, (_, is_columns) in enumerate(_ORDERS):
        lines = [each for each in pieces if isinstance(each, Cells) and each.meaning == Part("strip", place)]
        number = np.arange(matrix.fill.size).reshape(matrix.fill.shape)
        order = (number.T if is_columns else number).ravel()
        start, end = _middles(matrix)[order], np.concatenate([_middles(line) for line in lines])
        share = eased_in_turn(len(_ORDERS) * options.passed - place, np.arange(len(order)), len(order))[:, None]
        now = start + (end - start) * share
        there, side = share[:, 0] > 0, now[:, 2]
        now = np.column_stack([now[:, 0] - side / 2, now[:, 1] - side / 2, side])
        fill = matrix.fill.ravel()[order][there]
        names = None if matrix.labels is None else matrix.labels.ravel()[order]
        size = 0 if names is None else _fit(names, float(end[:, 2].min()), options.theme.type)
        labels = names[there] if names is not None and size else None
        flying.append(Squares(f"flying-{place}", now[there], fill, matrix.palette, matrix.inks, labels, size,
                              options.theme.background))  # fmt: skip
    return tuple(flying)


def _is_strip(piece: Primitive) -> bool:
    return isinstance(piece, Cells) and isinstance(piece.meaning, Part)


def _emptied(piece: Primitive, options: ViewOptions) -> Primitive:
    """Return a strip without its elements."""
    assert isinstance(piece, Cells)
    empty, ink = (options.theme.empty,), (options.theme.faint,)
    return dataclasses.replace(piece, fill=np.zeros_like(piece.fill), palette=empty, inks=ink, labels=None, label_size=0)


def _middles(cells: Cells) -> Floats:
    """Return the middle of each cell and the side of a square in it: x, y, side."""
    row, column = np.divmod(np.arange(cells.fill.size), cells.fill.shape[1])
    side = CELL_FILL * min(cells.size, cells.pitch)
    return np.column_stack([cells.middles(row, column), np.full(len(row), side)])


def shown_array(moment: Moment) -> MemoryArray:
    """Return the matrix to show."""
    touched = next((each.array for each in moment.touched if each.array.space == "global"), None)
    return touched or next(array for array in moment.trace.arrays if array.space == "global")


def _layout(moment: Moment, options: ViewOptions) -> list[Primitive]:
    array, theme = shown_array(moment), options.theme
    rows, columns = (min(each, _MOST_OF_MATRIX_DRAWN) for each in array.extents)
    number = np.arange(rows * columns).reshape(rows, columns)
    room = options.room().trimmed(top=_HEAD)
    strips = min(2 * (_HEAD + _strip_lines(number.size) * _PITCH) + _APART, _MOST_STRIPS * room.height)
    upper, lower = room.rows(REST, strips - _APART, gap=_APART)
    side = min(_MOST_OF_MATRIX * room.width / columns, upper.height / rows, _LARGEST)
    square_, beside = upper._replace(height=rows * side).strip("left", columns * side, _BESIDE)
    palette = _row_colours(array.name, rows, theme)
    fill = np.where(_lit(moment, array, rows, columns), _LIT, number // columns).astype(np.uint8)
    names = np.array([[_label(array, row, column, options) for column in range(columns)] for row in range(rows)])
    inks, meaning, size = (
        tuple(map(theme.ink_on, palette)),
        ArrayCells(array.name, array.space),
        _fit(names.ravel(), side, theme.type),
    )
    cells = cells_in(array.name, square_, fill, palette, theme.background, inks, meaning)
    matrix = dataclasses.replace(cells, labels=names, label_size=size) if size else cells
    heading, above = _matrix_heading(array, rows, columns), (room.x, room.y - _ABOVE)
    drawn: list[Primitive] = [
        text_at("layout-name", above, heading, theme.type.words, theme.text, "start", "semibold"),
        matrix,
        *_formulas(array, beside._replace(height=upper.height), options),
    ]
    for place, (half, (name, is_columns)) in enumerate(zip(lower.grid(2, 1), _ORDERS, strict=True)):
        order = (number.T if is_columns else number).ravel()
        mark = tr(" (this kernel's)") if is_columns == array.column_major else ""
        drawn += _strip(Part("strip", place), tr(name) + mark, order, matrix, array, half, options)
    return drawn


def _matrix_heading(array: MemoryArray, rows: int, columns: int) -> str:
    """Return the shape of an array, and how much of it is drawn."""
    whole_rows, whole_columns = array.extents
    is_whole = (rows, columns) == (whole_rows, whole_columns)
    part = "" if is_whole else tr(", its first {rows} rows and {columns} columns", rows=rows, columns=columns)
    return tr(
        "{array}, {whole_rows} rows of {whole_columns} elements of {itemsize} bytes{part}",
        array=array.name, whole_rows=whole_rows, whole_columns=whole_columns, itemsize=array.itemsize, part=part,
    )  # fmt: skip


def _label(array: MemoryArray, row: int, column: int, options: ViewOptions) -> str:
    """Return the indices of an element; "" for a place behind the end of a vector."""
    element = array.element_at(row, column)
    return options.labels.indices(array, element) if element < array.size else ""


def _lit(moment: Moment, array: MemoryArray, rows: int, columns: int) -> np.ndarray:
    lit = np.zeros((rows, columns), bool)
    touched = next((each for each in moment.touched if each.array is array), None)
    if touched is not None:
        i, j = array.row_column(touched.cells)
        inside = (i < rows) & (j < columns)
        lit[i[inside], j[inside]] = True
    return lit


def _formulas(array: MemoryArray, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, options.theme.type.title
    height, width = array.extents
    element, (r, c) = options.labels.span("", "r", "c"), ("(r - 1)", "(c - 1)") if options.labels.first else ("r", "c")
    lines = (
        tr("row-major: element {element} at {r} · {width} + {c}", element=element, r=r, width=width, c=c),
        tr("column-major: element {element} at {c} · {height} + {r}", element=element, r=r, height=height, c=c),
        tr("{array} is column-major in this kernel", array=array.name)
        if array.column_major
        else tr("{array} is row-major in this kernel", array=array.name),
        tr("to the right: +{height}, down: +1", height=height)
        if array.column_major
        else tr("to the right: +1, down: +{width}", width=width),
    )
    size = max(theme.type.least, min(size, size * room.width / max(text_width(line, size) for line in lines)))
    shown = tuple(fitted(line, size, room.width) for line in lines)[-max(1, int(room.height / (LINE_PITCH * size))) :]
    leading = min(_LOOSE_LEADING, room.height / (size * len(shown)))
    return [*paragraphs_in(room, [Paragraph("layout-formulas", shown, size, theme.text)], leading=leading)[0]]


def _row_colours(name: str, rows: int, theme: Theme) -> tuple[str, ...]:
    """Return a shade of the matrix's colour for each row, then the colour of the current access."""
    shares = (DIM + (HALF - DIM) * min(1, row / max(1, rows - 1)) for row in range(_MOST_OF_MATRIX_DRAWN))
    return *(mixed(theme.background, theme.accent(name), share) for share in shares), theme.accent(name)


def _strip(
    part: Part, name: str, order: Longs, matrix: Cells, array: MemoryArray, room: Box, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    """Draw the strip in as many lines as needed, with offsets below. Offsets skip what is not shown of the matrix. ``order``:
    the cells of the matrix in the order of the strip.
    """
    theme, key, is_columns = options.theme, f"strip-{part.number}", _ORDERS[part.number][1]
    (rows, columns), (row, column) = array.extents, np.divmod(order, matrix.fill.shape[1])
    offset = column * rows + row if is_columns else row * columns + column
    labels = np.array([_label(array, *at, options) for at in zip(row.tolist(), column.tolist(), strict=True)])
    per_line = _PER_LINE if len(order) > _SHORT else len(order)
    head, rest = room.strip("top", _HEAD)
    pitch = min(_PITCH, rest.height / _strip_lines(len(order)))
    below = _OFFSETS if pitch >= 2 * _OFFSETS else 0
    size = _fit(labels, room.width / per_line, theme.type)
    drawn: list[Primitive] = [text_in(f"{key}-name", head, name, theme.type.note, theme.text, "start", "semibold")]
    for line, start in enumerate(range(0, len(order), per_line)):
        some = slice(start, start + per_line)
        cells = rest.shifted(y=line * pitch)._replace(height=pitch - below)
        wide = cells._replace(width=room.width * len(order[some]) / per_line)
        fill, tips = matrix.fill.ravel()[order[some]], _strip_tips(array, labels[some], offset[some])
        made = cells_in(f"{key}-{line}", wide, fill[None], matrix.palette, theme.background, matrix.inks, part, tips=tips)
        drawn.append(dataclasses.replace(made, labels=labels[None, some], label_size=size) if size else made)
        if below:
            texts = [grouped(int(each)) for each in offset[some]]
            drawn.append(names_of_parts(f"{key}-{line}-offsets", wide, texts, theme.type.least, theme.faint, "bottom", _UNDER))
    return drawn


def _strip_lines(count: int) -> int:
    """Return how many lines a strip of so many elements takes."""
    return 1 if count <= _SHORT else -(-count // _PER_LINE)


def _strip_tips(array: MemoryArray, labels: np.ndarray, offset: np.ndarray) -> np.ndarray:
    form, size = marked("{element}\noffset {offset}, byte {byte}"), array.itemsize
    texts = [f"{array.name}[{label}]" if label else "" for label in labels.tolist()]
    tips = [tr(form, element=text, offset=at, byte=size * at) for text, at in zip(texts, offset.tolist(), strict=True)]
    return np.array([tips])


def _fit(texts: np.ndarray, cell: float, sizes: TypeSizes) -> float:
    """Return the size in which all labels fit a cell; 0 if they would be unreadable."""
    size = min(sizes.words, (cell - 3) / max(0.1, *(text_width(str(text), 1) for text in texts)))
    return size if size >= sizes.least else 0


# Addresses of one thread.

_MOST, _GAP = 12, 10
_STRIP, _LEAST_HIGH, _TICK = 18, 200, 3  # height of a strip, of the part below which there is none; width of an address


def walk_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The addresses that one thread reads from each input in order, their distances, and the lines that they move; below them
    the same addresses to scale.

    Draw A above and B below, or the inputs of another problem: a box for each read of the first watched thread, later ones
    faint.
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
        return [dataclasses.replace(cells, tips=tip), write_all(f"{self.name}-address-{read}", lines, under, style, "middle")]

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


VIEWS = {
    "memory_strip": View(marked("Memory layout"), Moment, layout_scene, draw_motion=layout_motion, order=304),
    "walk": View(marked("Addresses of one thread"), Moment, walk_scene, walk_motion, order=305),
}
