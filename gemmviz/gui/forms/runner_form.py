"""Who runs the kernel, and how long it may take there."""

from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QDoubleSpinBox, QFormLayout, QWidget

from gemmviz.gui.widgets.controls import choice, quietly, tip_text
from gemmviz.gui.window_model import WindowModel
from gemmviz.run.protocol import TIMEOUT_S

ON_CPU = "CPU: interpreter"
_CPU, _GPU = 0, 1
_WHO = "Who runs the kernel and records it"


class RunnerForm(QWidget):
    """Shows the session's runners and chooses among them; the choice is kept for the next time."""

    def __init__(self, desk: WindowModel) -> None:
        super().__init__()
        self.desk = desk
        self.runners = desk.session.runners
        self.runner = choice("Run on", _WHO, ((ON_CPU, "cpu"), ("GPU: looking for one …", "gpu")))
        self.runner.activated.connect(self._on_chosen)
        self.timeout = QDoubleSpinBox()
        self.timeout.setRange(0.5, 3600.0)
        self.timeout.setValue(TIMEOUT_S)
        self.timeout.setSuffix(" s")
        self.timeout.setDecimals(1)
        self.timeout.setKeyboardTracking(False)
        self.timeout.setAccessibleName("Time limit")
        self.timeout.setToolTip("How long one launch may run on the GPU before it is taken to run forever and is ended")
        self.timeout.valueChanged.connect(self.runners.set_timeout)
        self.timeout.lineEdit().returnPressed.connect(desk.released.emit)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("&Run on", self.runner)
        form.addRow("Time &limit", self.timeout)
        self.runners.gpu_known.connect(self.sync)
        self.runners.changed.connect(self.sync)
        self.sync()

    def sync(self) -> None:
        gpu, why_not = self.runners.gpu, self.runners.gpu_error
        model = self.runner.model()
        assert isinstance(model, QStandardItemModel)
        item = model.item(_GPU)
        item.setEnabled(gpu is not None)
        self.timeout.setEnabled(gpu is not None)
        tip = _WHO
        if gpu is not None:
            item.setText(f"GPU: {gpu.name}")
            tip = f"{_WHO}. {gpu.label}"
        elif why_not is not None:
            item.setText("GPU: none here")
            tip = f"{_WHO}. There is no GPU to choose: {why_not}"
        item.setToolTip(tip_text(tip))
        self.runner.setToolTip(tip_text(tip))
        quietly(self.runner, lambda: self.runner.setCurrentIndex(_GPU if self.runners.chosen == "gpu" else _CPU))

    def _on_chosen(self, row: int) -> None:
        runner = self.runner.itemData(row)
        self.desk.preferences.put("runner", runner)
        self.runners.choose(runner)
        session = self.desk.session
        session.reports.offer_gpu(session.shot.setup, session.shown)
