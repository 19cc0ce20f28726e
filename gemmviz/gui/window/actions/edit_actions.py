"""Actions that undo, redo and copy."""

from collections.abc import Iterator

from gemmviz.gui.widgets import dialogs
from gemmviz.gui.window.action import Action, needs_picture
from gemmviz.model.translation import tr


def edit_actions() -> Iterator[Action]:
    """Yield the actions of the Edit menu."""
    yield Action(
        "undo", "edit", tr("&Undo"), lambda c: c.model.session.undo(), ("Ctrl+Z",), tr("undo"),
        lambda c: _named(tr("&Undo"), c.model.session.history.undo_name),
        lambda c: "" if c.model.session.history.undo_name is not None else tr("There is nothing to undo"),
    )  # fmt: skip
    yield Action(
        "redo", "edit", tr("&Redo"), lambda c: c.model.session.redo(), ("Ctrl+Shift+Z", "Ctrl+Y"), tr("redo"),
        lambda c: _named(tr("&Redo"), c.model.session.history.redo_name),
        lambda c: "" if c.model.session.history.redo_name is not None else tr("There is nothing to redo"),
    )  # fmt: skip
    yield Action(
        "copy-picture", "edit", tr("&Copy picture"), lambda c: dialogs.copy_frame(c.model), ("Ctrl+C",), tr("copy the picture"),
        why_not=needs_picture, apart=True,
    )  # fmt: skip
    yield Action(
        "copy-command", "edit", tr("Copy as co&mmand line"), lambda c: dialogs.copy_command(c.model), ("Ctrl+Shift+C",),
        tr("copy the command line for this picture"),
    )  # fmt: skip


def _named(word: str, what: str | None) -> str:
    return f"{word} {what}" if what else word
