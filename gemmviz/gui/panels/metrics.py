"""The numbers: what this step costs, what all steps so far and the whole launch cost, and each access's share."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QVBoxLayout, QWidget

from gemmviz.analysis.memory.counts import Counts, LaunchCounts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.gui.panel import Panel
from gemmviz.gui.widgets.controls import line
from gemmviz.gui.widgets.refresh import Refresh
from gemmviz.gui.widgets.tables import NUMBER, Table
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.errors import Place, UsageError
from gemmviz.model.sites import Space
from gemmviz.model.words import spaced
from gemmviz.subjects import metrics
from gemmviz.subjects.pointing import step_at_site
from gemmviz.subjects.runs import KnownRun

_STEP, _SO_FAR, _LAUNCH = 1, 2, 3
_PLACE = NUMBER + 1
_NOT_HERE = "–"
_COSTS = ["", "Step", "So far", "Launch"]
_ACCESSES = {
    "Line": "Line of the source",
    "Access": "What is touched there; click a row to go to its next step",
    "Took": "Sectors of global memory, wavefronts of shared memory",
    "Needed": "The fewest that could do",
    "Lost": "Took less needed: uncoalesced, or bank conflicts",
}


class Metrics(QWidget):
    """Every number says where it comes from. A click on a row of the accesses goes to the next step there."""

    def __init__(self, desk: WindowModel) -> None:
        super().__init__()
        self.desk = desk
        self.check = line(tip="C of the traced blocks, compared with a float64 product; the bound is that of float32 rounding")
        self.speed = line(tip="The real kernel, as it stands in its file: timed by itself, without any recording")
        self.speed.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hazards = line("message", "Two threads, one element, at least one write, no barrier between")
        self.searched = line("faint", "Name the blocks to be traced (Settings, Blocks) to have others searched")
        self.source = line("faint", "Where the numbers below come from")
        self.costs = Table("Costs", _COSTS, len(metrics.COSTS))
        for row, cost in enumerate(metrics.COSTS):
            self.costs.put(row, 0, cost.name)
        self.launch = Table("Whole launch", ["", "Launch"], len(metrics.LAUNCHES))
        for row, metric in enumerate(metrics.LAUNCHES):
            self.launch.put(row, 0, metric.name, tip=metric.tip)
        self.accesses = self._access_table()
        column = QVBoxLayout(self)
        for label in (self.check, self.speed, self.hazards, self.searched, self.source):
            column.addWidget(label)
        for table in (self.costs, self.launch):
            table.fit_rows()
            column.addWidget(table)
        column.addWidget(self.accesses, 1)
        self._listed: LaunchCounts | None = None
        self._refresh = Refresh(self, self.draw)
        for event in (
            desk.session.run_changed,
            desk.session.analysis_changed,
            desk.session.position_changed,
            desk.session.notices.changed,
        ):
            event.connect(self._refresh.due)

    def _access_table(self) -> Table:
        table = Table("Accesses", list(_ACCESSES), stretched=1)
        table.setMinimumHeight(150)
        table.setSortingEnabled(True)
        table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        table.setToolTip("Click a heading to sort, a row to go to the next step there")
        table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        for column, tip in enumerate(_ACCESSES.values()):
            heading = table.horizontalHeaderItem(column)
            assert heading is not None
            heading.setToolTip(tip)
        table.cellClicked.connect(self._on_row)
        table.cellActivated.connect(self._on_row)
        return table

    def draw(self) -> None:
        session = self.desk.session
        shown, now = session.shown, session.now
        if shown is None or now is None or session.slot.reading.is_drawing:
            return
        self.setEnabled(not session.is_stale)
        self._say(shown, now)
        self._show_step(shown, now)
        if shown.counts is not self._listed or shown.counts is None:
            self._listed = shown.counts
            self._show_launch(shown)
            self._list_accesses(shown.counts)
        self._mark(now.site.place)

    def _say(self, shown: KnownRun, now: Moment) -> None:
        self.check.setText(metrics.check_line(shown))
        self.speed.setText("\n".join(metrics.speed_lines(shown)))
        self.speed.setVisible(bool(self.speed.text()))
        self.hazards.setText("\n".join(metrics.hazard_lines(shown)))
        self.hazards.setVisible(bool(self.hazards.text()))
        self.searched.setText(metrics.search_line(shown))
        self.searched.setVisible(bool(self.searched.text()))
        self.source.setText(metrics.source_line(shown, now))

    def _show_step(self, shown: KnownRun, now: Moment) -> None:
        """Costs so far are shown once they are known."""
        space = None if now.main is None else now.main.array.space
        sums: dict[Space, Counts] = {}
        if shown.replay.knows_costs(now.scope):
            sums = {each: now.so_far(each) for each in ("global", "shared")}
        for row, cost in enumerate(metrics.COSTS):
            self._number(row, _STEP, cost.of(now.cost) if space == cost.space else None)
            self._number(row, _SO_FAR, cost.of(sums[cost.space]) if sums else None)

    def _number(self, row: int, column: int, value: int | None) -> None:
        self.costs.put(row, column, _NOT_HERE if value is None else spaced(value), value, right=True)

    def _show_launch(self, shown: KnownRun) -> None:
        """The whole launch's numbers; a dash while they are being counted."""
        counts, rules = shown.counts, shown.trace.rules
        for row, cost in enumerate(metrics.COSTS):
            self._number(row, _LAUNCH, None if counts is None else cost.of(counts.total(cost.space)))
            self.costs.put(row, 0, cost.name, tip=cost.tip_for(rules))
        for row, metric in enumerate(metrics.LAUNCHES):
            amount = None if counts is None else metric.of(shown.setup, counts)
            text, value = (_NOT_HERE, None) if amount is None else (amount.text, amount.value)
            self.launch.put(row, 1, text, value, right=True)

    def _list_accesses(self, counts: LaunchCounts | None) -> None:
        table, listed = self.accesses, {} if counts is None else counts.accesses
        table.setSortingEnabled(False)
        table.setRowCount(len(listed))
        for row, ((site, operand), found) in enumerate(listed.items()):
            assert counts is not None
            array = counts.arrays[operand.array]
            is_global = array.space == "global"
            took, needed = (found.sectors, found.ideal_sectors) if is_global else (found.wavefronts, found.ideal_wavefronts)
            unit = "sectors of global memory" if is_global else "wavefronts of shared memory"
            table.put(row, 0, str(site.place.line), site.place.line, right=True).setData(_PLACE, site.place)
            tip = f"{site.text}: {spaced(found.requests)} times, in {unit}"
            table.put(row, 1, f"{operand.access} {array.name}", tip=tip)
            for column, value in enumerate((took, needed, took - needed), 2):
                table.put(row, column, spaced(value), value, right=True)
        table.setSortingEnabled(True)

    def _place(self, row: int) -> Place | None:
        item = self.accesses.item(row, 0)
        found = None if item is None else item.data(_PLACE)
        return found if isinstance(found, Place) else None

    def _mark(self, place: Place) -> None:
        """Marks the row of the running access."""
        table = self.accesses
        row = next((row for row in range(table.rowCount()) if self._place(row) == place), None)
        if row is None:
            table.clearSelection()
        elif table.currentRow() != row or not table.selectedItems():
            table.selectRow(row)

    def _on_row(self, row: int, column: int) -> None:
        place, session = self._place(row), self.desk.session
        if place is not None and session.now is not None:
            try:
                session.player.jump(step_at_site(session.now, place))
            except UsageError as error:
                session.say(str(error))


PANEL = Panel("Metrics", "right", Metrics, order=3, least_width=300, scrolls=True)
