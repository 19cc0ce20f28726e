"""Facts and moving pictures of the shipped lessons, prepared in the background once cards are shown."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from msgspec import Struct
from psygnal import Signal

from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.model.errors import Cancelled, GemmvizError, is_cancelled
from gemmviz.model.records import replace
from gemmviz.render.png import encode_png
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.teaching.lesson_file import shipped_lesson

if TYPE_CHECKING:
    from gemmviz.render.qt.raster import Raster
    from gemmviz.render.reel import Frame
    from gemmviz.teaching.shelf import LessonFacts

WIDTH, HEIGHT = 256, 144  # pixels
_DELAY_S, _PAUSE_S = 0.6, 0.02  # the first picture of the window comes first; others share the processor
_PATIENCE_S = 2.0  # a window that doesn't paint for so long is gone


class CardContents(Struct, frozen=True):
    """What a card shows. ``frames``: its moving picture, as PNG files, which take a tenth of the memory of images."""

    facts: LessonFacts
    frames: tuple[bytes, ...] = ()


class Thumbnails:
    """The contents of the cards by the names of their lessons. ``changed`` carries the name of a lesson whose contents are
    known now.
    """

    changed = Signal(str)

    def __init__(self, post: Post) -> None:
        self.all: dict[str, CardContents] = {}
        self.theme = ""
        self._post = post
        self.worker: LatestTask[None] = LatestTask(post, lambda _: None, lambda error: None)

    def prepare(self, theme: str) -> None:
        """Begin to prepare all cards in the colours of a theme, unless they are."""
        if theme != self.theme:
            self.theme = theme
            self.worker.start(lambda: self._work(theme), _DELAY_S)

    def _work(self, theme: str) -> None:
        from gemmviz.teaching.shelf import lesson_facts

        for name in lesson_names():
            self._put(theme, CardContents(lesson_facts(name)))
        for name in lesson_names():
            self._draw(theme, CardContents(lesson_facts(name)))

    def _draw(self, theme: str, card: CardContents) -> None:
        """Run a lesson's step and have its frames painted, one at a time, by the window's thread: pixmaps belong to it."""
        from gemmviz.render.qt.raster import Raster
        from gemmviz.render.reel import RenderOptions
        from gemmviz.teaching.shelf import thumbnail_frames

        raster, images = Raster(RenderOptions(WIDTH, HEIGHT)), list[bytes]()
        with suppress(GemmvizError):  # a step that can't be run has no picture
            for frame in thumbnail_frames(shipped_lesson(card.facts.name), theme):
                images.append(painted(self._post, raster, frame))
                time.sleep(_PAUSE_S)
        self._post(lambda: self._keep(theme, replace(card, frames=tuple(images))))

    def _put(self, theme: str, card: CardContents) -> None:
        self._post(lambda: self._keep(theme, card))

    def _keep(self, theme: str, card: CardContents) -> None:
        if theme == self.theme:
            self.all[card.facts.name] = card
            self.changed.emit(card.facts.name)


def painted(post: Post, raster: Raster, frame: Frame) -> bytes:
    """A frame as PNG, painted by the window's thread, in which pixmaps belong, while a worker thread waits. Raises Cancelled if
    the work is, or if the window doesn't paint any more.
    """
    images, done = list[bytes](), Event()
    post(partial(_paint, raster, frame, images, done))
    end = time.monotonic() + _PATIENCE_S  # a busy window gets one frame at a time
    while not done.wait(_PAUSE_S):
        if is_cancelled() or time.monotonic() > end:
            raise Cancelled
    return images[0]


def _paint(raster: Raster, frame: Frame, images: list[bytes], done: Event) -> None:
    images.append(encode_png(raster.array(frame)))
    done.set()
