"""The numbers: what this step costs, what the whole launch costs, and what each site has its share in."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from gemmviz.analysis.counts import LaunchCounter, intensity, loads_per_element, totals
from gemmviz.analysis.hazards import Hazard
from gemmviz.analysis.replay import Replay
from gemmviz.model.trace import Trace

_STEP_ROWS = (
    "Requests, instructions",
    "Active threads",
    "Bytes asked for",
    "Sectors (32 B)",
    "Sectors needed",
    "Lines (128 B)",
    "Wavefronts",
    "Wavefronts needed",
)
_TOTAL_NAMES = {
    "global_load_requests": "Global load requests",
    "global_load_sectors": "Global load sectors",
    "global_store_requests": "Global store requests",
    "global_store_sectors": "Global store sectors",
    "shared_load_instructions": "Shared load instructions",
    "shared_store_instructions": "Shared store instructions",
    "shared_wavefronts": "Shared wavefronts",
    "shared_wavefronts_ideal": "Shared wavefronts needed",
}  # fmt: skip
_SITE_COLUMNS = ("Line", "Access", "Req.", "Sectors", "Needed", "Wavefr.", "Needed")


class MetricsPanel(QWidget):
    """Every number says where it comes from."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.check = QLabel()
        self.check.setWordWrap(True)
        self.check.setToolTip("C of the traced blocks, compared with a float64 product; the bound is that of float32 rounding")
        self.step_title = QLabel()
        self.step_title.setWordWrap(True)
        self.step_table = _table(len(_STEP_ROWS), 2)
        self.launch_title = QLabel()
        self.launch_title.setWordWrap(True)
        self.launch_table = _table(len(_TOTAL_NAMES) + 4, 2)
        self.site_table = _table(0, len(_SITE_COLUMNS))
        self.site_table.horizontalHeader().show()
        self.site_table.setHorizontalHeaderLabels(list(_SITE_COLUMNS))
        self.hazards = QLabel()
        self.hazards.setWordWrap(True)
        layout = QVBoxLayout(self)
        widgets = (
            self.check,
            self.hazards,
            self.step_title,
            self.step_table,
            self.launch_title,
            self.launch_table,
            self.site_table,
        )
        for widget in widgets:
            layout.addWidget(widget)
        layout.setStretchFactor(self.site_table, 1)
        for row, name in enumerate(_STEP_ROWS):
            self.step_table.setItem(row, 0, _item(name))
        for row, name in enumerate(
            (*_TOTAL_NAMES.values(), "Bytes moved, global", "Arithmetic intensity", "Loads per element of A", "… of B")
        ):
            self.launch_table.setItem(row, 0, _item(name))
        for table in (self.step_table, self.launch_table):
            table.setFixedHeight(table.rowCount() * table.rowHeight(0) + 4)

    def show_trace(self, trace: Trace, hazards: list[Hazard]) -> None:
        blocks = trace.window.blocks
        share = "all blocks" if blocks == trace.launch.blocks else f"{blocks} of {trace.launch.blocks} blocks"
        self.check.setText(("✓ " if trace.check.passed else "✗ ") + f"{trace.check} ({share} traced)")
        self.hazards.setVisible(bool(hazards) or bool(trace.notes))
        self.hazards.setText("\n".join([*(f"Hazard: {hazard}" for hazard in hazards), *trace.notes]))

    def show_step(self, replay: Replay, step: int) -> None:
        found = replay.cost(step)
        who = f"block ({replay.block[0]}, {replay.block[1]})" + ("" if replay.warp is None else f", warp {replay.warp}")
        self.step_title.setText(f"This step, {who}: counted from the trace")
        array = replay.trace.array_of(step)
        is_global, is_shared = (array is not None and array.space == space for space in ("global", "shared"))
        values = (
            (found.requests, array is not None), (found.lanes, array is not None), (found.bytes_asked, array is not None),
            (found.sectors, is_global), (found.ideal_sectors, is_global), (found.lines, is_global),
            (found.wavefronts, is_shared), (found.ideal_wavefronts, is_shared),
        )  # fmt: skip
        for row, (value, applies) in enumerate(values):
            self.step_table.setItem(row, 1, _number(value) if applies else _item("–", right=True))

    def show_launch(self, counter: LaunchCounter | None, trace: Trace) -> None:
        """The whole launch's counts; None while they are being counted."""
        blocks = trace.launch.blocks
        which = f"all {blocks} blocks" if blocks > 1 else "its only block"
        state = "counting …" if counter is None else "counted from the source as written"
        self.launch_title.setText(f"Whole launch, {which}: {state}")
        if counter is None:
            return
        found = totals(counter.sites, counter.arrays)
        for row, name in enumerate(_TOTAL_NAMES):
            self.launch_table.setItem(row, 1, _number(found[name]))
        moved = 32 * (found["global_load_sectors"] + found["global_store_sectors"])
        problem = trace.settings.problem
        flops = 2 * problem.M * problem.N * problem.K
        self.launch_table.setItem(len(_TOTAL_NAMES), 1, _number(moved))
        self.launch_table.setItem(len(_TOTAL_NAMES) + 1, 1, _item(f"{intensity(flops, moved):.3g} flop/B", right=True))
        reuse = loads_per_element(counter.sites, counter.arrays)
        for row, name in enumerate("AB", len(_TOTAL_NAMES) + 2):
            self.launch_table.setItem(row, 1, _item(f"{reuse.get(name, 0.0):.6g}", right=True))
        self._show_sites(counter)

    def _show_sites(self, counter: LaunchCounter) -> None:
        sites = sorted(counter.sites.items(), key=lambda item: (item[0].place.line, item[0].place.column))
        self.site_table.setRowCount(len(sites))
        for row, (site, found) in enumerate(sites):
            name = f"{counter.arrays[site.array].name} {site.kind}"
            cells = (
                _number(site.place.line), _item(name), _number(found.requests), _number(found.sectors),
                _number(found.ideal_sectors), _number(found.wavefronts), _number(found.ideal_wavefronts),
            )  # fmt: skip
            for column, cell in enumerate(cells):
                self.site_table.setItem(row, column, cell)
            self.site_table.item(row, 1).setToolTip(site.text)


def _table(rows: int, columns: int) -> QTableWidget:
    table = QTableWidget(rows, columns)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(22)
    table.horizontalHeader().hide()
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setSectionResizeMode(1 if columns > 2 else 0, QHeaderView.ResizeMode.Stretch)
    table.horizontalHeader().setMinimumSectionSize(24)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.setShowGrid(False)
    table.setMinimumWidth(120)
    return table


def _item(text: str, right: bool = False) -> QTableWidgetItem:
    item = QTableWidgetItem(text)
    if right:
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return item


def _number(value: int) -> QTableWidgetItem:
    item = _item(f"{value:,}".replace(",", "\u202f"), right=True)
    item.setData(Qt.ItemDataRole.UserRole, value)
    return item
