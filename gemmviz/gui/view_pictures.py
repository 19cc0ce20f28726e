"""Which views a menu offers for what is shown, and small pictures of them, drawn from the views themselves once it is open."""

import sys
from collections.abc import Collection, Mapping
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction, QColor, QIcon, QPixmap

from gemmviz.model.errors import GemmvizError
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import ViewOptions, says_nothing
from gemmviz.session.session import Session
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.subject import remembered_value, subject_of_view

PICTURE, _SCALE, _FRAME = 44, 2, 900  # pixels of a picture's side; times as many on a fine screen; units of its frame


class ViewPictures:
    """The entries of an open menu of views. Pictures are drawn one by one; slow subjects are made in the background."""

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self._missing: dict[str, QAction] = {}  # entries that wait for their picture
        self.worker: LatestTask[tuple[str, Any]] = LatestTask(post, self._on_made, self._on_failed)

    def show(self, entries: Mapping[str, QAction], kept: Collection[str]) -> None:
        """Offer the views that have something to show, and those that are kept; begin to draw their pictures."""
        for name, entry in entries.items():
            entry.setVisible(name in kept or not self._is_empty(name))
            if entry.icon().isNull():
                entry.setIcon(QIcon(_blank(self.session.display.theme)))  # rows keep their heights
        offered = [name for name, entry in entries.items() if entry.isVisible()]
        offered.sort(key=lambda name: subject_of_view(name).is_slow)
        self._missing = {name: entries[name] for name in offered}
        self._go_on()

    @property
    def is_drawing(self) -> bool:
        """Whether pictures of the open menu are missing."""
        return bool(self._missing)

    def stop(self) -> None:
        """Draw nothing more: the menu is closed."""
        self._missing = {}
        self.worker.cancel()

    def _is_empty(self, name: str) -> bool:
        """Whether a view is known to have nothing to show for the present kernel and step."""
        kind, display = subject_of_view(name), self.session.display
        if kind.is_slow or kind.page == "benchmark":
            return False
        value = display.subject_of(kind.kind)
        scene = None if value is None else self._scene(name, value)
        return says_nothing(scene) if scene is not None else display.why_none(kind) != ""

    def _scene(self, name: str, value: Any) -> Scene | None:
        """Return the picture of a view; None for a faulty view, whose error is reported."""
        display = self.session.display
        options = ViewOptions(display.theme, width=_FRAME, height=_FRAME, words=False, counted=display.counted)
        try:
            return view_named(name).scene(value, options)
        except Exception:
            sys.excepthook(*sys.exc_info())
            return None

    def _go_on(self) -> None:
        if self._missing:
            QTimer.singleShot(0, next(iter(self._missing.values())), self._next)

    def _next(self) -> None:
        """Draw the next picture, or have its subject made."""
        if not self._missing:
            return
        name = next(iter(self._missing))
        kind, known = subject_of_view(name), self.session.display.known
        if kind.is_slow:
            self.worker.start(lambda: (name, remembered_value(kind, known)))
        else:
            self._on_made((name, self.session.display.subject_of(kind.kind)))

    def _on_made(self, made: tuple[str, Any]) -> None:
        name, value = made
        entry = self._missing.pop(name, None)
        self._go_on()
        if entry is not None and value is not None and view_named(name).is_ready(value):
            scene = self._scene(name, value)
            entry.setIcon(entry.icon() if scene is None else QIcon(_small(scene)))

    def _on_failed(self, error: GemmvizError) -> None:
        """Leave the first one without a picture."""
        self._missing.pop(next(iter(self._missing)), None)
        self._go_on()


def _blank(theme: Theme) -> QPixmap:
    pixmap = QPixmap(PICTURE, PICTURE)
    pixmap.fill(QColor(theme.background))
    return pixmap


def _small(scene: Scene) -> QPixmap:
    from gemmviz.render.qt.raster import Raster
    from gemmviz.render.reel import Frame, RenderOptions

    side = _SCALE * PICTURE
    pixmap = QPixmap.fromImage(Raster(RenderOptions(side, side)).image(Frame(scene)))
    pixmap.setDevicePixelRatio(_SCALE)
    return pixmap
