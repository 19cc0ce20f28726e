"""Compiles the nodes of a program to closures over a machine, for one space of threads and one domain of values."""

from functools import cached_property
from typing import Any

import numpy as np

from gemmviz.cuda import nodes as n
from gemmviz.cuda.types import BOOL, ArrayType, PointerType, Scalar, VectorType, scalar_of, units_of
from gemmviz.cuda.walk import known_trips
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.accesses import (
    assignment,
    base_address,
    found_address,
    indexed_address,
    integer_address,
    load_closure,
    null_address,
    reinterpreted_address,
    shifted_address,
    target_of,
)  # fmt: skip
from gemmviz.run.cpu.simt.instructions import barrier_closure, commit, fence, instruction, mbarrier_closure, wait_closure
from gemmviz.run.cpu.simt.intrinsics import intrinsic
from gemmviz.run.cpu.simt.local import Domain, cells_of
from gemmviz.run.cpu.simt.machine import (
    BREAK,
    CONTINUE,
    NORMAL,
    RETURN,
    Closure,
    Machine,
    Statement,
    block,
    branch,
    divided,
    has_barriers,
    in_turn,
    loop,
    run_tracks,
    unrolled,
    with_all_arms,
)
from gemmviz.run.cpu.simt.memory import comparison, is_not_null, same_memory
from gemmviz.run.cpu.simt.values import PointerClosure, merged

_POINTER_TYPES = (PointerType, ArrayType)


