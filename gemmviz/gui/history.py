"""Undo and redo of settings."""

from collections.abc import Callable

from PySide6.QtGui import QUndoCommand, QUndoStack

from gemmviz.gui.session import Setup


class SetupHistory:
    """``apply`` is called with the setup to go back or on to."""

    def __init__(self, apply: Callable[[Setup], None]) -> None:
        self.stack = QUndoStack()
        self._apply = apply
        self._present: Setup | None = None

    def note(self, setup: Setup) -> None:
        """``setup`` is what is set now; another one than before can be undone."""
        before, self._present = self._present, setup
        if before is not None and before != setup:
            self.stack.push(_Change(self._restore, before, setup))

    def _restore(self, setup: Setup) -> None:
        self._present = setup
        self._apply(setup)


class _Change(QUndoCommand):
    def __init__(self, restore: Callable[[Setup], None], before: Setup, after: Setup) -> None:
        super().__init__(what_changed(before, after))
        self.restore, self.before, self.after = restore, before, after
        self._done = True  # by the person, before it was noted

    def undo(self) -> None:
        self.restore(self.before)

    def redo(self) -> None:
        if self._done:
            self._done = False
        else:
            self.restore(self.after)


def what_changed(before: Setup, after: Setup) -> str:
    """The name of a change, for the menu."""
    if before.spec.name != after.spec.name:
        return f"kernel {after.spec.name}"
    sizes = [f"{n} = {v}" for n, v in after.settings.problem.sizes.items() if before.settings.problem.sizes[n] != v]
    parameters = [f"{n} = {v}" for n, v in after.settings.parameters.items() if before.settings.parameters.get(n) != v]
    if before.device_name != after.device_name:
        parameters.append(f"device {after.device.name}")
    if before.settings.filling != after.settings.filling:
        parameters.append(f"values {after.settings.filling}")
    if before.window != after.window:
        parameters.append("blocks")
    if before.phases != after.phases:
        parameters.append("phases")
    return ", ".join(sizes + parameters) or "settings"
