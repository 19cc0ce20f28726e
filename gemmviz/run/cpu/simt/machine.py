"""The machine that runs a kernel: its variables, the active mask, its reports to the sink, and control flow.

Lanes that leave (break, continue, return) drop out of ``mask``. Lanes that come back later are the reason why an assignment may
have to preserve old values: a variable remembers the ``level`` of its declaration, and only at deeper levels may there be lanes
that still need the old value.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np

from gemmviz.cuda.nodes import Barrier, Block, If, Mbarrier, Return, Stmt
from gemmviz.cuda.walk import parts
from gemmviz.model.arrays import Bools
from gemmviz.model.messages import ErrorId, KernelFault, Place, checkpoint, tr
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import Site
from gemmviz.model.threads import ThreadSpace

ActiveMask = Bools | None
NORMAL, BREAK, CONTINUE, RETURN, GONE = range(5)


def step_budget(k: int) -> int:
    """Number of accesses and loop trips after which a kernel is considered endless: several times what a thread that computes
    16 x 16 elements of C needs for this K.
    """
    return 50_000 + 400 * k


class PendingCopy:
    """An asynchronous copy under way: its number, what it writes where in which lanes (None: all), and its batch.

    A bulk copy has a ``barrier`` instead, an mbarrier's memory and word, which counts its ``bytes``. Without a number, it is
    the arrival of the lanes' copies before it.
    """

    __slots__ = ("barrier", "batch", "bytes", "kind", "lanes", "memory", "number", "offset", "parts", "place")

    def __init__(
        self,
        number: int,
        memory: Any,
        offset: Any,
        parts: list[Any],
        kind: Any,
        lanes: ActiveMask,
        batch: Any,
        place: Place,
        barrier: Any = None,
        bytes: int = 0,
    ) -> None:
        self.number = number
        self.memory = memory
        self.offset = offset
        self.parts = parts
        self.kind = kind
        self.lanes = lanes
        self.batch = batch
        self.place = place
        self.barrier = barrier
        self.bytes = bytes


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
        "barriers",
        "broken",
        "budget",
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
        "tracks",
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
        make_site: Callable[..., Site],
        *,
        budget: int,
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
        self.wants_values = wants_values
        self.make_site = make_site
        self.sites: dict[tuple[int, ...], int] = {}
        self.transfers = Transfers()
        self.addresses: Any = None
        self.barriers: Any = None
        self.tracks: Any = None

    def tick(self, place: Place) -> None:
        """Counts one unit of work. Raises Cancelled, or KernelFault when the step budget is exhausted."""
        self.steps += 1
        self.place = place
        checkpoint()
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

    def step(self, access: int, arrays: tuple[int, ...], operand: int, offset: Any, mask: ActiveMask, place: Place) -> None:
        """Reports one operand of an access with several, in some lanes."""
        if operand == 0:
            self.tick(place)
        key = access, *arrays
        number = self.sites.get(key)
        if number is None:
            number = self.sites[key] = len(self.sites)
            self.sink.site(self.make_site(*key))
        self.sink.access(number, operand, offset, mask, tuple(self.visits), self.epoch)

    def part(self, branch: int | None, chosen: Bools, yes: Bools, no: Bools) -> None:
        """Reports a branch that some active lanes take and others don't, if lanes of one warp part there. ``branch``: None for
        one at which lanes never part.
        """
        if branch is None:
            return
        if not self.space.parts_warps(yes, no):
            self.together(branch)
            return
        self.sink.access(self._branch(branch), 0, chosen.astype(np.int64), self.mask, tuple(self.visits), self.epoch)

    def together(self, branch: int | None) -> None:
        """Reports a branch at which no warp parts, to a sink of sums."""
        if branch is not None and self.sink.wants == "sums":
            self.sink.together(self._branch(branch), self.mask, tuple(self.visits))

    def _branch(self, branch: int) -> int:
        number = self.sites.get((branch, -1))
        if number is None:
            number = self.sites[branch, -1] = len(self.sites)
            self.sink.site(self.make_site(branch, -1))
        return number

    def leave(self, code: int, lanes: ActiveMask) -> None:
        """Makes ``lanes`` leave the loop, its current trip, or the function."""
        if code == BREAK:
            self.broken = union(self.broken, lanes)
        elif code == RETURN:
            self.returned = union(self.returned, lanes)
            if self.inline_depth == 0:
                self.exited = union(self.exited, lanes)
        self.vanished = self.vanished or code != RETURN or self.inline_depth > 0

    def first_lane(self, bad: Bools) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
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


# Control flow: closures that return how control leaves a statement.

Statement = Callable[[Machine], int]
Closure = Callable[[Machine], Any]
Arms = Callable[[Machine, Statement, Bools, Statement, Bools], tuple[ActiveMask, ActiveMask]]


def block(closures: list[Statement]) -> Statement:
    """The closure of several statements in turn."""
    if len(closures) == 1:
        return closures[0]

    def run(machine: Machine) -> int:
        for closure in closures:
            code = closure(machine)
            if code:
                return code
        return NORMAL

    return run


def in_turn(machine: Machine, then: Statement, yes: Bools, otherwise: Statement, no: Bools) -> tuple[ActiveMask, ActiveMask]:
    """Runs one arm of a branch after the other."""
    level = machine.level
    left = run_arm(machine, then, yes)
    machine.level = level
    return left, run_arm(machine, otherwise, no)


def branch(condition: Closure, then: Statement, otherwise: Statement, number: int | None, arms: Arms) -> Statement:
    """The closure of an if: each branch runs for the lanes that take it, by ``arms``."""

    def run(machine: Machine) -> int:
        sides = divided(machine, condition(machine), number)
        if isinstance(sides, bool):
            return (then if sides else otherwise)(machine)
        outer, (yes, no) = machine.mask, sides
        level = machine.level
        machine.level = level + 1
        left, right = arms(machine, then, yes, otherwise, no)
        if left is yes and right is no:
            machine.mask, machine.level = outer, level
            return NORMAL
        machine.level = level + 1 if machine.vanished else level
        if left is None and right is None:
            return GONE
        machine.mask = left if right is None else right if left is None else left | right
        return NORMAL

    return run


def divided(machine: Machine, chosen: Any, branch: int | None) -> bool | tuple[Bools, Bools]:
    """The value of a condition if all active lanes agree, else those for which it holds and those for which it doesn't. It is
    reported as the branch with this number, if it has one.
    """
    if isinstance(chosen, np.ndarray):
        outer = machine.mask
        yes = chosen if outer is None else chosen & outer
        no = ~chosen if outer is None else outer & ~chosen
        if no.any() and yes.any():
            machine.part(branch, chosen, yes, no)
            return yes, no
        chosen = yes.any()
    machine.together(branch)
    return bool(chosen)


def run_arm(machine: Machine, arm: Statement, lanes: ActiveMask) -> ActiveMask:
    """Runs one branch for its lanes; returns the lanes that continue after it, or None if there are none."""
    machine.mask = lanes
    code = arm(machine)
    if code == NORMAL:
        return machine.mask
    if code != GONE:
        machine.leave(code, machine.mask)
    return None


def loop(
    condition: Closure | None, body: Statement, step: Closure | None, tests_first: bool, place: Place, branch: int | None
) -> Statement:
    """The closure of a loop: the lanes that leave it, or their trip, drop out of the mask."""

    def run(machine: Machine) -> int:
        entry, level, returned, saved = machine.mask, machine.level, machine.returned, (machine.broken, machine.vanished)
        machine.broken, machine.vanished = None, False
        machine.visits.append(-1)
        active, tests, code = entry, tests_first, NORMAL
        while True:
            machine.tick(place)
            machine.visits[-1] += 1
            if tests and condition is not None:
                arms = divided(machine, condition(machine), branch)
                if arms is False:
                    break
                if not isinstance(arms, bool):
                    active = machine.mask = arms[0]
                    machine.level = level + 1
                    machine.vanished = True
            tests = True
            code = body(machine)
            if code in (BREAK, RETURN) and not machine.vanished and machine.mask is active:
                break
            if code == CONTINUE and machine.mask is active:
                code = NORMAL
            if code or machine.mask is not active:
                if code not in (NORMAL, GONE):
                    machine.leave(code, machine.mask)
                active = without(without(active, machine.broken), machine.returned)
                code = NORMAL
                if is_empty(active):
                    break
                machine.mask = active
                machine.vanished = active is not entry
                machine.level = level + 1 if machine.vanished else level
            if step is not None:
                step(machine)
        machine.visits.pop()
        machine.broken, machine.vanished = saved
        return _after_loop(machine, entry, level, machine.returned is not returned, code)

    return run


def _after_loop(machine: Machine, entry: ActiveMask, level: int, has_returns: bool, code: int) -> int:
    """Restores the mask and level of a loop's entry, without lanes that returned; gives how control leaves the loop."""
    if machine.inline_depth and has_returns:
        machine.vanished = True  # lanes that returned from the function come back after it
    machine.level = level + 1 if machine.vanished else level
    if code == RETURN:
        return RETURN
    machine.mask = without(entry, machine.returned) if has_returns else entry
    return GONE if is_empty(machine.mask) else NORMAL


