"""What views of a shot alone show, kept up to date: what takes a while is worked out beside what draws."""

from collections.abc import Callable
from typing import Any

from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.errors import GemmvizError
from gemmviz.model.launch_case import LaunchCase
from gemmviz.run.engine import Cancel
from gemmviz.state.shot import Shot
from gemmviz.subjects.cases import OF_SHOTS

_MOST = 32
WAITING = "Being worked out …"
_NOTHING = "There is nothing to show of this kernel here"


class SubjectCache:
    """``changed`` is called when more is known."""

    def __init__(self, post: Post, changed: Callable[[], Any]) -> None:
        self._changed = changed
        self.lane: LatestTask[tuple[Any, Any]] = LatestTask(post, self._on_made, self._on_failed)
        self._known: dict[Any, Any] = {}
        self._errors: dict[Any, GemmvizError] = {}
        self._asked: Any = None

    def case(self, kind: type, shot: Shot) -> Any:
        """What views of this kind show of a shot; None as long as it is being worked out, or where there is nothing."""
        if kind is LaunchCase:
            return OF_SHOTS[kind](shot, lambda: False)
        key = _key(kind, shot)
        if key not in self._known and key not in self._errors and self._asked != key:
            self._asked = key

            def work(cancelled: Cancel) -> tuple[Any, Any]:
                return key, OF_SHOTS[kind](shot, cancelled)

            self.lane.start(work)
        return self._known.get(key)

    def missing(self, kind: type, shot: Shot) -> str:
        """Why there is nothing to show, or that it is being worked out."""
        key = _key(kind, shot)
        error = self._errors.get(key)
        return str(error) if error is not None else _NOTHING if key in self._known else WAITING

    def _on_made(self, made: tuple[Any, Any]) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[made[0]] = made[1]
        self._changed()

    def _on_failed(self, error: GemmvizError) -> None:
        if len(self._errors) >= _MOST:
            self._errors.clear()
        self._errors[self._asked] = error
        self._changed()


def _key(kind: type, shot: Shot) -> tuple[type, str]:
    """All that what is made depends on."""
    return kind, repr((shot.setup, shot.against, shot.focus.block))
