"""The thread that owns a session, and how others hand work to it. Signals themselves are psygnal's."""

from collections.abc import Callable

Post = Callable[[Callable[[], None]], None]
