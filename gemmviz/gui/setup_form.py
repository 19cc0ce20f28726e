"""The form of a setup: the kernel, and a row for each field; and the form that chooses which threads to watch."""

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen, QPolygon, QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.analysis.replay.focus import Focus, thread_place
from gemmviz.cuda.launch.legality import device_for
from gemmviz.gui.kernel_picker import KERNEL_TIP, kernel_box
from gemmviz.gui.widgets.controls import (
    Section,
    SpinBox,
    button_with_tip,
    choice,
    close_button,
    decimal_field,
    line,
    number_field,
    plain,
    quietly,
    set_look,
    set_name,
    set_quietly,
    side_by_side,
    tip_text,
    unless_covered,
)
from gemmviz.gui.widgets.input import keep_typing
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.messages import GemmvizError, SettingError, marked, tr
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import LAYERS
from gemmviz.shots.shot import FieldValue, FormField, fields_of, launch_lines

# The form that chooses which threads to watch (all, a block, a warp or a thread) and what colours mean.

SCOPES = {
    "block": marked("One block"),
    "warp": marked("One warp"),
    "thread": marked("One thread"),
    "everyone": marked("All traced blocks"),
}
_LAYERS = {
    "matrix": marked("Matrix"), "warp": marked("Warp"), "lane": marked("Lane"), "block": marked("Block"),
    "reuse": marked("Loads so far (reuse)"),
}  # fmt: skip
_SINGLE_THREAD = Launch((1, 1, 1), (1, 1, 1))


