"""The type of the function that hands a call to the thread that owns a session. Signals themselves are psygnal's."""

from collections.abc import Callable

Post = Callable[[Callable[[], None]], None]
