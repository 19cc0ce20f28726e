"""Command-line syntax of values with several parts: a block, a camera, labels, trial values."""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from gemmviz.model.errors import UsageError
from gemmviz.model.labels import IndexOrder, LabelStyle
from gemmviz.model.records import replace
from gemmviz.model.threads import Triple
from gemmviz.state.shot import Camera, Trial

_TRIED = {"threads": "threads", "registers": "registers", "shared": "shared_bytes"}


class TextForm(Struct, frozen=True):
    """Conversion of a value from and to text. ``parse``: the value from the previous value and the text (a list of texts if the
    flag ``is_repeated``). ``words``: the text of a value.
    """

    parse: Callable[[Any, Any], Any]
    words: Callable[[Any], str | list[str]]
    is_repeated: bool = False


def block_from(text: str) -> Triple:
    """A block index from X,Y or X,Y,Z. Raises UsageError."""
    match = re.fullmatch(r"(\d+),(\d+)(?:,(\d+))?", text)
    if match is None:
        raise UsageError(f"--block {text}: write X,Y")
    return int(match[1]), int(match[2]), int(match[3] or 0)


def block_text(block: Triple) -> str:
    """The text that ``block_from`` reads."""
    x, y, z = block
    return f"{x},{y},{z}" if z else f"{x},{y}"


def _camera(before: Camera, text: str) -> Camera:
    try:
        zoom, x, y = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--camera {text}: write ZOOM,X,Y, such as 4,0.5,0.5") from None
    return Camera(zoom, x, y)


def _camera_text(camera: Camera) -> str:
    return f"{camera.zoom:.6g},{camera.x:.6g},{camera.y:.6g}"


def _trial(trial: Trial, texts: list[str]) -> Trial:
    for text in texts:
        match = re.fullmatch(r"(threads|registers|shared)=(\d+)", text)
        if match is None:
            raise UsageError(f"--try {text}: write threads=N, registers=N or shared=BYTES")
        trial = replace(trial, **{_TRIED[match[1]]: int(match[2])})
    return trial


def _trial_texts(trial: Trial) -> list[str]:
    return [f"{name}={value}" for name, field in _TRIED.items() if (value := getattr(trial, field)) is not None]


def _labels(before: LabelStyle, text: str) -> LabelStyle:
    parts = [part.strip() for part in text.split(",")]
    rest = parts[2:]
    if parts[:2] not in (["row", "column"], ["column", "row"]) or set(rest) - {"0", "1", "yx"} or len(rest) > 2:
        raise UsageError(
            f"labels can't be {text!r}", remedy="write row,column or column,row, optionally followed by ,1 and ,yx"
        )
    order: IndexOrder = "row, column" if parts[0] == "row" else "column, row"
    return LabelStyle(order, int("1" in rest), "y, x" if "yx" in rest else "x, y")


def _labels_text(labels: LabelStyle) -> str:
    return labels.order.replace(" ", "") + (",1" if labels.first else "") + (",yx" if labels.thread == "y, x" else "")


TEXT_FORMS: dict[Any, TextForm] = {
    Camera: TextForm(_camera, _camera_text),
    Trial: TextForm(_trial, _trial_texts, is_repeated=True),
    LabelStyle: TextForm(_labels, _labels_text),
}
