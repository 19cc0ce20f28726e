"""One command of the window, and the menus that commands stand in; and the actions of playing and of files."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMainWindow

from gemmviz.cuda.launch.catalog import MAIN_LESSONS, lesson_names, plan_names
from gemmviz.gui.preferences import MOST_RECENT
from gemmviz.gui.replay_page import ReplayPage
from gemmviz.gui.widgets import dialogs
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window.start_mode import StartMode
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import marked, tr
from gemmviz.model.problem_kind import Setting, settings_of
from gemmviz.render.export import formats
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson_file import lesson_title

# The objects that actions of the window work on.


class ActionContext(Struct, frozen=True):
    """The parts of a window. ``hide_docks`` hides (True) or shows the docks; ``start_tour`` starts the tour.
    ``begin_lecture`` starts the lecture, with notes (True) or without. ``start_mode`` shows the start with its lessons.
    """

    model: WindowModel
    window: QMainWindow
    docks: Docks
    replay: ReplayPage
    hide_docks: Callable[[bool], None]
    start_tour: Callable[[], None]
    begin_lecture: Callable[[bool], None]
    start_mode: StartMode


RunAction = Callable[[ActionContext], object]
Text = Callable[[ActionContext], str]
Test = Callable[[ActionContext], bool]

# Drawing options that have an entry in the View menu
MENU_OPTIONS: tuple[Setting, ...] = tuple(setting for setting in settings_of(Shot) if setting.control.menu)

# Titles of the menus by id; "view.run" is a submenu of "view".
MENUS = {
    "file": marked("&File"),
    "file.recent": marked("Open &recent"),
    "file.export": marked("Export &as"),
    "edit": marked("&Edit"),
    "view": marked("&View"),
    "view.run": marked("&Run, step by step"),
    "view.threads": marked("&Threads and warps"),
    "view.memory": marked("&Memory"),
    "view.device": marked("&Launch and device"),
    "view.speed": marked("&Speed and comparison"),
    "view.benchmark": marked("&Benchmarks"),
    "view.lock": marked("Loc&k runs"),
    "view.picture": marked("&Picture"),
    "view.picture.labels": marked("La&bels"),
    "view.window": marked("&Window"),
    "view.window.theme": marked("&Theme"),
    "view.window.language": marked("Lan&guage"),
    "view.window.panels": marked("&Panels"),
    "play": marked("&Play"),
    "lecture": marked("&Lecture"),
    "lecture.basics": marked("L&essons: basics"),
    "lecture.faster": marked("Lessons: &faster kernels"),
    "lecture.topics": marked("Other &topics"),
    "lecture.plans": marked("&Plans of lectures"),
    "lecture.screen": marked("On &screen"),
    "watch": marked("&Watch"),
    "help": marked("&Help"),
    **{f"view.picture.option-{setting.name}": setting.control.menu for setting in MENU_OPTIONS if setting.choices},
}
# The menus of views, in the order of the hundreds of their ``order``
VIEW_MENUS = ("view.run", "view.threads", "view.memory", "view.device", "view.speed", "view.benchmark")


class Action(Struct, frozen=True):
    """An entry of a menu. It is identified by ``id``; ``text`` is only displayed.

    ``menu`` is the id of its menu in ``MENUS``, ``keys`` are its shortcuts, and ``help`` is its line in the list of shortcuts
    ("" leaves it out). ``text_of`` returns a text that depends on the state, "" to hide the entry. ``why_not`` returns why the
    action is disabled, "" if it is enabled. ``is_on`` makes it checkable. ``apart`` puts a separator above it.
    """

    id: str
    menu: str
    text: str
    run: RunAction = lambda context: None
    keys: tuple[str, ...] = ()
    help: str = ""
    text_of: Text | None = None
    why_not: Text = lambda context: ""
    is_on: Test | None = None
    apart: bool = False


def needs_picture(context: ActionContext) -> str:
    """Return why an action on the picture is disabled, "" if there is a picture."""
    return "" if context.model.session.display.subject is not None else tr("There is no picture yet")


def needs_time(context: ActionContext) -> str:
    """Return why an action on steps is disabled, "" if the view has steps."""
    return "" if context.model.session.display.has_time else tr("This view has no steps. Press 1 to go back to the replay")


# Actions of playback and of lectures.

_OF_LOOPS = {"next-phase": marked("&Next trip of the loop"), "previous-phase": marked("Pre&vious trip of the loop")}


def play_actions() -> Iterator[Action]:
    """Yield the actions of the Play menu."""
    for name, text, run, keys, description in (
        ("play", tr("&Play or pause"), _press_or_play, ("Space",), tr("play, pause")),
        ("play-backwards", tr("Play back&wards"), _play_backwards, ("R",), tr("play backwards")),
        ("step-forward", tr("Step &forward"), partial(_move_by, 1), ("Right", "."), tr("one step forward")),
        ("step-back", tr("Step &back"), partial(_move_by, -1), ("Left", ","), tr("one step back")),
        ("next-phase", tr("&Next phase"), partial(_jump_phase, 1), ("PgDown",), tr("next phase")),
        ("previous-phase", tr("Pre&vious phase"), partial(_jump_phase, -1), ("PgUp",), tr("previous phase")),
        ("first-step", tr("F&irst step"), lambda c: c.model.session.player.jump(0), ("Home",), tr("first step")),
        ("last-step", tr("&Last step"), _jump_to_end, ("End",), tr("last step")),
        ("faster", tr("Fas&ter"), lambda c: c.model.session.player.faster(1), ("+", "="), tr("faster")),
        ("slower", tr("&Slower"), lambda c: c.model.session.player.faster(-1), ("-",), tr("slower")),
    ):  # fmt: skip
        yield Action(name, "play", text, run, keys, description, partial(_text_for_run, name, text), needs_time)
    yield Action(
        "tile-size",
        "play",
        tr("T&ile size"),
        lambda c: c.replay.tiles.slider.setFocus(),
        ("I",),
        tr("tile size, then the arrow keys"),
        why_not=lambda c: "" if c.replay.tiles.isVisible() else tr("This picture has no tile size to change"),
        apart=True,
    )
    yield Action(
        "animate", "play", tr("&Animate single steps"),
        lambda c: c.model.session.player.animate(not c.model.session.player.is_animated),
        is_on=lambda c: c.model.session.player.is_animated, apart=True,
    )  # fmt: skip
    yield Action(
        "reduce-motion", "view.window", tr("R&educe motion"), _toggle_motion, help=tr("Fade copies in instead of moving them"),
        is_on=lambda c: c.model.session.player.is_calm,
    )  # fmt: skip


def _text_for_run(name: str, text: str, context: ActionContext) -> str:
    """Return the text of an action for the shown run: without barriers, a kernel has trips of its loop instead of phases."""
    run = context.model.session.completion.run
    return text if name not in _OF_LOOPS or run is None or run.replay.has_phases else tr(_OF_LOOPS[name])


def _press_or_play(context: ActionContext) -> None:
    """Press the button or open the list that has the focus; otherwise play or pause."""
    match QApplication.focusWidget():
        case QAbstractButton() as button:
            button.click()
        case QComboBox() as box:
            box.showPopup()
        case _:
            context.model.session.player.toggle()


def _play_backwards(context: ActionContext) -> None:
    player = context.model.session.player
    player.reverse(not player.is_backwards)


def _move_by(count: int, context: ActionContext) -> None:
    context.model.session.player.step_by(count)


def _jump_phase(count: int, context: ActionContext) -> None:
    session = context.model.session
    session.player.jump(session.navigation.phase_start(count))


def _jump_to_end(context: ActionContext) -> None:
    player = context.model.session.player
    player.jump(player.played.steps - 1)


def _toggle_motion(context: ActionContext) -> None:
    player = context.model.session.player
    player.set_calm(not player.is_calm)
    context.model.preferences.put("motion", "calm" if player.is_calm else "")


# Actions of lectures, lessons and saved views.

_NOTHING_TO_WALK = marked("There is no lesson and no saved view. Press Shift+B to save one")
_NO_LESSON = marked("There is no lesson. Choose one in the Lessons panel")


def lecture_actions() -> Iterator[Action]:
    """Yield the actions of the Lecture menu."""
    yield Action(
        "lecture",
        "lecture",
        tr("&Begin"),
        lambda c: c.begin_lecture(False),
        ("F5",),
        tr("start the lecture"),
        why_not=needs_picture,
    )
    yield Action(
        "presenter", "lecture", tr("Begin with &presenter view"), lambda c: c.begin_lecture(True), ("Shift+F5",),
        tr("start the lecture with the presenter view"), why_not=needs_picture,
    )  # fmt: skip
    yield Action(
        "add-saved-view", "lecture", tr("&Add to saved views"), lambda c: c.model.saved_views.keep(), ("Shift+B",),
        tr("add to the saved views"), why_not=needs_picture, apart=True,
    )  # fmt: skip
    for name, text, direction, key, description in (
        ("next-view", tr("&Next view"), 1, "Ctrl+PgDown", tr("next saved view")),
        ("previous-view", tr("Pre&vious view"), -1, "Ctrl+PgUp", tr("previous saved view")),
    ):
        yield Action(
            name, "lecture", text, partial(_walk, direction), (key,), description,
            why_not=lambda c: "" if c.model.active_lesson.lesson.steps else tr(_NOTHING_TO_WALK),
        )  # fmt: skip
    yield Action(
        "explore", "lecture", tr("E&xplore"), lambda c: c.model.course.toggle_explore(), ("Ctrl+Return",),
        tr("explore, or return to the lesson"),
        text_of=lambda c: tr("Return to the &lesson") if c.model.course.position.is_away else tr("E&xplore"),
        why_not=lambda c: "" if c.model.course.lesson.steps else tr(_NO_LESSON),
        is_on=lambda c: c.model.course.position.is_away,
    )  # fmt: skip
    menus = {name: menu for menu, names in {**MAIN_LESSONS, "plans": plan_names()}.items() for name in names}
    for name in lesson_names():
        run, is_on = partial(_open_lesson, name), partial(_is_lesson, name)
        yield Action(f"lesson-{name}", f"lecture.{menus.get(name, 'topics')}", lesson_title(name), run, is_on=is_on)
    yield from _screens()


def _screens() -> Iterator[Action]:
    titles = {"": tr("Same screen as the window")}
    for screen in QGuiApplication.screens() if QGuiApplication.instance() is not None else ():
        size = screen.geometry()
        titles[screen.name()] = f"{screen.name() or tr('Screen')}, {size.width()} × {size.height()}"
    for name, title in titles.items():
        run, is_on = partial(_choose_screen, name), partial(_is_screen, name)
        yield Action(f"screen-{name}", "lecture.screen", title, run, is_on=is_on)


def _open_lesson(name: str, context: ActionContext) -> None:
    context.model.opening.open_lesson(name)


def _is_lesson(name: str, context: ActionContext) -> bool:
    return bool(context.model.course.lesson.steps) and context.model.course.lesson.name == name


def _walk(direction: int, context: ActionContext) -> None:
    context.model.active_lesson.walk(direction)


def _choose_screen(name: str, context: ActionContext) -> None:
    context.model.preferences.put("screen", name)


def _is_screen(name: str, context: ActionContext) -> bool:
    return context.model.preferences.text("screen") == name


# Actions on files, on the clipboard and undo, and on the kernel that is shown.

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
