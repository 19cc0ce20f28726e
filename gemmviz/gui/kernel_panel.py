"""The settings: kernel, sizes, parameters, and which block and warp to watch. Settings that can't run say why."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QPushButton, QSpinBox, QVBoxLayout, QWidget

from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.kernel import KernelSpec, Launch, Parameter, Settings
from gemmviz.model.problem import Problem

_LARGEST = 32768


class KernelPanel(QWidget):
    """``changed`` when settings change, ``watched_changed`` when another block or warp is chosen, ``kernel_chosen`` with the
    name or file of a kernel, ``entered`` when Enter ends the typing of a number.
    """

    changed = Signal()
    watched_changed = Signal()
    kernel_chosen = Signal(str)
    entered = Signal()

    def __init__(self, names: list[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loading = False
        self.kernel = QComboBox()
        self.kernel.addItems(names)
        self.kernel.setToolTip("The kernel to run (Ctrl+O opens a file of yours)")
        self.kernel.setAccessibleName("Kernel")
        self.kernel.activated.connect(self._on_kernel)
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.sizes = {name: self._size(name) for name in ("M", "N", "K")}
        self.parameters: dict[str, QComboBox | QSpinBox] = {}
        self.launch = QLabel()
        self.launch.setWordWrap(True)
        self.launch.setToolTip("What the header's formulas make of these settings")
        self.block = [self._chooser(f"blockIdx.{axis} of the block to watch") for axis in "xyz"]
        self.warp = QComboBox()
        self.warp.setToolTip("Show the accesses of the whole block, or of one of its warps (W: next)")
        self.warp.setAccessibleName("Warp")
        self.warp.currentIndexChanged.connect(self._on_watched)
        self.message = QLabel()
        self.message.setWordWrap(True)
        self.message.setObjectName("message")
        self.remedy = QPushButton()
        self.remedy.setToolTip("Take the nearest setting that works")
        self.remedy.clicked.connect(self._on_remedy)
        self._nearest: dict[str, int] = {}
        self._form = QFormLayout()
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.addRow("&Kernel", self.kernel)
        self._form.addRow(self.title)
        for name, box in self.sizes.items():
            self._form.addRow(f"&{name}", box)
        self._first_parameter_row = self._form.rowCount()
        self._form.addRow(self.launch)
        for axis, spin in zip("xyz", self.block, strict=True):
            self._form.addRow(f"Block {axis}", spin)
        self._form.addRow("&Warp", self.warp)
        layout = QVBoxLayout(self)
        layout.addLayout(self._form)
        layout.addWidget(self.message)
        layout.addWidget(self.remedy)
        layout.addStretch(1)
        self.show_error(None)

    def _size(self, name: str) -> QSpinBox:
        box = QSpinBox()
        box.setRange(1, _LARGEST)
        box.setAccelerated(True)
        box.setKeyboardTracking(False)  # 40 is one change, not 4 and then 40
        box.lineEdit().returnPressed.connect(self.entered)
        meaning = {"M": "rows of A and C", "N": "columns of B and C", "K": "columns of A, rows of B"}[name]
        box.setToolTip(f"{name}: {meaning}")
        box.setAccessibleName(name)
        box.valueChanged.connect(self._on_changed)
        return box

    def _chooser(self, tip: str) -> QSpinBox:
        box = QSpinBox()
        box.setToolTip(tip)
        box.setAccessibleName(tip)
        box.valueChanged.connect(self._on_watched)
        return box

    def load(self, spec: KernelSpec, settings: Settings) -> None:
        """Shows the controls that ``spec`` has, set to ``settings``; nothing is announced."""
        self._quietly(lambda: self._load(spec, settings))

    def _load(self, spec: KernelSpec, settings: Settings) -> None:
        if self.kernel.findText(spec.name) < 0:
            self.kernel.addItem(spec.name, spec.file)
        self.kernel.setCurrentText(spec.name)
        self.title.setText(spec.title)
        self.title.setToolTip(spec.description)
        for name, size in settings.problem.sizes.items():
            self.sizes[name].setValue(size)
        for box in self.parameters.values():
            self._form.removeRow(box)
        self.parameters = {}
        for row, parameter in enumerate(spec.parameters, self._first_parameter_row):
            box = self._parameter(parameter, settings.parameters[parameter.name])
            self.parameters[parameter.name] = box
            self._form.insertRow(row, parameter.name, box)

    def _parameter(self, parameter: Parameter, value: int) -> QComboBox | QSpinBox:
        box: QComboBox | QSpinBox
        if parameter.choices is not None:
            box = QComboBox()
            box.addItems([str(choice) for choice in parameter.choices])
            box.setCurrentText(str(value))
            box.currentIndexChanged.connect(self._on_changed)
        else:
            box = QSpinBox()
            box.setRange(0 if parameter.default == 0 else 1, _LARGEST)
            box.setValue(value)
            box.setKeyboardTracking(False)
            box.lineEdit().returnPressed.connect(self.entered)
            box.valueChanged.connect(self._on_changed)
        box.setToolTip(parameter.description or f"The parameter {parameter.name}")
        box.setAccessibleName(parameter.name)
        return box

    def settings(self) -> Settings:
        values = {
            name: int(box.currentText()) if isinstance(box, QComboBox) else box.value() for name, box in self.parameters.items()
        }
        return Settings(Problem(**{name: box.value() for name, box in self.sizes.items()}), values)

    def show_launch(self, launch: Launch, warps: int) -> None:
        """The launch, and the ranges of what can be watched."""
        text = " × ".join(str(n) for n in launch.block if n > 1) or "1"
        grid = " × ".join(str(n) for n in launch.grid if n > 1) or "1"
        self.launch.setText(
            f"Block {text} = {launch.threads} threads, {warps} warp{'s' if warps > 1 else ''}\n"
            f"Grid {grid} = {launch.blocks} block{'s' if launch.blocks > 1 else ''}"
        )
        self._quietly(lambda: self._set_ranges(launch, warps))

    def _set_ranges(self, launch: Launch, warps: int) -> None:
        for axis, (spin, extent) in enumerate(zip(self.block, launch.grid, strict=True)):
            spin.setMaximum(extent - 1)
            spin.setSuffix(f"  (0 to {extent - 1})")
            self._form.setRowVisible(spin, extent > 1 or axis < 2)
            spin.setEnabled(extent > 1)
        chosen = self.warp.currentIndex()
        self.warp.clear()
        self.warp.addItems(["all", *(str(warp) for warp in range(warps))])
        self.warp.setCurrentIndex(chosen if 0 <= chosen <= warps else 0)

    @property
    def watched_block(self) -> tuple[int, int, int]:
        x, y, z = (spin.value() for spin in self.block)
        return x, y, z

    @property
    def watched_warp(self) -> int | None:
        return self.warp.currentIndex() - 1 if self.warp.currentIndex() > 0 else None

    def next_warp(self) -> None:
        self.warp.setCurrentIndex((self.warp.currentIndex() + 1) % max(1, self.warp.count()))

    def show_error(self, error: GemmvizError | None) -> None:
        """Says what is wrong, and offers the nearest settings that work; None clears it."""
        self._nearest = error.nearest if isinstance(error, SettingError) else {}
        self.message.setVisible(error is not None)
        self.remedy.setVisible(bool(self._nearest))
        if error is not None:
            remedy = f"\n{error.remedy}" if error.remedy and not self._nearest else ""
            self.message.setText(error.message + remedy)
            self.remedy.setText("Use " + ", ".join(f"{name} = {value}" for name, value in self._nearest.items()))

    def _on_remedy(self) -> None:
        for name, value in self._nearest.items():
            box = self.parameters.get(name) or self.sizes[name]
            box.setCurrentText(str(value)) if isinstance(box, QComboBox) else box.setValue(value)

    def _quietly(self, action: Callable[[], None]) -> None:
        self._loading = True
        try:
            action()
        finally:
            self._loading = False

    def _on_kernel(self, row: int) -> None:
        """Files that were opened know their path; the others go by name."""
        self.kernel_chosen.emit(self.kernel.itemData(row) or self.kernel.itemText(row))

    def _on_changed(self) -> None:
        if not self._loading:
            self.changed.emit()

    def _on_watched(self) -> None:
        if not self._loading:
            self.watched_changed.emit()
