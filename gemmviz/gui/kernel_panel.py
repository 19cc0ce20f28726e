"""The settings: kernel, sizes, parameters, values, device and blocks. Settings that can't run say why."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.files.devices import device_names, load_device
from gemmviz.files.measurements import Registers
from gemmviz.gui.session import Setup
from gemmviz.model.device import Device
from gemmviz.model.errors import GemmvizError, SettingError, UsageError
from gemmviz.model.filling import MOST_SEED, PATTERNS, Filling
from gemmviz.model.gpu import Gpu
from gemmviz.model.kernel import KernelSpec, Launch, Parameter, Settings
from gemmviz.model.lanes import parse_phases, parse_window, phases_text
from gemmviz.model.problem import Problem
from gemmviz.run.protocol import PATIENCE_S

_LARGEST = 2**31 - 1
_PATTERN_NAMES = {"random": "Random", "index": "Their own index", "ones": "All ones"}
AUTOMATIC = "as many as are quick"
ON_CPU = "CPU: interpreter"


class KernelPanel(QWidget):
    """``changed`` when settings change, ``kernel_chosen`` with the name or file of a kernel, ``entered`` when Enter ends the
    typing of a number, ``runner_chosen`` with whether the GPU runs the kernel, ``patience_changed`` with seconds.
    """

    changed = Signal()
    kernel_chosen = Signal(str)
    entered = Signal()
    runner_chosen = Signal(bool)
    patience_changed = Signal(float)

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
        self.title.setObjectName("heading")
        self.description = QLabel()
        self.description.setWordWrap(True)
        self.description.setObjectName("faint")
        self.sizes = {name: self._size(name) for name in ("M", "N", "K")}
        self.parameters: dict[str, QComboBox | QSpinBox] = {}
        self.launch = QLabel()
        self.launch.setWordWrap(True)
        self.launch.setToolTip("What the header's formulas make of these settings")
        self.pattern = self._choice("Values", "What A and B hold before the kernel runs", [_PATTERN_NAMES[p] for p in PATTERNS])
        self.seed = QSpinBox()
        self.seed.setRange(0, MOST_SEED)
        self.seed.setKeyboardTracking(False)
        self.seed.setAccessibleName("Seed")
        self.seed.setToolTip("The seed of the random values: the same seed gives the same matrices")
        self.seed.valueChanged.connect(self._on_changed)
        self.seed.lineEdit().returnPressed.connect(self.entered)
        self.device = self._choice("Device", "", [load_device(name).name for name in device_names()])
        self.limits = QLabel()
        self.limits.setWordWrap(True)
        self.limits.setObjectName("faint")
        self.blocks = QLineEdit()
        self.blocks.setPlaceholderText(AUTOMATIC)
        self.blocks.setClearButtonEnabled(True)
        self.blocks.setAccessibleName("Traced blocks")
        self.blocks.setToolTip(
            "Which blocks to trace: X0:X1,Y0:Y1 (half-open). Empty: as many around the watched one as are quick"
        )
        self.blocks.editingFinished.connect(self._on_changed)
        self.blocks.returnPressed.connect(self.entered)
        self.phases = QLineEdit()
        self.phases.setPlaceholderText("all")
        self.phases.setClearButtonEnabled(True)
        self.phases.setAccessibleName("Traced phases")
        self.phases.setToolTip("Which phases to trace: 2 or 2-3, counted from 1 as on the stage. Empty: all")
        self.phases.editingFinished.connect(self._on_changed)
        self.phases.returnPressed.connect(self.entered)
        self.runner = QComboBox()
        self.runner.addItems([ON_CPU, "GPU: looking for one …"])
        self.runner.setAccessibleName("Run on")
        self.runner.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.runner.activated.connect(lambda _: self.runner_chosen.emit(self.runs_on_gpu))
        self.patience = QDoubleSpinBox()
        self.patience.setRange(0.5, 3600.0)
        self.patience.setValue(PATIENCE_S)
        self.patience.setSuffix(" s")
        self.patience.setDecimals(1)
        self.patience.setKeyboardTracking(False)
        self.patience.setAccessibleName("Time limit")
        self.patience.setToolTip("How long one launch may run on the GPU before it is taken to run forever and is ended")
        self.patience.valueChanged.connect(self.patience_changed)
        self.show_gpu(None)
        self.message = QLabel()
        self.message.setWordWrap(True)
        self.message.setObjectName("message")
        self.remedy = QPushButton()
        self.remedy.setToolTip("Take the nearest setting that works")
        self.remedy.clicked.connect(self._on_remedy)
        self._nearest: dict[str, int] = {}
        self._lay_out()
        self.show_error(None)

    def _lay_out(self) -> None:
        self._form = QFormLayout()
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        self._form.addRow("&Kernel", self.kernel)
        self._form.addRow(self.title)
        for name, box in self.sizes.items():
            self._form.addRow(f"&{name}", box)
        self._first_parameter_row = self._form.rowCount()
        self._form.addRow(self.launch)
        self._form.addRow(self.message)
        self._form.addRow(self.remedy)
        self._form.addRow(_ruler())
        self._form.addRow("&Values", self.pattern)
        self._form.addRow("S&eed", self.seed)
        self._form.addRow("&Device", self.device)
        self._form.addRow(self.limits)
        self._form.addRow("&Blocks", self.blocks)
        self._form.addRow("&Phases", self.phases)
        self._form.addRow("&Run on", self.runner)
        self._form.addRow("Time &limit", self.patience)
        self._form.addRow(_ruler())
        layout = QVBoxLayout(self)
        layout.addLayout(self._form)
        layout.addWidget(self.description)
        layout.addStretch(1)

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

    def _choice(self, name: str, tip: str, entries: list[str]) -> QComboBox:
        box = QComboBox()
        box.addItems(entries)
        box.setAccessibleName(name)
        box.setToolTip(tip)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.currentIndexChanged.connect(self._on_changed)
        return box

    def load(self, setup: Setup) -> None:
        """Shows the controls that the kernel has, set as ``setup`` says; nothing is announced."""
        self._quietly(lambda: self._load(setup.spec, setup.settings, setup))

    def _load(self, spec: KernelSpec, settings: Settings, setup: Setup) -> None:
        self.choose(spec)
        self.title.setText(spec.title)
        self.description.setText(" ".join(spec.description.split()))
        for name, size in settings.problem.sizes.items():
            self.sizes[name].setValue(size)
        if list(self.parameters) != [parameter.name for parameter in spec.parameters] or self._spec is not spec:
            self._make_parameters(spec)
        for name, box in self.parameters.items():
            value = settings.parameters[name]
            if isinstance(box, QComboBox):
                if box.findText(str(value)) < 0:
                    box.addItem(str(value))
                box.setCurrentText(str(value))
            else:
                box.setValue(value)
        self._spec = spec
        self.pattern.setCurrentIndex(PATTERNS.index(settings.filling.pattern))
        self.seed.setValue(settings.filling.seed)
        self.device.setCurrentIndex(device_names().index(setup.device_name))
        self.blocks.setText("" if setup.window is None else str(setup.window))
        self.phases.setText("" if setup.phases is None else phases_text(setup.phases))
        self._enable()

    def choose(self, spec: KernelSpec) -> None:
        """Shows which kernel it is: a shipped one by its name, a person's own by its file."""
        row = self.kernel.findText(spec.name) if spec.file == f"{spec.name}.cu" else self.kernel.findData(spec.file)
        if row < 0:
            self.kernel.addItem(spec.name, spec.file)
            row = self.kernel.count() - 1
            self.kernel.setItemData(row, spec.file, Qt.ItemDataRole.ToolTipRole)
        self.kernel.setCurrentIndex(row)

    _spec: KernelSpec | None = None

    def _make_parameters(self, spec: KernelSpec) -> None:
        for box in self.parameters.values():
            self._form.removeRow(box)
        self.parameters = {}
        before: QWidget = self.sizes["K"]
        for row, parameter in enumerate(spec.parameters, self._first_parameter_row):
            box = self._parameter(parameter)
            self.parameters[parameter.name] = box
            self._form.insertRow(row, parameter.name, box)
            QWidget.setTabOrder(before, box)
            before = box

    def _parameter(self, parameter: Parameter) -> QComboBox | QSpinBox:
        box: QComboBox | QSpinBox
        if parameter.choices is not None:
            box = QComboBox()
            box.addItems([str(choice) for choice in parameter.choices])
            box.currentIndexChanged.connect(self._on_changed)
        else:
            box = QSpinBox()
            box.setRange(0 if parameter.default == 0 else 1, _LARGEST)
            box.setKeyboardTracking(False)
            box.lineEdit().returnPressed.connect(self.entered)
            box.valueChanged.connect(self._on_changed)
        box.setToolTip(parameter.description or f"The parameter {parameter.name}")
        box.setAccessibleName(parameter.name)
        return box

    def settings(self) -> Settings:
        """What the controls say. Raises SettingError for sizes that no index can name."""
        values = {
            name: int(box.currentText()) if isinstance(box, QComboBox) else box.value() for name, box in self.parameters.items()
        }
        problem = Problem(**{name: box.value() for name, box in self.sizes.items()})
        return Settings(problem, values, Filling(PATTERNS[self.pattern.currentIndex()], self.seed.value()))

    def setup(self, spec: KernelSpec) -> Setup:
        """Everything that is set. Raises SettingError."""
        window, phases = _typed(self.blocks, parse_window), _typed(self.phases, parse_phases)
        return Setup(spec, self.settings(), device_names()[self.device.currentIndex()], window, phases)

    @property
    def runs_on_gpu(self) -> bool:
        return self.runner.currentIndex() == 1

    def show_gpu(self, found: Gpu | GemmvizError | None, chosen: bool = False) -> None:
        """What is known of the GPU: itself, what is missing, or None while it is looked for."""
        item = self.runner.model().item(1)
        item.setEnabled(isinstance(found, Gpu))
        self.patience.setEnabled(isinstance(found, Gpu))
        match found:
            case Gpu():
                item.setText(f"GPU: {found.name}")
                tip = f"Who runs the kernel and records it. {found.label}"
            case GemmvizError():
                item.setText("GPU: none here")
                tip = f"Who runs the kernel and records it. There is no GPU to choose: {found}"
            case _:
                tip = "Who runs the kernel and records it"
        item.setToolTip(tip)
        self.runner.setToolTip(tip)
        self.runner.setCurrentIndex(1 if chosen and isinstance(found, Gpu) else 0)

    def show_launch(self, launch: Launch, device: Device, registers: Registers | None) -> None:
        """The launch, in threads, warps and blocks, and what it takes of the device."""
        warps = -(-launch.threads // device.warp_size)
        text = " × ".join(str(n) for n in launch.block if n > 1) or "1"
        grid = " × ".join(str(n) for n in launch.grid if n > 1) or "1"
        lines = [
            f"Block {text} = {launch.threads} threads, {warps} warp{'s' if warps > 1 else ''}",
            f"Grid {grid} = {launch.blocks} block{'s' if launch.blocks > 1 else ''}",
        ]
        if registers is not None:
            lines.append(f"{registers.per_thread} registers a thread (recorded: {registers.source})")
        self.launch.setText("\n".join(lines))

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

    def _enable(self) -> None:
        random = self.pattern.currentIndex() == PATTERNS.index("random")
        self.seed.setEnabled(random)
        self.seed.setToolTip(
            "The seed of the random values: the same seed gives the same matrices"
            if random
            else "Only random values have a seed"
        )
        device = load_device(device_names()[self.device.currentIndex()])
        self.limits.setText(
            f"A block: at most {device.max_threads_per_block} threads, {device.shared_per_block // 1024} KiB of shared memory, "
            f"{device.registers_per_block} registers"
        )
        self.device.setToolTip(
            f"Whose limits hold. {device.name}: {device.max_threads_per_block} threads and "
            f"{device.shared_per_block // 1024} KiB of shared memory a block, {device.registers_per_block} registers; "
            f"{device.sms} SMs, {device.bandwidth_gb_s:g} GB/s, {device.peak_gflops / 1000:.3g} TFLOP/s"
        )

    def _on_changed(self) -> None:
        self._enable()
        if not self._loading:
            self.changed.emit()


def _typed(line: QLineEdit, parse: Callable[[str], Any]) -> Any:
    """What a line means; None where it leaves that open. Raises SettingError."""
    text = line.text().replace(" ", "")
    if not text or text == "all":
        return None
    try:
        return parse(text)
    except UsageError as error:
        raise SettingError(error.message, remedy=error.remedy) from None


def _ruler() -> QFrame:
    line = QFrame()
    line.setFrameShape(QFrame.Shape.HLine)
    line.setObjectName("ruler")
    return line
