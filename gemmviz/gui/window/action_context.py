"""The objects that actions of the window work on."""

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtWidgets import QMainWindow

from gemmviz.gui.stage.replay_page import ReplayPage
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window.start_mode import StartMode
from gemmviz.gui.window_model import WindowModel


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
