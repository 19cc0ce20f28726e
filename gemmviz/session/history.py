"""Undo history: shots, each with the sizes that were requested for it."""

from gemmviz.state.requested_sizes import RequestedSizes
from gemmviz.state.shot import DRAGGED, Shot
from gemmviz.state.undo import Undo

Entry = tuple[Shot, RequestedSizes]


class History:
    """Named changes that can be undone. Dragging one value is a single change."""

    def __init__(self, present: Entry) -> None:
        self._undo = Undo(present)

    @property
    def undo_name(self) -> str | None:
        """Name of the change that ``undo`` reverts; None if there is none."""
        return self._undo.undo_name

    @property
    def redo_name(self) -> str | None:
        return self._undo.redo_name

    def restart(self, present: Entry) -> None:
        self._undo = Undo(present)

    def leave(self, present: Entry, name: str = "") -> None:
        """Update the present entry before a change of this name."""
        if not name == DRAGGED == self.undo_name:
            self._undo.settle(present)

    def arrive(self, present: Entry, name: str) -> None:
        """Add the entry that results from a change of this name."""
        if name == DRAGGED == self.undo_name:
            self._undo.settle(present)
        else:
            self._undo.note(present, name)

    def undo(self) -> Entry:
        return self._undo.undo()

    def redo(self) -> Entry:
        return self._undo.redo()
