"""A matrix and its memory as a strip: row by row (C order) or column by column (Fortran order), with the place of each
element. Elements move from the matrix to their places in both strips.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats
from gemmviz.model.records import replace
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased, framed
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.meaning import ArrayCells, Part
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Scene, Squares, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme, TypeSizes, mixed
from gemmviz.scenes.kit.view import View

_ORDERS = ((marked("C order: row after row"), False), (marked("Fortran order: column after column"), True))
_MOST = 8  # most rows and columns drawn
_SHORT, _PER_LINE = 16, 32  # elements of a strip in one line, else of a line
_HEAD, _PITCH, _OFFSETS = 28.0, 62.0, 26.0  # heights: of a strip's name, of one of its lines, of the offsets in it
_MOST_STRIPS = 0.62  # of the height
_FLIGHT = 0.5  # share of the motion that one element takes
_LIT = 8  # palette entries: one for each row, then one for the current access


def layout_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the matrix in global memory that is accessed now, else A."""
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
        begin = place + np.arange(len(order)) / len(order) * (1 - _FLIGHT)
        share = eased(np.clip((len(_ORDERS) * options.moment / ARRIVAL - begin) / _FLIGHT, 0, 1))[:, None]
        now = start + (end - start) * share
        there, side = share[:, 0] > 0, now[:, 2]
        now = np.column_stack([now[:, 0] - side / 2, now[:, 1] - side / 2, side])
        fill = matrix.fill.ravel()[order][there]
        names = None if matrix.labels is None else matrix.labels.ravel()[order]
        size = 0.0 if names is None else _fit(names, float(end[:, 2].min()), options.theme.type)
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
    return replace(piece, fill=np.zeros_like(piece.fill), palette=empty, inks=ink, labels=None, label_size=0.0)


def _middles(cells: Cells) -> Floats:
    """Return the middle of each cell and the side of a square in it: x, y, side."""
    row, column = np.divmod(np.arange(cells.fill.size), cells.fill.shape[1])
    x, y = cells.x + (column + 0.5) * cells.size, cells.y + (row + 0.5) * cells.pitch
    return np.column_stack([x, y, np.full(len(x), 0.94 * min(cells.size, cells.pitch))])


def shown_array(moment: Moment) -> MemoryArray:
    """Return the matrix to show."""
    touched = next((each.array for each in moment.touched if each.array.space == "global"), None)
    return touched or next(array for array in moment.trace.arrays if array.space == "global")


def _layout(moment: Moment, options: ViewOptions) -> list[Primitive]:
    array, theme = shown_array(moment), options.theme
    rows, columns = (min(each, _MOST) for each in array.extents)
    r, c = np.divmod(np.arange(rows * columns), columns)
    lit = _lit(moment, array, rows, columns)
    names = np.array([_label(array, int(i), int(j), options) for i, j in zip(r, c, strict=True)])
    room = options.room(options.top + 16)
    strips = min(2 * (_HEAD + _lines(rows * columns) * _PITCH) + 20.0, _MOST_STRIPS * room.height)
    cell = min(0.42 * room.width / columns, (room.height - strips - 12.0) / rows, 110.0)
    palette = _row_colours(array.name, rows, theme)
    inks = tuple(theme.ink_on(each) for each in palette)
    fill = np.where(lit, _LIT, r.reshape(rows, columns)).astype(np.uint8)
    heading = _heading(array, rows, columns)
    size = _fit(names, cell, options.theme.type)
    texts = names.reshape(rows, columns) if size else None
    primitives: list[Primitive] = [
        text_at("layout-name", (room.x, room.y - 8), heading, theme.type.words, theme.text, "start", "semibold"),
        Cells(
            array.name, room.x, room.y + 12, cell, fill, palette, inks, texts, size, theme.background,
            meaning=ArrayCells(array.name, array.space),
        ),
    ]  # fmt: skip
    beside = room.x + columns * cell + 60
    wide = room.right - beside
    primitives += _formulas(array, Box(beside, room.y + 12, wide, room.height - strips - 24.0), options)
    top = room.bottom - strips + 20.0
    for place, (name, is_columns) in enumerate(_ORDERS):
        order = (np.arange(rows * columns).reshape(rows, columns).T if is_columns else np.arange(rows * columns)).ravel()
        mark = tr(" (this kernel's)") if is_columns == array.column_major else ""
        high = (room.bottom - top) / 2
        primitives += _strip(
            Part("strip", place),
            tr(name) + mark,
            names[order],
            fill.ravel()[order],
            (array, is_columns),
            (r[order], c[order]),
            Box(room.x, top + place * high, room.width, high),
            palette,
            inks,
            options,
        )
    return primitives


