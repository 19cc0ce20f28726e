"""Loading of what the first picture doesn't need, in idle time after it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, QTimer

from gemmviz.files.devices import devices
from gemmviz.files.extensions import Catalog
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window.menus import Menus
from gemmviz.model.errors import GemmvizError
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import views
from gemmviz.source.reader_link import reader
from gemmviz.subjects.catalog import subjects


class Warming(QObject):
    """Starts the reader, loads views, subjects, formats, devices and panels one by one, and completes the menus. ``done`` is
    called in the end, with the errors of what can't be used.
    """

    def __init__(self, parent: QObject, menus: Menus, docks: Docks, done: Callable[[list[GemmvizError]], None]) -> None:
        super().__init__(parent)
        self._parts = self._all(menus, docks)
        self._done = done
        self._docks = docks
        self.has_begun = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._next)

    def start(self, after_ms: int = 0) -> None:
        """Begin now, or later if nothing calls this before. Does nothing after it has begun."""
        if not self.has_begun:
            self._timer.start(after_ms)

    def stop(self) -> None:
        """Load nothing more."""
        self.has_begun = True
        self._timer.stop()

    def _next(self) -> None:
        self.has_begun = True
        self._timer.setInterval(0)
        if next(self._parts, False):
            return
        self._timer.stop()
        self._done([*(error for kind in _catalogs() for error in kind.broken), *self._docks.broken])

    def _all(self, menus: Menus, docks: Docks) -> Iterator[bool]:
        reader().start()
        yield True
        for kind in _catalogs():
            for name in kind.names:
                with suppress(GemmvizError):  # in ``kind.broken``
                    kind[name]
                yield True
        for name in list(docks.panels):
            docks.widgets[name]
            yield True
        menus.complete()


def _catalogs() -> tuple[Catalog[Any], ...]:
    return views(), subjects(), formats(), devices()
