"""Small pictures: of the shipped lessons, which move, of steps and saved views, and of the views in a menu."""

import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs
from psygnal import Signal
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction, QColor, QIcon, QPixmap

from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.model.messages import Cancelled, GemmvizError, checkpoint, is_cancelled
from gemmviz.render.encoding import encode_png
from gemmviz.run.engine import Engine
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import ViewOptions, says_nothing
from gemmviz.session.session import Session
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.lesson_file import shipped_lesson

if TYPE_CHECKING:
    from gemmviz.render.qt.raster import Raster
    from gemmviz.render.reel import Frame
    from gemmviz.teaching.lesson import LessonStep
    from gemmviz.teaching.shelf import LessonFacts

WIDTH, HEIGHT = 256, 144  # pixels
_DELAY_S, _PAUSE_S = 0.6, 0.02  # the first picture of the window comes first; others share the processor
_PATIENCE_S = 2.0  # a window that doesn't paint for so long is gone


class _PicturePainter:
    """Pictures in the colours of ``theme``, which a worker draws and the window's thread paints: pixmaps belong to it."""

    def __init__(self, post: Post) -> None:
        self.theme = ""
        self._post = post
        self.worker: LatestTask[None] = LatestTask(post, lambda _: None, lambda error: None)

    def _painted(self, frame: "Frame") -> bytes:
        """A frame as PNG. Raises Cancelled if the work is cancelled or the window stops painting."""
        images, done = list[bytes](), Event()
        self._post(partial(self._paint, frame, images, done))
        end = time.monotonic() + _PATIENCE_S  # a busy window gets one frame at a time
        while not done.wait(_PAUSE_S):
            if is_cancelled() or time.monotonic() > end:
                raise Cancelled
        time.sleep(_PAUSE_S)
        return images[0]

    def _paint(self, frame: "Frame", images: list[bytes], done: Event) -> None:
        images.append(encode_png(self._raster.array(frame)))
        done.set()

    @cached_property
    def _raster(self) -> "Raster":
        from gemmviz.render.qt.raster import Raster
        from gemmviz.render.reel import RenderOptions

        return Raster(RenderOptions(WIDTH, HEIGHT))


class CardContents(Struct, frozen=True):
    """What a card shows. ``frames``: its moving picture, as PNG files, which take a tenth of the memory of images."""

    facts: "LessonFacts"
    frames: tuple[bytes, ...] = ()


class Thumbnails(_PicturePainter):
    """The contents of the cards by the names of their lessons. ``changed`` carries the name of a lesson whose contents are
    known now.
    """

    changed = Signal(str)

    def __init__(self, post: Post) -> None:
        super().__init__(post)
        self.all: dict[str, CardContents] = {}

    def prepare(self, theme: str) -> None:
        """Begin to prepare all cards in the colours of a theme, unless they are."""
        if theme != self.theme:
            self.theme = theme
            self.worker.start(lambda: self._work(theme), _DELAY_S)

    def _work(self, theme: str) -> None:
        from gemmviz.teaching.shelf import lesson_facts

        cards = [CardContents(lesson_facts(name)) for name in lesson_names()]
        for card in cards:
            self._post(partial(self._keep, theme, card))
        for card in cards:
            self._draw(theme, card)

    def _draw(self, theme: str, card: CardContents) -> None:
        from gemmviz.teaching.shelf import thumbnail_frames

        frames = list[bytes]()
        with suppress(GemmvizError):  # what can't be drawn ends the moving picture
            for frame in thumbnail_frames(shipped_lesson(card.facts.name), theme):
                frames.append(self._painted(frame))
        self._post(partial(self._keep, theme, structs.replace(card, frames=tuple(frames))))

    def _keep(self, theme: str, card: CardContents) -> None:
        if theme == self.theme:
            self.all[card.facts.name] = card
            self.changed.emit(card.facts.name)


def icon_of(picture: QPixmap) -> QIcon:
    """Return a picture as an icon that looks the same when its entry is selected."""
    icon = QIcon(picture)
    icon.addPixmap(picture, QIcon.Mode.Selected)
    return icon


class StepPictures(_PicturePainter):
    """The pictures that are drawn, by shot. ``changed`` carries the shot of a new one."""

    changed = Signal(object)

    def __init__(self, post: Post) -> None:
        super().__init__(post)
        self._drawn: dict[int, tuple[Shot, QPixmap]] = {}

    def of(self, shot: Shot) -> QPixmap | None:
        """The picture of a shot; None if it isn't drawn."""
        found = self._drawn.get(id(shot))
        return None if found is None else found[1]

    def want(self, steps: "Sequence[LessonStep]", theme: str, engine: Engine) -> None:
        """Draw the pictures of these steps, the first one first, and forget all others."""
        if theme != self.theme:
            self.theme, self._drawn = theme, {}
        wanted = {id(step.shot) for step in steps}
        self._drawn = {key: each for key, each in self._drawn.items() if key in wanted}
        missing = [step for step in steps if id(step.shot) not in self._drawn]
        self.worker.start(lambda: self._work(missing, theme, engine))

    def stop(self) -> None:
        """Draw no more pictures."""
        self.worker.cancel()

    def _work(self, steps: "Sequence[LessonStep]", theme: str, engine: Engine) -> None:
        from gemmviz.teaching.shelf import step_frame

        for step in steps:
            checkpoint()
            with suppress(GemmvizError):
                self._post(partial(self._keep, step.shot, self._painted(step_frame(step, theme, engine))))

    def _keep(self, shot: Shot, png: bytes) -> None:
        picture = QPixmap()
        picture.loadFromData(png)
        self._drawn[id(shot)] = shot, picture
        self.changed.emit(shot)


# Which views a menu offers for what is shown, with pictures drawn from the views themselves once it is open.

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
                entry.setIcon(QIcon(_blank_pixmap(self.session.display.theme)))  # rows keep their heights
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
            self.worker.start(lambda: (name, kind.value(known)))
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


def _blank_pixmap(theme: Theme) -> QPixmap:
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