def _heading(array: MemoryArray, rows: int, columns: int) -> str:
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
    most = max(1, int(room.height / (1.25 * size)))
    shown = tuple(fitted(line, size, room.width) for line in lines)[-most:]
    pitch = min(1.9 * size, room.height / len(shown))
    at = [(room.x, room.y + (n + 0.7) * pitch) for n in range(len(shown))]
    return [Labels("layout-formulas", points(*at), shown, size, theme.text)]


def _row_colours(name: str, rows: int, theme: Theme) -> tuple[str, ...]:
    """Return a shade of the matrix's colour for each row, then the colour of the current access."""
    shares = (0.14 + 0.4 * min(1.0, row / max(1, rows - 1)) for row in range(_MOST))
    return *(mixed(theme.background, theme.accent(name), share) for share in shares), theme.accent(name)


def _strip(
    part: Part,
    name: str,
    labels: np.ndarray,
    fill: np.ndarray,
    of: tuple[MemoryArray, bool],
    place: tuple[np.ndarray, np.ndarray],
    room: Box,
    palette: tuple[str, ...],
    inks: tuple[str, ...],
    options: ViewOptions,
) -> list[Primitive]:
    """Draw the strip in as many lines as needed, with offsets below. Offsets skip what is not shown of the matrix."""
    theme, key = options.theme, f"strip-{part.number}"
    array, is_columns = of
    rows, columns = array.extents
    offset = place[1] * rows + place[0] if is_columns else place[0] * columns + place[1]
    per_line = _PER_LINE if len(labels) > _SHORT else len(labels)
    lines = -(-len(labels) // per_line)
    cell, pitch = room.width / per_line, min(_PITCH, (room.height - _HEAD) / lines)
    least, has_offsets = theme.type.least, pitch >= 2 * _OFFSETS
    high = pitch - _OFFSETS if has_offsets else pitch
    at = (room.x, room.y + 18)
    primitives: list[Primitive] = [text_at(f"{key}-name", at, name, theme.type.note, theme.text, "start", "semibold")]
    size = _fit(labels, cell, theme.type)
    for line in range(lines):
        some = slice(line * per_line, (line + 1) * per_line)
        y = room.y + _HEAD + line * pitch
        primitives.append(
            Cells(
                f"{key}-{line}", room.x, y, cell, fill[None, some], palette, inks, labels[None, some] if size else None, size,
                theme.background, height=high, tips=_tips(array, labels[some], offset[some]), meaning=part,
            )
        )  # fmt: skip
        if not has_offsets:
            continue
        texts = tuple(grouped(int(each)) for each in offset[some])
        widest = max(text_width(text, least) for text in texts) + 6
        every = next((step for step in (1, 2, 4, 8, 16) if widest <= step * cell), 32)
        middle = [(room.x + (n + 0.5) * cell, y + high + 0.9 * least) for n in range(0, len(texts), every)]
        primitives.append(Labels(f"{key}-{line}-offsets", points(*middle), texts[::every], least, theme.faint, "middle"))
    return primitives


def _lines(count: int) -> int:
    """Return how many lines a strip of so many elements takes."""
    return 1 if count <= _SHORT else -(-count // _PER_LINE)


def _tips(array: MemoryArray, labels: np.ndarray, offset: np.ndarray) -> np.ndarray:
    texts = [f"{array.name}[{label}]" if label else "" for label in labels.tolist()]
    size = array.itemsize
    return np.array(
        [
            [
                tr("{element}\noffset {offset}, byte {byte}", element=text, offset=int(at), byte=size * int(at))
                for text, at in zip(texts, offset, strict=True)
            ]
        ]
    )


def _fit(texts: np.ndarray, cell: float, sizes: TypeSizes) -> float:
    """Return the size in which all labels fit a cell; 0 if they would be unreadable."""
    size = min(sizes.words, (cell - 3) / max(0.1, *(text_width(str(text), 1.0) for text in texts)))
    return size if size >= sizes.least else 0.0


VIEW = View(marked("Memory layout"), Moment, layout_scene, draw_motion=layout_motion, order=36)
