"""The part of the export dialog for figures: whether a page becomes a figure, and who made it, its licence and its link."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLineEdit, QWidget

from gemmviz.gui.preferences import Preferences
from gemmviz.gui.widgets.controls import set_name
from gemmviz.model.translation import tr
from gemmviz.render.credit import DEFAULT_LICENCE, LICENCES, FigureOptions

_AUTHOR, _LICENCE = "figure author", "figure licence"


class FigureForm(QWidget):
    """Fields that edit ``FigureOptions``. Author and licence are kept for the next export."""

    changed = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.is_figure, self.is_split = (
            QCheckBox(tr("Figure for a page of your own")),
            QCheckBox(tr("Script in a file of its own")),
        )
        self.author, self.link, self.licence = QLineEdit(preferences.text(_AUTHOR)), QLineEdit(), QComboBox(editable=True)
        self.licence.addItems(list(LICENCES))
        self.licence.setCurrentText(preferences.text(_LICENCE, DEFAULT_LICENCE))
        self.link.setPlaceholderText("https://")
        tips: tuple[tuple[QWidget, str], ...] = (
            (self.is_figure, tr("One element with a still inside, for articles, slides, notebooks and course pages")),
            (self.is_split, tr("For sites that allow no script inside a page, and for many figures on one site")),
            (self.author, tr("Name in the line below the figure")), (self.link, tr("URL below the figure, with its QR code")),
            (self.licence, tr("Licence below the figure: an SPDX identifier or your own text")),
        )  # fmt: skip
        for widget, tip in tips:
            widget.setToolTip(tip)
            set_name(widget, tip)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("", self.is_figure)
        for name, field in (
            (tr("A&uthor"), self.author),
            (tr("&Licence"), self.licence),
            (tr("Lin&k"), self.link),
            ("", self.is_split),
        ):
            form.addRow(name, field)
        self.is_figure.toggled.connect(self._on_change)
        self.is_split.toggled.connect(self._on_change)
        for edit in (self.author.textChanged, self.link.textChanged, self.licence.currentTextChanged):
            edit.connect(self._on_change)
        self._on_change()

    @property
    def options(self) -> FigureOptions | None:
        """The chosen options; None for a whole page. Raises UsageError for a link that can't be used."""
        if not self.is_figure.isChecked():
            return None
        return FigureOptions(
            author=self.author.text().strip(), licence=self.licence.currentText().strip(), link=self.link.text().strip(),
            is_split=self.is_split.isChecked(),
        )  # fmt: skip

    def keep(self) -> None:
        """Keep author and licence for the next export."""
        self._preferences.put(_AUTHOR, self.author.text().strip())
        self._preferences.put(_LICENCE, self.licence.currentText().strip())

    def _on_change(self) -> None:
        for field in (self.author, self.licence, self.link, self.is_split):
            field.setEnabled(self.is_figure.isChecked())
        self.changed.emit()
