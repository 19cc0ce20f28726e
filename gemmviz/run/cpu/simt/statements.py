"""Compiles statements to closures that return how control leaves them: normally, or by break, continue or return."""

from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.cuda.nodes import (
    Assign,
    Barrier,
    Base,
    Block,
    Break,
    Commit,
    Component,
    Continue,
    Copy,
    Declare,
    DeclareArray,
    Evaluate,
    Fence,
    If,
    Inline,
    Loop,
    Read,
    Return,
    Stmt,
    Unrolled,
    Wait,
)
from gemmviz.cuda.types import PointerType, Scalar, VectorType, scalar_of
from gemmviz.cuda.walk import parts
from gemmviz.model.errors import KernelFault
from gemmviz.model.translation import tr
from gemmviz.run.cpu.simt.copies import commit, copy, fence, side, wait_closure
from gemmviz.run.cpu.simt.expressions import Compiler
from gemmviz.run.cpu.simt.local import cells_of
from gemmviz.run.cpu.simt.machine import BREAK, CONTINUE, GONE, NORMAL, RETURN, ActiveMask, Machine, is_empty, without
from gemmviz.run.cpu.simt.values import Closure, merged

# Counts repeated runs of a loop without running it again.

_LARGEST_COMPARED = 1 << 12


class _Slots(Struct, frozen=True):
    """Slots of a loop: those whose values at its start determine what it does, and those that it changes."""

    decisive: tuple[int, ...]
    changed: tuple[int, ...]


def remembered(node: Loop | Unrolled, closure: Closure, numbers: frozenset[int], held: frozenset[int]) -> Closure:
    """A closure that runs a loop only if its result isn't known yet. ``numbers``: the float variables that hold
    numbers; ``held``: the integer variables and arrays that don't.
    """
    slots = _slots_of(node, numbers, held)
    return closure if slots is None else _Remembered(closure, slots)


class _Remembered:
    """A recorded run of a loop: its initial state, its sums, and its final state."""

    def __init__(self, closure: Closure, slots: _Slots) -> None:
        self.closure, self.slots = closure, slots
        self.began: list[Any] | None = None
        self.left: list[tuple[int, Any, int]] = []
        self.sums: Any = None
        self.steps = 0

    def __call__(self, machine: Machine) -> int:
        state = [machine.mask, machine.exited, machine.level, *(machine.slots[slot] for slot in self.slots.decisive)]
        if self.began is not None and all(map(_same, self.began, state)):
            machine.steps += self.steps
            machine.sink.again(self.sums, tuple(machine.visits))
            for slot, value, level in self.left:
                machine.slots[slot], machine.levels[slot] = value, level
            return NORMAL
        return self._run(machine, state)

    def _run(self, machine: Machine, state: list[Any]) -> int:
        before = machine.steps
        machine.sink.begin()
        try:
            code: int = self.closure(machine)
        finally:
            sums = machine.sink.end()
        came_back = code == NORMAL and machine.mask is state[0] and machine.exited is state[1] and machine.level == state[2]
        self.began = state if came_back and sums is not None else None
        if came_back:
            self.sums, self.steps = sums, machine.steps - before
            self.left = [(slot, machine.slots[slot], machine.levels[slot]) for slot in self.slots.changed]
        return code


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.size <= _LARGEST_COMPARED and bool((a == b).all())
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(_same, a, b))
    return type(a) is type(b) and isinstance(a, int | float | np.floating) and bool(a == b)


def _slots_of(node: Loop | Unrolled, numbers: frozenset[int], held: frozenset[int]) -> _Slots | None:
    """The slots of a loop; None if it contains a barrier or local arrays whose contents determine what it does."""
    declared: set[int] = set()
    decisive: dict[int, None] = {}
    changed: dict[int, None] = {}
    if isinstance(node, Unrolled):
        declared.add(node.slot)
    for part in parts(node):
        match part:
            case Barrier() | Copy() | Commit() | Wait():
                return None
            case Unrolled(slot=slot):
                declared.add(slot)
                changed[slot] = None
            case Declare(slot=slot) | DeclareArray(slot=slot):
                declared.add(slot)
                changed[slot] = None
            case Inline(bindings=bindings, result=result):
                own = [slot for slot, _ in bindings] + ([] if result is None else [result])
                declared.update(own)
                changed |= dict.fromkeys(own)
            case Assign(target=Read(slot=slot) | Component(of=Read(slot=slot))) | Return(slot=int(slot)):
                changed[slot] = None
            case Read(slot=slot, type=PointerType() as ctype) | Base(slot=slot, type=ctype) if ctype.space == "local" and not (
                _holds_floats(ctype) or slot in held
            ):
                return None
            case Read(slot=slot, type=ctype) if slot in numbers or not (_is_float(ctype) or slot in held):
                decisive[slot] = None
            case Base(slot=slot):
                decisive[slot] = None
    written = (slot for slot in decisive if slot not in declared)
    return _Slots(tuple(written), tuple(changed))


