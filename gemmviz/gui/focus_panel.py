"""Whom to watch: everyone, a block, one of its warps, or one of its threads; and what colours tell."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QHBoxLayout, QSpinBox, QWidget

from gemmviz.analysis.focus import Focus, thread_place
from gemmviz.model.kernel import Launch
from gemmviz.scene.frame import LAYERS, Layer

SCOPES = ("block", "warp", "thread", "everyone")
_SCOPE_NAMES = ("One block", "One warp", "One thread", "All traced blocks")
_LAYER_NAMES = {"matrix": "Which matrix", "warp": "Which warp", "reuse": "Loads so far (reuse)"}


class FocusPanel(QWidget):
    """``changed`` when another focus is chosen, ``layer_changed`` when colours are to tell something else."""

    changed = Signal()
    layer_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loading = False
        self._launch = Launch((1, 1, 1), (1, 1, 1))
        self.scope = _choice("Watch", "Whose accesses to show (W: next warp, T: next thread, Esc: the block)", _SCOPE_NAMES)
        self.scope.currentIndexChanged.connect(self._on_changed)
        self.block = [self._spin(f"blockIdx.{axis} of the block to watch") for axis in "xyz"]
        self.warp = self._spin("The warp to watch (W: next)")
        self.thread = [self._spin(f"threadIdx.{axis} of the thread to follow (T: next)") for axis in "xyz"]
        self.layer = _choice(
            "Colours", "What colours tell: the matrix, the warp, or how often loaded (L: next)", list(_LAYER_NAMES.values())
        )
        self.layer.currentIndexChanged.connect(lambda _: self.layer_changed.emit())
        form = QFormLayout(self)
        form.setContentsMargins(11, 0, 11, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("&Watch", self.scope)
        form.addRow("Block x, y, z", _row(self.block))
        form.addRow("Warp", self.warp)
        form.addRow("Thread x, y, z", _row(self.thread))
        form.addRow("&Colours", self.layer)
        self._enable()

    def _spin(self, tip: str) -> QSpinBox:
        box = QSpinBox()
        box.setToolTip(tip)
        box.setAccessibleName(tip)
        box.setMinimumWidth(46)
        box.valueChanged.connect(self._on_changed)
        return box

    def set_launch(self, launch: Launch, warp_size: int) -> None:
        """The ranges of what can be chosen; choices outside them go to the nearest inside."""
        self._loading = True
        self._launch = launch
        for boxes, extents in ((self.block, launch.grid), (self.thread, launch.block)):
            for box, extent in zip(boxes, extents, strict=True):
                box.setMaximum(extent - 1)
        self.warp.setMaximum(-(-launch.threads // warp_size) - 1)
        self._loading = False
        self._enable()

    def _enable(self) -> None:
        scope = SCOPES[self.scope.currentIndex()]
        for boxes, extents, wanted, what in (
            (self.block, self._launch.grid, scope != "everyone", "grid"),
            (self.thread, self._launch.block, scope == "thread", "block"),
        ):
            for box, extent in zip(boxes, extents, strict=True):
                box.setEnabled(wanted and extent > 1)
                why = (
                    ""
                    if wanted and extent > 1
                    else f" (the {what} has one there)"
                    if extent == 1
                    else " (not what is watched now)"
                )
                box.setToolTip(box.accessibleName() + (why or f": 0 to {extent - 1}"))
        self.warp.setEnabled(scope == "warp" and self.warp.maximum() > 0)
        only = " (the block has one)" if self.warp.maximum() == 0 else " (not what is watched now)"
        self.warp.setToolTip(self.warp.accessibleName() + ("" if self.warp.isEnabled() else only))

    @property
    def focus(self) -> Focus:
        """What is chosen."""
        scope = SCOPES[self.scope.currentIndex()]
        x, y, z = (box.value() for box in self.block)
        dx, dy, _ = self._launch.block
        tx, ty, tz = (box.value() for box in self.thread)
        thread = tx + dx * (ty + dy * tz)
        return Focus(
            (x, y, z),
            self.warp.value() if scope == "warp" else None,
            thread if scope == "thread" else None,
            scope == "everyone",
        )

    @property
    def layer_name(self) -> Layer:
        return LAYERS[self.layer.currentIndex()]

    def watch(self, focus: Focus) -> None:
        """Chooses a focus, and tells it once."""
        self._loading = True
        for box, at in zip(self.block, focus.block, strict=True):
            box.setValue(at)
        scope = "everyone" if focus.everyone else "block"
        if focus.warp is not None:
            scope = "warp"
            self.warp.setValue(focus.warp)
        if focus.thread is not None:
            scope = "thread"
            for box, at in zip(self.thread, thread_place(focus.thread, self._launch), strict=True):
                box.setValue(at)
        self.scope.setCurrentIndex(SCOPES.index(scope))
        self._loading = False
        self._on_changed()

    def next_warp(self) -> None:
        """The next warp of the block, after the last the first."""
        now = self.focus
        warps = self.warp.maximum() + 1
        self.watch(Focus(now.block, 0 if now.warp is None else (now.warp + 1) % warps))

    def next_thread(self) -> None:
        """The next thread of the block, after the last the first."""
        now = self.focus
        self.watch(Focus(now.block, None, 0 if now.thread is None else (now.thread + 1) % self._launch.threads))

    def whole_block(self) -> None:
        self.watch(Focus(self.focus.block))

    def everyone(self) -> None:
        self.watch(Focus(self.focus.block, everyone=True))

    def next_layer(self) -> None:
        self.layer.setCurrentIndex((self.layer.currentIndex() + 1) % self.layer.count())

    def _on_changed(self) -> None:
        self._enable()
        if not self._loading:
            self.changed.emit()


def _choice(name: str, tip: str, entries: tuple[str, ...] | list[str]) -> QComboBox:
    box = QComboBox()
    box.addItems(list(entries))
    box.setAccessibleName(name)
    box.setToolTip(tip)
    return box


def _row(boxes: list[QSpinBox]) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    for box in boxes:
        layout.addWidget(box)
    return row
