"""Preferences that persist between sessions: layout, speed, the last shot, recent files."""

import math
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QByteArray

from gemmviz.files.resources import is_file
from gemmviz.model.messages import GemmvizError
from gemmviz.shots.shot import Shot, parse_shot, shot_text
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson

MOST_RECENT = 8


class Store(Protocol):
    """The part of QSettings' interface that preferences use."""

    def value(self, key: str, default: Any = None) -> Any: ...
    def setValue(self, key: str, value: Any) -> None: ...


class InMemoryStore(dict[str, Any]):
    """A store that lasts for this run only."""

    def value(self, key: str, default: Any = None) -> Any:
        return self.get(key, default)

    def setValue(self, key: str, value: Any) -> None:
        self[key] = value


class Preferences:
    """Typed access to a store. Values that are damaged or out of date count as missing."""

    def __init__(self, store: Store | None = None) -> None:
        self.store: Store = store if store is not None else InMemoryStore()

    def text(self, key: str, default: str = "") -> str:
        return str(self.store.value(key, default) or default)

    def number(self, key: str, default: float) -> float:
        try:
            value = float(self.store.value(key, default))
        except (TypeError, ValueError, OverflowError):
            return default
        return value if math.isfinite(value) else default

    def data(self, key: str) -> QByteArray:
        value = self.store.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def put(self, key: str, value: Any) -> None:
        self.store.setValue(key, value)

    @property
    def recent(self) -> list[Path]:
        """Recently opened files that still exist, latest first."""
        return [Path(name) for name in self._list("recent") if is_file(Path(name))][:MOST_RECENT]

    def add_recent(self, path: Path) -> None:
        path = path.resolve()
        latest = [path, *(each for each in self.recent if each != path)]
        self.put("recent", [str(each) for each in latest[:MOST_RECENT]])

    @property
    def trusted(self) -> tuple[str, ...]:
        """Keys of ``Trust`` of the kernels that the user allows to run on the GPU."""
        return tuple(self._list("trusted"))

    @property
    def last_open(self) -> list[str]:
        """Ids of the panels that were open last."""
        return self._list("panels")

    @property
    def seen(self) -> tuple[str, ...]:
        """Lesson steps that were shown, as ``LESSON/ID``."""
        return tuple(self._list("seen"))

    def _list(self, key: str) -> list[str]:
        """A list from the store; QSettings returns a list of one entry as text and an empty one as None."""
        value = self.store.value(key) or []
        return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]

    def keep_shot(self, shot: Shot) -> None:
        self.put("shot", shot_text(shot))

    def keep_lesson(self, lesson: Lesson) -> None:
        self.put("lesson", lesson_text(lesson) if lesson.steps else "")

    def last_lesson(self) -> Lesson:
        """The lesson of the last session; an empty lesson if it can't be read any more."""
        try:
            return parse_lesson(self.text("lesson")) if self.text("lesson") else Lesson()
        except GemmvizError:
            return Lesson()

    def last_shot(self) -> Shot | None:
        """The shot of the last session, None if there is none. Raises GemmvizError if it can't be read any more."""
        text = self.text("shot")
        return parse_shot(text) if text else None
