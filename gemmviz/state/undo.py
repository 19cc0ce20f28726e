"""What can be undone: a list of what was shown, and where in it one is."""

from typing import Generic, TypeVar

State = TypeVar("State")
_MOST = 200


class Undo(Generic[State]):
    """Entries with the names of the changes that led to them. ``settle`` keeps the present entry up to date; ``note`` begins
    another one, and forgets what was undone.
    """

    def __init__(self, first: State) -> None:
        self._entries: list[tuple[State, str]] = [(first, "")]
        self._at = 0

    @property
    def present(self) -> State:
        return self._entries[self._at][0]

    @property
    def undo_name(self) -> str | None:
        """What ``undo`` would undo, None for nothing."""
        return self._entries[self._at][1] if self._at else None

    @property
    def redo_name(self) -> str | None:
        return self._entries[self._at + 1][1] if self._at + 1 < len(self._entries) else None

    def settle(self, entry: State) -> None:
        """The present one is this by now."""
        self._entries[self._at] = entry, self._entries[self._at][1]

    def note(self, entry: State, name: str) -> None:
        """Another one than before: ``name`` is what has changed."""
        del self._entries[self._at + 1 :]
        self._entries.append((entry, name))
        del self._entries[:-_MOST]
        self._at = len(self._entries) - 1

    def undo(self) -> State:
        """The entry before, which is the present one from now on; the first one stays."""
        self._at = max(0, self._at - 1)
        return self.present

    def redo(self) -> State:
        self._at = min(len(self._entries) - 1, self._at + 1)
        return self.present
