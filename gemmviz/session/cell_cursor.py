"""A cursor on the elements of the result, moved by keys: it follows the thread that computes the element."""

from gemmviz.analysis.replay.focus import Focus, block_label, thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.beat import element_text
from gemmviz.session.commands import Commands
from gemmviz.session.session import Session


class CellCursor:
    """The element of the result, C of a multiplication, whose thread is followed."""

    def __init__(self, session: Session, commands: Commands) -> None:
        self.session, self.commands = session, commands
        self._element: int | None = None

    def move(self, down: int, right: int) -> str:
        """Move by so many rows and columns, and return a sentence about the element there; "" if there is no result."""
        now = self.session.now
        array = None if now is None else now.replay.owners.array
        if now is None or array is None:
            return ""
        element = self._moved(now, array, down, right)
        self._element = element
        name = element_text(array, element, self.session.shot.labels)
        number = now.replay.owners.thread_of(element)
        if number is None:
            return self._say(tr("{name}: no traced thread computes it", name=name))
        block, _ = now.trace.space.indices(number)
        thread = number % now.trace.space.threads_per_block
        self.commands.watch(Focus(block, None, thread))
        who = tr(
            "{block}, thread {thread}", block=block_label(block, now.trace.launch), thread=thread_text(thread, now.trace.launch)
        )
        return self._say(tr("{name}: computed by {who}", name=name, who=who))

    def _say(self, sentence: str) -> str:
        self.session.say(sentence)
        return sentence

    def _moved(self, now: Moment, array: MemoryArray, down: int, right: int) -> int:
        """The element after a move; the first move shows where the cursor is."""
        start = self._start(now)
        if start is None:
            return self._first(now)
        row, column = array.place(start)
        rows, columns = array.extents
        element = array.element_at(min(max(row + down, 0), rows - 1), min(max(column + right, 0), columns - 1))
        return min(element, array.size - 1)

    def _start(self, now: Moment) -> int | None:
        """The element of the last move, if its thread is still followed."""
        if self._element is None:
            return None
        owner = now.replay.owners.thread_of(self._element)
        followed = now.scope.threads.start if now.focus.thread is not None else None
        return self._element if owner is None or owner == followed else None

    def _first(self, now: Moment) -> int:
        """The first element of the followed thread, else of the watched block."""
        owners, scope = now.replay.owners, now.scope
        mine = scope.threads if now.focus.thread is not None else scope.of_block
        inside = (owners.threads >= mine.start) & (owners.threads < mine.stop)
        return int(owners.elements[inside][0]) if inside.any() else 0
