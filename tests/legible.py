"""What can't be read in a scene: text that is cut, covers other text, or is smaller than the theme's least size.

``python -m tests.legible NAME FOLDER`` lists this for each step of an included lesson and saves its pictures in a folder.
"""

import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from gemmviz.render.encoding import encode_png
from gemmviz.render.qt.raster import Raster, start_qt
from gemmviz.render.reel import Frame, RenderOptions
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.primitives import Cells, Labels, Scene, Squares, text_width
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.shots.export import ExportOptions
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.reel import lesson_reel

_ABOVE, _BELOW, _TOUCH = 0.74, 0.2, 1.5  # of a text's size: over and under its baseline; units that letters may lack
_TOGETHER = {("code", "code-lit")}

Text = tuple[str, str, float, float, float, float]


def texts_of(scene: Scene) -> list[Text]:
    """Key, text, and box (left, top, right, bottom) of every label of a scene."""
    found = []
    for each in scene.all:
        if isinstance(each, Labels):
            for (x, y), text in zip(each.at.tolist(), each.texts, strict=True):
                width = text_width(text, each.size, each.face)
                left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[each.anchor] * width
                if text.strip():
                    found.append((each.key, text, left, y - _ABOVE * each.size, left + width, y + _BELOW * each.size))
    return found


def wrong_with(scene: Scene) -> list[str]:
    """What is cut or stands over something else, as sentences."""
    texts, found = texts_of(scene), []
    for key, text, left, top, right, bottom in texts:
        if left < -_TOUCH or top < -_TOUCH or right > scene.width + _TOUCH or bottom > scene.height + _TOUCH:
            found.append(f"{key} {text!r} leaves the frame: {left:.0f} {top:.0f} {right:.0f} {bottom:.0f}")
    boxes = np.array([each[2:] for each in texts]).reshape(-1, 4)
    across, down = (
        np.minimum.outer(boxes[:, end], boxes[:, end]) - np.maximum.outer(boxes[:, start], boxes[:, start])
        for start, end in ((0, 2), (1, 3))
    )
    for one, other in np.argwhere(np.triu((across > _TOUCH) & (down > _TOUCH), 1)).tolist():
        a, b = texts[one], texts[other]
        if (a[0], b[0]) not in _TOGETHER:
            found.append(f"{a[0]} {a[1]!r} and {b[0]} {b[1]!r} overlap by {across[one, other]:.0f} x {down[one, other]:.0f}")
    for cells in scene.all:
        if isinstance(cells, Cells) and cells.labels is not None:
            widest = max(text_width(text, cells.label_size) for text in cells.labels.ravel().tolist())
            if widest > cells.size + _TOUCH or cells.label_size > cells.pitch + _TOUCH:
                found.append(f"labels of {cells.key} are wider than their cells")
    return found


def too_small(scene: Scene, least: float = TypeSizes().least) -> list[str]:
    """Texts smaller than ``least`` units, as sentences."""
    found = []
    for each in scene.all:
        if isinstance(each, Labels) and each.size < least - 0.05 and any(text.strip() for text in each.texts):
            found.append(f"{each.key} {each.texts[0]!r} is {each.size:.1f} high")
        elif isinstance(each, Cells | Squares) and each.labels is not None and _is_below(each, least):
            found.append(f"labels of {each.key} are {each.label_size:.1f} high")
    return found


def _is_below(each: Cells | Squares, least: float) -> bool:
    texts = () if each.labels is None else each.labels.ravel().tolist()
    return each.label_size < least - 0.05 and any(text.strip() for text in texts)


def main() -> None:
    start_qt()
    name, folder, look, engine = sys.argv[1], Path(sys.argv[2]), RenderOptions(1920, 1080), Interpreter()
    folder.mkdir(parents=True, exist_ok=True)
    reel = lesson_reel(shipped_lesson(name), lambda kernel: nullcontext(engine), ExportOptions(look), answers=True)
    for number, slide in enumerate(reel.slides(), 1):
        (folder / f"{name}-{number:02}.png").write_bytes(encode_png(Raster(look).array(Frame(slide.scene))))
        print(f"{number:02} {slide.title}")
        for line in (*wrong_with(slide.scene), *too_small(slide.scene)):
            print(f"     {line}")


if __name__ == "__main__":
    main()
