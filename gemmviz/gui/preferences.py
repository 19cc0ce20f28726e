"""What the program remembers from one start to the next: layout, speed, the last shot, recent files."""

import math
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QByteArray

from gemmviz.files.whole import is_file
from gemmviz.model.errors import GemmvizError
from gemmviz.state.shot import Shot, parse_shot, shot_text
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson

_MOST_RECENT = 8


class Store(Protocol):
    """What QSettings has of all that is needed here."""

    def value(self, key: str, default: Any = None) -> Any: ...
    def setValue(self, key: str, value: Any) -> None: ...


class InMemoryStore(dict[str, Any]):
    """Keeps things for this run only."""

    def value(self, key: str, default: Any = None) -> Any:
        return self.get(key, default)

    def setValue(self, key: str, value: Any) -> None:
        self[key] = value


class Preferences:
    """A view on a store. What is damaged or out of date there is as if it had never been kept."""

    def __init__(self, store: Store | None = None) -> None:
        self.store: Store = store if store is not None else InMemoryStore()

    def text(self, key: str, default: str = "") -> str:
        return str(self.store.value(key, default) or default)

    def number(self, key: str, default: float) -> float:
        try:
            found = float(self.store.value(key, default))
        except (TypeError, ValueError, OverflowError):
            return default
        return found if math.isfinite(found) else default

    def data(self, key: str) -> QByteArray:
        found = self.store.value(key)
        return found if isinstance(found, QByteArray) else QByteArray()

    def put(self, key: str, value: Any) -> None:
        self.store.setValue(key, value)

    @property
    def recent(self) -> list[Path]:
        """Files that were opened, the latest first; those that are gone are left out."""
        return [Path(name) for name in self._list("recent") if is_file(Path(name))][:_MOST_RECENT]

    def add_recent(self, path: Path) -> None:
        path = path.resolve()
        latest = [path, *(each for each in self.recent if each != path)]
        self.put("recent", [str(each) for each in latest[:_MOST_RECENT]])

    @property
    def trusted(self) -> tuple[str, ...]:
        """The kernels that a person lets run on the GPU, by what ``Trust`` knows them by."""
        return tuple(self._list("trusted"))

    @property
    def seen(self) -> tuple[str, ...]:
        """The steps of lessons that were shown, by "LESSON/ID"."""
        return tuple(self._list("seen"))

    def _list(self, key: str) -> list[str]:
        """What QSettings gives back of a list: one text where there is one entry, None where there is none."""
        found = self.store.value(key) or []
        return [str(each) for each in found] if isinstance(found, list | tuple) else [str(found)]

    def keep_shot(self, shot: Shot) -> None:
        self.put("shot", shot_text(shot))

    def keep_lesson(self, lesson: Lesson) -> None:
        self.put("lesson", lesson_text(lesson) if lesson.stops else "")

    def last_lesson(self) -> Lesson:
        """The views that were kept the last time; none where they can't be had any more."""
        try:
            return parse_lesson(self.text("lesson")) if self.text("lesson") else Lesson()
        except GemmvizError:
            return Lesson()

    def last_shot(self) -> Shot | None:
        """The shot of the last time, None where there is none. Raises GemmvizError where it can't be had any more."""
        text = self.text("shot")
        return parse_shot(text) if text else None
