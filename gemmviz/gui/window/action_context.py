"""What commands of the window act on."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QMainWindow

from gemmviz.gui.lecture.lecture_window import Lecture
from gemmviz.gui.stage.replay_page import ReplayPage
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window_model import WindowModel


@dataclass(frozen=True)
class ActionContext:
    """``hide_docks`` is told whether the stage is to be alone; ``start_tour`` begins the tour;
    ``lecture`` shows the picture alone.
    """

    desk: WindowModel
    window: QMainWindow
    docks: Docks
    replay: ReplayPage
    hide_docks: Callable[[bool], None]
    start_tour: Callable[[], None]
    lecture: Lecture
