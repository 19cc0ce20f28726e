"""The words of generated questions: names as in the source, moments by loop counters, threads by their indices."""

from functools import cached_property

from msgspec import Struct

from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.labels import LabelStyle
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import Triple
from gemmviz.model.translation import tr
from gemmviz.model.words import listed, ordinal
from gemmviz.source.loop_counters import LoopCounter, loop_counters
from gemmviz.subjects.legend import LaunchWords


class QuizWords(Struct, frozen=True, dict=True):
    """The words for one run; ``labels``: how elements and threads are written."""

    setup: Setup
    replay: Replay
    labels: LabelStyle

    @cached_property
    def launch(self) -> LaunchWords:
        return LaunchWords(self.setup, self.labels)

    def name(self, array: MemoryArray) -> str:
        """An array's name in the source."""
        return self.launch.name(array.name) if array.space == "global" else array.name

    def element(self, array: MemoryArray, element: int) -> str:
        """An element: of a matrix "Md[2, 1]" in the notation of the labels, of a shared array as in the source."""
        if array.space == "shared":
            return array.subscripted(element)
        return self.labels.element(self.name(array), *array.indices(element))

    def place(self, matrix: MemoryArray, row: int, column: int) -> str | None:
        """An element by row and column; None outside of the matrix, and for a vector."""
        is_inside = len(matrix.shape) > 1 and 0 <= row < matrix.extents[0] and 0 <= column < matrix.extents[1]
        return self.element(matrix, matrix.element_at(row, column)) if is_inside else None

    def thread(self, thread: Triple) -> str:
        """A threadIdx, such as "thread (3, 1)", with z if blocks have it."""
        return tr("thread {indices}", indices=self._indices(thread, self.replay.trace.launch.block))

    def block(self, block: Triple) -> str:
        """A blockIdx, such as "block (1, 0)", with z if the grid has it."""
        return tr("block {indices}", indices=self._indices(block, self.replay.trace.launch.grid))

    def _indices(self, indices: Triple, extents: Triple) -> str:
        used = indices if extents[2] > 1 else indices[:2]
        ordered = used if self.labels.thread == "x, y" else used[::-1]
        return f"({', '.join(map(str, ordered))})"

    def of_block(self, block: Triple) -> str:
        """Whose block it is, as " of block (1, 0)"; nothing if there is only one."""
        return tr(" of {block}", block=self.block(block)) if self.replay.trace.launch.block_count > 1 else ""

    @cached_property
    def counters(self) -> dict[int, LoopCounter]:
        """The counters of the loops, by number."""
        return loop_counters(self.launch.program)

    def moment(self, step: int) -> str:
        """When a step is, such as " in phase 2 (m = 1) when k = 3"; nothing for a step outside of loops."""
        trace = self.replay.trace
        site, phase, when, trips = trace.site_of(step), "", list[str](), list[str]()
        for loop, trip in zip(site.loops, trace.visits[step].tolist(), strict=False):
            counter = self.counters.get(loop)
            value = "" if counter is None else f"{counter.name} = {counter.at(trip)}"
            if loop == trace.phase_loop and self.replay.has_phases:
                phase = tr(" in phase {phase}", phase=trip + 1) + (f" ({value})" if value else "")
            elif value:
                when.append(value)
            else:
                trips.append(
                    tr(
                        " in the {ordinal} trip of the loop in line {line}",
                        ordinal=ordinal(trip + 1),
                        line=trace.loops[loop].place.line,
                    )
                )
        return phase + "".join(trips) + (tr(" when {when}", when=listed(when)) if when else "")
