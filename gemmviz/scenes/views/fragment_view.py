"""One matrix instruction of a warp, with the lane of each element: the tiles that a product multiplies, beside the registers of
all lanes; for ldmatrix and stmatrix, rows in shared memory, the matrices that they are, and the registers of the lanes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gemmviz.analysis.costs import Punchcard, access_card
from gemmviz.analysis.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.types import MATRIX_INSTRUCTIONS, MatrixInstruction
from gemmviz.model.arrays import BITS, COLUMNS, LANES, ROWS, Fragment, Longs, MatrixName, Strings, fragment_of, loaded_fragment
from gemmviz.model.messages import counted, grouped, listed, many, marked, tr
from gemmviz.scenes.kit.layout import (
    AIR,
    BOLD,
    LINE_PITCH,
    NAMED,
    NEAR,
    REST,
    ROW_PITCH,
    STROKE,
    Box,
    Share,
    beside,
    cells_in,
    fits_cells,
    names_of_parts,
    paragraph,
    term,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Cells, Lanes, Primitive, Rects, Scene, boxes, wrap_text
from gemmviz.scenes.kit.theme import PALE, SOFT, Palette
from gemmviz.scenes.kit.view import View, ViewOptions, eased, eased_in_turn, elsewhere, framed
from gemmviz.scenes.stage.cost import matrix_of, waiting_primitives
from gemmviz.scenes.stage.hover import address_text
from gemmviz.scenes.views.request_view import followed_lane

_SIDE, _CHUNK, _COUNTS = 8, 16, (1, 2, 4)  # rows of a matrix that ldmatrix loads; bytes of each; numbers of matrices
_BETWEEN = 3 * NEAR  # gap between tables
_DEALING = 0.4  # share of the time in which registers move


def fragment_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the instruction of the watched warp, or of the first active warp of the block."""
    picture = _picture_of(moment, options)
    if picture is not None:
        return framed(picture.primitives(), moment, options)
    sites = [number for number, site in enumerate(moment.trace.sites) if site.instruction]
    step = moment.replay.next_step(sites, moment.step, moment.scope)
    said = tr("Step {step} does not execute a matrix instruction", step=moment.step + 1)
    text = said if step is not None else said + tr("; no step does")
    return framed(elsewhere(text, step, tr("Go to step {step}, which does"), options), moment, options)


