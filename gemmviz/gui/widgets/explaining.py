"""Words of the glossary, explained where they stand."""

from html import escape

from PySide6.QtCore import QCollator, QLocale, QPoint
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWhatsThis, QWidget

from gemmviz.files.glossary import GlossaryEntry, glossary, term_at
from gemmviz.model.translation import language, tr

_SIZE = 640, 560


def entry_text(entry: GlossaryEntry) -> str:
    """Return an entry as HTML."""
    return f"<p><b>{escape(entry.title)}</b><br>{escape(entry.text)}</p>"


def explain(entry: GlossaryEntry, at: QPoint, widget: QWidget) -> None:
    """Show an entry at a place of the screen until the next click or key."""
    QWhatsThis.showText(at, entry_text(entry), widget)


def explain_first(text: str, at: QPoint, widget: QWidget) -> None:
    """Show the entry of the first term of a text, if it has one."""
    found = next(filter(None, (term_at(text, index) for index in range(len(text)))), None)
    if found is not None:
        explain(found.entry, at, widget)


class GlossaryBox(QDialog):
    """All entries."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Glossary"))
        self.resize(*_SIZE)
        self.text = QTextBrowser()
        self.text.setAccessibleName(tr("Glossary"))
        order = QCollator(QLocale(language()))
        self.text.setHtml("".join(map(entry_text, sorted(glossary(), key=lambda each: order.sortKey(each.title)))))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)
