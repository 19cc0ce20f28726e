"""Everything that a person can command: one table, of which menus, keys and the list of keys are made."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMenu

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.pairing import Lock
from gemmviz.gui.export.export_dialog import ExportDialog
from gemmviz.gui.widgets import dialogs
from gemmviz.gui.window.about import AboutBox
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.gui.window.keys import show_keys
from gemmviz.launch.catalog import lesson_names
from gemmviz.launch.legality import device_for
from gemmviz.model.setting import Setting, settings_of
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.frame import LAYERS
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.state.shot import SYSTEM_THEME, Camera, Shot
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.teaching.lesson_file import lesson_title

_NO_TIME = "This view has no steps: go back to the replay (1)"
_NO_PICTURE = "There is no picture yet"
_TYPE_STEP = 1.25
_LOCKED: dict[Lock, str] = {
    "phase": "In the same &phase", "k": "At the same &k", "step": "At the same &step", "bytes": "After as many &bytes moved",
}  # fmt: skip
_LABELS: dict[str, dict[str, Any]] = {
    "[&row, column] from 0": {"order": "row, column", "first": 0},
    "[&column, row] from 0": {"order": "column, row", "first": 0},
    "[column, row] from &1": {"order": "column, row", "first": 1},
    "Threads (&x, y)": {"thread": "x, y"},
    "Threads (&y, x)": {"thread": "y, x"},
}
_FIRST_OF_COURSE = 30  # views from this place on have a menu of their own, and no key
Test = Callable[[ActionContext], bool]


@dataclass(frozen=True)
class Action:
    """``menu``: where it stands, as "File" or "File|Save frame"; ``keys``: what does it; ``help``: what the list of keys says,
    "" to leave it out. ``text_of`` gives a text that changes; ``why_not`` says why it can't be done now, "" where it can;
    ``is_on``: of what is on or off, or one of several; ``fill``: it is a menu of its own, filled when it opens. ``apart``: a
    line stands above it.
    """

    menu: str
    text: str
    run: Callable[[ActionContext], object] = lambda parts: None
    keys: tuple[str, ...] = ()
    help: str = ""
    text_of: Callable[[ActionContext], str] | None = None
    why_not: Callable[[ActionContext], str] = lambda parts: ""
    is_on: Test | None = None
    fill: Callable[[ActionContext, QMenu], None] | None = None
    apart: bool = False


def actions() -> Iterator[Action]:
    """All of them, in the order of the menus."""
    yield from _files()
    yield from _edits()
    yield from _views()
    yield from _plays()
    yield from _lectures()
    yield from _watches()
    yield Action("Help", "&Keys", lambda parts: show_keys(parts.window, actions()), ("F1",))
    yield Action("Help", "&Tour", lambda parts: parts.start_tour())
    yield Action("Help", "&About gemmviz", lambda parts: AboutBox(parts.window).exec(), apart=True)


# Files


def _files() -> Iterator[Action]:
    yield Action("File", "&Open …", lambda p: dialogs.ask_to_open(p.desk, p.window), ("Ctrl+O",), "open")
    yield Action("File", "Open &recent", fill=_fill_recent)
    yield Action(
        "File",
        "Re&load the kernel's file",
        lambda p: p.desk.opening.reload(),
        ("Ctrl+R",),
        "reload your file",
        why_not=lambda p: "" if p.desk.opening.followed else "This kernel is not from a file of yours",
    )
    yield Action(
        "File",
        "Save &trace …",
        lambda p: dialogs.ask_to_save_trace(p.desk, p.window),
        ("Ctrl+S",),
        "save the trace",
        why_not=_needs_picture,
        apart=True,
    )
    yield Action(
        "File",
        "Save &view …",
        lambda p: dialogs.ask_to_save_view(p.desk, p.window),
        ("Ctrl+Shift+S",),
        "save what is seen, to come back to",
    )
    yield Action(
        "File", "Save &lesson …", lambda p: dialogs.ask_to_save_lesson(p.desk, p.window),
        why_not=lambda p: "" if p.desk.bookmarks.lesson.stops else "No view was kept yet: Shift+B keeps one",
    )  # fmt: skip
    yield Action(
        "File", "&Export …", lambda p: ExportDialog(p.desk, p.window).open(), ("Ctrl+E",), "export", why_not=_needs_picture,
        apart=True,
    )  # fmt: skip
    for suffix, each in formats().items():
        yield Action("File|Export &as", f"{each.title} …", partial(_export, suffix), why_not=_needs_picture)
    yield Action("File", "&Quit", lambda p: p.window.close(), ("Ctrl+Q",), apart=True)


def _export(suffix: str, parts: ActionContext) -> None:
    ExportDialog(parts.desk, parts.window, suffix).open()


def _fill_recent(parts: ActionContext, menu: QMenu) -> None:
    recent = parts.desk.preferences.recent
    for path in recent:
        menu.addAction(str(path), partial(_open, parts, path))
    if not recent:
        menu.addAction("Nothing yet").setEnabled(False)


def _open(parts: ActionContext, path: Path) -> None:
    parts.desk.opening.open(path)


def _needs_picture(parts: ActionContext) -> str:
    return "" if parts.desk.session.display.subject is not None else _NO_PICTURE


# Labels


def _write_labels(changed: dict[str, Any], parts: ActionContext) -> None:
    session = parts.desk.session
    parts.desk.commands.set_labels(replace(session.shot.labels, **changed))


def _writes_labels(changed: dict[str, Any], parts: ActionContext) -> bool:
    labels = parts.desk.session.shot.labels
    return replace(labels, **changed) == labels


# What was done


def _edits() -> Iterator[Action]:
    yield Action(
        "Edit",
        "&Undo",
        lambda p: p.desk.session.undo(),
        ("Ctrl+Z",),
        "undo",
        lambda p: _named("&Undo", p.desk.session.history.undo_name),
        lambda p: "" if p.desk.session.history.undo_name is not None else "Nothing was changed yet",
    )
    yield Action(
        "Edit",
        "&Redo",
        lambda p: p.desk.session.redo(),
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        "redo",
        lambda p: _named("&Redo", p.desk.session.history.redo_name),
        lambda p: "" if p.desk.session.history.redo_name is not None else "Nothing was undone",
    )
    yield Action(
        "Edit",
        "&Copy frame",
        lambda p: dialogs.copy_frame(p.desk),
        ("Ctrl+C",),
        "copy the frame",
        why_not=_needs_picture,
        apart=True,
    )
    yield Action(
        "Edit",
        "Copy as co&mmand line",
        lambda p: dialogs.copy_command(p.desk),
        ("Ctrl+Shift+C",),
        "copy the command that makes this picture",
    )


def _named(word: str, what: str | None) -> str:
    return f"{word} {what}" if what else word


# What is seen


def _views() -> Iterator[Action]:
    shown = {name: view for name, view in views().items() if subject_of_view(name).page == "stage"}
    number = 0
    for name, view in shown.items():
        is_own = view.order < _FIRST_OF_COURSE
        number += is_own
        key = (str(number),) if is_own and number < 10 else ()
        menu = "View" if is_own else "View|&More pictures"
        yield Action(menu, view.title, partial(_show, name), key, "", is_on=partial(_shows, name))
    for name, view in views().items():
        if name in shown:
            continue
        yield Action("View|Benchmark &chart", view.title, partial(_show, name), is_on=partial(_shows, name))
    yield Action(
        "View",
        "&Benchmark",
        lambda p: p.desk.commands.toggle_benchmark(),
        ("Ctrl+B",),
        "benchmark, replay",
        is_on=lambda p: p.desk.session.display.is_benchmark,
    )
    yield Action(
        "View",
        "&Fit",
        lambda p: p.desk.session.navigation.look(Camera()),
        ("F",),
        "see the whole frame",
        why_not=_needs_time,
        apart=True,
    )
    yield Action(
        "View", "&Hold against this", lambda p: p.desk.commands.toggle_comparison(), ("K",), "hold what comes against this",
        text_of=lambda p: "End t&he comparison" if p.desk.session.shot.against else "&Hold against this",
        why_not=_needs_picture, is_on=lambda p: p.desk.session.shot.against is not None, apart=True,
    )  # fmt: skip
    for lock, words in _LOCKED.items():
        yield Action(
            "View|Loc&k the two", words, partial(_lock, lock), is_on=partial(_is_locked, lock),
            why_not=lambda p: "" if p.desk.session.shot.against else "There is one run alone: hold it against another (K)",
        )  # fmt: skip
    yield Action(
        "View", "&Lens or whole", lambda p: p.desk.commands.toggle_lens(), ("Z",), "the lens or the whole",
        why_not=lambda p: _needs_time(p) or _needs_lens(p),
        is_on=lambda p: p.desk.session.display.lens == "lens",
    )  # fmt: skip
    yield from _options()
    for words, changed in _LABELS.items():
        yield Action("View|La&bels", words, partial(_write_labels, changed), is_on=partial(_writes_labels, changed))
    for text, factor, keys in (
        ("Larger wor&ds", _TYPE_STEP, ("Ctrl++", "Ctrl+=")),
        ("Smaller w&ords", 1 / _TYPE_STEP, ("Ctrl+-",)),
    ):
        yield Action("View", text, partial(_scale_type, factor), keys, text.replace("&", "").lower())
    yield Action("View", "F&ull screen", _toggle_full_screen, ("F11",), "full screen", is_on=lambda p: p.window.isFullScreen())
    yield Action(
        "View",
        "&Stage alone",
        lambda p: p.hide_docks(not p.docks.are_hidden),
        ("S",),
        "the stage alone",
        why_not=_needs_time,
        is_on=lambda p: p.docks.are_hidden,
    )
    yield Action(
        "View|&Theme", "Like the &system", partial(_choose_theme, SYSTEM_THEME), is_on=partial(_is_theme, SYSTEM_THEME)
    )
    for name in theme_names():
        yield Action("View|&Theme", load_theme(name).title, partial(_choose_theme, name), is_on=partial(_is_theme, name))
    yield Action("View", "Dark or &light", _toggle_theme, ("Ctrl+D",), "dark or light")
    yield Action("View", "&Panels", fill=_fill_panels, apart=True)
    yield Action("View", "&Reset layout", lambda p: p.docks.reset())


def _needs_lens(parts: ActionContext) -> str:
    return "" if parts.desk.session.display.lens != "auto" else "All of the matrices matters here"


def _options() -> Iterator[Action]:
    """Entries of the drawing options that have one in their Control: a switch, or each choice of several."""
    for setting in (each for each in settings_of(Shot) if each.control.menu):
        text, keys = setting.control.menu, setting.control.keys
        if setting.kind == "switch":
            yield Action(
                "View", text, partial(_toggle_option, setting), keys, text.replace("&", "").lower(), why_not=_needs_time,
                is_on=partial(_has_option, setting, True),
            )  # fmt: skip
        for value, words in setting.choices.items():
            run, is_on = partial(_set_option, setting, value), partial(_has_option, setting, value)
            yield Action(f"View|{text}", words, run, why_not=_needs_time, is_on=is_on)


def _set_option(setting: Setting, value: object, parts: ActionContext) -> None:
    session = parts.desk.session
    session.show(setting.put(session.shot, value))


def _toggle_option(setting: Setting, parts: ActionContext) -> None:
    _set_option(setting, not setting.of(parts.desk.session.shot), parts)


def _has_option(setting: Setting, value: object, parts: ActionContext) -> bool:
    return bool(setting.of(parts.desk.session.shot) == value)


def _show(name: str, parts: ActionContext) -> None:
    parts.desk.commands.show_view(name)


def _shows(name: str, parts: ActionContext) -> bool:
    return parts.desk.session.shot.view == name


def _choose_theme(name: str, parts: ActionContext) -> None:
    parts.desk.commands.choose_theme(name)


def _is_theme(name: str, parts: ActionContext) -> bool:
    return parts.desk.session.shot.theme == name


def _toggle_theme(parts: ActionContext) -> None:
    """The first theme that is as light as this one is dark, or the other way."""
    wanted = not parts.desk.theme.is_dark
    parts.desk.commands.choose_theme(next(name for name in theme_names() if load_theme(name).is_dark == wanted))


def _fill_panels(parts: ActionContext, menu: QMenu) -> None:
    for dock in parts.docks.all.values():
        menu.addAction(dock.toggleViewAction())


def _lock(lock: Lock, parts: ActionContext) -> None:
    session = parts.desk.session
    if session.shot.against is not None:
        parts.desk.commands.compare_with(replace(session.shot.against, lock=lock))


def _is_locked(lock: Lock, parts: ActionContext) -> bool:
    against = parts.desk.session.shot.against
    return against is not None and against.lock == lock


def _scale_type(factor: float, parts: ActionContext) -> None:
    parts.desk.commands.scale_type(factor)


def _toggle_full_screen(parts: ActionContext) -> None:
    parts.window.setWindowState(parts.window.windowState() ^ Qt.WindowState.WindowFullScreen)


# Time


def _plays() -> Iterator[Action]:
    for text, run, keys, what in (
        ("&Play or pause", _press_or_play, ("Space",), "play, pause"),
        ("Play back&wards", lambda p: p.desk.session.player.reverse(not p.desk.session.player.is_backwards), ("R",),
         "play backwards"),
        ("Step &on", lambda p: p.desk.session.player.by(1), ("Right",), "one step on"),
        ("Step &back", lambda p: p.desk.session.player.by(-1), ("Left",), "one step back"),
        ("&Next phase", lambda p: _jump(p, p.desk.session.navigation.phase_start(1)), ("PgDown",), "next phase"),
        ("Pre&vious phase", lambda p: _jump(p, p.desk.session.navigation.phase_start(-1)), ("PgUp",), "previous phase"),
        ("&First step", lambda p: _jump(p, 0), ("Home",), "first step"),
        ("&Last step", lambda p: _jump(p, p.desk.session.player.played.steps - 1), ("End",), "last step"),
        ("Fas&ter", lambda p: p.desk.session.player.faster(1), ("+", "="), "faster"),
        ("&Slower", lambda p: p.desk.session.player.faster(-1), ("-",), "slower"),
    ):  # fmt: skip
        yield Action("Play", text, run, keys, what, why_not=_needs_time)
    for text, first, key, what in (
        ("&Mark the first step to export", True, "[", "mark the first step to export"),
        ("Mar&k the last step to export", False, "]", "mark the last"),
    ):  # fmt: skip
        yield Action("Play", text, partial(_mark, first), (key,), what, why_not=_needs_time, apart=first)
    yield Action(
        "Play",
        "&Animate steps taken by hand",
        lambda p: p.desk.session.player.animate(not p.desk.session.player.is_animated),
        is_on=lambda p: p.desk.session.player.is_animated,
        apart=True,
    )
    yield Action(
        "Play", "Reduce &motion", lambda p: _calm(p), help="fades instead of flights",
        is_on=lambda p: p.desk.session.player.is_calm,
    )  # fmt: skip


def _mark(first: bool, parts: ActionContext) -> None:
    parts.desk.session.player.mark(first)


def _calm(parts: ActionContext) -> None:
    player = parts.desk.session.player
    player.calm(not player.is_calm)
    parts.desk.preferences.put("motion", "calm" if player.is_calm else "")


def _jump(parts: ActionContext, step: int) -> None:
    parts.desk.session.player.jump(step)


def _press_or_play(parts: ActionContext) -> None:
    """Space presses the button and opens the list that has the focus; anywhere else it plays."""
    match QApplication.focusWidget():
        case QAbstractButton() as button:
            button.click()
        case QComboBox() as box:
            box.showPopup()
        case _:
            parts.desk.session.player.toggle()


def _needs_time(parts: ActionContext) -> str:
    return "" if parts.desk.session.display.has_time else _NO_TIME


# Lectures


def _lectures() -> Iterator[Action]:
    yield Action("Lecture", "&Begin", lambda p: p.lecture.begin(), ("F5",), "the lecture: full screen", why_not=_needs_picture)
    yield Action(
        "Lecture", "Begin with &presenter's window", lambda p: p.lecture.begin(with_notes=True), ("Shift+F5",),
        "the lecture with notes", why_not=_needs_picture,
    )  # fmt: skip
    yield Action(
        "Lecture", "&Keep this view", lambda p: p.desk.bookmarks.keep(), ("Shift+B",), "keep this view", apart=True,
        why_not=_needs_picture,
    )  # fmt: skip
    for text, direction, key, what in (
        ("&Next view", 1, "Ctrl+PgDown", "next kept view"), ("Pre&vious view", -1, "Ctrl+PgUp", "previous kept view"),
    ):  # fmt: skip
        yield Action(
            "Lecture", text, partial(_walk, direction), (key,), what,
            why_not=lambda p: "" if p.desk.walked.lesson.stops else "No lesson, and no view was kept yet: Shift+B keeps one",
        )  # fmt: skip
    yield Action(
        "Lecture", "&Open in the workshop, or back", lambda p: p.desk.course.toggle_workshop(), ("Ctrl+Return",),
        "leave the lesson, or come back",
        why_not=lambda p: "" if p.desk.course.lesson.stops else "There is no lesson: choose one under Lessons",
        is_on=lambda p: p.desk.course.is_away,
    )  # fmt: skip
    for name in lesson_names():
        yield Action("Lecture|L&essons", lesson_title(name), partial(_begin_lesson, name), is_on=partial(_is_lesson, name))
    yield Action("Lecture|On &screen", "Wherever the window is", partial(_choose_screen, ""), is_on=partial(_is_screen, ""))
    for screen in QGuiApplication.screens() if QGuiApplication.instance() is not None else ():
        size = screen.geometry()
        title = f"{screen.name() or 'Screen'}, {size.width()} × {size.height()}"
        yield Action(
            "Lecture|On &screen", title, partial(_choose_screen, screen.name()), is_on=partial(_is_screen, screen.name())
        )


def _begin_lesson(name: str, parts: ActionContext) -> None:
    parts.desk.opening.open_lesson(name)


def _is_lesson(name: str, parts: ActionContext) -> bool:
    return bool(parts.desk.course.lesson.stops) and parts.desk.course.lesson.name == name


def _walk(direction: int, parts: ActionContext) -> None:
    parts.desk.walked.walk(direction)


def _choose_screen(name: str, parts: ActionContext) -> None:
    parts.desk.preferences.put("screen", name)


def _is_screen(name: str, parts: ActionContext) -> bool:
    return parts.desk.preferences.text("screen") == name


# Whom to watch


def _watches() -> Iterator[Action]:
    for text, run, key, what in (
        ("Next &warp", _next_warp, "W", "next warp"),
        ("Next &thread", _next_thread, "T", "next thread"),
        ("&All traced blocks", _everyone, "A", "all traced blocks"),
        ("The whole &block", _block_or_window, "Esc", "back to the block; out of full screen"),
        ("Next &layer of colours", _next_layer, "L", "colours: matrix, warp, lane, block, reuse"),
    ):
        yield Action("Watch", text, run, (key,), what, why_not=_needs_time)


def _next_warp(parts: ActionContext) -> None:
    """After the last one the first."""
    session = parts.desk.session
    now, threads = session.shot.focus, session.launch.threads_per_block if session.launch is not None else 1
    warps = -(-threads // device_for(session.shot.setup).warp_size)
    parts.desk.commands.watch(Focus(now.block, 0 if now.warp is None else (now.warp + 1) % warps))


def _next_thread(parts: ActionContext) -> None:
    """After the last one the first."""
    session = parts.desk.session
    now, threads = session.shot.focus, session.launch.threads_per_block if session.launch is not None else 1
    parts.desk.commands.watch(Focus(now.block, None, 0 if now.thread is None else (now.thread + 1) % threads))


def _everyone(parts: ActionContext) -> None:
    session = parts.desk.session
    parts.desk.commands.watch(Focus(session.shot.focus.block, everyone=True))


def _block_or_window(parts: ActionContext) -> None:
    """Out of full screen first."""
    if parts.window.isFullScreen():
        parts.window.setWindowState(parts.window.windowState() & ~Qt.WindowState.WindowFullScreen)
    else:
        session = parts.desk.session
        parts.desk.commands.watch(Focus(session.shot.focus.block))


def _next_layer(parts: ActionContext) -> None:
    session = parts.desk.session
    parts.desk.commands.show_layer(LAYERS[(LAYERS.index(session.shot.layer) + 1) % len(LAYERS)])
