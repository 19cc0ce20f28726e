"""Notices about the displayed run: each can be dismissed, and is removed when it no longer applies."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from psygnal import Signal

from gemmviz.model.errors import GemmvizError, Place
from gemmviz.model.translation import tr

Topic = Literal["kernel", "result", "hazard", "gpu", "file", "sizes", "benchmark", "elsewhere", "extension"]


class Offer(Struct, frozen=True):
    """An action that a notice offers. ``tip``: its consequences."""

    title: str
    tip: str
    take: Callable[[], object]


class Notice(Struct, frozen=True):
    """One notice. ``place``: position in the kernel's text. ``warns``: a warning, otherwise information."""

    topic: Topic
    text: str
    place: Place | None = None
    warns: bool = True
    offer: Offer | None = None


class Notices:
    """The current notices, at most one per topic, oldest first. ``changed`` is emitted when they change."""

    changed = Signal()

    def __init__(self) -> None:
        self._by_topic: dict[Topic, Notice] = {}

    @property
    def all(self) -> list[Notice]:
        return list(self._by_topic.values())

    @property
    def place(self) -> Place | None:
        """The position in the kernel's text of the latest notice that has one."""
        return next((each.place for each in reversed(self.all) if each.place is not None), None)

    def complain(self, topic: Topic, error: GemmvizError) -> None:
        self.put(Notice(topic, str(error), error.place))

    def put(self, notice: Notice) -> None:
        self._by_topic.pop(notice.topic, None)
        self._by_topic[notice.topic] = notice
        self.changed.emit()

    def drop(self, *topics: Topic) -> None:
        """Remove notices that no longer apply or were dismissed."""
        removed = [self._by_topic.pop(topic) for topic in topics if topic in self._by_topic]
        if removed:
            self.changed.emit()


# Notices that offer to run a kernel from an untrusted source.


def gpu_offer(allow: Callable[[], object]) -> Notice:
    """Notice that an untrusted kernel runs in the interpreter, with an offer to run it on the GPU."""
    what = tr("Compiles this source and runs it unmodified on the GPU, repeatedly to time it")
    risk = tr("a faulty kernel can hang the GPU for a while, for other programs too")
    offer = Offer(
        tr("Run on the GPU"),
        tr("{what}. Caution: {risk}. This permission is remembered for exactly this source.", what=what, risk=risk),
        allow,
    )
    text = tr("This kernel doesn't ship with gemmviz: it runs in the interpreter, which accesses neither files nor the network")
    return Notice("elsewhere", text, warns=False, offer=offer)


def run_offer(run: Callable[[], object]) -> Notice:
    """Notice that a recorded run is displayed, with an offer to run its kernel."""
    tip = tr("Runs the kernel in this file, which adds thread variables and counts of the whole launch")
    return Notice(
        "elsewhere", tr("Shown as it was recorded: nothing was run"), warns=False, offer=Offer(tr("Run it here"), tip, run)
    )