class Compiler:
    """Compiles the nodes of a program for one space of threads to closures, of values in a domain. ``constants`` are the slots
    with known values while a trip of an unrolled loop is compiled; ``branches``: the branches that are reported.
    """

    def __init__(
        self,
        space: ThreadSpace,
        domain: Domain,
        branches: frozenset[int] = frozenset(),
        constants: dict[int, int] | None = None,
    ) -> None:
        self.space, self.domain, self.branches = space, domain, branches
        self.constants: dict[int, int] = {} if constants is None else constants

    @cached_property
    def plain(self) -> "Compiler":
        """The compiler of what is a number in any domain."""
        return Compiler(self.space, Domain({}), self.branches, self.constants)

    def value(self, node: n.Expr) -> Closure:
        """The closure of an expression: it takes the machine and gives the value over lanes."""
        return self.domain.value(self, node) or self.by_rules(node)

    def by_rules(self, node: n.Expr) -> Closure:
        """The closure of an expression that is evaluated by C's rules."""
        match node:
            case n.Const() | n.Index() | n.Extent():
                constant = self._constant(node)
                return lambda machine: constant
            case n.Read(slot=slot) if slot in self.constants:
                counter = self.constants[slot]
                return lambda machine: counter
            case n.Read():
                return _variable_read(node)
            case n.Base() | n.Offset() | n.Reinterpret() | n.AtAddress():
                return self.address(node)
            case n.Deref():
                return load_closure(node, self.domain.accessed(self, node), self.domain.running(scalar_of(node.type), node))
            case n.Component(of=n.Read(checked=True) as of, index=component):
                return _read_component(of, component)
            case n.Component(of=of, index=component):
                vector = self.value(of)
                return lambda machine: vector(machine)[component]
            case n.MakeVector(parts=parts):
                return _vector([self.value(part) for part in parts])
            case n.Unary() | n.Binary() | n.Convert():
                return self._of_pointers(node) if _is_of_pointers(node) else self._operation(node)
            case n.PointerDifference():
                return self._difference(node)
            case n.Logic():
                return self._logic(node)
            case n.Select():
                return self._select(node)
            case n.Assign():
                return assignment(self, node)
            case n.Call():
                return intrinsic(node, [self.value(arg) for arg in node.args], self.space)
            case n.Inline():
                return self._inline(node)
            case n.Sequence(parts=parts):
                return _sequence([self.value(part) for part in parts])
            case n.Instruction():
                return instruction(self, node)
            case n.Address(pointer=pointer):
                return integer_address(node, self.address(pointer))
        raise AssertionError(node)

    def _constant(self, node: n.Const | n.Index | n.Extent) -> Any:
        """The value of a node that is the same whenever it is evaluated."""
        match node:
            case n.Const(type=scalar, value=value):
                return values.constant(value, scalar)
            case n.Index(of_block=of_block, axis=axis):
                return self.space.index(of_block, axis)
            case n.Extent(of_grid=of_grid, axis=axis):
                return (self.space.launch.grid if of_grid else self.space.launch.block)[axis]

    def address(self, node: n.Expr) -> PointerClosure:
        """A closure of the (memory, offset) of a pointer expression, in units of the type that is pointed to."""
        match node:
            case n.Base(slot=slot):
                return base_address(slot)
            case n.Offset(pointer=pointer, index=index, scale=scale):
                distance, units = known_trips(index, self.constants), scale
                if distance is not None:
                    return shifted_address(self.address(pointer), distance * units)
                return indexed_address(self.address(pointer), self.domain.known(self, index), units)
            case n.Reinterpret(type=PointerType(to=to), pointer=pointer, place=place):
                if (null := null_address(pointer)) is not None:
                    return null
                return reinterpreted_address(self.address(pointer), target_of(pointer), to, place)
            case n.AtAddress(address=integer):
                return null_address(integer) or found_address(node, self.value(integer))
        return null_address(node) or self.value(node)

    def _of_pointers(self, node: n.Unary | n.Binary | n.Convert) -> Closure:
        """The closure of a comparison of pointers, or of whether a pointer is null or not."""
        if isinstance(node, n.Binary):
            return comparison(node.op, self.address(node.left), self.address(node.right), node.place)
        test = is_not_null(self.address(node.operand))
        return values.unary("!", BOOL, test) if isinstance(node, n.Unary) else test

    def _difference(self, node: n.PointerDifference) -> Closure:
        left, right, place, units = (
            self.address(node.left),
            self.address(node.right),
            node.place,
            units_of(target_of(node.left)),
        )

        def difference(machine: Machine) -> Any:
            (a, x), (b, y) = left(machine), right(machine)
            apart = ~np.asarray(same_memory(a, b))
            if (apart if machine.mask is None else apart & machine.mask).any():
                raise machine.fault("pointers into two different arrays are subtracted", place, apart)
            return (x - y) // units

        return difference

    def _logic(self, node: n.Logic) -> Closure:
        left, right = self.domain.known(self, node.left), self.value(node.right)
        decided = node.op == "||"

        def logic(machine: Machine) -> Any:
            first = left(machine)
            if not isinstance(first, np.ndarray):
                return first if bool(first) is decided else right(machine)
            outer = machine.mask
            closed = first if decided else ~first
            if not (closed if outer is None else closed & outer).any():
                return right(machine)
            machine.mask = ~closed if outer is None else ~closed & outer
            if not machine.mask.any():
                machine.mask = outer
                return first
            machine.level += 1
            second = right(machine)
            machine.level -= 1
            machine.mask = outer
            return (first | second) if decided else (first & second)

        return logic

    def _select(self, node: n.Select) -> Closure:
        given, branch = self.domain.given, self._reported(node.branch)
        condition, then, otherwise = (
            self.domain.known(self, node.condition),
            given(self, node, node.then),
            given(self, node, node.otherwise),
        )
        scalar = self.domain.running(scalar_of(node.type), node) if isinstance(node.type, Scalar | VectorType) else None

        def select(machine: Machine) -> Any:
            chosen = condition(machine)
            arms = divided(machine, chosen, branch)
            if isinstance(arms, bool):
                return (then if arms else otherwise)(machine)
            outer, (yes, no) = machine.mask, arms
            machine.level += 1
            machine.mask = yes
            a = then(machine)
            machine.mask = no
            b = otherwise(machine)
            machine.level -= 1
            machine.mask = outer
            return merged(chosen, a, b, scalar)

        return select

    def _reported(self, branch: int | None) -> int | None:
        """The number of a branch at which lanes may part, else None."""
        return branch if branch in self.branches else None

    def _operation(self, node: n.Unary | n.Binary | n.Convert) -> Closure:
        match node:
            case n.Unary(type=scalar, op=op, operand=operand):
                return values.unary(op, scalar, self.value(operand))
            case n.Binary(op=op, left=left, right=right, place=place):
                assert isinstance(left.type, Scalar)
                return values.binary(op, left.type, self.value(left), self.value(right), place)
            case n.Convert(type=to, operand=operand):
                assert isinstance(operand.type, Scalar)
                convert, inner = values.conversion(operand.type, to), self.value(operand)
                return lambda machine: convert(inner(machine))

    def _inline(self, node: n.Inline) -> Closure:
        bindings = [(slot, self.domain.given(self, slot, expr)) for slot, expr in node.bindings]
        body, result, place = self.statement(node.body), node.result, node.place

        def call(machine: Machine) -> Any:
            for slot, closure in bindings:
                value = closure(machine)
                machine.slots[slot], machine.levels[slot] = value, machine.level
            if result is not None:
                machine.slots[result], machine.levels[result] = None, machine.level
            kept = machine.mask, machine.level, machine.returned, machine.vanished
            machine.returned, machine.vanished = None, False
            machine.inline_depth += 1
            body(machine)
            machine.inline_depth -= 1
            machine.mask, machine.level, machine.returned, machine.vanished = kept
            return None if result is None else values.read(machine, machine.slots[result], "the function's value", place)

        return call

    def statement(self, node: n.Stmt) -> Statement:
        """The closure of a statement: it takes the machine and returns how control leaves it."""
        match node:
            case n.Block(statements=statements):
                return block([self.statement(each) for each in with_all_arms(statements)])
            case n.Evaluate(expression=expression):
                return _evaluated(self.domain.effect(self, expression))
            case n.Declare(slot=slot, value=value):
                return _declaration(slot, _no_value if value is None else self.domain.given(self, slot, value))
            case n.DeclareArray():
                return self._declare_array(node)
            case n.If(condition=condition, then=then, otherwise=otherwise, branch=number):
                or_else = _evaluated(None) if otherwise is None else self.statement(otherwise)
                arms = run_tracks if has_barriers(node) else in_turn
                reported = self._reported(number)
                return branch(self.domain.known(self, condition), self.statement(then), or_else, reported, arms)
            case n.Loop():
                return self.domain.repeated(node, self._loop(node))
            case n.Unrolled():
                return self.domain.repeated(node, self._unrolled(node))
            case n.Break():
                return lambda machine: BREAK
            case n.Continue():
                return lambda machine: CONTINUE
            case n.Return():
                return self._return(node)
            case n.Barrier(number=number, count=count):
                return barrier_closure(
                    node, *(None if each is None else self.domain.known(self, each) for each in (number, count))
                )
            case n.Mbarrier():
                return mbarrier_closure(self, node)
            case n.Commit():
                return commit(node)
            case n.Wait(pending=pending):
                return wait_closure(node, self.value(pending))
            case n.Fence():
                return fence(node)
        raise AssertionError(node)

    def _loop(self, node: n.Loop) -> Statement:
        condition = None if node.condition is None else self.domain.known(self, node.condition)
        body = self.statement(node.body)
        step = None if node.step is None else self.domain.effect(self, node.step)
        return loop(condition, body, step, node.tests_first, node.place, self._reported(node.branch))

    def _unrolled(self, node: n.Unrolled) -> Statement:
        bodies = []
        for value in node.values:
            self.constants[node.slot] = value
            bodies.append(self.statement(node.loop.body))
        self.constants.pop(node.slot, None)
        return unrolled(node.slot, node.values, bodies, node.loop.place)

    def _return(self, node: n.Return) -> Statement:
        if node.slot is None or node.value is None:
            return lambda machine: RETURN
        slot, value = node.slot, self.domain.given(self, node.slot, node.value)
        scalar = node.value.type.scalar if isinstance(node.value.type, VectorType) else node.value.type
        running = self.domain.running(scalar if isinstance(scalar, Scalar) else None, slot)

        def give_back(machine: Machine) -> int:
            new = value(machine)
            if machine.level != machine.levels[slot]:
                new = merged(machine.mask, new, machine.slots[slot], running)
            machine.slots[slot] = new
            return RETURN

        return give_back

    def _declare_array(self, node: n.DeclareArray) -> Statement:
        cells, given, domain = cells_of(node.element, node.size), None, self.domain
        if node.values is not None:
            given = [(domain.given(self, node.slot, value), isinstance(value.type, VectorType)) for value in node.values]
        zeros = [] if given is None else [domain.zero(scalar, node.slot) for _, scalar in cells.leaves]

        def declare(machine: Machine) -> int:
            initial: list[Any] = []
            for closure, is_vector in given or ():
                initial += closure(machine) if is_vector else [closure(machine)]
            rest = range(len(initial), cells.size)
            initial += [None] * len(rest) if given is None else [zeros[cell % len(zeros)] for cell in rest]
            machine.slots[node.slot] = domain.local(node.slot, node.name, cells, initial, machine.level), 0
            return NORMAL

        return declare


