"""The form that chooses where the kernel runs, and its time limit there."""

from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QDoubleSpinBox, QFormLayout, QWidget

from gemmviz.gui.widgets.controls import choice, quietly, tip_text
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import marked, tr
from gemmviz.run.protocol import TIMEOUT_S

ON_CPU = marked("CPU: interpreter")
_CPU, _GPU = 0, 1
_TIP = marked("Where the kernel runs and is recorded")


class RunnerForm(QWidget):
    """The engines of the session. The choice is saved in the preferences."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.engines = model.session.engines
        self.runner = choice(tr("Run on"), tr(_TIP), ((tr(ON_CPU), "cpu"), (tr("GPU: searching …"), "gpu")))
        self.runner.activated.connect(self._on_chosen)
        self.timeout = QDoubleSpinBox()
        self.timeout.setRange(0.5, 3600.0)
        self.timeout.setValue(TIMEOUT_S)
        self.timeout.setSuffix(" s")
        self.timeout.setDecimals(1)
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
        tip = tr(_TIP)
        if gpu is not None:
            item.setText(f"GPU: {gpu.name}")
            tip = f"{_TIP}. {gpu.label}"
        elif why_not is not None:
            item.setText(tr("GPU: none found"))
            tip = tr("{tip}. No GPU is available: {why_not}", tip=tr(_TIP), why_not=why_not)
        item.setToolTip(tip_text(tip))
        self.runner.setToolTip(tip_text(tip))
        quietly(self.runner, lambda: self.runner.setCurrentIndex(_GPU if self.engines.chosen == "gpu" else _CPU))

    def _on_chosen(self, row: int) -> None:
        runner = self.runner.itemData(row)
        self.model.preferences.put("runner", runner)
        self.engines.choose(runner)
        session = self.model.session
        session.reports.offer_gpu(session.shot.setup, session.shown)
