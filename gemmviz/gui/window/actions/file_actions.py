"""Actions that open, save and export."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QMenu

from gemmviz.gui.export.export_dialog import ExportDialog
from gemmviz.gui.widgets import dialogs
from gemmviz.gui.window.action import Action, needs_picture
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.render.export import formats

_NO_SAVED_VIEWS = "There are no saved views. Press Shift+B to add one"


def file_actions() -> Iterator[Action]:
    """Yield the actions of the File menu."""
    yield Action(
        "start", "file", "Start &page", lambda c: c.start_mode.choose(), ("Alt+Home",), "start page: lessons, own kernels",
        is_on=lambda c: c.start_mode.is_on,
    )  # fmt: skip
    yield Action("open", "file", "&Open …", lambda c: dialogs.ask_to_open(c.model, c.window), ("Ctrl+O",), "open")
    yield Action("open-folder", "file", "Open &folder …", lambda c: dialogs.ask_to_open_folder(c.model, c.window))
    yield Action("recent", "file", "Open &recent", fill=_fill_recent)
    yield Action(
        "reload", "file", "Re&load the kernel's file", lambda c: c.model.opening.reload(), ("Ctrl+R",), "reload your file",
        why_not=lambda c: "" if c.model.opening.followed else "This kernel was not opened from a file",
    )  # fmt: skip
    yield Action(
        "save-trace", "file", "Save &trace …", lambda c: dialogs.ask_to_save_trace(c.model, c.window), ("Ctrl+S",),
        "save the trace", why_not=needs_picture, apart=True,
    )  # fmt: skip
    yield Action(
        "save-view", "file", "Save &view …", lambda c: dialogs.ask_to_save_view(c.model, c.window), ("Ctrl+Shift+S",),
        "save the current view as a file",
    )  # fmt: skip
    yield Action(
        "save-lesson", "file", "Save &lesson …", lambda c: dialogs.ask_to_save_lesson(c.model, c.window),
        why_not=lambda c: "" if c.model.saved_views.lesson.stops else _NO_SAVED_VIEWS,
    )  # fmt: skip
    yield Action(
        "export", "file", "&Export …", lambda c: ExportDialog(c.model, c.window).open(), ("Ctrl+E",), "export",
        why_not=needs_picture, apart=True,
    )  # fmt: skip
    for suffix, each in formats().items():
        run = partial(_export, suffix)
        yield Action(f"export-{suffix}", "file.export", f"{each.title} …", run, why_not=needs_picture)
    yield Action("quit", "file", "&Quit", lambda c: c.window.close(), ("Ctrl+Q",), apart=True)


def _export(suffix: str, context: ActionContext) -> None:
    ExportDialog(context.model, context.window, suffix).open()


def _fill_recent(context: ActionContext, menu: QMenu) -> None:
    recent = context.model.preferences.recent
    for path in recent:
        menu.addAction(str(path), partial(_open, context, path))
    if not recent:
        menu.addAction("No recent files").setEnabled(False)


def _open(context: ActionContext, path: Path) -> None:
    context.model.opening.open(path)