def unrolled(slot: int, counts: tuple[int, ...], bodies: list[Statement], place: Place) -> Statement:
    """The closure of an unrolled loop: a body for each value of its counter."""
    numbered = list(enumerate(zip(counts, bodies, strict=True)))

    def run(machine: Machine) -> int:
        machine.visits.append(0)
        for trip, (value, body) in numbered:
            machine.tick(place)
            machine.slots[slot] = value  # for those who watch: the body knows it
            machine.visits[-1] = trip
            body(machine)
        machine.visits.pop()
        return NORMAL

    return run


def check_convergence(machine: Machine, place: Place) -> None:
    """Raises KernelFault unless a barrier is reached by all threads of a block that have not returned, or by none (CUDA C++
    Programming Guide, Synchronization Functions).
    """
    shape = (1,) * len(machine.space.shape)
    arrived = np.asarray(machine.mask).reshape(np.shape(np.asarray(machine.mask)) or shape)
    alive = np.ones(shape, bool) if machine.exited is None else ~machine.exited
    arrived, alive = np.broadcast_arrays(arrived, alive)
    here, living = machine.space.per_block(arrived & alive), machine.space.per_block(alive)
    torn = here.any(axis=1) & (living & ~here).any(axis=1)
    if torn.any():
        absent = np.broadcast_to(alive & ~arrived, machine.space.shape).reshape(-1, machine.space.threads_per_block)
        present = np.broadcast_to(alive & arrived, machine.space.shape).reshape(-1, machine.space.threads_per_block)
        row = int(np.argmax(absent.any(axis=1) & present.any(axis=1)))
        block, thread = machine.space.indices(row * machine.space.threads_per_block + int(np.argmax(absent[row])))
        raise KernelFault(
            tr("__syncthreads() in divergent flow: it is not reached"), place, block=block, thread=thread,
            remedy=tr("other threads of the block wait for it forever"), id="divergent-barrier",
        )  # fmt: skip


