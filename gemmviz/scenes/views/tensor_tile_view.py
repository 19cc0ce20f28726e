"""The part of A, B and C that one instruction of the tensor cores multiplies, and how it moves along k."""

import numpy as np
from msgspec import Struct

from gemmviz.model.cases import TF32_TILE, LaunchCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased, titled
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, wrap_text
from gemmviz.scenes.kit.view import View

_TOP, _GAP, _MOST = 130.0, 2, 32  # upper edge; cells between the matrices; rows and columns shown of each
_SAID = 0.42  # of the width: the words on the right
_REST_OF_STEP = 0.5  # share of an instruction's time in which its tile stands still
_REST, _PASSED = 0.13, 0.42  # light of elements outside the tile, and of those that it has passed


class _Plan(Struct, frozen=True):
    """Corner and size (rows, columns) of each matrix in a frame, with cells of ``cell``."""

    cell: float
    corners: dict[str, tuple[float, float]]
    sizes: dict[str, tuple[int, int]]
    words: Box

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        sizes, tile = case.problem.sizes, TF32_TILE
        m, n, k = (min(_MOST, sizes[name] // size * size) for name, size in (("M", tile.m), ("N", tile.n), ("K", tile.k)))
        room = options.room(_TOP, 30)
        cell = min((1 - _SAID) * room.width / (k + n + _GAP), room.height / (k + m + _GAP))
        x, y = room.x + (k + _GAP) * cell, room.y + (k + _GAP) * cell
        corners = {"A": (room.x, y), "B": (x, room.y), "C": (x, y)}
        words = room.part(across=(1 - _SAID, 1.0)).trimmed(left=60)
        return cls(cell, corners, {"A": (m, k), "B": (k, n), "C": (m, n)}, words)

    @property
    def steps(self) -> int:
        return self.sizes["A"][1] // TF32_TILE.k

    def tile(self, name: str, step: int) -> tuple[slice, slice]:
        """Return rows and columns of a matrix that the instruction of a step takes."""
        ks = slice(step * TF32_TILE.k, (step + 1) * TF32_TILE.k)
        rows, columns = slice(0, TF32_TILE.m), slice(0, TF32_TILE.n)
        return {"A": (rows, ks), "B": (ks, columns), "C": (rows, columns)}[name]


def tensor_tile_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the names and the words. The matrices are drawn by ``tensor_tile_motion``."""
    tile, theme = TF32_TILE, options.theme
    missing = _missing(case)
    if missing:
        return titled(
            _paragraph("missing", missing, options.room(_TOP), options), tr("Tensor cores"), case.device.name, options
        )
    plan, size, warp = _Plan.of(case, options), theme.type.name, case.device.warp_size
    pieces: list[Primitive] = []
    for name, (x, y) in plan.corners.items():
        rows, columns = plan.sizes[name]
        at = (x + columns * plan.cell + 12, y + rows * plan.cell - 4) if name == "C" else (x, y - 10)
        pieces.append(text_at(f"{name}-name", at, name, size, theme.accent(name), "start", "semibold"))
    box, leading = plan.words, 1.5 * theme.type.sentence
    lines = (
        (
            "tile",
            tr("{m} × {n} × {k} = {products} products", m=tile.m, n=tile.n, k=tile.k, products=spaced(tile.products)),
            theme.type.sentence,
            theme.text,
        ),
        ("tile-words", tr("one instruction of a warp, on the tensor cores"), theme.type.words, theme.faint),
        ("cores", tr("{warp} products", warp=warp), theme.type.sentence, theme.text),
        ("cores-words", tr("one multiply-add of a warp, on the CUDA cores"), theme.type.words, theme.faint),
    )
    y = box.at(0.0, 0.28)[1]
    for place, (key, text, high, ink) in enumerate(lines):
        y += leading * (1.3 if place == 2 else 0.9)
        pieces.append(text_line(key, (box.x, y), text, high, box.width, ink, "regular" if "-" in key else "semibold"))
    note = tr("{shape}, A and B rounded to {element}; {source}", shape=tile.shape, element=tile.element, source=tile.source)
    return titled(
        pieces, tr("What one instruction of the tensor cores multiplies: {device}", device=case.device.name), note, options
    )


def tensor_tile_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the matrices with the tile at ``options.moment``: it moves along k, and C's tile grows stronger."""
    if _missing(case):
        return ()
    plan, theme = _Plan.of(case, options), options.theme
    passed = min(1.0, options.moment / ARRIVAL)
    step, ahead = _step(passed * plan.steps, plan.steps)
    pieces: list[Primitive] = []
    for name, (x, y) in plan.corners.items():
        accent = theme.accent(name)
        shades = [theme.tint(name, _REST), theme.tint(name, _PASSED), accent]
        shades += [theme.tint(name, _REST + (1 - _REST) * (number + 1) / plan.steps) for number in range(plan.steps)]
        fill = np.zeros(plan.sizes[name], np.uint8)
        for earlier in range(step):
            fill[plan.tile(name, earlier)] = 1
        rows, columns = plan.tile(name, step)
        fill[rows, columns] = 3 + step if name == "C" else 2
        inks = tuple(theme.ink_on(shade) for shade in shades)
        pieces.append(Cells(name, x, y, plan.cell, fill, tuple(shades), inks, line=theme.background))
        x, y = (x + ahead * plan.cell * (name == "A"), y + ahead * plan.cell * (name == "B"))
        wide, high = ((side.stop - side.start) * plan.cell for side in (columns, rows))
        edge = Box(x + columns.start * plan.cell, y + rows.start * plan.cell, wide, high).inset(-2)
        pieces.append(Rects(f"{name}-tile", boxes(edge), None, accent, 3.0, 3.0))
    text = tr("instruction {step} of {steps} for this tile of C", step=step + 1, steps=plan.steps)
    box, size = plan.words, theme.type.words
    return (*pieces, text_line("count", box.at(0.0, 0.2), text, size, box.width, theme.text))


def _step(passed: float, steps: int) -> tuple[int, float]:
    """Return the instruction at a time in instructions, and how many elements of k the frame of the tile is ahead of it."""
    step = min(steps - 1, int(passed))
    on_way = max(0.0, (passed - step - _REST_OF_STEP) / (1.0 - _REST_OF_STEP))
    return step, 0.0 if step == steps - 1 else TF32_TILE.k * float(eased(on_way))


def _missing(case: LaunchCase) -> str:
    """Return why there is no tile to show; nothing if there is one."""
    tile, device = TF32_TILE, case.device
    numbers = tuple(int(part) for part in device.compute_capability.split(".") if part.isdecimal())
    if device.vendor != "NVIDIA" or numbers < tile.since:
        since = ".".join(map(str, tile.since))
        return tr(
            "{device} has no instruction {shape} for {element}: it needs compute capability {since} or later.",
            device=device.name,
            shape=tile.shape,
            element=tile.element,
            since=since,
        )
    sizes = case.problem.sizes
    if not case.problem.is_multiply or any(sizes[name] < size for name, size in (("M", tile.m), ("N", tile.n), ("K", tile.k))):
        return tr("The problem is smaller than a tile of {m} × {n} × {k}.", m=tile.m, n=tile.n, k=tile.k)
    return ""


def _paragraph(key: str, text: str, box: Box, options: ViewOptions) -> list[Primitive]:
    size = options.theme.type.caption
    lines = wrap_text(text, size, box.width, 4)
    at = points(*((box.x, box.y + 1.4 * size * (place + 1)) for place in range(len(lines))))
    return [Labels(key, at, tuple(lines), size, options.theme.text)]


VIEW = View(
    marked("Tensor cores: tile of an instruction"), LaunchCase, tensor_tile_scene, tensor_tile_motion, multiplies=True, order=63
)
