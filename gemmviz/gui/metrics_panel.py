"""The numbers: what this step costs, what all steps so far and the whole launch cost, and each site's share."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from gemmviz.analysis.counts import Counts, LaunchCounter, intensity, loads_per_element
from gemmviz.analysis.focus import focus_text
from gemmviz.analysis.hazards import Hazard
from gemmviz.analysis.replay import Replay
from gemmviz.gui.session import RealKernel
from gemmviz.model.device import Device
from gemmviz.model.errors import Place
from gemmviz.model.trace import Trace
from gemmviz.model.words import number, spaced

# Name, kind of memory, attribute of Counts, and what it is
_ROWS = (
    ("Requests", "global", "requests", "One warp's execution of one global load or store"),
    ("Sectors", "global", "sectors", "32-byte sectors that the requests touch"),
    ("    needed", "global", "ideal_sectors", "The fewest that could carry the bytes asked for (Nsight's ideal)"),
    ("    lost", "global", "excessive_sectors", "Moved but not needed: uncoalesced or misaligned access"),
    ("Lines", "global", "lines", "128-byte lines, four sectors each"),
    ("Shared accesses", "shared", "requests", "One warp's execution of one shared load or store"),
    ("Wavefronts", "shared", "wavefronts", "Passes over the 32 banks"),
    ("    needed", "shared", "ideal_wavefronts", "The fewest that could carry the words asked for (Nsight's ideal)"),
    ("    lost", "shared", "excessive_wavefronts", "Taken but not needed: bank conflicts"),
)
_LAUNCH_ROWS = (
    ("Global load sectors", "What Nsight calls l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    ("Global store sectors", "What Nsight calls l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    ("Bytes moved, global", "Sectors moved, times 32"),
    ("Arithmetic intensity", "2·M·N·K floating-point operations over the bytes moved"),
    ("Loads per element of A", "How often an element of A is loaded from global memory, on average"),
    ("Loads per element of B", "How often an element of B is loaded from global memory, on average"),
)
_SITE_COLUMNS = ("Line", "Access", "Took", "Needed", "Lost")
_SITE_TIPS = (
    "Line of the source", "What is touched there; click a row to go to its next step",
    "Sectors of global memory, wavefronts of shared memory", "The fewest that could do",
    "Took less needed: uncoalesced, or bank conflicts",
)  # fmt: skip
_NOT_HERE = "–"


class MetricsPanel(QWidget):
    """Every number says where it comes from. ``site_chosen`` with the place of a site whose row was clicked."""

    site_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.check = _label("C of the traced blocks, compared with a float64 product; the bound is that of float32 rounding")
        self.real = _label("The real kernel, as it stands in its file: timed by itself, without any recording")
        self.real.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hazards = _label("Two threads, one element, at least one write, no barrier between")
        self.hazards.setObjectName("message")
        self.searched = _label("Name the blocks to be traced (Settings, Blocks) to have others searched")
        self.searched.setObjectName("faint")
        self.searched.hide()
        self.source = _label("Where the numbers below come from")
        self.source.setObjectName("faint")
        self.table = _table(len(_ROWS), 4, "Costs")
        self.table.setHorizontalHeaderLabels(["", "This step", "So far", "Launch"])
        for row, (name, _, _, tip) in enumerate(_ROWS):
            _put(self.table, row, 0, name, tip=tip)
        self.launch_table = _table(len(_LAUNCH_ROWS), 2, "Whole launch")
        self.launch_table.setHorizontalHeaderLabels(["", "Launch"])
        for row, (name, tip) in enumerate(_LAUNCH_ROWS):
            _put(self.launch_table, row, 0, name, tip=tip)
        self.site_table = _table(0, len(_SITE_COLUMNS), "Sites")
        self.site_table.setHorizontalHeaderLabels(list(_SITE_COLUMNS))
        self.site_table.setSortingEnabled(True)
        self.site_table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.site_table.setToolTip("Click a heading to sort, a row to go to the next step there")
        self.site_table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.site_table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.site_table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        for column, tip in enumerate(_SITE_TIPS):
            self.site_table.horizontalHeaderItem(column).setToolTip(tip)
        self.site_table.cellClicked.connect(self._on_row)
        self.site_table.cellActivated.connect(self._on_row)
        layout = QVBoxLayout(self)
        for widget in (
            self.check,
            self.real,
            self.hazards,
            self.searched,
            self.source,
            self.table,
            self.launch_table,
            self.site_table,
        ):
            layout.addWidget(widget)
        layout.setStretchFactor(self.site_table, 1)
        self.site_table.setMinimumHeight(150)
        for table in (self.table, self.launch_table):
            rows = table.rowCount() * table.verticalHeader().defaultSectionSize()
            table.setFixedHeight(rows + table.horizontalHeader().sizeHint().height() + 4)

    def show_trace(self, trace: Trace) -> None:
        blocks = trace.window.blocks
        share = "all blocks" if blocks == trace.launch.blocks else f"{blocks} of {trace.launch.blocks} blocks"
        if trace.stop is not None:
            self.check.setText(f"✗ C was not checked, the run ended early: {trace.stop.sentence}")
            return
        self.check.setText(("✓ " if trace.check.passed else "✗ ") + f"{trace.check} ({share} traced)")

    def show_hazards(self, hazards: list[Hazard], trace: Trace, searched: int | None = None) -> None:
        """``searched``: in how many of the traced blocks, None before any was."""
        lines = [*(f"Hazard: {hazard}" for hazard in hazards), *trace.notes]
        self.hazards.setVisible(bool(lines))
        self.hazards.setText("\n".join(lines))
        some = searched is not None and searched < trace.space.blocks
        self.searched.setVisible(some)
        if some:
            self.searched.setText(
                f"Hazards were searched for in {searched} of the {trace.space.blocks} traced blocks, to be quick"
            )

    def show_real(self, real: RealKernel | None) -> None:
        """How fast the real kernel is, and where that is known from; None while it is being found out."""
        self.real.setText("Real kernel: …" if real is None else "\n".join(real_lines(real)))

    def show_step(self, replay: Replay, step: int, summed: bool) -> None:
        """``summed``: whether the costs so far are known yet."""
        array, found = replay.trace.array_of(step), replay.cost(step)
        space = None if array is None else array.space
        sums = {s: replay.so_far(step, s) for s in ("global", "shared")} if summed else {}
        for row, (_, kind, attribute, _) in enumerate(_ROWS):
            self._number(self.table, row, 1, found if space == kind else None, attribute)
            self._number(self.table, row, 2, sums.get(kind), attribute)

    def show_site(self, place: Place) -> None:
        """Marks the row of the running access."""
        for row in range(self.site_table.rowCount()):
            if self.site_table.item(row, 0).data(_PLACE) == place:
                if self.site_table.currentRow() != row:
                    self.site_table.selectRow(row)
                return
        self.site_table.clearSelection()

    def show_source(self, replay: Replay, counter: LaunchCounter | None, device: Device) -> None:
        """Whose costs the columns are, and by which rules they are counted."""
        who = focus_text(replay.focus, replay.trace)
        if replay.thread is not None:
            who += f", whose warp {replay.warp} pays"
        blocks = replay.trace.launch.blocks
        which = f"all {blocks} blocks" if blocks > 1 else "its only block"
        state = "counting" if counter is None else "counted from the source as written"
        launch = f"{which}, {state}" if replay.trace.stop is None else "not counted, the run ended early"
        rules = (
            "" if device.follows_the_rules else f" By the rules of recent NVIDIA GPUs: a {device.name} serves memory otherwise."
        )
        self.source.setText(f"Step, so far: {who}, counted from the trace. Launch: {launch}.{rules}")

    @staticmethod
    def _number(table: QTableWidget, row: int, column: int, counts: Counts | None, attribute: str) -> None:
        if counts is None:
            _put(table, row, column, _NOT_HERE, right=True)
        else:
            value = getattr(counts, attribute)
            _put(table, row, column, spaced(value), value, right=True)

    def show_launch(self, counter: LaunchCounter | None, trace: Trace) -> None:
        """The whole launch's counts; None while they are being counted."""
        if counter is None:
            for table, column in ((self.table, 3), (self.launch_table, 1)):
                for row in range(table.rowCount()):
                    _put(table, row, column, _NOT_HERE, right=True)
            self.site_table.setRowCount(0)
            return
        sums = {space: sum(_of(counter, space), Counts()) for space in ("global", "shared")}
        for row, (_, kind, attribute, _) in enumerate(_ROWS):
            self._number(self.table, row, 3, sums[kind], attribute)
        problem = trace.settings.problem
        moved = sums["global"].bytes_moved
        loads = sum(_of(counter, "global", "load"), Counts()).sectors
        reuse = loads_per_element(counter.sites, counter.arrays)
        values = (loads, sums["global"].sectors - loads, moved, intensity(2 * problem.M * problem.N * problem.K, moved))
        texts = [spaced(value) for value in values[:3]] + [f"{values[3]:.3g} flop/B"]
        for row, (text, value) in enumerate(zip(texts, values, strict=True)):
            _put(self.launch_table, row, 1, text, value, right=True)
        for row, name in enumerate("AB", len(values)):
            _put(self.launch_table, row, 1, f"{reuse.get(name, 0.0):.6g}", reuse.get(name, 0.0), right=True)
        self._show_sites(counter)

    def _show_sites(self, counter: LaunchCounter) -> None:
        self.site_table.setSortingEnabled(False)
        self.site_table.setRowCount(len(counter.sites))
        for row, (site, found) in enumerate(counter.sites.items()):
            array = counter.arrays[site.array]
            took, needed = (
                (found.sectors, found.ideal_sectors) if array.space == "global" else (found.wavefronts, found.ideal_wavefronts)
            )
            unit = "sectors of global memory" if array.space == "global" else "wavefronts of shared memory"
            _put(self.site_table, row, 0, str(site.place.line), site.place.line, right=True)
            _put(
                self.site_table,
                row,
                1,
                f"{array.name} {site.kind}",
                tip=f"{site.text}: {spaced(found.requests)} times, in {unit}",
            )
            self.site_table.item(row, 0).setData(_PLACE, site.place)
            for column, value in enumerate((took, needed, took - needed), 2):
                _put(self.site_table, row, column, spaced(value), value, right=True)
        self.site_table.setSortingEnabled(True)

    def _on_row(self, row: int, column: int) -> None:
        place = self.site_table.item(row, 0).data(_PLACE)
        if isinstance(place, Place):
            self.site_chosen.emit(place)