# Branches whose arms wait for each other at barriers.

# What a machine keeps for each track.
_TRACK_STATE = ("mask", "level", "broken", "returned", "vanished", "inline_depth", "visits")


class _Abandoned(BaseException):
    """Ends a track after another one has failed."""


class _Track:
    """A track in a thread of its own. ``baton`` is released when it is its turn; ``error`` is what it raised."""

    def __init__(self, run: Callable[[], None]) -> None:
        self.run, self.baton, self.error = run, threading.Semaphore(0), None  # type: tuple[Any, Any, BaseException | None]
        self.is_done = False


class Tracks:
    """The tracks of a run, in the order in which they take turns."""

    def __init__(self) -> None:
        self._ring = [_Track(lambda: None)]
        self._at = 0  # whose turn it is
        self._has_failed = False

    @property
    def are_several(self) -> bool:
        return len(self._ring) > 1

    def end_turn(self, machine: Machine) -> None:
        """Lets each other track take its turn."""
        if not self.are_several:
            return
        mine, state = self._ring[self._at], [getattr(machine, name) for name in _TRACK_STATE]
        self._at = (self._at + 1) % len(self._ring)
        self._ring[self._at].baton.release()
        mine.baton.acquire()
        for name, value in zip(_TRACK_STATE, state, strict=True):
            setattr(machine, name, value)
        if self._has_failed:
            raise _Abandoned

    def wait(self, machine: Machine, is_open: Callable[[], bool], closed: Callable[[], KernelFault]) -> None:
        """Waits until a barrier is open. Raises the fault that ``closed`` gives if no other track can open it."""
        while not is_open():
            steps = machine.steps
            self.end_turn(machine)
            if machine.steps == steps and not is_open():
                raise closed()

    def run(self, machine: Machine, first: Callable[[], None], second: Callable[[], None]) -> None:
        """Runs two tracks to their ends, the first in the place of the current one."""
        other = _Track(second)
        self._ring.insert(self._at + 1, other)
        threading.Thread(target=copy_context().run, args=(self._body, other), daemon=True).start()
        try:
            first()
            while not other.is_done:
                self.end_turn(machine)
        except BaseException:
            self._has_failed = True
            while not other.is_done:
                try:
                    self.end_turn(machine)
                except _Abandoned:
                    continue
            if other.error is not None:
                raise other.error from None
            raise

    def _body(self, track: _Track) -> None:
        track.baton.acquire()
        try:
            if not self._has_failed:
                with np.errstate(all="ignore"):
                    track.run()
        except _Abandoned:
            pass
        except BaseException as error:  # raised again where the track was started
            track.error, self._has_failed = error, True
        track.is_done = True
        self._ring.remove(track)
        self._at %= len(self._ring)
        self._ring[self._at].baton.release()


