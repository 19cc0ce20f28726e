"""A cache of subjects for the window; slow ones are computed on a background thread."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.trace import Trace
from gemmviz.model.translation import marked, tr
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

_MOST = 32
WAITING = marked("Computing …")
_NOTHING = marked("This view has nothing to show for this kernel")


class _Entry(Struct, frozen=True, eq=False):
    """A cached value. ``key``: everything that ``value`` depends on. ``trace``: of the run that it belongs to, if it depends on
    one. ``error``: why there is no value.
    """

    kind: type
    key: tuple[Any, ...]
    trace: Trace | None = None
    value: Any = None
    error: GemmvizError | None = None


class SubjectCache:
    """A cache of values of subjects. ``on_change`` is called when a slow value is available or has failed."""

    def __init__(self, post: Post, on_change: Callable[[], Any]) -> None:
        self._on_change = on_change
        self.worker: LatestTask[_Entry] = LatestTask(post, self._add, self._on_failed)
        self._entries: list[_Entry] = []
        self._pending: _Entry | None = None

    def value(self, subject: Subject, shot: Shot, context: Context) -> Any:
        """The value for a shot; None while it is computed, if the context is incomplete, or on failure."""
        entry = self._entry(subject, shot, context)
        return None if entry is None else entry.value

    def put(self, subject: Subject, shot: Shot, context: Context, value: Any) -> None:
        """Add a value that was computed elsewhere."""
        key = _key(subject, shot, context)
        if not any(entry.kind is subject.kind and entry.key == key for entry in self._entries):
            self._add(_Entry(subject.kind, key, _trace(subject, context), value), is_new=False)

    def is_computing(self, subject: Subject, shot: Shot, context: Context) -> bool:
        """Whether the value is being computed; that starts here if it hasn't yet."""
        return self._entry(subject, shot, context) is None

    def missing(self, subject: Subject, shot: Shot, context: Context) -> str:
        """The reason for a missing value: an error, or that it is being computed; "" if the context is incomplete."""
        entry = self._entry(subject, shot, context)
        if entry is None:
            return tr(WAITING)
        if entry.error is not None:
            return str(entry.error)
        return tr(_NOTHING) if subject.is_slow and entry.value is None else ""

    def _entry(self, subject: Subject, shot: Shot, context: Context) -> _Entry | None:
        key = _key(subject, shot, context)
        for entry in self._entries:
            if entry.kind is subject.kind and entry.key == key:
                return entry
        fresh = _Entry(subject.kind, key, _trace(subject, context))
        if not subject.is_slow:
            others = (entry for entry in self._entries if entry.kind is not subject.kind)
            self._entries = [entry for entry in others if entry.trace is None or entry.trace is fresh.trace]
            self._add(_computed(fresh, subject, shot, context), is_new=False)
            return self._entries[-1]
        pending = self._pending
        if pending is None or pending.kind is not subject.kind or pending.key != key:
            self._pending = fresh

            self.worker.start(lambda cancelled: _computed(fresh, subject, shot, context))
        return None

    def _add(self, entry: _Entry, is_new: bool = True) -> None:
        self._entries = [*self._entries[1 - _MOST :], entry]
        if is_new:
            self._pending = None
            self._on_change()

    def _on_failed(self, error: GemmvizError) -> None:
        if self._pending is not None:
            self._add(replace(self._pending, error=error))


def _computed(entry: _Entry, subject: Subject, shot: Shot, context: Context) -> _Entry:
    """The entry with its value, or with the error that prevents it."""
    try:
        return replace(entry, value=subject.make(shot, context))
    except GemmvizError as error:
        return replace(entry, error=error.kept())


def _trace(subject: Subject, context: Context) -> Trace | None:
    """The trace of the run that a value belongs to; None if it doesn't depend on a run."""
    return context.moment.trace if "moment" in subject.needs and context.moment is not None else None


def _key(subject: Subject, shot: Shot, context: Context) -> tuple[Any, ...]:
    """Everything that a value depends on: the shot without position and appearance, and the parts of the context that the
    subject uses.
    """
    chart = shot.chart
    return (
        shot.setup, shot.against, shot.focus.block, shot.trial, chart.source, chart.width, chart.with_host,
        *(getattr(context, name) for name in (*subject.needs, *subject.uses)),
    )  # fmt: skip
