"""The part of A, B and C that one instruction of the tensor cores multiplies, and how it moves along k."""

import numpy as np
from msgspec import Struct

from gemmviz.model.cases import TF32_TILE, LaunchCase, Suggestion
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, spaced, tr
from gemmviz.scenes.kit.layout import (
    AIR,
    LINE_PITCH,
    REST,
    Box,
    Edge,
    Line,
    Share,
    beside,
    button,
    cells_in,
    lines_down,
    round_boxes,
    write,
)
from gemmviz.scenes.kit.primitives import Button, Primitive, Scene
from gemmviz.scenes.kit.theme import DIM, HALF
from gemmviz.scenes.kit.view import View, ViewOptions, apology, eased_from, titled

_GAP, _MOST = 2, 32  # cells between the matrices; rows and columns shown of each
_REST_OF_STEP = 0.5  # share of an instruction's time in which its tile stands still


class _Plan(Struct, frozen=True):
    """The table of each matrix with its rows and columns, the side of a cell, and the rooms of the count and of the words."""

    cell: float
    tables: dict[str, Box]
    sizes: dict[str, tuple[int, int]]
    count: Box
    words: Box

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        sizes, tile = case.problem.sizes, TF32_TILE
        m, n, k = (min(_MOST, sizes[name] // size * size) for name, size in (("M", tile.m), ("N", tile.n), ("K", tile.k)))
        left, words = options.room(130, 30).columns(Share(29), Share(21), gap=40)
        _, count, words = words.rows(REST, LINE_PITCH * options.theme.type.words, Share(6), gap=2 * AIR)
        cross = left.tiled(k + _GAP + m, k + _GAP + n)
        cell = cross.height / (k + _GAP + m)
        (_, _, b), _, (a, _, c) = (
            row.columns(k * cell, _GAP * cell, n * cell) for row in cross.rows(k * cell, _GAP * cell, m * cell)
        )
        return cls(cell, {"A": a, "B": b, "C": c}, {"A": (m, k), "B": (k, n), "C": (m, n)}, count, words)

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
    if missing := _why_no_tile(case):
        scene = apology(tr("Tensor cores"), missing, options)
        if case.cure is None or not options.buttons:
            return scene
        return replace(scene, primitives=(*scene.primitives, *_cure(case.cure, options)))
    plan, warp, pieces = _Plan.of(case, options), case.device.warp_size, list[Primitive]()
    for name, box in plan.tables.items():
        style = theme.strong.sized(theme.type.name).inked(theme.accent(name))
        side: Edge = "right" if name == "C" else "top"
        pieces.append(beside(f"{name}-name", box, side, name, style))
    product = tr("{m} × {n} × {k} = {products} products", m=tile.m, n=tile.n, k=tile.k, products=spaced(tile.products))
    pieces += lines_down(
        plan.words,
        [
            Line("tile", product, *theme.large),
            Line("tile-words", tr("one instruction of a warp, on the tensor cores"), *theme.soft),
            Line("cores", tr("{warp} products", warp=warp), *theme.large, AIR),
            Line("cores-words", tr("one multiply-add of a warp, on the CUDA cores"), *theme.soft),
        ],
    )
    note = tr("{shape}, A and B rounded to {element}; {source}", shape=tile.shape, element=tile.element, source=tile.source)
    return titled(
        pieces, tr("What one instruction of the tensor cores multiplies: {device}", device=case.device.name), note, options
    )


def _cure(cure: Suggestion, options: ViewOptions) -> list[Primitive]:
    """Draw the button that runs another launch."""
    style = options.theme.strong.sized(options.theme.type.words)
    row = options.room().rows(Share(2), 2 * style.size, REST)[1]
    wide = style.width(cure.text) + 2 * AIR
    box = row._replace(x=row.middle_x - wide / 2, width=wide)
    return button("cure-0", box, cure.text, Button("cure"), "", style, options.theme)


def tensor_tile_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the matrices with the tile at ``options.moment``: it moves along k, and C's tile grows stronger."""
    if _why_no_tile(case):
        return ()
    plan, theme = _Plan.of(case, options), options.theme
    step, ahead = _step_at(options.passed * plan.steps, plan.steps)
    pieces: list[Primitive] = []
    for name, box in plan.tables.items():
        accent = theme.accent(name)
        shades = [theme.tint(name, DIM), theme.tint(name, HALF), accent]
        shades += [theme.tint(name, DIM + (1 - DIM) * (number + 1) / plan.steps) for number in range(plan.steps)]
        fill = np.zeros(plan.sizes[name], np.uint8)
        for earlier in range(step):
            fill[plan.tile(name, earlier)] = 1
        rows, columns = plan.tile(name, step)
        fill[rows, columns] = 3 + step if name == "C" else 2
        inks = tuple(theme.ink_on(shade) for shade in shades)
        pieces.append(cells_in(name, box, fill, tuple(shades), theme.background, inks))
        whole, moved = plan.sizes[name], ahead * plan.cell
        spans = [(side.start / count, side.stop / count) for side, count in zip((rows, columns), whole, strict=True)]
        edge = box.part(spans[1], spans[0]).shifted(moved * (name == "A"), moved * (name == "B"))
        pieces.append(round_boxes(f"{name}-tile", edge.inset(-2), None, accent, 3))
    text = tr("instruction {step} of {steps} for this tile of C", step=step + 1, steps=plan.steps)
    return (*pieces, write("count", plan.count, text, theme.plain))


def _step_at(passed: float, steps: int) -> tuple[int, float]:
    """Return the instruction at a time in instructions, and how many elements of k the frame of the tile is ahead of it."""
    step = min(steps - 1, int(passed))
    on_way = eased_from(passed - step, _REST_OF_STEP, 1 - _REST_OF_STEP)
    return step, 0 if step == steps - 1 else TF32_TILE.k * on_way


def _why_no_tile(case: LaunchCase) -> str:
    """Return why there is no tile to show; nothing if there is one."""
    tile, device = TF32_TILE, case.device
    if device.vendor != "NVIDIA" or device.capability < tile.since:
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


VIEW = View(
    marked("Tensor cores: tile of an instruction"),
    LaunchCase,
    tensor_tile_scene,
    tensor_tile_motion,
    multiplies=True,
    order=205,
)
