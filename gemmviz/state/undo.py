"""A generic undo list."""

from typing import Generic, TypeVar

State = TypeVar("State")
_MOST = 200


class Undo(Generic[State]):
    """Entries with the names of the changes that led to them. ``settle`` updates the present entry; ``note`` adds an entry and
    discards the undone ones.
    """

    def __init__(self, first: State) -> None:
        self._entries: list[tuple[State, str]] = [(first, "")]
        self._at = 0

    @property
    def present(self) -> State:
        return self._entries[self._at][0]

    @property
    def undo_name(self) -> str | None:
        """Name of the change that ``undo`` reverts; None if there is none."""
        return self._entries[self._at][1] if self._at else None

    @property
    def redo_name(self) -> str | None:
        return self._entries[self._at + 1][1] if self._at + 1 < len(self._entries) else None

    def settle(self, entry: State) -> None:
        """Update the present entry."""
        self._entries[self._at] = entry, self._entries[self._at][1]

    def note(self, entry: State, name: str) -> None:
        """Add an entry after the change ``name``."""
        del self._entries[self._at + 1 :]
        self._entries.append((entry, name))
        del self._entries[:-_MOST]
        self._at = len(self._entries) - 1

    def undo(self) -> State:
        """Go back one entry, if there is one, and return it."""
        self._at = max(0, self._at - 1)
        return self.present

    def redo(self) -> State:
        self._at = min(len(self._entries) - 1, self._at + 1)
        return self.present
