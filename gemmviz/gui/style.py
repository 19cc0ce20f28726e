"""The colours and fonts of the window, from the theme of the picture."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPalette, QScreen
from PySide6.QtWidgets import QApplication

from gemmviz.render.qt.painter import font
from gemmviz.scenes.kit.theme import Theme, mixed

LETTERS = 13  # pixels
_LEAST_OF_LARGE, _SHARE_OF_LARGE = 1.0, 0.75  # letters grow on a screen far larger than 1920 x 1080 that isn't scaled


def letters_on(screen: QScreen, type_scale: float) -> int:
    """Return the size of the window's letters in pixels, for a screen and a text size relative to the default."""
    size = screen.size()
    large = max(_LEAST_OF_LARGE, _SHARE_OF_LARGE * min(size.width() / 1920, size.height() / 1080))
    return round(LETTERS * large * type_scale)


def first_size(screen: QScreen) -> QSize:
    """Return the size of a window that leaves a margin on a screen, no wider than a picture needs."""
    room = screen.availableSize()
    height = round(0.9 * room.height())
    return QSize(min(round(0.85 * room.width()), round(1.7 * height)), height).expandedTo(QSize(1000, 600)).boundedTo(room)


def system_is_dark(app: QApplication) -> bool:
    """Return whether the desktop uses a dark colour scheme; True if it doesn't say."""
    return app.styleHints().colorScheme() != Qt.ColorScheme.Light


def apply_theme(app: QApplication, theme: Theme, letter_size: int = LETTERS) -> None:
    """Set the colours and letters of all widgets, and reload the few style sheets that refer to the palette.

    A style sheet for the whole application would be shorter, but takes a tenth of a second to change.
    """
    letters = font("regular", letter_size)
    if app.style().objectName().lower() != "fusion" or app.font() != letters:
        app.setStyle("Fusion")
        app.setFont(letters)
        app.setFont(letters, "QDockWidgetTitle")  # type: ignore[arg-type]  # the height of titles follows it
    app.setPalette(_qt_palette(theme))
    for widget in app.allWidgets():
        if sheet := widget.styleSheet():
            widget.setStyleSheet(sheet)


def _qt_palette(theme: Theme) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.panel, role.WindowText: theme.text, role.Base: theme.background, role.AlternateBase: theme.panel,
        role.Text: theme.text, role.Button: theme.panel, role.ButtonText: theme.text, role.ToolTipBase: theme.panel,
        role.ToolTipText: theme.text, role.Highlight: theme.chosen, role.HighlightedText: theme.ink_on(theme.chosen),
        role.PlaceholderText: theme.faint, role.Mid: theme.line, role.Light: mixed(theme.panel, theme.text, 0.2),
        role.Dark: theme.line, role.Midlight: theme.line, role.Link: theme.chosen, role.Accent: theme.chosen,
        role.BrightText: theme.warning,
    }  # fmt: skip
    for which, colour in colours.items():
        palette.setColor(which, QColor(colour))
    for which in (role.Text, role.ButtonText, role.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.faint))
    return palette
