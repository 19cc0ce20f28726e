"""A URL and its QR code below a picture that makes space for them."""

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.scenes.kit.frame import MARGIN
from gemmviz.scenes.kit.layout import baseline
from gemmviz.scenes.kit.primitives import Cells, Labels, Scene, points
from gemmviz.scenes.kit.text import wrap_text
from gemmviz.scenes.kit.theme import Theme

# The QR code of a URL as a table of modules, made with segno.

QUIET = 4  # modules of margin (ISO/IEC 18004, 6.3.8)


def qr_modules(url: str) -> npt.NDArray[np.uint8]:
    """Return the modules (n, n) of a code with its margin, 1 for a dark one. Raises UsageError if the text is too long."""
    import segno  # imported here because few pictures have a code

    try:
        code = segno.make_qr(url, error="m", boost_error=True)
    except ValueError:
        raise UsageError(f"a QR code can't hold {len(url)} characters", remedy="use a shorter URL") from None
    return np.array([[module & 1 for module in row] for row in code.matrix_iter(border=QUIET)], np.uint8)


_HIGH, _AIR, _GAP, _TEXT = 128.0, 8.0, 20.0, 22.0
_LINES = 3
_PAPER, _INK = "#FFFFFF", "#000000"  # readers of codes expect dark on light


def link_height(url: str) -> float:
    """Return the height of the space below a picture, 0 without a URL."""
    return _HIGH if url else 0.0


def with_link(scene: Scene, url: str, theme: Theme) -> Scene:
    """Return the scene with the URL and its code below it, ``link_height`` higher. Raises UsageError if the URL is too long."""
    if not url:
        return scene
    modules = qr_modules(url)
    side, top = _HIGH - 2 * _AIR, scene.height
    code = Cells("link-code", MARGIN, top + _AIR, side / len(modules), modules.astype(np.uint8), (_PAPER, _INK), (_INK, _PAPER))
    left = MARGIN + side + _GAP
    lines = wrap_text(url, _TEXT, scene.width - left - MARGIN, _LINES)
    leading = 1.3 * _TEXT
    first = baseline(top + _HIGH / 2 - leading * (len(lines) - 1) / 2, _TEXT)
    at = points(*((left, first + number * leading) for number in range(len(lines))))
    words = Labels("link-text", at, tuple(lines), _TEXT, theme.text)
    return replace(scene, height=scene.height + _HIGH, words=(*scene.words, code, words))
