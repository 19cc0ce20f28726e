"""What is to be said about what is shown: each notice can be closed, and goes when it is no longer true."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from psygnal import Signal

from gemmviz.model.errors import GemmvizError, Place

Topic = Literal["kernel", "result", "hazard", "gpu", "file", "sizes", "benchmark", "elsewhere", "extension"]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a person can have done about it with one click. ``tip``: what that means."""

    title: str
    tip: str
    take: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Notice:
    """``place``: where in the kernel's text. ``warns``: something is wrong, and not only otherwise than one may think."""

    topic: Topic
    text: str
    place: Place | None = None
    warns: bool = True
    offer: Offer | None = None


class Notices:
    """At most one a topic, in the order in which they came. ``changed`` when there are others."""

    changed = Signal()

    def __init__(self) -> None:
        self._by_topic: dict[Topic, Notice] = {}

    @property
    def all(self) -> list[Notice]:
        return list(self._by_topic.values())

    @property
    def place(self) -> Place | None:
        """The place in the kernel's text that the latest notice is about."""
        return next((each.place for each in reversed(self.all) if each.place is not None), None)

    def complain(self, topic: Topic, error: GemmvizError) -> None:
        self.put(Notice(topic, str(error), error.place))

    def put(self, notice: Notice) -> None:
        self._by_topic.pop(notice.topic, None)
        self._by_topic[notice.topic] = notice
        self.changed.emit()

    def drop(self, *topics: Topic) -> None:
        """Removes notices that are no longer true, or that were closed."""
        removed = [self._by_topic.pop(topic) for topic in topics if topic in self._by_topic]
        if removed:
            self.changed.emit()
