"""How a session tells what has changed, to whoever listens."""

from collections.abc import Callable
from typing import Any

Post = Callable[[Callable[[], None]], None]


class Event:
    """Calls its listeners in the order in which they came, on the thread that tells."""

    def __init__(self) -> None:
        self._listeners: list[Callable[..., Any]] = []

    def listen(self, listener: Callable[..., Any]) -> None:
        self._listeners.append(listener)

    def tell(self, *facts: Any) -> None:
        for listener in tuple(self._listeners):
            listener(*facts)
