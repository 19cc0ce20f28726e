"""The form of a setup: the kernel, and a row for each field."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QFormLayout, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.gui.forms.kernel_picker import kernel_box
from gemmviz.gui.widgets.callout import Callout
from gemmviz.gui.widgets.controls import line, quietly, ruler, tip_text
from gemmviz.gui.widgets.field_row import FieldEditor, control_for, show_field
from gemmviz.gui.widgets.refresh import unless_covered
from gemmviz.gui.window_model import WindowModel
from gemmviz.launch.legality import device_for
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.state.fields import FieldValue, FormField, fields_of, launch_lines, limits_line

_NO_LAUNCH = marked("Block –\nGrid –")
_LONGEST_LABEL = 18
_HIGHEST = 10_000  # pixels


class SetupForm(QWidget):
    """The setup of the session, editable. ``controls``: the editors by the name of the field."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.controls: dict[str, FieldEditor] = {}
        self.kernel = kernel_box()
        self.kernel.activated.connect(lambda row: model.opening.choose_kernel(self.kernel.itemData(row)))
        self.title = line("heading")
        self.description = line("faint")
        self.launch = line(tip=tr("Grid and block that the kernel's header gives for these settings"))
        self.launch.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._shows_launch = False
        for label in (self.title, self.description):  # very long words are cut off instead of widening the form
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.limits = line("faint")
        self.callout: Callout | None = None
        self._kinds: list[tuple[str, str]] = []
        self._form = _form()
        self._form.addRow(tr("&Kernel"), self.kernel)
        self._form.addRow(self.title)
        self._own_rows = self._form.rowCount()
        column = QVBoxLayout(self)
        column.addLayout(self._form)
        self.below = QVBoxLayout()
        column.addLayout(self.below)
        column.addWidget(ruler())
        column.addWidget(self.description)
        column.addStretch(1)
        session = model.session
        session.shot_changed.connect(self.sync)
        session.run_changed.connect(self.show_launch)
        session.notices.changed.connect(self.show_error)
        model.theme_changed.connect(self._on_theme)
        self.sync()

    @unless_covered
    def sync(self) -> None:
        """Show the session's setup without emitting a change."""
        setup = self.model.session.shot.setup
        quietly(self.kernel, self._choose_kernel)
        self.title.setText(tr(setup.kernel.title))
        self.description.setText(tr(" ".join(setup.kernel.description.split())))
        self.description.setVisible(self.model.session.display.counted > 0.0)  # it may answer an open question
        fields = fields_of(setup)
        if [(field.name, field.kind) for field in fields] != self._kinds:
            self._make_rows(fields)
            self.show_error()
        for field in fields:
            show_field(self.controls[field.name], field)
        self.limits.setText(limits_line(device_for(setup)))
        self.show_launch()

    def _choose_kernel(self) -> None:
        """Select the kernel in the list: a shipped kernel by name, a user's kernel by file."""
        kernel = self.model.session.shot.setup.kernel
        row = self.kernel.findData(kernel.name if kernel.is_shipped else kernel.file)
        if row < 0:
            self.kernel.addItem(kernel.name, kernel.file)
            row = self.kernel.count() - 1
            self.kernel.setItemData(row, tip_text(kernel.file), Qt.ItemDataRole.ToolTipRole)
        self.kernel.setCurrentIndex(row)

    def _make_rows(self, fields: list[FormField]) -> None:
        """Replace the rows with one for each field, fields of the problem first."""
        if self.callout is not None:
            self.callout.clear()  # it may point at a row that is removed
        for label in (self.launch, self.limits):
            if self._form.indexOf(label) >= 0:
                self._form.takeRow(label)
        while self._form.rowCount() > self._own_rows:
            self._form.removeRow(self._own_rows)
        setup = self.model.session.shot.setup
        numbers = {*setup.problem.numbers, *setup.parameters}
        self._kinds = [(field.name, field.kind) for field in fields]
        self.controls = {field.name: control_for(field, self._change, self.model.released.emit) for field in fields}
        letters = _Letters(_TAKEN)
        for field in (field for field in fields if field.name in numbers):
            self._form.addRow(letters.marked(_short(field.label)), self.controls[field.name])
        self._form.addRow(self.launch)
        self._form.addRow(ruler())
        for field in (field for field in fields if field.name not in numbers):
            self._form.addRow(letters.marked(field.label), self.controls[field.name])
            if field.name == "device":
                self._form.addRow(self.limits)
        before: QWidget = self.kernel
        for control in self.controls.values():
            QWidget.setTabOrder(before, control)
            before = control

    def _change(self, name: str, value: FieldValue) -> None:
        field = next(field for field in fields_of(self.model.session.shot.setup) if field.name == name)
        if field.value != value:
            self.model.commands.change(name, value)

    def fit_labels(self) -> None:
        """Give wrapped texts between the fields the height that they need; a form layout alone may give them less."""
        for label in (self.title, self.launch, self.limits):
            is_kept = label is self.launch and not self._shows_launch  # rows below keep their places
            room = QRect(0, 0, label.width(), _HIGHEST)
            needed = label.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, label.text()).height()
            if label.minimumHeight() != needed and not is_kept:
                label.setMinimumHeight(needed)

    @unless_covered
    def show_launch(self) -> None:
        launch = self.model.session.launch
        if isinstance(self.model.session.error, SettingError):
            if self._shows_launch:
                self.launch.setMinimumHeight(self.launch.height())  # rows below keep their places
            self._shows_launch = False
            self.launch.setText(tr(_NO_LAUNCH))
        elif launch is not None:
            self._shows_launch = True
            self.launch.setText("\n".join(launch_lines(self.model.session.shot.setup, launch)))
            if self.isVisible():
                self.fit_labels()

    # Errors

    def show_error(self) -> None:
        """Show an error beside its field, with a button for the nearest valid value."""
        self.show_launch()
        error = self.model.session.error
        is_setting = isinstance(error, SettingError)
        if not is_setting and self.callout is None:
            return
        if self.callout is None:
            self.callout = Callout(self.window(), self.model.theme)
            self.callout.remedy.clicked.connect(self._take_remedy)
        for control in self.controls.values():
            _mark(control, error is not None and control is self._field(error), self.model.theme)
        if isinstance(error, SettingError):
            nearest = ", ".join(f"{name} = {value}" for name, value in error.nearest.items())
            text = error.message + (f"\n{error.remedy}" if error.remedy and not nearest else "")
            self.callout.show_error(text, tr("Use {nearest}", nearest=nearest) if nearest else "", self._field(error))
        else:
            self.callout.clear()

    def _field(self, error: GemmvizError | None) -> FieldEditor | None:
        """Return the field that an error is about: the one that the remedy changes, else the last one that was set, if it is
        among those that the error names.
        """
        names = error.names if isinstance(error, SettingError) else ()
        nearest = error.nearest if isinstance(error, SettingError) else {}
        edited = self.model.session.edited
        named = [name for name in nearest if name in self.controls]
        named = named or ([edited] if edited in names or not names else [name for name in names if name in self.controls])
        return self.controls.get(named[0]) if named else None

    def _take_remedy(self) -> None:
        self.model.commands.apply_remedy()
        self.model.released.emit()

    def _on_theme(self) -> None:
        if self.callout is not None:
            self.callout.theme = self.model.theme
            self.callout.update()


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    return form


def _short(label: str) -> str:
    """Return the label, cut to leave space for its field."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[:_LONGEST_LABEL]}…"


_TAKEN = "fevplwh" + "acikr"  # by the menus, and by what else has letters in the window


class _Letters:
    """The mnemonics of a form: each label gets a letter of its own."""

    def __init__(self, used: str) -> None:
        self._used = set(used)

    def marked(self, label: str) -> str:
        for place, letter in enumerate(label.lower()):
            if letter.isascii() and letter.isalpha() and letter not in self._used:
                self._used.add(letter)
                return f"{label[:place]}&{label[place:]}"
        return label


def _mark(control: FieldEditor, is_invalid: bool, theme: Theme) -> None:
    """Colour a field with an invalid value, or restore its colours."""
    if control.property("invalid") != is_invalid:
        control.setProperty("invalid", is_invalid)
        palette = QPalette()
        if is_invalid:
            for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Button):
                palette.setColor(role, QColor(mixed(theme.background, theme.warning, 0.4)))
        control.setPalette(palette)
