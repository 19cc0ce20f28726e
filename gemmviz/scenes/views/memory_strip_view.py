"""A matrix and its memory as a strip: row by row (C order) or column by column (Fortran order), with the place of each
element. Elements move from the matrix to their places in both strips.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.records import replace
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.scenes.kit.layout import (
    CELL_FILL,
    LINE_PITCH,
    REST,
    Box,
    Paragraph,
    cells_in,
    names_of_parts,
    paragraphs_in,
    text_at,
    text_in,
)
from gemmviz.scenes.kit.primitives import ArrayCells, Cells, Part, Primitive, Scene, Squares
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import DIM, HALF, Theme, TypeSizes, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, framed

_ORDERS = ((marked("C order: row after row"), False), (marked("Fortran order: column after column"), True))
_MOST_OF_MATRIX_DRAWN = 8  # most rows and columns drawn
_SHORT, _PER_LINE = 16, 32  # elements of a strip in one line, else of a line
_HEAD, _PITCH, _OFFSETS = 28, 62, 26  # heights: of a name, of one line of a strip, of the offsets in it
_ABOVE, _APART, _BESIDE, _UNDER = 20, 20, 60, 3  # the matrix; between it and the strips or its formulas; a strip
_MOST_STRIPS, _MOST_OF_MATRIX, _LARGEST = 0.62, 0.42, 110  # of the height; of the width; side of a cell
_LOOSE_LEADING = 1.9  # of the size of the formulas: from one to the next
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
    return replace(piece, fill=np.zeros_like(piece.fill), palette=empty, inks=ink, labels=None, label_size=0)


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
    matrix = replace(cells, labels=names, label_size=size) if size else cells
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
        drawn.append(replace(made, labels=labels[None, some], label_size=size) if size else made)
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


VIEW = View(marked("Memory layout"), Moment, layout_scene, draw_motion=layout_motion, order=304)