def _holds_floats(ctype: PointerType) -> bool:
    return isinstance(ctype.to, Scalar | VectorType) and scalar_of(ctype.to).is_float


def _is_float(ctype: Any) -> bool:
    """Whether a variable is a float, whose value determines nothing here; that of a pointer does."""
    return not isinstance(ctype, PointerType) and isinstance(ctype, Scalar | VectorType) and scalar_of(ctype).is_float


def statement(compiler: Compiler, node: Stmt) -> Closure:
    match node:
        case Unrolled():
            return _repeated(compiler, node, _unrolled(compiler, node))
        case Block(statements=statements):
            return _block([statement(compiler, each) for each in statements])
        case Evaluate(expression=expression):
            return _run(compiler.effect(expression))
        case Declare(slot=slot, value=None):
            return _declare(slot, lambda machine: None)
        case Declare(slot=slot, value=value) if value is not None:
            return _declare(slot, compiler.given(slot, value))
        case DeclareArray():
            return _declare_array(compiler, node)
        case If():
            return _if(compiler, node)
        case Loop():
            return _repeated(compiler, node, _loop(compiler, node))
        case Break():
            return lambda machine: BREAK
        case Continue():
            return lambda machine: CONTINUE
        case Return():
            return _return(compiler, node)
        case Barrier():
            return _barrier(node)
        case Copy():
            return _copy(compiler, node)
        case Commit():
            return commit(node)
        case Wait(pending=pending):
            return wait_closure(node, compiler.value(pending))
        case Fence():
            return fence(node)
    raise AssertionError(node)


def _block(closures: list[Closure]) -> Closure:
    if len(closures) == 1:
        return closures[0]

    def block(machine: Machine) -> int:
        for closure in closures:
            code: int = closure(machine)
            if code:
                return code
        return NORMAL

    return block


def _run(closure: Closure | None) -> Closure:
    if closure is None:
        return lambda machine: NORMAL

    def run(machine: Machine) -> int:
        closure(machine)
        return NORMAL

    return run


def _declare(slot: int, closure: Closure) -> Closure:
    def declare(machine: Machine) -> int:
        machine.slots[slot] = closure(machine)
        machine.levels[slot] = machine.level
        return NORMAL

    return declare


def _declare_array(compiler: Compiler, node: DeclareArray) -> Closure:
    cells, given = cells_of(node.element, node.size), None
    if node.values is not None:
        given = [(compiler.initial(node.slot, value), isinstance(value.type, VectorType)) for value in node.values]
    zeros = [] if given is None else [compiler.zero(scalar, node.slot in compiler.held) for _, scalar in cells.leaves]

    def declare(machine: Machine) -> int:
        initial: list[Any] = []
        for closure, is_vector in given or ():
            initial += closure(machine) if is_vector else [closure(machine)]
        rest = range(len(initial), cells.size)
        initial += [None] * len(rest) if given is None else [zeros[cell % len(zeros)] for cell in rest]
        machine.slots[node.slot] = compiler.local(node.slot, node.name, cells, initial, machine.level), 0
        return NORMAL

    return declare


def _if(compiler: Compiler, node: If) -> Closure:
    condition, then = compiler.known(node.condition), statement(compiler, node.then)
    otherwise = statement(compiler, node.otherwise) if node.otherwise is not None else _run(None)

    def branch(machine: Machine) -> int:
        chosen = condition(machine)
        if not isinstance(chosen, np.ndarray):
            return (then if chosen else otherwise)(machine)  # type: ignore[no-any-return]
        outer = machine.mask
        yes = chosen if outer is None else chosen & outer
        no = ~chosen if outer is None else outer & ~chosen
        if not no.any():
            return then(machine)  # type: ignore[no-any-return]
        if not yes.any():
            return otherwise(machine)  # type: ignore[no-any-return]
        level = machine.level
        machine.level = level + 1
        left = _arm(machine, then, yes)
        machine.level = level + 1
        right = _arm(machine, otherwise, no)
        if left is yes and right is no:
            machine.mask, machine.level = outer, level
            return NORMAL
        machine.level = level + 1 if machine.vanished else level
        if left is None and right is None:
            return GONE
        machine.mask = left if right is None else right if left is None else left | right
        return NORMAL

    return branch


