"""The panel of numbers: the cost of this step, of all steps so far, of the whole launch, and of each access."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QVBoxLayout, QWidget

from gemmviz.analysis.counts import Counts, LaunchCounts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.gui.panel import Panel
from gemmviz.gui.replay_page import NO_RUN, fits_settings, has_no_run
from gemmviz.gui.widgets.controls import Refresh, line
from gemmviz.gui.widgets.fact_table import PLACE, Table
from gemmviz.gui.widgets.scene_widget import explain_first
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import Place, UsageError, asking, many, marked, spaced, tr
from gemmviz.model.sites import Space
from gemmviz.shots import metrics
from gemmviz.shots.runs import KnownRun
from gemmviz.shots.subject import step_at_site

_STEP, _SO_FAR, _LAUNCH = 1, 2, 3
_NEEDED, _LOST = 2, 3
_WITH_NEEDED = 340  # pixels: of a panel with all columns
_NOT_HERE = "–"
_COSTS = ["", marked("Step"), marked("So far"), marked("Launch")]
_ACCESS_COLUMNS = {
    marked("Access"): marked("Line and access as in the source; = marks one that writes. Click a row to go to its next step"),
    marked("Actual"): marked("Sectors of global memory, wavefronts of shared memory"),
    marked("Needed"): marked("Sectors that the different elements of each request fit into; wavefronts that its words need"),
    marked("Lost"): marked("Actual − needed: lost to uncoalesced accesses or bank conflicts"),
}


class Metrics(QWidget):
    """Tables of costs. Each number names its source. A click on an access goes to its next step."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.check = line(tip=tr("C of the traced blocks compared with a float64 product. The bound is float32 rounding"))
        self.speed = line(tip=tr("Time of the unmodified kernel, without recording"))
        self.speed.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hazards = line("message", tr("Two threads, one element, at least one write, and no barrier between them"))
        self.searched = line("faint", tr("To search other blocks, trace them: Settings, Blocks"))
        self.source = line("faint", tr("Source of the numbers below"))
        self.absent = line("faint")
        self.absent.setText(tr(NO_RUN))
        self.costs = Table(tr("Costs"), list(map(tr, _COSTS)), len(metrics.COSTS))
        for row, cost in enumerate(metrics.COSTS):
            self.costs.put(row, 0, tr(cost.name))
        self.launch = Table(tr("Whole launch"), ["", tr("Launch")], len(metrics.LAUNCHES))
        for row, metric in enumerate(metrics.LAUNCHES):
            self.launch.put(row, 0, tr(metric.name), tip=tr(metric.tip))
        self.accesses = self._access_table()
        column = QVBoxLayout(self)
        for label in (self.absent, self.check, self.speed, self.hazards, self.searched, self.source):
            column.addWidget(label)
        for table in (self.costs, self.launch):
            table.fit_rows()
            table.cellClicked.connect(partial(self._explain, table))
        for part in (self.costs, self.accesses, self.launch):
            column.addWidget(part)
        column.addStretch(1)
        self._listed: LaunchCounts | None = None
        self._refresh = Refresh(self, self.draw)
        for event in (
            model.session.run_changed,
            model.session.analysis_changed,
            model.session.position_changed,
            model.session.shot_changed,
            model.session.notices.changed,
        ):
            event.connect(self._refresh.due)

    def _access_table(self) -> Table:
        table = Table(tr("Accesses"), list(map(tr, _ACCESS_COLUMNS)))
        table.setSortingEnabled(True)
        table.sortByColumn(_LOST, Qt.SortOrder.DescendingOrder)
        table.setTextElideMode(Qt.TextElideMode.ElideRight)
        table.setWordWrap(False)
        table.setToolTip(tr("Click a heading to sort. Click a row to go to its next step"))
        table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        for column, tip in enumerate(_ACCESS_COLUMNS.values()):
            heading = table.horizontalHeaderItem(column)
            assert heading is not None
            heading.setToolTip(tr(tip))
        table.cellClicked.connect(self._on_row)
        table.cellActivated.connect(self._on_row)
        return table

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what follows from the other columns where the accesses would be cut."""
        super().resizeEvent(event)
        self.accesses.setColumnHidden(_NEEDED, self.width() < _WITH_NEEDED)

    def draw(self) -> None:
        session = self.model.session
        shown, now = session.shown, session.now
        self.setEnabled(not session.is_stale and fits_settings(session))
        self._show_parts(not has_no_run(session))
        if shown is None or now is None or session.completion.reading.is_drawing:
            return
        self._say(shown, now)
        self._cover(session.display.counted < 1.0)
        with asking(self.costs.is_covered):
            self._show_step(shown, now)
            counts = shown.whole.counts
            if counts is not self._listed or counts is None:
                self._listed = counts
                self._show_launch(shown)
                self._list_accesses(counts)
        self._mark(now.site.place)

    def _explain(self, table: Table, row: int, column: int) -> None:
        """Explain the name of a number that was clicked."""
        item = table.item(row, 0)
        if item is not None:
            explain_first(item.text(), QCursor.pos(), table)

    def _show_parts(self, on: bool) -> None:
        """Show the numbers, or say that there are none for this picture."""
        self.absent.setHidden(on)
        for part in (self.source, self.costs, self.accesses, self.launch):
            part.setVisible(on)
        if not on:
            for label in (self.check, self.speed, self.hazards, self.searched):
                label.hide()

    def _cover(self, on: bool) -> None:
        """Hide all counts while a question about them is open, and "C is right", which would read like its answer C."""
        self.check.setHidden(on)
        if on != self.costs.is_covered:
            self._listed = None
            for table in (self.costs, self.launch, self.accesses):
                table.is_covered = on

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
        """Show the costs of the step, and the costs so far once they are counted."""
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
        """Show the numbers of the whole launch; a dash while they are being counted."""
        setup, counts, rules = shown.whole.setup, shown.whole.counts, shown.trace.rules
        for row, cost in enumerate(metrics.COSTS):
            self._number(row, _LAUNCH, None if counts is None else cost.of(counts.total(cost.space)))
            self.costs.put(row, 0, tr(cost.name), tip=cost.tip_for(rules))
        for row, metric in enumerate(metrics.LAUNCHES):
            amount = None if counts is None else metric.of(setup, counts)
            text, value = (_NOT_HERE, None) if amount is None else (amount.text, amount.value)
            self.launch.put(row, 0, metric.name_for(setup), tip=tr(metric.tip))
            self.launch.put(row, 1, text, value, right=True)

    def _list_accesses(self, counts: LaunchCounts | None) -> None:
        table, listed = self.accesses, {} if counts is None else counts.accesses
        table.setSortingEnabled(False)
        table.setRowCount(len(listed))
        ordered = sorted(listed.items(), key=lambda item: -item[1].sectors - item[1].wavefronts)  # kept among equal losses
        for row, ((site, operand), cost) in enumerate(ordered):
            assert counts is not None
            array = counts.arrays[operand.array]
            is_global = array.space == "global"
            used, needed = (cost.sectors, cost.needed_sectors) if is_global else (cost.wavefronts, cost.ideal_wavefronts)
            unit = tr("sectors of global memory") if is_global else tr("wavefronts of shared memory")
            tip = tr(
                "line {line}, {access} {site_text}: {requests}, in {unit}",
                line=site.place.line,
                access=tr(operand.access),
                site_text=site.text,
                requests=many(cost.requests, "request"),
                unit=unit,
            )
            text = f"{site.place.line}  {site.text}{' =' if operand.access == 'write' else ''}"
            table.put(row, 0, text, site.place.line, tip=tip).setData(PLACE, site.place)
            for column, value in enumerate((used, needed, used - needed), 1):
                table.put(row, column, _short_count(value), value, right=True, tip=f"{spaced(value)} {unit}")
        table.setSortingEnabled(True)
        table.fit_rows()

    def _place(self, row: int) -> Place | None:
        item = self.accesses.item(row, 0)
        place = None if item is None else item.data(PLACE)
        return place if isinstance(place, Place) else None

    def _mark(self, place: Place) -> None:
        """Highlight the row of the current access."""
        table = self.accesses
        row = next((row for row in range(table.rowCount()) if self._place(row) == place), None)
        if row is None:
            table.clearSelection()
        elif table.currentRow() != row or not table.selectedItems():
            table.selectRow(row)

    def _on_row(self, row: int, column: int) -> None:
        place, session = self._place(row), self.model.session
        if place is not None and session.now is not None:
            try:
                session.player.jump(step_at_site(session.now, place))
            except UsageError as error:
                session.say(str(error))


def _short_count(count: int) -> str:
    """Return a count in at most seven characters."""
    for scale, unit in ((1e9, "G"), (1e6, "M")):
        if count >= scale:
            return f"{count / scale:.3g}\u2009{unit}"
    return spaced(count)


PANEL = Panel(marked("Metrics"), Metrics, order=3, least_width=296, scrolls=True)
