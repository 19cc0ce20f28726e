"""The form of what is run: the kernel, and a row for every field that a setup has."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QFormLayout, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.gui.widgets.callout import Callout
from gemmviz.gui.widgets.controls import choice, line, quietly, ruler, tip_text
from gemmviz.gui.widgets.field_row import FieldEditor, control_for, show_field
from gemmviz.gui.window_model import WindowModel
from gemmviz.launch.catalog import all_kernel_names
from gemmviz.launch.legality import device_for
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.state.fields import Field, FieldValue, fields_of, launch_lines, limits_line

_NO_LAUNCH = "Block –\nGrid –"
_LONGEST_LABEL = 18


class SetupForm(QWidget):
    """Shows the session's setup and asks it for another one. ``controls`` by the name of the field."""

    def __init__(self, desk: WindowModel) -> None:
        super().__init__()
        self.desk = desk
        self.controls: dict[str, FieldEditor] = {}
        self.kernel = choice(
            "Kernel", "The kernel to run (Ctrl+O opens a file of yours)", ((name, name) for name in all_kernel_names())
        )
        self.kernel.activated.connect(lambda row: desk.opening.choose_kernel(self.kernel.itemData(row)))
        self.title = line("heading")
        self.description = line("faint")
        self.launch = line(tip="What the header's formulas make of these settings")
        self.launch.setAlignment(Qt.AlignmentFlag.AlignTop)
        for label in (self.title, self.description):  # a word without end is cut off, and pushes nothing aside
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.limits = line("faint")
        self.callout: Callout | None = None
        self._kinds: list[tuple[str, str]] = []
        self._form = _form()
        self._form.addRow("&Kernel", self.kernel)
        self._form.addRow(self.title)
        self._own_rows = self._form.rowCount()
        column = QVBoxLayout(self)
        column.addLayout(self._form)
        self.below = QVBoxLayout()
        column.addLayout(self.below)
        column.addWidget(ruler())
        column.addWidget(self.description)
        column.addStretch(1)
        session = desk.session
        session.shot_changed.connect(self.sync)
        session.run_changed.connect(self.show_launch)
        session.notices.changed.connect(self.show_error)
        desk.theme_changed.connect(self._on_theme)
        self.sync()

    def sync(self) -> None:
        """Shows the session's setup; nobody is told of it."""
        setup = self.desk.session.shot.setup
        quietly(self.kernel, self._choose_kernel)
        self.title.setText(setup.kernel.title)
        self.description.setText(" ".join(setup.kernel.description.split()))
        fields = fields_of(setup)
        if [(field.name, field.kind) for field in fields] != self._kinds:
            self._make_rows(fields)
            self.show_error()
        for field in fields:
            show_field(self.controls[field.name], field)
        self.limits.setText(limits_line(device_for(setup)))
        self.show_launch()

    def _choose_kernel(self) -> None:
        """A shipped one goes by its name, a person's own by its file."""
        kernel = self.desk.session.shot.setup.kernel
        row = self.kernel.findData(kernel.name if kernel.is_shipped else kernel.file)
        if row < 0:
            self.kernel.addItem(kernel.name, kernel.file)
            row = self.kernel.count() - 1
            self.kernel.setItemData(row, tip_text(kernel.file), Qt.ItemDataRole.ToolTipRole)
        self.kernel.setCurrentIndex(row)

    def _make_rows(self, fields: list[Field]) -> None:
        """A row a field, those of the multiplication first; the rows of the kernel before are gone."""
        if self.callout is not None:
            self.callout.clear()  # it may be beside one of those
        for kept in (self.launch, self.limits):
            if self._form.indexOf(kept) >= 0:
                self._form.takeRow(kept)
        while self._form.rowCount() > self._own_rows:
            self._form.removeRow(self._own_rows)
        numbers = set(self.desk.session.shot.setup.sizes_and_parameters)
        self._kinds = [(field.name, field.kind) for field in fields]
        self.controls = {field.name: control_for(field, self._change, self.desk.released.emit) for field in fields}
        letters = _Letters("kr")
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
        field = next(field for field in fields_of(self.desk.session.shot.setup) if field.name == name)
        if field.value != value:
            self.desk.commands.change(name, value)

    def show_launch(self) -> None:
        launch = self.desk.session.launch
        if isinstance(self.desk.session.error, SettingError):
            if self.launch.text() not in ("", _NO_LAUNCH):
                self.launch.setMinimumHeight(self.launch.height())  # the form stays as it is
            self.launch.setText(_NO_LAUNCH)
        elif launch is not None:
            self.launch.setMinimumHeight(0)
            self.launch.setText("\n".join(launch_lines(self.desk.session.shot.setup, launch)))

    # What is wrong

    def show_error(self) -> None:
        """A setting that can't run says so beside its field, and offers the nearest that can."""
        self.show_launch()
        error = self.desk.session.error
        wrong = isinstance(error, SettingError)
        if not wrong and self.callout is None:
            return
        if self.callout is None:
            self.callout = Callout(self.window(), self.desk.theme)
            self.callout.remedy.clicked.connect(self._take_remedy)
        for control in self.controls.values():
            _mark(control, error is not None and control is self._field(error), self.desk.theme)
        if isinstance(error, SettingError):
            nearest = ", ".join(f"{name} = {value}" for name, value in error.nearest.items())
            text = error.message + (f"\n{error.remedy}" if error.remedy and not nearest else "")
            self.callout.show_error(text, f"Use {nearest}" if nearest else "", self._field(error))
        else:
            self.callout.clear()

    def _field(self, error: GemmvizError | None) -> FieldEditor | None:
        """The field that an error is about: the one that was set last, if it is one of them."""
        names = error.names if isinstance(error, SettingError) else ()
        edited = self.desk.session.edited
        named = [edited] if edited in names or not names else [name for name in names if name in self.controls]
        return self.controls.get(named[0]) if named else None

    def _take_remedy(self) -> None:
        self.desk.commands.apply_remedy()
        self.desk.released.emit()

    def _on_theme(self) -> None:
        if self.callout is not None:
            self.callout.theme = self.desk.theme
            self.callout.update()


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    return form


def _short(label: str) -> str:
    """A label that leaves room for its field."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[:_LONGEST_LABEL]}…"


class _Letters:
    """Gives each label a letter of its own to be reached by, with Alt."""

    def __init__(self, taken: str) -> None:
        self._taken = set(taken)

    def marked(self, label: str) -> str:
        for place, letter in enumerate(label.lower()):
            if letter.isalpha() and letter not in self._taken:
                self._taken.add(letter)
                return f"{label[:place]}&{label[place:]}"
        return label


def _mark(control: FieldEditor, wrong: bool, theme: Theme) -> None:
    """Colours a field that can't be as it is set, or gives it its own colours back."""
    if control.property("wrong") != wrong:
        control.setProperty("wrong", wrong)
        palette = QPalette()
        if wrong:
            for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Button):
                palette.setColor(role, QColor(mixed(theme.background, theme.warning, 0.4)))
        control.setPalette(palette)