def real_lines(real: RealKernel) -> list[str]:
    """Time, rate, resources and source, in words."""
    found = real.measured
    if found is None or found.timing is None:
        return [f"Real kernel: {found.failure if found is not None else real.source}"]
    timing, time_us = found.timing, found.timing.median_ms * 1e3
    time = f"{number(time_us)} µs" if time_us < 1e4 else f"{number(timing.median_ms)} ms"
    spread = "" if timing.spread is None else f" ± {max(timing.spread, 0.001):.1%} (quartiles)"
    share = "" if real.share_of_cublas is None else f", {real.share_of_cublas:.1%} of cuBLAS"
    lines = [f"Real kernel, {real.source}:", f"{time}{spread}, {number(found.gflops or 0.0)} GFLOP/s{share}"]
    if found.resources is not None:
        resources, held = found.resources, found.resources.occupancy
        spills = f"{resources.local_bytes} bytes spilled" if resources.local_bytes else "no spills"
        lines.append(f"{resources.registers} registers, {number(resources.shared_bytes)} bytes of shared memory, {spills}")
        blocks = f"{held.blocks_per_sm} block{'s' if held.blocks_per_sm > 1 else ''} of {held.warps_per_block} warps an SM"
        lines.append(f"theoretical occupancy {held.share:.0%}: {blocks}")
    if found.transfer is not None:
        there, back = found.transfer.to_device_ms, found.transfer.to_host_ms
        lines.append(f"copies of pageable memory: A and B to the GPU {there:.3g} ms, C back {back:.3g} ms")
    if found.check is not None and not found.check.passed:
        lines.append(str(found.check))
    if found.reads_c:
        lines.append("It reads C, so it was given zeros there")
    return lines


