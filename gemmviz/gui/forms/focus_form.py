"""The form that chooses which threads to watch (all, a block, a warp or a thread) and what colours mean."""

from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QDoubleSpinBox, QFormLayout, QHBoxLayout, QSpinBox, QWidget

from gemmviz.analysis.replay.focus import Focus, thread_place
from gemmviz.cuda.launch.legality import device_for
from gemmviz.gui.widgets.controls import choice, number_field, quietly, set_quietly, tip_text
from gemmviz.gui.widgets.refresh import unless_covered
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.kernel import Launch
from gemmviz.model.translation import marked, tr
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.scenes.kit.view import LAYERS

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
        self._rows = block, thread = _row_of_boxes(self.block_at), _row_of_boxes(self.thread_at)
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


def _row_of_boxes(boxes: list[QSpinBox]) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    for box in boxes:
        layout.addWidget(box)
    return row


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
