"""Branches whose arms wait for each other at barriers.

The arms of such a branch are tracks, which run in turns: each has a thread of the operating system, of which one runs at a
time. A track ends its turn after each operation on a barrier, and as long as a barrier holds it. So the order of steps depends
on the kernel alone.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np

from gemmviz.cuda.nodes import Barrier, Block, If, Mbarrier, Return, Stmt
from gemmviz.cuda.walk import parts
from gemmviz.model.arrays import Bools
from gemmviz.model.errors import KernelFault
from gemmviz.run.cpu.simt.machine import ActiveMask, Machine, Statement, run_arm, union

_OWN = ("mask", "level", "broken", "returned", "vanished", "inline_depth", "visits")  # what a machine keeps for each track


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
        mine, state = self._ring[self._at], [getattr(machine, name) for name in _OWN]
        self._at = (self._at + 1) % len(self._ring)
        self._ring[self._at].baton.release()
        mine.baton.acquire()
        for name, value in zip(_OWN, state, strict=True):
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
    before = {name: getattr(machine, name) for name in _OWN}
    after: dict[bool, dict[str, Any]] = {}
    rest: dict[bool, ActiveMask] = {}

    def arm(closure: Statement, lanes: Bools, is_then: bool) -> None:
        for name, value in before.items():
            setattr(machine, name, list(value) if name == "visits" else value)
        machine.broken, machine.vanished = None, False
        rest[is_then] = run_arm(machine, closure, lanes)
        after[is_then] = {name: getattr(machine, name) for name in _OWN}

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
