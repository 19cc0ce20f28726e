"""Start of the program with a window."""

import ctypes
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from random import randrange

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QObject, QSettings, QTimer, QTranslator
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from gemmviz.files.languages import VARIABLE, languages, use_language
from gemmviz.files.resources import resource
from gemmviz.gui.preferences import Preferences, Store
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.messages import language
from gemmviz.session.playing import Playback
from gemmviz.shots.shot import Shot

_BEFORE_TOUR_MS = 1500
SWITCH_S = 0.0001
_COLLECTING_MS = 250
_ARENA_MAX = -8  # M_ARENA_MAX of glibc's mallopt


def wear_language(app: QCoreApplication, settings: Store) -> None:
    """Use the language that was chosen in the window, unless the environment or the command line names one; also for Qt's own
    texts.
    """
    chosen = Preferences(settings).text("language")
    if VARIABLE not in os.environ and chosen in languages():
        use_language(chosen)
    translator = QTranslator(app)
    if translator.load(f"qtbase_{language()}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(translator)


def share_heap() -> None:
    """Make all threads allocate from one heap. Otherwise each keeps what it has freed: 60 MiB after a few pictures, 150 in the
    end. Does nothing where the C library isn't glibc.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


class Collector(QObject):
    """Collection of garbage in the window's thread, between frames. Python would do it in the middle of a frame, or in another
    thread, which must not delete a widget.
    """

    def __init__(self, parent: QObject, player: Playback) -> None:
        super().__init__(parent)
        self.player = player
        gc.disable()
        gc.freeze()  # the present objects live as long as the program
        self._timer = QTimer(self, interval=_COLLECTING_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        """Collect the generations that Python would, the oldest only while nothing moves."""
        most = 1 if self.player.is_moving else 2
        for generation in range(most, -1, -1):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                gc.collect(generation)
                return


def run_window(path: Path | None = None, shot: Shot | None = None, lesson: str = "", lectures: bool = False) -> int:
    """Show the window and return the exit code of the program.

    The window opens a file, a shot or a shipped lesson; without these it restores the last session. ``lectures`` starts a
    lecture at once. The tour is for a window that was opened without these.
    """
    share_heap()
    gc.disable()  # all that is made now is kept
    app = QApplication.instance() or QApplication(sys.argv[:1])
    app.setApplicationName("gemmviz")
    if isinstance(app, QApplication):
        app.setWindowIcon(QIcon(str(resource("assets/icons/gemmviz.svg"))))
    sys.setswitchinterval(SWITCH_S)  # other threads yield to the window within a millisecond
    settings = QSettings("gemmviz", "gemmviz")
    wear_language(app, settings)
    window = MainWindow(settings)
    window.model.course.draw_from(randrange(1 << 16))
    Collector(window, window.session.player)
    window.start(path, shot, lesson)
    window.show()
    window.session.engines.look()
    if lectures:
        QTimer.singleShot(0, lambda: window.lecture.begin())
    elif not (path or shot or lesson) and window.preferences.text("tour") != "seen":
        QTimer.singleShot(_BEFORE_TOUR_MS, window.offer_tour)
    code = app.exec()
    if not window.has_ended:  # don't wait for work that can't be cancelled in time
        settings.sync()
        os._exit(code)
    return code
