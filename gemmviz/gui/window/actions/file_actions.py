"""Actions on files, on the clipboard and undo, and on the kernel that is shown."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from gemmviz.gui.preferences import MOST_RECENT
from gemmviz.gui.widgets import dialogs
from gemmviz.gui.window.action import Action, ActionContext, needs_picture, needs_time
from gemmviz.model.translation import marked, tr
from gemmviz.render.export import formats

_NO_SAVED_VIEWS = marked("There are no saved views. Press Shift+B to add one")


def file_actions() -> Iterator[Action]:
    """Yield the actions of the File menu."""
    yield Action(
        "start",
        "file",
        tr("Start &page"),
        lambda c: c.start_mode.choose(),
        ("Alt+Home",),
        tr("start page: lessons, own kernels"),
        is_on=lambda c: c.start_mode.is_on,
    )
    yield Action("open", "file", tr("&Open …"), lambda c: dialogs.ask_to_open(c.model, c.window), ("Ctrl+O",), tr("open"))
    yield Action("open-folder", "file", tr("Open &folder …"), lambda c: dialogs.ask_to_open_folder(c.model, c.window))
    for number in range(MOST_RECENT):
        run, text_of, why_not = partial(_open_recent, number), partial(_recent_name, number), partial(_is_no_recent, number)
        yield Action(f"recent-{number}", "file.recent", tr("Recent file"), run, text_of=text_of, why_not=why_not)
    yield Action(
        "reload",
        "file",
        tr("Re&load the kernel's file"),
        lambda c: c.model.opening.reload(),
        ("Ctrl+R",),
        tr("reload your file"),
        why_not=lambda c: "" if c.model.opening.followed else tr("This kernel was not opened from a file"),
    )
    yield Action(
        "save-trace", "file", tr("Save &trace …"), lambda c: dialogs.ask_to_save_trace(c.model, c.window), ("Ctrl+S",),
        tr("save the trace"), why_not=needs_picture, apart=True,
    )  # fmt: skip
    yield Action(
        "save-view", "file", tr("Save &view …"), lambda c: dialogs.ask_to_save_view(c.model, c.window), ("Ctrl+Shift+S",),
        tr("save the current view as a file"),
    )  # fmt: skip
    yield Action(
        "save-lesson", "file", tr("Save &lesson …"), lambda c: dialogs.ask_to_save_lesson(c.model, c.window),
        why_not=lambda c: "" if c.model.saved_views.lesson.steps else tr(_NO_SAVED_VIEWS),
    )  # fmt: skip
    yield Action(
        "export", "file", tr("&Export …"), partial(_open_export, ""), ("Ctrl+E",), tr("export"),
        why_not=needs_picture, apart=True,
    )  # fmt: skip
    for name, text, first, key, description in (
        ("mark-first", tr("&Mark the first step to export"), True, "[", tr("mark the first step to export")),
        ("mark-last", tr("Mar&k the last step to export"), False, "]", tr("mark the last step to export")),
    ):  # fmt: skip
        yield Action(name, "file.export", text, partial(_mark_end, first), (key,), description, why_not=needs_time)
    yield Action("quit", "file", tr("&Quit"), lambda c: c.window.close(), ("Ctrl+Q",), apart=True)


def export_actions() -> Iterator[Action]:
    """Yield one action for each format. All formats are loaded for them."""
    for suffix, each in formats().items():
        run = partial(_open_export, suffix)
        yield Action(f"export-{suffix}", "file.export", f"{tr(each.title)} …", run, why_not=needs_picture)


def _mark_end(first: bool, context: ActionContext) -> None:
    context.model.session.player.mark(first)


def _open_export(suffix: str, context: ActionContext) -> None:
    from gemmviz.gui.export_dialog import ExportDialog

    ExportDialog(context.model, context.window, suffix).open()


def _recent(number: int, context: ActionContext) -> Path | None:
    """Return the file that was opened so many files ago, None if there is none."""
    return dict(enumerate(context.model.preferences.recent)).get(number)


def _open_recent(number: int, context: ActionContext) -> None:
    path = _recent(number, context)
    if path is not None:
        context.model.opening.open(path)


def _recent_name(number: int, context: ActionContext) -> str:
    return str(_recent(number, context) or "").replace("&", "&&")


def _is_no_recent(number: int, context: ActionContext) -> str:
    return tr("No file was opened yet") if _recent(number, context) is None else ""


# Actions that undo, redo and copy.


def edit_actions() -> Iterator[Action]:
    """Yield the actions of the Edit menu."""
    yield Action(
        "undo", "edit", tr("&Undo"), lambda c: c.model.session.undo(), ("Ctrl+Z",), tr("undo"),
        lambda c: _word_and_name(tr("&Undo"), c.model.session.state.history.undo_name),
        lambda c: "" if c.model.session.state.history.undo_name is not None else tr("There is nothing to undo"),
    )  # fmt: skip
    yield Action(
        "redo", "edit", tr("&Redo"), lambda c: c.model.session.redo(), ("Ctrl+Shift+Z", "Ctrl+Y"), tr("redo"),
        lambda c: _word_and_name(tr("&Redo"), c.model.session.state.history.redo_name),
        lambda c: "" if c.model.session.state.history.redo_name is not None else tr("There is nothing to redo"),
    )  # fmt: skip
    yield Action(
        "copy-picture", "edit", tr("&Copy picture"), lambda c: dialogs.copy_frame(c.model), ("Ctrl+C",), tr("copy the picture"),
        why_not=needs_picture, apart=True,
    )  # fmt: skip
    yield Action(
        "copy-command", "edit", tr("Copy as co&mmand line"), lambda c: dialogs.copy_command(c.model), ("Ctrl+Shift+C",),
        tr("copy the command line for this picture"),
    )  # fmt: skip


def _word_and_name(word: str, what: str | None) -> str:
    return f"{word} {what}" if what else word


# Actions on the kernel's text and its launch.


def kernel_actions() -> Iterator[Action]:
    """Yield the actions of the Edit menu on the kernel."""
    yield Action("edit-copy", "edit", tr("Edit a cop&y of the kernel"), lambda c: dialogs.edit_copy(c.model), apart=True)
    yield Action(
        "paste-kernel",
        "edit",
        tr("&Paste a kernel"),
        lambda c: dialogs.paste_kernel(c.model),
        ("Ctrl+Shift+V",),
        tr("paste a kernel"),
    )
    yield Action(
        "edit-launch", "edit", tr("&Launch of the kernel …"), lambda c: c.model.opening.edit_launch(), why_not=_needs_file
    )
    yield Action(
        "insert-header",
        "edit",
        tr("&Insert the launch as header"),
        lambda c: c.model.opening.insert_header(),
        why_not=_needs_plain_file,
    )


def _needs_file(context: ActionContext) -> str:
    return tr("This kernel ships with gemmviz: edit a copy") if context.model.session.shot.setup.kernel.is_shipped else ""


def _needs_plain_file(context: ActionContext) -> str:
    return "" if context.model.opening.can_insert_header else tr("This kernel has a header")
