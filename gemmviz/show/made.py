"""What views of a shot alone show, kept up to date: what takes a while is worked out beside what draws."""

from collections.abc import Callable
from typing import Any

from gemmviz.model.launch_case import LaunchCase
from gemmviz.run.engine import Cancel
from gemmviz.show.courses import OF_SHOTS
from gemmviz.show.events import Post
from gemmviz.show.shot import Shot
from gemmviz.show.tasks import Latest

_MOST = 32


class Made:
    """``changed`` is called when more is known."""

    def __init__(self, post: Post, changed: Callable[[], Any]) -> None:
        self._changed = changed
        self.lane: Latest[tuple[Any, Any]] = Latest(post, self._on_made, lambda error: None)
        self._known: dict[Any, Any] = {}
        self._asked: Any = None

    def case(self, kind: type, shot: Shot) -> Any:
        """What views of this kind show of a shot; None as long as it is being worked out, or where there is nothing."""
        if kind is LaunchCase:
            return OF_SHOTS[kind](shot, lambda: False)
        key = kind, repr((shot.setup, shot.against))
        if key not in self._known and self._asked != key:
            self._asked = key

            def work(cancelled: Cancel) -> tuple[Any, Any]:
                return key, OF_SHOTS[kind](shot, cancelled)

            self.lane.start(work)
        return self._known.get(key)

    def _on_made(self, made: tuple[Any, Any]) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[made[0]] = made[1]
        self._changed()
