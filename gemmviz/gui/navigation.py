"""Clicks and pointing: from a cell, a source line or a row of a table to a thread or a step."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QToolTip

from gemmviz.analysis.focus import Focus
from gemmviz.analysis.replay import Replay
from gemmviz.model.errors import Place
from gemmviz.scene.hover import hover_lines, pointed_at
from gemmviz.scene.primitives import Hit

if TYPE_CHECKING:
    from gemmviz.gui.main_window import MainWindow

_MESSAGE_MS = 6000


class Navigation(QObject):
    """Listens to the panels of one window."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self.window = window
        panels = window.panels
        panels.stage.clicked.connect(self._on_clicked)
        panels.stage.hovered.connect(self._on_hovered)
        panels.source.place_clicked.connect(self._on_source_clicked)
        panels.metrics.site_chosen.connect(self._on_site_chosen)
        panels.chart.step_chosen.connect(self._go)

    def _on_clicked(self, hit: Hit) -> None:
        """Follows the thread that computes an element of C, or that touches another element at this step."""
        replay = self.window.replay
        found = None if replay is None else pointed_at(replay, hit)
        if replay is None or found is None:
            return
        number, element = found
        is_result = replay.trace.arrays[number].name == "C"
        lane = replay.owners.lane_of(element) if is_result else _toucher(replay, self.window.playback.step, number, element)
        if lane is None:
            why = "No traced thread computes this element" if is_result else "No thread touches this now"
            self._say(f"{why}: click an element of C to follow its thread")
            return
        block, _ = replay.trace.space.thread_of(lane)
        if replay.thread is not None and lane == replay.lanes.start:
            self.window.panels.focus.whole_block()  # a second click lets it go
            return
        self.window.panels.focus.watch(Focus(block, None, lane % replay.trace.space.threads))

    def _on_hovered(self, hit: Hit | None) -> None:
        replay = self.window.replay
        lines = [] if hit is None or replay is None else hover_lines(replay, self.window.playback.step, hit)
        if lines:
            QToolTip.showText(
                QCursor.pos(),
                f"<span style='font-weight:600'>{lines[0]}</span><br>" + "<br>".join(lines[1:]),
                self.window.stage,
            )
        else:
            QToolTip.hideText()

    def _on_source_clicked(self, line: int, column: int) -> None:
        """The next step of what stands there: the access under the pointer, else any on the line."""
        replay = self.window.replay
        if replay is None or self.window.panels.source.text != replay.trace.source:
            return
        places = [site.place for site in replay.trace.sites]
        here = [number for number, place in enumerate(places) if _holds(place, line, column)]
        self._go_to_sites(here or [n for n, place in enumerate(places) if place.line <= line <= place.end_line], line)

    def _on_site_chosen(self, place: Place) -> None:
        if self.window.replay is not None:
            sites = self.window.replay.trace.sites
            self._go_to_sites([number for number, site in enumerate(sites) if site.place == place], place.line)

    def _go_to_sites(self, numbers: list[int], line: int) -> None:
        assert self.window.replay is not None
        step = self.window.replay.next_step(numbers, self.window.playback.step)
        if step is None:
            self._say(f"Nobody who is watched touches memory on line {line}")
        else:
            self._go(step)

    def _go(self, step: int) -> None:
        self.window.playback.play(False)
        self.window.playback.go(step)

    def _say(self, sentence: str) -> None:
        self.window.statusBar().showMessage(sentence, _MESSAGE_MS)


def _toucher(replay: Replay, step: int, array: int, element: int) -> int | None:
    """The first lane of the block that touches an element at a step, None for nobody."""
    site = replay.trace.site_of(step)
    if site.array != array:
        return None
    beyond = element - replay.trace.element[step, replay.block_lanes].astype(int)
    touching = (beyond >= 0) & (beyond < site.width) & (beyond <= element)
    return replay.block_lanes.start + int(touching.argmax()) if touching.any() else None


def _holds(place: Place, line: int, column: int) -> bool:
    return (place.line, place.column) <= (line, column) < (place.end_line, place.end_column)
