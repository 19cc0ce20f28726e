"""One command of the window, and the menus that commands stand in."""

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtWidgets import QMainWindow

from gemmviz.gui.stage.replay_page import ReplayPage
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window.start_mode import StartMode
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.problem_kind import Setting, settings_of
from gemmviz.model.translation import marked, tr
from gemmviz.shots.shot import Shot

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