def fragment_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw rows on their way between shared memory, the matrices and the registers of the lanes."""
    picture = None if options.arrived or moment.site.operand(0) is None else _picture_of(moment, options)
    return tuple(picture.moving(options.passed)) if isinstance(picture, _LoadedRows) else ()


def _picture_of(moment: Moment, options: ViewOptions) -> "_Picture | None":
    """The picture of a step; None for a step that no whole warp executes together."""
    instruction, operands = moment.site.instruction, moment.site.operands
    found = [moment.request_of(int(moment.trace.row[moment.step]) + place) for place in range(moment.site.rows)]
    requests = [each for each in found if each is not None and len(each.lanes) == LANES and (each.lanes >= 0).all()]
    if not requests or len(requests) < len(found):
        return None
    warp, starts = requests[0].warp, np.array([each.lanes for each in requests])[:, ::4]
    if instruction in MATRIX_INSTRUCTIONS:
        return _Product(moment, warp, options, MATRIX_INSTRUCTIONS[instruction])
    if instruction == "movmatrix":
        return _Transposed(moment, warp, options)
    return _LoadedRows(moment, warp, options, starts) if instruction and len(operands) in _COUNTS else None


class _HeldRegisters(NamedTuple):
    """Registers as cells (rows, columns) of a matrix: the lane and the number of each, the first of its elements, all of them,
    and a text about it.
    """

    lanes: Longs
    registers: Longs
    first: Strings
    elements: Strings
    tips: Strings


def _held(fragment: Fragment, packed: int, matrix: str, names: Sequence[str], options: ViewOptions) -> _HeldRegisters:
    """The registers of a matrix. A register holds ``packed`` elements, neighbours in a row or in a column; ``names``: of the
    registers of a lane.
    """
    (down, across), entries = (1, packed) if packed == 1 or fragment.row[0, 0] == fragment.row[0, 1] else (packed, 1), []
    shape = (int(fragment.row.max()) + 1) // down, (int(fragment.column.max()) + 1) // across
    for lane, register in np.ndindex(LANES, len(names)):
        places = slice(register * packed, (register + 1) * packed)
        pairs = list(zip(fragment.row[lane, places].tolist(), fragment.column[lane, places].tolist(), strict=True))
        elements = [options.labels.pair(*pair) for pair in pairs]
        form = marked("elements {elements} of {matrix}") if packed > 1 else marked("element {elements} of {matrix}")
        tip = tr(form, elements=listed(elements), matrix=matrix)
        holder = tr("lane {lane}, register {register}", lane=lane, register=names[register])
        place = pairs[0][0] // down, pairs[0][1] // across
        entries.append((place, lane, register, elements[0], listed(elements), f"{tip}\n{holder}"))
    cells = [entry[1:] for entry in sorted(entries)]
    return _HeldRegisters(*(np.array(each).reshape(shape) for each in zip(*cells, strict=True)))


class _Picture:
    """What the pictures of all instructions have in common."""

    def __init__(self, moment: Moment, warp: int, options: ViewOptions) -> None:
        self.moment, self.warp, self.options, self.theme = moment, warp, options, options.theme
        self.lane, self.size = followed_lane(moment), options.theme.type.least
        self.head = ROW_PITCH * self.size
        self.row_height = self.head + NEAR / 2
        self.room = options.room().trimmed(top=-self.head if options.words else 0)
        self.numbers, self.lane_name = self.wide(["00"]), self.wide([tr("lane {lane}", lane=LANES - 1)])

    def wide(self, names: Sequence[str]) -> float:
        """The width of what stands beside a table with these names."""
        return max(map(self.theme.aside.width, names)) + AIR

    def above(self, box: Box) -> Box:
        """The place of a heading above a table."""
        return box._replace(y=box.y - self.head, height=self.head)

    def primitives(self) -> list[Primitive]:
        raise NotImplementedError

    def registers(
        self, key: str, box: Box, lanes: Longs, fill: Longs, palette: Palette, texts: Strings, tips: Strings
    ) -> Cells:
        """Draw registers, or what else lanes hold or name, as a table that fills a box."""
        theme, meaning = self.theme, Lanes(self.warp, tuple(lanes.ravel().tolist()))
        inks = tuple(theme.faint if colour == theme.empty else theme.ink_on(colour) for colour in palette)
        return cells_in(
            key, box, fill.astype(np.uint8), palette, self.theme.background, inks, meaning, texts, self.size, tips=tips
        )

    def followed(self, key: str, rings: list[Box]) -> Rects:
        return Rects(key, boxes(*rings), None, self.theme.text, BOLD)

    def matrix(
        self, key: str, box: Box, held: _HeldRegisters, colour: str, title: str, is_there: bool, names: Sequence[str] = ()
    ) -> list[Primitive]:
        """Draw a matrix of 8 x 8 elements with the lane of each register, and a ring around that of the followed lane."""
        head, body = box.strip("top", self.head)
        body = body.trimmed(left=self.lane_name if names else 0)
        fill, palette = np.full(held.lanes.shape, int(is_there)), (self.theme.empty, colour)
        rings = [body.grid(*held.lanes.shape)[int(np.argmax(held.lanes == self.lane))]] if self.lane is not None else []
        return [
            write(f"{key}-name", head, title, self.theme.strong),
            self.registers(key, body, held.lanes, fill, palette, held.lanes.astype("<U2"), held.tips),
            names_of_parts(f"{key}-rows", body, names, self.size, self.theme.faint, "left", NEAR, None),
            self.followed(f"{key}-followed", rings),
        ]


class _Product(_Picture):
    """A product: A and B meet at C as matrices do, beside the registers of all lanes."""

    def __init__(self, moment: Moment, warp: int, options: ViewOptions, instruction: MatrixInstruction) -> None:
        super().__init__(moment, warp, options)
        k, kinds = instruction.k, zip(("a", "b", "c"), (instruction.a, instruction.b, instruction.d), strict=True)
        bits: dict[MatrixName, int] = {use: BITS[kind] for use, kind in kinds}  # type: ignore[misc]
        self.sums = fragment_of("c", k, 32)
        self.shapes = {"a": (ROWS, k), "b": (k, COLUMNS), "c": (ROWS, COLUMNS)}
        self.tables = {}
        for (use, width), count in zip(bits.items(), instruction.registers, strict=True):
            names = [f"{use}{number}" for number in range(count)]
            self.tables[use] = _held(fragment_of(use, k, width), 32 // width, use.upper(), names, options)
        shown = min(LANES, max(1, int((self.room.height - self.head) / self.size)))  # as many as can be read
        first = min(max(0, (self.lane or 0) - shown // 2), LANES - shown)
        self.shown = range(first, first + shown)

    def primitives(self) -> list[Primitive]:
        left, right = self.room.columns(Share(10), Share(11), gap=_BETWEEN)
        return [*self._tiles(left), *self._lane_registers(right)]

    def _cells(self, key: str, box: Box, use: str, lanes: Longs, texts: Strings, tips: Strings) -> Cells:
        """Draw registers, those of the followed lane in the colour of their matrix."""
        palette = tuple(self.theme.tint(use.upper(), light) for light in (PALE, SOFT, 1))
        fill = np.where(lanes == self.lane, 2, (lanes + lanes // 4) % 2)
        return self.registers(key, box, lanes, fill, palette, texts, tips)

    def _tiles(self, room: Box) -> list[Primitive]:
        """Draw the three tiles, and in their corner what the followed lane holds and needs."""
        (high, _), (_, wide) = self.tables["b"].lanes.shape, self.tables["a"].lanes.shape
        upper, lower = room.trimmed(top=self.head).rows(Share(high), Share(ROWS), gap=_BETWEEN)
        widths = self.numbers, Share(wide), self.numbers, self.numbers, Share(COLUMNS), self.lane_name
        (_, corner, _, _, b, _), (_, a, _, _, c, _) = (each.columns(*widths) for each in (upper, lower))
        drawn: list[Primitive] = []
        for (use, held), box in zip(self.tables.items(), (a, b, c), strict=True):
            cells = self._cells(f"fragment-{use}", box, use, held.lanes, held.lanes.astype("<U2"), held.tips)
            drawn += [cells, *self._numbers(use, box, held.lanes.shape)]
        return [*drawn, *self._needed(a, b, corner)]

    def _numbers(self, use: str, box: Box, cells: tuple[int, ...]) -> list[Primitive]:
        """Draw the name of a tile, the numbers of its rows, and of its columns if no other tile is above it."""
        theme, first = self.theme, self.options.labels.first
        down, across = (
            [str(each * (size // count) + first) for each in range(count)]
            for size, count in zip(self.shapes[use], cells, strict=True)
        )
        style = theme.strong.inked(theme.legible(theme.accent(use.upper())))
        head = (
            box._replace(x=box.right + NEAR, width=self.lane_name - NEAR)
            if use != "b"
            else box._replace(y=box.y - self.head, height=self.head)
        )
        return [
            names_of_parts(f"{use}-rows", box, down, self.size, theme.faint, "left"),
            *([names_of_parts(f"{use}-columns", box, across, self.size, theme.faint, "top")] if use == "a" else ()),
            write(f"{use}-name", head, "C, D" if use == "c" else use.upper(), style),
        ]

    def _needed(self, a: Box, b: Box, corner: Box) -> list[Primitive]:
        """Outline the rows of A and the columns of B of which the followed lane's sums are made."""
        text, outlined = tr("A cell is a register, with the number of the lane that holds it."), list[Box]()
        if self.lane is not None:
            rows, columns = (np.unique(each[self.lane]).tolist() for each in (self.sums.row, self.sums.column))
            outlined += [a.part(down=(row / ROWS, (row + 1) / ROWS)) for row in rows]
            outlined += [b.part((column / COLUMNS, (column + 1) / COLUMNS)) for column in columns]
            first = self.options.labels.first
            names = [listed(str(each + first) for each in lines) for lines in (rows, columns)]
            form = marked("Lane {lane} adds up rows {rows} of A times columns {columns} of B. Other lanes hold most of these.")
            text = tr(form, lane=self.lane, rows=names[0], columns=names[1])
        if len(self.shown) < LANES:
            values = {"first": self.shown[0], "last": self.shown[-1]}
            longer = f"{text} {tr('At the right are lanes {first} to {last}.', **values)}"
            lines = wrap_text(longer, self.size, corner.width, LANES)
            text = longer if LINE_PITCH * self.size * len(lines) <= corner.height else text
        words = paragraph("fragment-words", corner, text, self.theme.soft.sized(self.size))
        return [Rects("needed", boxes(*outlined), None, self.theme.text, STROKE), *words]

    def _lane_registers(self, room: Box) -> list[Primitive]:
        """Draw the registers of each lane, with the first element that each holds."""
        head, body = room.trimmed(left=self.numbers).strip("top", self.head)
        drawn: list[Primitive] = [names_of_parts("lanes", body, [*map(str, self.shown)], self.size, self.theme.faint, "left")]
        counts = [int(held.registers.max()) + 1 for held in self.tables.values()]
        both = (each.columns(*map(Share, counts), gap=NEAR) for each in (head, body))
        for (use, held), count, above, box in zip(self.tables.items(), counts, *both, strict=True):
            texts, tips = (np.full((LANES, count), "", each.dtype) for each in (held.first, held.tips))
            texts[held.lanes, held.registers], tips[held.lanes, held.registers] = held.first, held.tips
            lanes = np.repeat(np.array(self.shown)[:, None], count, axis=1)
            names = [f"{use}{number}" for number in range(count)]
            drawn += [
                self._cells(f"registers-of-{use}", box, use, lanes, texts[self.shown], tips[self.shown]),
                write_all(f"{use}-registers", above.columns(*[REST] * count), names, self.theme.aside, "middle"),
            ]
        return drawn