_PLACE = Qt.ItemDataRole.UserRole + 1


def _of(counter: LaunchCounter, space: str, kind: str | None = None) -> list[Counts]:
    """The costs of all sites of one kind of memory (and one kind of access)."""
    return [
        found
        for site, found in counter.sites.items()
        if not site.is_barrier and counter.arrays[site.array].space == space and kind in (None, site.kind)
    ]


class _Item(QTableWidgetItem):
    """Sorts by its number where it has one."""

    def __lt__(self, other: QTableWidgetItem) -> bool:
        mine, theirs = self.data(Qt.ItemDataRole.UserRole), other.data(Qt.ItemDataRole.UserRole)
        return mine < theirs if mine is not None and theirs is not None else self.text() < other.text()


def _put(
    table: QTableWidget, row: int, column: int, text: str, value: float | None = None, right: bool = False, tip: str = ""
) -> None:
    """Puts a text, and the number that it stands for, into a cell; the item is made once."""
    item = table.item(row, column)
    if item is None:
        item = _Item()
        if right:
            item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        table.setItem(row, column, item)
    if item.text() != text:
        item.setText(text)
    item.setData(Qt.ItemDataRole.UserRole, value)
    if tip:
        item.setToolTip(tip)


def _label(tip: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setToolTip(tip)
    return label


def _table(rows: int, columns: int, name: str) -> QTableWidget:
    table = QTableWidget(rows, columns)
    table.setAccessibleName(name)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(22)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setSectionResizeMode(1 if columns > 4 else 0, QHeaderView.ResizeMode.Stretch)
    table.horizontalHeader().setMinimumSectionSize(24)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.setShowGrid(False)
    table.setMinimumWidth(120)
    return table
