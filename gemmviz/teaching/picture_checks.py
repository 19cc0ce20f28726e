"""Checks of a step's picture: it has marks, and no text that stands in for something missing."""

from collections.abc import Iterator

import numpy as np

from gemmviz.model.errors import GemmvizError
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Rects, Scene, Squares
from gemmviz.teaching.captions import UNAVAILABLE

_FRAME_KEYS = {"grid", "axes", "here"}  # what a picture without content has too
_CODE = "code"  # keys of the source, which has question marks of its own


def picture_errors(scene: Scene) -> Iterator[GemmvizError]:
    """What is missing in a picture: it has a message instead of content, a value that isn't known, or no marks."""
    for each in scene.all:
        if isinstance(each, Labels) and each.key == "message":
            yield GemmvizError(f"the picture is a message: {' '.join(each.texts)}")
        elif _has_unknown(each):
            yield GemmvizError(f"a value in the picture is unknown: {each.key} reads {UNAVAILABLE}")
    if not any(_is_mark(each) for each in scene.all):
        yield GemmvizError("the picture is empty: it has no cells, marks or curves")


def _has_unknown(each: object) -> bool:
    """Whether a text, or the text of a cell, is a question mark alone."""
    match each:
        case Labels(key=key, texts=texts):
            return not key.startswith(_CODE) and UNAVAILABLE in texts
        case Cells(labels=np.ndarray() as labels) | Squares(labels=np.ndarray() as labels):
            return UNAVAILABLE in labels
    return False


def _is_mark(each: object) -> bool:
    match each:
        case Rects(key=key, boxes=items) | Lines(key=key, segments=items) | Squares(key=key, boxes=items):
            return key not in _FRAME_KEYS and len(items) > 0
        case Cells(fill=fill):
            return fill.size > 0
    return False