class _Transposed(_Picture):
    """A matrix before and after movmatrix."""

    def primitives(self) -> list[Primitive]:
        given, received = self.room.columns(REST, REST, gap=_BETWEEN)
        drawn: list[Primitive] = []
        titles = tr("the lanes that give each element"), tr("the lanes that get it")
        for key, box, is_after, title in (("given", given, False, titles[0]), ("received", received, True, titles[1])):
            held = _held(loaded_fragment(is_after), 2, tr("the matrix"), ["0"], self.options)
            is_there = not is_after or self.options.arrived
            drawn += self.matrix(key, box, held, self.theme.warps[0], title, is_there)
        return drawn


class _LoadedRows(_Picture):
    """Ldmatrix or stmatrix: rows of matrices in shared memory and their banks, the matrices, and the registers of the lanes.

    ``starts`` (matrices, 8): the element with which each row begins.
    """

    def __init__(self, moment: Moment, warp: int, options: ViewOptions, starts: Longs) -> None:
        super().__init__(moment, warp, options)
        self.main, rules = moment.touched[0], moment.trace.rules
        self.is_load, count = self.main.operand.access == "read", len(starts)
        self.address_lanes = np.arange(count * _SIDE).reshape(count, _SIDE)
        self.per_line = max(1, rules.banks * rules.bank_bytes // _CHUNK)
        lines, self.column = np.divmod(starts * self.main.array.itemsize // _CHUNK, self.per_line)
        self.lines, row = np.unique(lines, return_inverse=True)
        self.row = row.reshape(lines.shape)
        self.cost, self.card, self.wavefronts = moment.cached(("fragment banks", warp), self._banks)
        is_transposed = moment.site.instruction.endswith(".trans")
        self.matrices = [
            _held(loaded_fragment(is_transposed), 2, tr("matrix {number}", number=number), [str(number)], options)
            for number in range(count)
        ]
        self.colours = (self.theme.empty, *self.theme.warps[::2])
        self.words, rest = self.room.strip("top", self.head)
        rows, columns, foot = max(1, count // 2), min(2, count), LINE_PITCH * self.size * count + self.head + NEAR
        floor, around = 2 * (self.head + NEAR), 3 * self.head + NEAR  # of the banks
        banks, chunks = floor + self.row_height * len(self.card.first), self.row_height * len(self.lines)
        least = around + floor + self.size * len(self.lines)
        self.has_strip = not rest.height - foot < least <= rest.height  # else chunks could be read without it alone
        room = rest.height - foot if self.has_strip else rest.height
        needed = max(around + chunks + banks, rows * (self.head + _SIDE * self.row_height))
        upper, lower, _ = rest.rows(min(needed, room), foot - NEAR, REST, gap=NEAR)
        left, right = upper.columns(Share(3), Share(2), gap=_BETWEEN)
        names = self.wide([*self._line_names(), *self._register_names(), tr("banks"), tr("lane")])
        left = left.trimmed(left=names)
        high = self.head + min(chunks, left.height - 3 * self.head - floor)
        self.title, memory, self.banks_title, self.banks = left.rows(self.head, high, self.head, REST)
        self.memory = memory.trimmed(top=self.head)
        self.banks = self.banks._replace(height=min(self.banks.height, banks))
        self.places = right._replace(height=min(right.height, rows * (self.head + _SIDE * self.row_height))).grid(
            rows, columns, NEAR
        )
        self.strip = lower.trimmed(left=names, top=self.head)

    def _line_names(self) -> list[str]:
        """The first byte of each row of chunks."""
        return [tr("byte {byte}", byte=grouped(line * self.per_line * _CHUNK)) for line in self.lines.tolist()]

    def _register_names(self) -> list[str]:
        return [tr("register {number}", number=number) for number in range(len(self.matrices))]

    def _banks(self) -> tuple[Counts, Punchcard, Longs]:
        """The cost, the banks with the lanes whose rows they serve, one matrix after the other, and each row's wavefront."""
        first, starts, waves, cost = list[Longs](), list[int](), np.zeros_like(self.row), Counts()
        rules = self.moment.trace.rules
        for number, touched in enumerate(self.moment.touched):
            request = self.moment.request_of(touched.row)
            assert request is not None
            before = sum(len(each) for each in first)
            card = access_card(request.lanes, touched.operand, touched.array, rules)
            cost += count_rows(request.lanes.reshape(-1, rules.request_lanes), touched.operand, touched.array, rules)
            waves[number, card.places[:, 0] // 4] = card.places[:, 1] + before
            first.append(np.where(card.first >= 0, _SIDE * number + card.first // 4, -1))
            starts += [start + before for start in card.starts]
        whole = np.concatenate(first)
        return cost, Punchcard(whole, (whole >= 0).astype(np.int64), tuple(starts), np.zeros((0, 3), np.int64)), waves

    def primitives(self) -> list[Primitive]:
        needed = tr(
            "{wavefronts}, {ideal_wavefronts} needed", wavefronts=many(self.cost.wavefronts, "wavefront"),
            ideal_wavefronts=counted(self.cost.ideal_wavefronts),
        )  # fmt: skip
        banks = self._waiting(1.0)
        drawn = [
            write("fragment-words", self.words, self._sentence(), self.theme.soft), *self._memory(),
            write("banks-name", self.banks_title, needed, self.theme.strong),
            *(banks if self.options.arrived else (each for each in banks if not isinstance(each, Cells))),
        ]  # fmt: skip
        for number, held in enumerate(self.matrices):
            took = many(len(np.unique(self.wavefronts[number])), "wavefront")
            title = tr("matrix {number}: {wavefronts}", number=number, wavefronts=took)
            title = title if self.theme.strong.width(title) <= self.places[number].width else took
            is_there = self.options.arrived or not self.is_load
            names = [tr("lane {lane}", lane=lane) for lane in self.address_lanes[number].tolist()]
            place, colour = self.places[number], self.colours[1 + number]
            drawn += self.matrix(f"matrix-{number}", place, held, colour, title, is_there, names)
        strip = self._strip() if self.has_strip else []
        return [*drawn, *strip, self.followed("address-followed", self._address_rings())]

    def _waiting(self, share: float) -> list[Primitive]:
        accent = self.theme.accent(matrix_of(self.moment, self.main))
        return waiting_primitives(self.card, self.banks, accent, self.theme, "fragment", share=share, numbers=self.size)

    def _sentence(self) -> str:
        """Which address a lane gives, and what it gets or stores."""
        gets = marked("Lane 8 m + r gives the address of row r of matrix m, and gets elements of another row.")
        stores = marked("Lane 8 m + r gives the address of row r of matrix m, and stores elements of another row.")
        values = {}
        if self.lane is not None:
            gets = marked("Lane {lane} gives {address}, and gets elements {elements} of each matrix.")
            stores = marked("Lane {lane} gives {address}, and stores elements {elements} of each matrix.")
            address, (number, row) = tr("no address"), divmod(self.lane, _SIDE)
            if number < len(self.matrices):
                address = tr("the address of row {row} of matrix {number}", row=row, number=number)
            elements = self.matrices[0].elements[self.matrices[0].lanes == self.lane][0]
            values = {"lane": self.lane, "address": address, "elements": elements}
        return tr(gets if self.is_load else stores, **values)

    def _memory(self) -> list[Primitive]:
        """Draw the chunks of shared memory: each row with the lane that gives its address, and what the chunks begin with."""
        theme, shape, box = self.theme, (len(self.lines), self.per_line), self.memory
        lanes, fill, texts = np.full(shape, -1), np.zeros(shape, np.int64), self._contents()
        lanes[self.row, self.column] = self.address_lanes
        if self.options.arrived or self.is_load:
            fill[self.row, self.column] = 1 + self.address_lanes // _SIDE
        tips = np.array(
            [self._tip(row, column, int(lanes[row, column]), str(texts[row, column])) for row, column in np.ndindex(*shape)]
        ).reshape(shape)
        alone = np.where(lanes < 0, texts, lanes.astype("<U2"))
        both = np.where((lanes < 0) | (texts == ""), alone, np.strings.add(np.strings.add(alone, ": "), texts))
        fits = fits_cells(both, self.size, box.width / shape[1], box.height / shape[0])
        per_bank = self.moment.trace.rules.bank_bytes
        spans = [(chunk * _CHUNK // per_bank, ((chunk + 1) * _CHUNK - 1) // per_bank) for chunk in range(self.per_line)]
        title = tr("{array}, {bytes} bytes a cell", array=self.main.array.name, bytes=_CHUNK)
        what = (
            tr("lane that gives the address: first element")
            if fits and (both != alone).any()
            else tr("lane that gives the address")
        )
        return [
            *term("memory-name", self.title, title, theme.strong, what, theme.soft),
            self.registers("chunks", box, lanes, fill, self.colours, both if fits else alone, tips),
            beside("banks-word", self.above(box), "left", tr("banks"), theme.aside),
            names_of_parts("chunk-banks", box, [f"{low}–{high}" for low, high in spans], self.size, theme.faint, "top"),
            names_of_parts("lines", box, self._line_names(), self.size, theme.faint, "left"),
        ]  # fmt: skip

    def _address_rings(self) -> list[Box]:
        """The chunk whose address the followed lane gives, and its name beside the row of the matrix, or the row itself."""
        if self.lane is None or self.lane >= self.address_lanes.size:
            return []
        number, row = divmod(self.lane, _SIDE)
        body = self._body(number)
        names = self.places[number].trimmed(top=self.head)._replace(width=self.lane_name)
        place = names if body.height >= _SIDE * NAMED * self.size else body
        chunk = int(self.row[number, row]) * self.per_line + int(self.column[number, row])
        return [self.memory.grid(len(self.lines), self.per_line)[chunk], place.grid(_SIDE, 1)[row].inset(1, 0)]

    def _body(self, number: int) -> Box:
        """The cells of a matrix."""
        return self.places[number].trimmed(left=self.lane_name, top=self.head)

    def _contents(self) -> Strings:
        """The indices of the element of a matrix with which each chunk begins; "" where none is known."""
        moment, array = self.moment, self.main.array
        tiles = moment.tiles if self.options.arrived else moment.tiles_before
        content = tiles.get(self.main.operand.array)
        elements = (self.lines[:, None] * self.per_line + np.arange(self.per_line)) * _CHUNK // array.itemsize
        texts = np.full(elements.shape, "", "<U24")
        for place in zip(*np.nonzero(elements < array.size), strict=True):
            element = int(elements[place])
            if content is not None and content.array[element] >= 0:
                texts[place] = self.options.labels.indices(
                    moment.trace.arrays[content.array[element]], int(content.element[element])
                )
        return texts

    def _tip(self, line: int, column: int, lane: int, holds: str) -> str:
        """What a chunk is: its row, who gives its address, its banks, its wavefront."""
        chunk = int(self.lines[line]) * self.per_line + column
        element = chunk * _CHUNK // self.main.array.itemsize
        texts = [address_text(self.main.array, element, self.moment.trace.rules)]
        if lane >= 0:
            number, row = divmod(lane, _SIDE)
            wavefront = counted(int(self.wavefronts[number, row]) + 1)
            texts = [
                tr("row {row} of matrix {number}", row=row, number=number), tr("lane {lane} gives its address", lane=lane),
                *texts, tr("wavefront {row}", row=wavefront),
            ]  # fmt: skip
        return "\n".join([*texts, *([tr("begins with element {element}", element=holds)] if holds else ())])

    def _strip(self) -> list[Primitive]:
        """Draw the registers of the lanes side by side."""
        box, count = self.strip, len(self.matrices)
        texts, tips = (np.full((count, LANES), "", each.dtype) for each in (self.matrices[0].first, self.matrices[0].tips))
        for number, held in enumerate(self.matrices):
            texts[number, held.lanes], tips[number, held.lanes] = held.first, held.tips
        lanes = np.tile(np.arange(LANES), (count, 1))
        fill = np.where(self.options.arrived or not self.is_load, 1 + np.arange(count)[:, None], 0) + np.zeros_like(lanes)
        rings = [] if self.lane is None else [box.grid(1, LANES)[self.lane]]
        return [
            self.registers("lane-registers", box, lanes, fill, self.colours, texts, tips),
            names_of_parts("lane-numbers", box, [*map(str, range(LANES))], self.size, self.theme.faint, "top"),
            beside("lane-word", self.above(box), "left", tr("lane"), self.theme.aside),
            names_of_parts("register-names", box, self._register_names(), self.size, self.theme.faint, "left", meaning=None),
            self.followed("lane-followed", rings),
        ]

    def moving(self, passed: float) -> list[Primitive]:
        """Draw rows between shared memory and the matrices, and their elements between these and the lanes."""
        share = _DEALING if self.has_strip else 0
        turn = 1 - share if self.is_load else share
        both = [float(np.interp(passed, part, (0, 1))) for part in ((0.0, turn), (turn, 1.0))]
        rows, dealt = both if self.is_load else both[::-1]
        drawn: list[Primitive] = [each for each in self._waiting(rows) if isinstance(each, Cells)]
        along = eased_in_turn(rows, self.wavefronts, int(self.wavefronts.max()) + 1)
        chunks, slots = (
            np.array(self.memory.grid(len(self.lines), self.per_line)),
            np.array(self.strip.grid(len(self.matrices), LANES)),
        )
        for number, held in enumerate(self.matrices):
            body = self._body(number)
            ends = chunks[self.row[number] * self.per_line + self.column[number]], np.array(body.grid(_SIDE, 1))
            share = along[number][:, None]
            if dealt < 1.0 if not self.is_load else dealt > 0.0:
                ends, share = (np.array(body.grid(*held.lanes.shape)), slots[number * LANES + held.lanes.ravel()]), eased(dealt)
            start, end = ends if self.is_load else ends[::-1]
            drawn.append(
                Rects(f"flying-{number}", start + (end - start) * share, self.colours[1 + number], self.theme.background)
            )
        return drawn


VIEW = View(
    marked("Matrix instruction: lanes and registers"),
    Moment,
    fragment_scene,
    fragment_motion,
    least=420,
    least_width=900,
    order=204,
)
