"""Small pictures of the steps of a lesson and of saved views, drawn in the background while a list shows them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from psygnal import Signal
from PySide6.QtGui import QIcon, QPixmap

from gemmviz.gui.thumbnails import HEIGHT, WIDTH, painted
from gemmviz.model.errors import GemmvizError, checkpoint
from gemmviz.run.engine import Engine
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.shot import Shot

if TYPE_CHECKING:
    from gemmviz.teaching.lesson import LessonStep

_PAUSE_S = 0.03  # after each picture: others share the processor


def icon_of(picture: QPixmap) -> QIcon:
    """Return a picture as an icon that looks the same when its entry is selected."""
    icon = QIcon(picture)
    icon.addPixmap(picture, QIcon.Mode.Selected)
    return icon


class StepPictures:
    """The pictures that are drawn, by shot. ``changed`` carries the shot of a new one."""

    changed = Signal(object)

    def __init__(self, post: Post) -> None:
        self._post = post
        self._theme = ""
        self._drawn: dict[int, tuple[Shot, QPixmap]] = {}
        self.worker: LatestTask[None] = LatestTask(post, lambda _: None, lambda error: None)

    def of(self, shot: Shot) -> QPixmap | None:
        """The picture of a shot; None if it isn't drawn."""
        found = self._drawn.get(id(shot))
        return None if found is None else found[1]

    def want(self, steps: Sequence[LessonStep], theme: str, engine: Engine) -> None:
        """Draw the pictures of these steps, the first one first, and forget all others."""
        if theme != self._theme:
            self._theme, self._drawn = theme, {}
        wanted = {id(step.shot) for step in steps}
        self._drawn = {key: each for key, each in self._drawn.items() if key in wanted}
        missing = [step for step in steps if id(step.shot) not in self._drawn]
        self.worker.start(lambda: self._work(missing, theme, engine))

    def stop(self) -> None:
        """Draw no more pictures."""
        self.worker.cancel()

    def _work(self, steps: Sequence[LessonStep], theme: str, engine: Engine) -> None:
        from gemmviz.render.qt.raster import Raster
        from gemmviz.render.reel import RenderOptions
        from gemmviz.teaching.shelf import step_frame

        raster = Raster(RenderOptions(WIDTH, HEIGHT))
        for step in steps:
            checkpoint()
            with suppress(GemmvizError):  # a step that can't be shown has no picture
                self._keep(step.shot, painted(self._post, raster, step_frame(step, theme, engine)))
            time.sleep(_PAUSE_S)

    def _keep(self, shot: Shot, png: bytes) -> None:
        def keep() -> None:
            picture = QPixmap()
            picture.loadFromData(png)
            self._drawn[id(shot)] = shot, picture
            self.changed.emit(shot)

        self._post(keep)
