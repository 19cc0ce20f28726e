"""Pictures of the lessons' cards, painted by the window's thread."""

from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.gui import small_pictures
from gemmviz.gui.small_pictures import CardContents, Thumbnails
from gemmviz.render.qt.raster import Raster
from gemmviz.teaching import shelf
from gemmviz.teaching.shelf import lesson_facts


def test_a_busy_window_gets_one_frame_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[Any] = []
    most = 0

    def post(action: Any) -> None:
        waiting.append(action)

    def pause(seconds: float) -> None:
        nonlocal most
        most = max(most, len(waiting))
        while waiting:
            waiting.pop(0)()

    class Lazy(Event):
        """The window paints only when somebody waits for it."""

        def wait(self, timeout: float | None = None) -> bool:
            pause(0.0)
            return self.is_set()

    monkeypatch.setattr(small_pictures, "Event", Lazy)
    monkeypatch.setattr(small_pictures, "time", SimpleNamespace(sleep=lambda seconds: None, monotonic=lambda: 0.0))
    monkeypatch.setattr(shelf, "thumbnail_frames", lambda lesson, theme: iter(range(5)))
    monkeypatch.setattr(Raster, "array", lambda _, frame: frame)
    monkeypatch.setattr(small_pictures, "encode_png", lambda frame: frame)
    cards = Thumbnails(post)
    cards.theme = "dark"
    name = lesson_names()[0]
    cards._draw("dark", CardContents(lesson_facts(name)))
    pause(0.0)
    assert cards.all[name].frames == tuple(range(5))  # type: ignore[comparison-overlap]
    assert most == 1
