"""The threads of a block, cut into warps: each thread at its place (x, y, z), and the warps in the order x, y, z, with the
idle lanes of the last one.
"""

import numpy as np

from gemmviz.model.launch_case import LaunchCase
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, message, titled
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Scene, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.view import View

_MOST_LAYERS, _MOST_ROWS = 4, 32
_FEW, _NARROW = 8, 1000.0  # fewer warps than this are folded if the frame is narrow
_ROOM_FOR_TWO, _ROOM_FOR_THREE = 30.0, 60.0


def block_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the layers of the block on the left, one for each z, and a row of lanes for each warp on the right."""
    title = f"A block of {case.what}"
    if case.launch is None:
        return titled([message(case.refusal, options)], title, case.device.name, options)
    dx, dy, dz = case.launch.block
    threads, size = case.launch.threads_per_block, case.device.warp_size
    warps = -(-threads // size)
    idle = warps * size - threads
    words = case.device.words
    note = f"{dx} × {dy} × {dz} = {many(threads, 'thread')}: {many(warps, words['warp'])} of {size}"
    note += f", {many(idle, 'lane')} idle in the last one" if idle else ", no idle lanes"
    room = Box(MARGIN, 130.0, options.width - 2 * MARGIN, options.height - 130.0 - 40.0)
    left = Box(room.x, room.y + 34, 0.46 * room.width, room.height - 34)
    right = Box(room.x + 0.5 * room.width, room.y + 34, 0.5 * room.width, room.height - 34)
    if dy == dz == 1:  # a single row of threads takes the whole width
        left = Box(room.x, room.y + 34, room.width, 0.26 * room.height)
        right = Box(room.x, left.y + left.height + 60, room.width, 0.74 * room.height - 94)
    small = options.theme.type.note
    heads = (
        ("layers-name", left, "threads by place: x to the right, y down" + (", a layer for each z" if dz > 1 else "")),
        (
            "warps-name",
            right,
            f"each {words['warp']} by its lanes, 0 to {size - 1}: number = x + y · {dx} + z · {dx * dy}",
        ),
    )
    primitives: list[Primitive] = [
        text_line(key, (box.x, box.y - 14), text, small, box.width, options.theme.text) for key, box, text in heads
    ]
    primitives += [*_layers(case, left, options), *_warps(case, right, options)]
    return titled(primitives, title, note, options)


def _layers(case: LaunchCase, room: Box, options: ViewOptions) -> list[Primitive]:
    assert case.launch is not None
    dx, dy, dz = case.launch.block
    shown = min(dz, _MOST_LAYERS)
    across = 1 if shown == 1 else 2
    down = -(-shown // across)
    head = 26.0 if dz > 1 else 0.0
    wide, high = room.width / across - 16, room.height / down - head - 12
    cell = min(wide / dx, high / dy, 76.0)
    tall = cell if dy > 1 else min(70.0, max(cell, 34.0))
    theme, size = options.theme, case.device.warp_size
    palette = theme.warps
    inks = tuple(theme.ink_on(each) for each in palette)
    primitives: list[Primitive] = []
    for z in range(shown):
        x, y = room.x + z % across * (wide + 16), room.y + z // across * (high + head + 12)
        number = np.arange(dx * dy).reshape(dy, dx) + z * dx * dy
        fill = (number // size % len(palette)).astype(np.uint8)
        texts = number.astype("<U4")
        font = min(22.0, 0.45 * cell, (cell - 4) / text_width(str(dx * dy * dz - 1), 1.0))
        tips = _layer_tips(number, z, case)
        if head:
            more = f" of {dz}" if z == shown - 1 and shown < dz else ""
            at = points((x, y + 19))
            primitives.append(Labels(f"layer-{z}-name", at, (f"z = {z}{more}",), theme.type.note, theme.faint))
        primitives.append(
            Cells(
                f"layer-{z}", x, y + head, cell, fill, palette, inks, texts if font >= 8 else None, font, theme.background,
                height=tall, tips=tips,
            )
        )  # fmt: skip
    return primitives


def _warps(case: LaunchCase, room: Box, options: ViewOptions) -> list[Primitive]:
    assert case.launch is not None
    threads, size = case.launch.threads_per_block, case.device.warp_size
    warps = -(-threads // size)
    shown = min(warps, _MOST_ROWS)
    is_deep = case.launch.block[2] > 1 and shown <= _FEW // 2
    folds = 1 if shown > _FEW or room.width > _NARROW else 4 if is_deep else 2  # rows of a warp
    theme = options.theme
    name = text_width("31", 18.0) + 12
    wide = size // folds
    cell = (room.width - name) / wide
    pitch = min(room.height / (shown * folds), 1.5 * cell, 56.0)
    palette = (*theme.warps, theme.empty)
    inks = (*(theme.ink_on(each) for each in theme.warps), theme.faint)
    number = np.arange(shown * size).reshape(shown * folds, wide)
    fill = np.where(number < threads, number // size % len(theme.warps), len(theme.warps)).astype(np.uint8)
    texts = _lane_texts(number, cell, case)
    longest = max(texts.ravel().tolist(), key=len)
    font = min(18.0, 0.55 * pitch, (cell - 8) / text_width(longest, 1.0))
    tips = _lane_tips(number, case)
    label = min(18.0, 0.6 * pitch)
    names = points(*((room.x + name - 10, room.y + (row + 0.5) * folds * pitch + 0.35 * label) for row in range(shown)))
    return [
        Labels("warp-numbers", names, tuple(map(str, range(shown))), label, theme.faint, "end"),
        Cells(
            "warps", room.x + name, room.y, cell, fill, palette, inks, texts if font >= 8 else None, font, theme.background,
            height=pitch, tips=tips,
        ),
    ]  # fmt: skip


def _layer_tips(number: np.ndarray, z: int, case: LaunchCase) -> np.ndarray:
    """Return the hover text of each thread of a layer by its number."""
    assert case.launch is not None
    (dx, dy, _), size = case.launch.block, case.device.warp_size
    return np.array([
        [f"thread ({_place(n, dx, dy)}, {z})\nnumber {n}: warp {n // size}, lane {n % size}" for n in row]
        for row in number.tolist()
    ])  # fmt: skip


def _lane_texts(number: np.ndarray, cell: float, case: LaunchCase) -> np.ndarray:
    """Return the label of each lane: as many of x, y and z of its thread as fit a cell; a dash if it is idle."""
    assert case.launch is not None
    (dx, dy, dz), threads = case.launch.block, case.launch.threads_per_block
    if dz > 1 and cell >= _ROOM_FOR_THREE:
        texts = [[f"{_place(n, dx, dy)}, {n // (dx * dy)}" if n < threads else "–" for n in row] for row in number.tolist()]
        return np.array(texts)
    if dy > 1 and cell >= _ROOM_FOR_TWO:
        return np.array([[_place(n, dx, dy) if n < threads else "–" for n in row] for row in number.tolist()])
    return np.where(number < threads, (number % dx).astype("<U8"), "–")


def _lane_tips(number: np.ndarray, case: LaunchCase) -> np.ndarray:
    """Return the hover text of each lane."""
    assert case.launch is not None
    (dx, dy, _), threads, size = case.launch.block, case.launch.threads_per_block, case.device.warp_size
    return np.array([
        [
            f"warp {n // size}, lane {n % size}\n"
            + (f"thread ({_place(n, dx, dy)}, {n // (dx * dy)})" if n < threads else "idle")
            for n in row
        ]
        for row in number.tolist()
    ])  # fmt: skip


def _place(number: int, dx: int, dy: int) -> str:
    return f"{number % dx}, {number // dx % dy}"


VIEW = View("Block: threads and warps", LaunchCase, block_scene, order=41)