def _no_value(machine: Machine) -> None:
    """The value of a variable without one."""


def _declaration(slot: int, closure: Closure) -> Statement:
    def declare(machine: Machine) -> int:
        machine.slots[slot] = closure(machine)
        machine.levels[slot] = machine.level
        return NORMAL

    return declare


def _evaluated(closure: Closure | None) -> Statement:
    if closure is None:
        return lambda machine: NORMAL

    def run(machine: Machine) -> int:
        closure(machine)
        return NORMAL

    return run


def _is_of_pointers(node: n.Unary | n.Binary | n.Convert) -> bool:
    if isinstance(node, n.Binary):
        return isinstance(node.left.type, _POINTER_TYPES) or isinstance(node.right.type, _POINTER_TYPES)
    return isinstance(node.operand.type, _POINTER_TYPES)


def _variable_read(node: n.Read) -> Closure:
    slot, name, place = node.slot, node.name, node.place
    if not node.checked:
        return lambda machine: machine.slots[slot]
    if isinstance(node.type, VectorType):
        return lambda machine: _read_vector(machine, slot, name, place)
    return lambda machine: values.read(machine, machine.slots[slot], name, place)


def _read_component(node: n.Read, component: int) -> Closure:
    slot, name, place = node.slot, node.name, node.place

    def read(machine: Machine) -> Any:
        vector = machine.slots[slot]
        return values.read(machine, None if vector is None else vector[component], name, place)

    return read


def _read_vector(machine: Machine, slot: int, name: str, place: Any) -> Any:
    vector = machine.slots[slot]
    return [values.read(machine, part, name, place) for part in vector] if vector else values.read(machine, None, name, place)


def _sequence(closures: list[Closure]) -> Closure:
    def run(machine: Machine) -> Any:
        result = None
        for closure in closures:
            result = closure(machine)
        return result

    return run


def _vector(closures: list[Closure]) -> Closure:
    return lambda machine: [closure(machine) for closure in closures]