def _arm(machine: Machine, arm: Closure, lanes: ActiveMask) -> ActiveMask:
    """Runs one branch for its lanes; returns the lanes that continue after it, or None if there are none."""
    machine.mask = lanes
    code = arm(machine)
    if code == NORMAL:
        return machine.mask
    if code != GONE:
        machine.leave(code, machine.mask)
    return None


def _loop(compiler: Compiler, node: Loop) -> Closure:
    condition = compiler.known(node.condition) if node.condition is not None else None
    body = statement(compiler, node.body)
    step = compiler.effect(node.step) if node.step is not None else None
    tests_first, place = node.tests_first, node.place

    def loop(machine: Machine) -> int:
        entry, level, returned, saved = machine.mask, machine.level, machine.returned, (machine.broken, machine.vanished)
        machine.broken, machine.vanished = None, False
        machine.visits.append(-1)
        active, tests, code = entry, tests_first, NORMAL
        while True:
            machine.tick(place)
            machine.visits[-1] += 1
            if tests and condition is not None:
                staying = _staying(machine, condition(machine))
                if staying is False:
                    break
                if staying is not True:
                    active = machine.mask = staying
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

    return loop


def _after_loop(machine: Machine, entry: ActiveMask, level: int, has_returns: bool, code: int) -> int:
    """Restores the mask and level of a loop's entry, without lanes that returned; gives how control leaves the loop."""
    if machine.inline_depth and has_returns:
        machine.vanished = True  # lanes that returned from the function come back after it
    machine.level = level + 1 if machine.vanished else level
    if code == RETURN:
        return RETURN
    machine.mask = without(entry, machine.returned) if has_returns else entry
    return GONE if is_empty(machine.mask) else NORMAL


def _unrolled(compiler: Compiler, trips: Unrolled) -> Closure:
    bodies = []
    for value in trips.values:
        compiler.constants[trips.slot] = value
        bodies.append(statement(compiler, trips.loop.body))
    compiler.constants.pop(trips.slot, None)
    numbered, slot, place = list(enumerate(zip(trips.values, bodies, strict=True))), trips.slot, trips.loop.place

    def unrolled(machine: Machine) -> int:
        machine.visits.append(0)
        for trip, (value, body) in numbered:
            machine.tick(place)
            machine.slots[slot] = value  # for those who watch: the body knows it
            machine.visits[-1] = trip
            body(machine)
        machine.visits.pop()
        return NORMAL

    return unrolled


def _repeated(compiler: Compiler, node: Loop | Unrolled, closure: Closure) -> Closure:
    return remembered(node, closure, compiler.numbers, compiler.held) if compiler.may_repeat(node) else closure


def _staying(machine: Machine, chosen: Any) -> Any:
    """True if all active lanes stay in the loop, False if none does, else the mask of the lanes that stay."""
    if not isinstance(chosen, np.ndarray):
        return bool(chosen)
    lanes = chosen if machine.mask is None else chosen & machine.mask
    if not lanes.any():
        return False
    leaving = ~chosen if machine.mask is None else machine.mask & ~chosen
    return lanes if leaving.any() else True


def _return(compiler: Compiler, node: Return) -> Closure:
    if node.slot is None or node.value is None:
        return lambda machine: RETURN
    slot, value = node.slot, compiler.given(node.slot, node.value)
    scalar = node.value.type.scalar if isinstance(node.value.type, VectorType) else node.value.type
    running = compiler.merge_scalar_of(slot, scalar if isinstance(scalar, Scalar) else None)

    def give_back(machine: Machine) -> int:
        new = value(machine)
        if machine.level != machine.levels[slot]:
            new = merged(machine.mask, new, machine.slots[slot], running)
        machine.slots[slot] = new
        return RETURN

    return give_back


def _copy(compiler: Compiler, node: Copy) -> Closure:
    target, source = (side(each, compiler.address(each.pointer)) for each in (node.target, node.source))
    taken = None if node.fills_zero_from is None else compiler.known(node.fills_zero_from)
    return copy(node, target, source, taken, lambda scalar: compiler.zero(scalar, True), compiler.announce)


def _barrier(node: Barrier) -> Closure:
    access, place = node.access, node.place

    def barrier(machine: Machine) -> int:
        machine.touch(access, -1, 0, place)
        if node.waits_for_block:
            if machine.mask is not None:
                _check_convergence(machine, node)
            machine.epoch += 1
        return NORMAL

    return barrier


def _check_convergence(machine: Machine, node: Barrier) -> None:
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
            tr("__syncthreads() in divergent flow: it is not reached"), node.place, block=block, thread=thread,
            remedy=tr("other threads of the block wait for it forever"), id="divergent-barrier",
        )  # fmt: skip
