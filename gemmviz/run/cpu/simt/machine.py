"""State of a running kernel: variables, the active mask, the lanes that left each loop, and the step budget.

Lanes that leave (break, continue, return) drop out of ``mask``. Lanes that come back later are the reason why an assignment may
have to preserve old values: a variable remembers the ``level`` of its declaration, and only at deeper levels may there be lanes
that still need the old value.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Bools
from gemmviz.model.errors import Cancelled, ErrorId, KernelFault, Place
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.translation import tr

ActiveMask = Bools | None
NORMAL, BREAK, CONTINUE, RETURN, GONE = range(5)


def step_budget(k: int) -> int:
    """Number of accesses and loop trips after which a kernel is considered endless: several times what a thread that computes
    16 x 16 elements of C needs for this K.
    """
    return 50_000 + 400 * k


class PendingCopy:
    """An asynchronous copy under way: its number, what it writes where in which lanes (None: all), and its batch."""

    __slots__ = ("batch", "kind", "lanes", "memory", "number", "offset", "parts", "place")

    def __init__(
        self, number: int, memory: Any, offset: Any, parts: list[Any], kind: Any, lanes: ActiveMask, batch: Any, place: Place
    ) -> None:
        self.number = number
        self.memory = memory
        self.offset = offset
        self.parts = parts
        self.kind = kind
        self.lanes = lanes
        self.batch = batch
        self.place = place


class Transfers:
    """The asynchronous copies of a run: the number begun so far, those under way in order, and each thread's open batch."""

    __slots__ = ("batch", "begun", "under_way")

    def __init__(self) -> None:
        self.begun = 0
        self.under_way: list[PendingCopy] = []
        self.batch: Any = 0

    def begin(self, transfer: PendingCopy) -> None:
        self.begun += 1
        self.under_way.append(transfer)

    def commit(self, mask: ActiveMask) -> None:
        """Closes the open batch of these threads."""
        self.batch = self.batch + 1 if mask is None else self.batch + mask.astype(np.int64)


class NeedsValues(Exception):
    """Raised by a run by tags if control flow or addresses depend on the contents of the matrices."""


class Machine:
    """A run over a space of threads. Values are Python numbers if all lanes agree, else arrays that broadcast."""

    __slots__ = (
        "addresses",
        "broken",
        "budget",
        "cancelled",
        "epoch",
        "exited",
        "inline_depth",
        "level",
        "levels",
        "make_site",
        "mask",
        "place",
        "returned",
        "sink",
        "sites",
        "slots",
        "space",
        "steps",
        "transfers",
        "vanished",
        "visits",
        "wants_values",
    )  # fmt: skip

    def __init__(
        self,
        space: ThreadSpace,
        slots: int,
        sink: AccessSink,
        make_site: Callable[[int, "int | tuple[Operand, ...]"], Site],
        *,
        budget: int,
        cancelled: Callable[[], bool],
        wants_values: bool,
    ) -> None:
        self.space = space
        self.slots: list[Any] = [None] * slots
        self.levels = [0] * slots
        self.sink = sink
        self.mask: ActiveMask = None
        self.level = 0
        self.broken: ActiveMask = None
        self.returned: ActiveMask = None
        self.exited: ActiveMask = None
        self.vanished = False
        self.inline_depth = 0
        self.visits: list[int] = []
        self.epoch = 0
        self.steps = 0
        self.place: Place | None = None
        self.budget = budget
        self.cancelled = cancelled
        self.wants_values = wants_values
        self.make_site = make_site
        self.sites: dict[tuple[int, int | tuple[Operand, ...]], int] = {}
        self.transfers = Transfers()
        self.addresses: Any = None

    def tick(self, place: Place) -> None:
        """Counts one unit of work. Raises Cancelled, or KernelFault when the step budget is exhausted."""
        self.steps += 1
        self.place = place
        if self.cancelled():
            raise Cancelled
        if self.steps > self.budget:
            raise KernelFault(
                tr("the kernel is still running after {steps} steps", steps=self.budget),
                place,
                remedy=tr("does this loop ever end?"),
                id="step-budget",
            )

    def touch(self, access: int, array: int, offset: Any, place: Place) -> None:
        """Reports one access to the sink."""
        self.tick(place)
        number = self.sites.get((access, array))
        if number is None:
            number = self.sites[access, array] = len(self.sites)
            self.sink.site(self.make_site(access, array))
        self.sink.access(number, 0, offset, self.mask, tuple(self.visits), self.epoch)

    def step(self, access: int, operands: tuple[Operand, ...], place: int, offset: Any, mask: ActiveMask, at: Place) -> None:
        """Reports one operand of an access with several, in some lanes."""
        if place == 0:
            self.tick(at)
        number = self.sites.get((access, operands))
        if number is None:
            number = self.sites[access, operands] = len(self.sites)
            self.sink.site(self.make_site(access, operands))
        self.sink.access(number, place, offset, mask, tuple(self.visits), self.epoch)

    def leave(self, code: int, lanes: ActiveMask) -> None:
        """Makes ``lanes`` leave the loop, its current trip, or the function."""
        if code == BREAK:
            self.broken = union(self.broken, lanes)
        elif code == RETURN:
            self.returned = union(self.returned, lanes)
            if self.inline_depth == 0:
                self.exited = union(self.exited, lanes)
        self.vanished = self.vanished or code != RETURN or self.inline_depth > 0

    def first_lane(self, bad: npt.NDArray[np.bool_]) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """The blockIdx and threadIdx of the first lane where ``bad`` (broadcast over the axes) is true."""
        return self.space.indices(int(np.argmax(np.broadcast_to(bad, self.space.shape))))

    def fault(
        self, message: str, place: Place, bad: Any = True, remedy: str | None = None, id: ErrorId | None = None
    ) -> KernelFault:
        """The error for the first active lane where ``bad`` holds."""
        lanes = np.asarray(bad if self.mask is None else bad & self.mask)
        block, thread = self.first_lane(lanes)
        return KernelFault(message, place, block=block, thread=thread, remedy=remedy, id=id)


def union(a: ActiveMask, b: ActiveMask) -> ActiveMask:
    """Lanes of either set; None is the empty set on the left and not allowed on the right."""
    return b if a is None else a if b is None else a | b


def without(lanes: ActiveMask, gone: ActiveMask) -> ActiveMask:
    """The lanes in ``lanes`` (None: all) that are not in ``gone`` (None: empty)."""
    if gone is None:
        return lanes
    return ~gone if lanes is None else lanes & ~gone


def is_empty(mask: ActiveMask) -> bool:
    return mask is not None and not mask.any()