def run_tracks(machine: Machine, then: Statement, yes: Bools, otherwise: Statement, no: Bools) -> tuple[ActiveMask, ActiveMask]:
    """Runs the arms of a branch as tracks, each for its lanes. Returns the lanes of each that continue after it."""
    before = {name: getattr(machine, name) for name in _TRACK_STATE}
    after: dict[bool, dict[str, Any]] = {}
    rest: dict[bool, ActiveMask] = {}

    def arm(closure: Statement, lanes: Bools, is_then: bool) -> None:
        for name, value in before.items():
            setattr(machine, name, list(value) if name == "visits" else value)
        machine.broken, machine.vanished = None, False
        rest[is_then] = run_arm(machine, closure, lanes)
        after[is_then] = {name: getattr(machine, name) for name in _TRACK_STATE}

    machine.tracks.run(machine, lambda: arm(then, yes, True), lambda: arm(otherwise, no, False))
    for name, value in before.items():
        setattr(machine, name, value)
    for each in after.values():
        machine.broken, machine.returned = union(machine.broken, each["broken"]), union(machine.returned, each["returned"])
        machine.vanished = machine.vanished or each["vanished"]
    return rest[True], rest[False]


def has_barriers(node: If) -> bool:
    """Whether threads wait for others in an arm of a branch."""
    return any(
        (isinstance(part, Barrier) and part.waits_for_block) or isinstance(part, Mbarrier)
        for arm in (node.then, node.otherwise)
        for part in (() if arm is None else parts(arm))
    )


def with_all_arms(statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Statements in which a branch that waits at barriers and returns has as its other arm all that follows."""
    for at, each in enumerate(statements):
        if isinstance(each, If) and each.otherwise is None and _returns(each.then) and has_barriers(each):
            return (*statements[:at], If(each.condition, each.then, Block(statements[at + 1 :]), each.branch))
    return statements


def _returns(node: Stmt) -> bool:
    """Whether a statement ends with a return."""
    return isinstance(node, Return) or (isinstance(node, Block) and bool(node.statements) and _returns(node.statements[-1]))
