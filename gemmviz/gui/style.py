"""The colours and fonts of the window, from the theme of the picture."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from gemmviz.render.qt.fonts import font
from gemmviz.scenes.kit.theme import Theme, mixed

_LETTERS = 13  # pixels


def system_is_dark(app: QApplication) -> bool:
    """Return whether the desktop uses a dark colour scheme; True if it doesn't say."""
    return app.styleHints().colorScheme() != Qt.ColorScheme.Light


def apply_theme(app: QApplication, theme: Theme, type_scale: float = 1.0) -> None:
    """Set the colours of all widgets through the palette, and reload the few style sheets that refer to it. ``type_scale``: the
    size of all text relative to the usual one.

    A style sheet for the whole application would be shorter, but takes a tenth of a second to change.
    """
    letters = font("regular", _LETTERS * type_scale)
    if app.style().objectName().lower() != "fusion" or app.font() != letters:
        app.setStyle("Fusion")
        app.setFont(letters)
    app.setPalette(_palette(theme))
    for widget in app.allWidgets():
        if sheet := widget.styleSheet():
            widget.setStyleSheet(sheet)


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.panel, role.WindowText: theme.text, role.Base: theme.background, role.AlternateBase: theme.panel,
        role.Text: theme.text, role.Button: theme.panel, role.ButtonText: theme.text, role.ToolTipBase: theme.panel,
        role.ToolTipText: theme.text, role.Highlight: theme.accent("A"), role.HighlightedText: theme.ink_on(theme.accent("A")),
        role.PlaceholderText: theme.faint, role.Mid: theme.line, role.Light: mixed(theme.panel, theme.text, 0.2),
        role.Dark: theme.line, role.Midlight: theme.line, role.Link: theme.accent("A"), role.BrightText: theme.warning,
    }  # fmt: skip
    for which, colour in colours.items():
        palette.setColor(which, QColor(colour))
    for which in (role.Text, role.ButtonText, role.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.faint))
    return palette