class FocusForm(QWidget):
    """The focus and the colour layer of the session, editable."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        tip = tr("Threads to watch (W: next warp, T: next thread, Esc: whole block)")
        self.scope = choice(tr("Watch"), tip, ((tr(words), name) for name, words in SCOPES.items()))
        self.scope.currentIndexChanged.connect(self._on_changed)
        self.block_at = [self._spin(tr("blockIdx.{axis} of the block to watch", axis=axis)) for axis in "xyz"]
        self.warp = self._spin(tr("The warp to watch (W: next)"))
        self.thread_at = [self._spin(tr("threadIdx.{axis} of the thread to follow (T: next)", axis=axis)) for axis in "xyz"]
        tip = tr("Meaning of the colours (L: next)")
        self.layer = choice(tr("Colours"), tip, ((tr(_LAYERS[name]), name) for name in LAYERS))
        self.layer.currentIndexChanged.connect(lambda row: model.commands.show_layer(self.layer.itemData(row)))
        self._form = form = QFormLayout(self)
        form.setContentsMargins(11, 0, 11, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._rows = block, thread = tuple(side_by_side(*boxes, spacing=4) for boxes in (self.block_at, self.thread_at))
        form.addRow(tr("W&atch"), self.scope)
        form.addRow(tr("Block x, y, z"), block)
        form.addRow(tr("Warp"), self.warp)
        form.addRow(tr("Thread x, y, z"), thread)
        form.addRow(tr("&Colours"), self.layer)
        for event in (model.session.shot_changed, model.session.run_changed, model.session.analysis_changed):
            event.connect(self.sync)
        self.sync()

    def _spin(self, tip: str) -> QSpinBox:
        box = number_field(tip, tip)
        box.setMinimumWidth(46)
        box.valueChanged.connect(self._on_changed)
        box.lineEdit().returnPressed.connect(self.model.released.emit)
        return box

    @property
    def _launch(self) -> Launch:
        return self.model.session.state.launch or _SINGLE_THREAD

    @unless_covered
    def sync(self) -> None:
        """Show the session's focus without emitting a change."""
        session, launch = self.model.session, self._launch
        focus, warp_size = session.shot.focus, device_for(session.shot.setup).warp_size
        scope = "everyone" if focus.everyone else "thread" if focus.thread is not None else "warp"
        scope = "block" if scope == "warp" and focus.warp is None else scope
        place = thread_place(focus.thread, launch) if focus.thread is not None else None
        warps = -(-launch.threads_per_block // warp_size)
        for boxes, extents, values in ((self.block_at, launch.grid, focus.block), (self.thread_at, launch.block, place)):
            for axis, (box, extent) in enumerate(zip(boxes, extents, strict=True)):
                set_quietly(box, None if values is None else values[axis], extent - 1)
        set_quietly(self.warp, focus.warp, warps - 1)
        quietly(self.scope, lambda: self.scope.setCurrentIndex(list(SCOPES).index(scope)))
        quietly(self.layer, lambda: self.layer.setCurrentIndex(LAYERS.index(session.shot.layer)))
        self._show_rows(scope, launch)

    def _show_rows(self, scope: str, launch: Launch) -> None:
        """Show the fields that what is watched has."""
        block, thread = self._rows
        for row, is_used in ((block, scope != "everyone"), (self.warp, scope == "warp"), (thread, scope == "thread")):
            self._form.setRowVisible(row, is_used)
        for boxes, extents, only in (
            (self.block_at, launch.grid, tr(" (the grid has only one)")),
            (self.thread_at, launch.block, tr(" (the block has only one)")),
            ([self.warp], (self.warp.maximum() + 1,), tr(" (the block has only one)")),
        ):
            for box, extent in zip(boxes, extents, strict=True):
                box.setEnabled(extent > 1)
                box.setToolTip(box.accessibleName() + (tr(": 0 to {extent}", extent=extent - 1) if extent > 1 else only))

    def _on_changed(self) -> None:
        scope = self.scope.currentData()
        x, y, z = (box.value() for box in self.block_at)
        dx, dy, _ = self._launch.block
        tx, ty, tz = (box.value() for box in self.thread_at)
        thread = tx + dx * (ty + dy * tz)
        warp = self.warp.value()
        focus = Focus((x, y, z), warp if scope == "warp" else None, thread if scope == "thread" else None, scope == "everyone")
        self.model.commands.watch(focus)


# The form that chooses where the kernel runs, and its time limit there.

ON_CPU = marked("CPU: interpreter")
_CPU, _GPU = 0, 1
_DEVICE_TIP = marked("Where the kernel runs and is recorded")


class RunnerForm(QWidget):
    """The engines of the session. The choice is saved in the preferences."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.engines = model.session.engines
        self.runner = choice(tr("Run on"), tr(_DEVICE_TIP), ((tr(ON_CPU), "cpu"), (tr("GPU: searching …"), "gpu")))
        self.runner.activated.connect(self._on_chosen)
        self.timeout = QDoubleSpinBox(decimals=1, minimum=0.5, maximum=3600.0, value=TIMEOUT_S, suffix=" s")
        self.timeout.setKeyboardTracking(False)
        self.timeout.setAccessibleName(tr("Time limit"))
        self.timeout.setToolTip(tr("Longest time of a launch on the GPU. A launch that takes longer is ended"))
        self.timeout.valueChanged.connect(self.engines.set_timeout)
        self.timeout.lineEdit().returnPressed.connect(model.released.emit)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(tr("&Run on"), self.runner)
        form.addRow(tr("Time limit"), self.timeout)
        self.engines.gpu_known.connect(self.sync)
        self.engines.changed.connect(self.sync)
        self.sync()

    def sync(self) -> None:
        gpu, why_not = self.engines.gpu, self.engines.gpu_error
        items = self.runner.model()
        assert isinstance(items, QStandardItemModel)
        item = items.item(_GPU)
        item.setEnabled(gpu is not None)
        self.timeout.setEnabled(gpu is not None)
        tip = tr(_DEVICE_TIP)
        if gpu is not None:
            item.setText(f"GPU: {gpu.name}")
            tip = f"{_DEVICE_TIP}. {gpu.label}"
        elif why_not is not None:
            item.setText(tr("GPU: none found"))
            tip = tr("{tip}. No GPU is available: {why_not}", tip=tr(_DEVICE_TIP), why_not=why_not)
        item.setToolTip(tip_text(tip))
        self.runner.setToolTip(tip_text(tip))
        quietly(self.runner, lambda: self.runner.setCurrentIndex(_GPU if self.engines.chosen == "gpu" else _CPU))

    def _on_chosen(self, row: int) -> None:
        runner = self.runner.itemData(row)
        self.model.preferences.put("runner", runner)
        self.engines.choose(runner)
        session = self.model.session
        session.reports.offer_gpu(session.shot.setup, session.shown)


# An editor for one field of a setup, by the kind of the field.

FieldEditor = QSpinBox | QDoubleSpinBox | QComboBox | QCheckBox | QLineEdit


def control_for(field: FormField, changed: Callable[[str, FieldValue], None], entered: Callable[[], None]) -> FieldEditor:
    """Return an editor. ``changed`` is called with the name and the value after an edit, ``entered`` after Enter."""
    match field.kind:
        case "number":
            return _spin(number_field(field.label, field.tip, int(field.least), int(field.most)), field, changed, entered)
        case "decimal":
            return _spin(decimal_field(field.label, field.tip, field.least, field.most), field, changed, entered)
        case "switch":
            check = QCheckBox()
            check.setAccessibleName(field.label)
            check.toggled.connect(lambda on: changed(field.name, on))
            return check
        case "choice":
            box = choice(field.label, field.tip)
            box.currentIndexChanged.connect(lambda row: changed(field.name, box.itemData(row)))
            return box
        case _:
            text = QLineEdit()
            text.setPlaceholderText(field.empty)
            text.setClearButtonEnabled(True)
            set_name(text, field.label)
            text.editingFinished.connect(lambda: changed(field.name, text.text()))
            text.returnPressed.connect(entered)
            keep_typing(text)
            return text


def _spin(box: SpinBox, field: FormField, changed: Callable[[str, FieldValue], None], entered: Callable[[], None]) -> SpinBox:
    box.valueChanged.connect(lambda value: changed(field.name, value))
    box.lineEdit().returnPressed.connect(entered)
    return box


def show_field(control: FieldEditor, field: FormField) -> None:
    """Show the value of a field with signals blocked."""
    quietly(control, lambda: _show_field(control, field))
    control.setEnabled(not field.why_not)
    control.setToolTip(tip_text(field.why_not or field.tip))


def _show_field(control: FieldEditor, field: FormField) -> None:
    if isinstance(control, QSpinBox):
        control.setRange(int(field.least), int(field.most))
        control.setValue(int(field.value))
    elif isinstance(control, QDoubleSpinBox):
        control.setRange(field.least, field.most)
        control.setValue(float(field.value))
    elif isinstance(control, QCheckBox):
        control.setChecked(bool(field.value))
    elif isinstance(control, QComboBox):
        choices = list((field.choices or {}).items())
        if [control.itemData(row) for row in range(control.count())] != [value for value, _ in choices]:
            control.clear()
            for value, words in choices:
                control.addItem(words, value)
        control.setCurrentIndex([value for value, _ in choices].index(field.value))
    elif not control.isModified() or not control.hasFocus():
        control.setText(str(field.value))


# A bubble beside a field with an invalid value: the reason and a remedy. It floats, so that the form does not move.

_WIDTH, _TIP, _MARGIN = 320, 10, 12


class Callout(QWidget):
    """A message to the right of a field; at the upper edge of the window if the field is not visible."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self.theme = theme
        self._over = window
        self._field: QWidget | None = None
        self._watched: list[QWidget] = []
        self.text = plain()
        self.text.setWordWrap(True)
        set_look(self.text, "message")
        self.text.setAccessibleDescription(tr("Error"))
        self.remedy = button_with_tip("", tr("Use the nearest valid setting"))
        close = close_button(tr("Close this message"), tr("Close this message and keep the setting"))
        close.clicked.connect(self.hide)
        row = QHBoxLayout()
        row.addWidget(self.text, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN + _TIP, _MARGIN, _MARGIN // 2 + _TIP, _MARGIN)
        column.addLayout(row)
        column.addWidget(self.remedy, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_error(self, text: str, remedy: str, field: QWidget | None) -> None:
        """Show an error. ``remedy``: the text of the button, "" for no button."""
        self.text.setText(text)
        self.remedy.setText(remedy)
        self.remedy.setVisible(bool(remedy))
        self._follow(field)
        self.show()
        self.raise_()
        self.place()

    def clear(self) -> None:
        self._follow(None)
        self.hide()

    def _follow(self, field: QWidget | None) -> None:
        """Follow the field when the window, its dock or its scroll area moves."""
        for each in self._watched:
            each.removeEventFilter(self)
        self._field, self._watched = field, []
        around: QWidget | None = field or self._over
        while around is not None:
            around.installEventFilter(self)
            self._watched.append(around)
            around = around.parentWidget()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kinds = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest)
        if self.isVisible() and event.type() in kinds:
            self.place()
        return False

    def place(self) -> None:
        """Move the bubble beside the field."""
        window = self._over
        self.setFixedWidth(min(_WIDTH, window.width() // 2))
        self.setFixedHeight(self._column.heightForWidth(self.width()))
        field = self._field
        if field is None or not field.isVisible() or field.visibleRegion().isEmpty():
            self.move((window.width() - self.width()) // 2, 60)
        else:
            at = field.mapTo(window, QPoint(0, field.height() // 2))
            left = at.x() - self.width() - 4 if self._is_left else at.x() + field.width() + 4
            top = max(4, min(at.y() - self.height() // 2, window.height() - self.height() - 4))
            self.move(max(4, min(left, window.width() - self.width() - 4)), top)
        self.update()

    @property
    def _is_left(self) -> bool:
        """Whether the bubble is at the left of its field, since there is no room at the right."""
        assert self._field is not None
        end = self._field.mapTo(self._over, QPoint(self._field.width() + 4, 0)).x()
        return end + self.width() > self._over.width()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self.theme.warning), 1.5))
        painter.setBrush(QColor(self.theme.panel))
        painter.drawRoundedRect(self.rect().adjusted(_TIP, 1, -_TIP, -1), 6, 6)
        if self._field is not None and self._field.isVisible():
            middle = self.mapFrom(self._over, self._field.mapTo(self._over, self._field.rect().center())).y()
            tip = max(14, min(middle, self.height() - 14))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.theme.warning))
            end, root = (self.width(), self.width() - _TIP) if self._is_left else (0, _TIP)
            painter.drawPolygon(QPolygon([QPoint(end, tip), QPoint(root, tip - 7), QPoint(root, tip + 7)]))
        painter.end()


_NO_LAUNCH = marked("Block –\nGrid –")
_LONGEST_LABEL = 18
_HIGHEST = 10_000  # pixels


class SetupForm(QWidget):
    """The setup of the session, editable. ``controls``: the editors by the name of the field; sizes and parameters are always
    shown, the other fields in the section ``advanced``.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.controls: dict[str, FieldEditor] = {}
        self.kernel = kernel_box()
        self.kernel.activated.connect(lambda row: model.opening.choose_kernel(self.kernel.itemData(row)))
        self.launch = line(tip=tr("Grid and block that the kernel's header gives for these settings"))
        self.launch.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._shows_launch = False
        self.callout: Callout | None = None
        self._kinds: list[tuple[str, str]] = []
        self._form, self._rest = _new_form(), _new_form()
        self._form.addRow(tr("&Kernel"), self.kernel)
        tip = tr("The contents of the matrices, the device, what is recorded, and where the kernel runs")
        self.advanced = Section(tr("Advanced"), tip)
        self.advanced.column.addLayout(self._rest)
        self.advanced.heading.setChecked(bool(model.preferences.text("advanced")))
        self.advanced.heading.toggled.connect(lambda on: model.preferences.put("advanced", "open" if on else ""))
        column = QVBoxLayout(self)
        column.addLayout(self._form)
        column.addWidget(self.advanced)
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
        self.kernel.setToolTip(self._about(setup.kernel))
        fields = fields_of(setup)
        if [(field.name, field.kind) for field in fields] != self._kinds:
            self._make_rows(fields)
            self.show_error()
        for field in fields:
            show_field(self.controls[field.name], field)
        self.show_launch()

    def _about(self, kernel: KernelSpec) -> str:
        """Return what the kernel does, and how to choose another one."""
        is_open = self.model.session.display.counted == 0.0  # the description may answer an open question
        parts = (tr(kernel.title), "" if is_open else tr(" ".join(kernel.description.split())), tr(KERNEL_TIP))
        return tip_text("\n".join(filter(None, parts)))

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
        if self._form.indexOf(self.launch) >= 0:
            self._form.takeRow(self.launch)
        for form, kept in ((self._form, 1), (self._rest, 0)):
            while form.rowCount() > kept:
                form.removeRow(kept)
        setup = self.model.session.shot.setup
        numbers = {*setup.problem.numbers, *setup.parameters}
        self._kinds = [(field.name, field.kind) for field in fields]
        self.controls = {field.name: control_for(field, self._change, self.model.released.emit) for field in fields}
        letters = _Letters(_TAKEN_LETTERS)
        for field in (field for field in fields if field.name in numbers):
            self._form.addRow(letters.marked(_shortened_label(field.label)), self.controls[field.name])
        self._form.addRow(self.launch)
        for field in (field for field in fields if field.name not in numbers):
            self._rest.addRow(letters.marked(field.label), self.controls[field.name])
        shown = [self.controls[field.name] for field in fields if field.name in numbers]
        rest = [self.controls[field.name] for field in fields if field.name not in numbers]
        order: list[QWidget] = [self.kernel, *shown, self.advanced.heading, *rest]
        for before, control in pairwise(order):
            QWidget.setTabOrder(before, control)

    def _change(self, name: str, value: FieldValue) -> None:
        field = next(field for field in fields_of(self.model.session.shot.setup) if field.name == name)
        if field.value != value:
            self.model.commands.change(name, value)

    def fit_launch(self) -> None:
        """Give the wrapped lines of the launch the height that they need; a form layout alone may give them less."""
        label = self.launch
        room = QRect(0, 0, label.width(), _HIGHEST)
        needed = label.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, label.text()).height()
        if label.minimumHeight() != needed and self._shows_launch:  # else rows below keep their places
            label.setMinimumHeight(needed)

    @unless_covered
    def show_launch(self) -> None:
        launch = self.model.session.state.launch
        if isinstance(self.model.session.error, SettingError):
            if self._shows_launch:
                self.launch.setMinimumHeight(self.launch.height())  # rows below keep their places
            self._shows_launch = False
            self.launch.setText(tr(_NO_LAUNCH))
        elif launch is not None:
            self._shows_launch = True
            self.launch.setText("\n".join(launch_lines(self.model.session.shot.setup, launch)))
            if self.isVisible():
                self.fit_launch()

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
            _mark_invalid(control, error is not None and control is self._field(error), self.model.theme)
        if isinstance(error, SettingError):
            nearest = ", ".join(f"{name} = {value}" for name, value in error.nearest.items())
            text = error.message + (f"\n{error.remedy}" if error.remedy and not nearest else "")
            field = self._field(error)
            if field is not None and self.advanced.isAncestorOf(field):
                self.advanced.heading.setChecked(True)
            self.callout.show_error(text, tr("Use {nearest}", nearest=nearest) if nearest else "", field)
        else:
            self.callout.clear()

    def _field(self, error: GemmvizError | None) -> FieldEditor | None:
        """Return the field that an error is about: the one that the remedy changes, else the last one that was set, if it is
        among those that the error names.
        """
        names = error.names if isinstance(error, SettingError) else ()
        nearest = error.nearest if isinstance(error, SettingError) else {}
        edited = self.model.session.state.edited
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


def _new_form() -> QFormLayout:
    form = QFormLayout()
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    return form


def _shortened_label(label: str) -> str:
    """Return the label, cut to leave space for its field."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[:_LONGEST_LABEL]}…"


_TAKEN_LETTERS = "fevplwh" + "acikr"  # by the menus, and by what else has letters in the window


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


def _mark_invalid(control: FieldEditor, is_invalid: bool, theme: Theme) -> None:
    """Colour a field with an invalid value, or restore its colours."""
    if control.property("invalid") != is_invalid:
        control.setProperty("invalid", is_invalid)
        palette = QPalette()
        if is_invalid:
            for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Button):
                palette.setColor(role, QColor(mixed(theme.background, theme.warning, 0.4)))
        control.setPalette(palette)
