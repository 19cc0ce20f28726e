"""The window's colours and fonts, from the same theme as the picture."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from gemmviz.render.qt.fonts import font
from gemmviz.scenes.theme import Theme, mixed


def system_is_dark(app: QApplication) -> bool:
    """What the desktop asks for; dark where it doesn't say."""
    return app.styleHints().colorScheme() != Qt.ColorScheme.Light


def apply_theme(app: QApplication, theme: Theme) -> None:
    """From now on everything has these colours."""
    app.setStyle("Fusion")
    palette = QPalette()
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.panel, role.WindowText: theme.text, role.Base: theme.background, role.AlternateBase: theme.panel,
        role.Text: theme.text, role.Button: theme.panel, role.ButtonText: theme.text, role.ToolTipBase: theme.panel,
        role.ToolTipText: theme.text, role.Highlight: theme.accent("A"), role.HighlightedText: theme.ink_on(theme.accent("A")),
        role.PlaceholderText: theme.faint, role.Mid: theme.line, role.Light: mixed(theme.panel, theme.text, 0.2),
        role.Dark: theme.line, role.Midlight: theme.line, role.Link: theme.accent("A"),
    }  # fmt: skip
    for which, colour in colours.items():
        palette.setColor(which, QColor(colour))
    for which in (role.Text, role.ButtonText, role.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.faint))
    app.setPalette(palette)
    app.setFont(font("regular", 13))
    app.setStyleSheet(
        f"#message {{ color: {theme.warning}; font-weight: 600; }} #notice {{ font-weight: 600; }}"
        f"#faint {{ color: {theme.faint}; }}"
        f"#heading {{ font-weight: 600; }} #ruler {{ color: {theme.line}; }}"
        f"QToolTip {{ padding: 4px; border: 1px solid {theme.faint}; }} QMenu {{ border: 1px solid {theme.faint}; }}"
        f"QTreeView::indicator, QMenu::indicator {{ border: 1px solid {theme.faint}; border-radius: 2px; width: 11px;"
        f" height: 11px; }} QTreeView::indicator:checked, QMenu::indicator:checked {{ background: {theme.accent('A')};"
        f" border-color: {theme.accent('A')}; }} QMenu::indicator {{ margin-left: 4px; }}"
        "QTableWidget { border: none; } QTableWidget::item { padding-left: 10px; }"
        f" QHeaderView::section {{ background: {theme.panel}; color: {theme.faint};"
        " border: none; padding: 2px 6px; }"
    )
