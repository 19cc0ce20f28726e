"""A lecture on a projector that is then unplugged; run as a program of its own, with two screens."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow

app = QApplication([])
window = MainWindow(InMemoryStore(tour="seen"))
window.show()
laptop, projector = app.screens()
window.lecture.begin(with_notes=True)
wall, presenter = window.lecture.wall, window.lecture.presenter
assert wall is not None
assert presenter is not None
app.processEvents()
print("on", wall.screen().name(), wall.width(), wall.height(), "notes on", end=" ")
print(presenter.screen().name(), presenter.width(), presenter.height(), presenter.isFullScreen())
QTest.keyClick(wall, Qt.Key.Key_Right)
app.screenRemoved.emit(projector)
app.processEvents()
print("then on", wall.screen().name(), wall.width(), wall.height(), window.lecture.is_on)
window.close()
