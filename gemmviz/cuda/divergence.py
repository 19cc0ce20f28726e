"""Finds the branches at which lanes of a warp may part: those whose condition may differ between the threads of a block.

A variable differs if something of the thread's index or of a memory is assigned to it, or if it is assigned where only some
lanes are. What is found may be more than what ever differs, but never less.
"""

from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from gemmviz.cuda import nodes as n
from gemmviz.cuda.walk import inner_parts


@lru_cache(maxsize=64)
def diverging(program: n.Program) -> frozenset[int]:
    """Numbers, among the accesses, of the branches at which lanes of a warp may part."""
    flow = _Flow()
    flow.note_exits(program.body)
    while True:
        known = len(flow.slots), len(flow.branches)
        flow.statement(program.body, False)
        if known == (len(flow.slots), len(flow.branches)):
            return frozenset(flow.branches)


class _Flow(Struct):
    """What is known to differ: variables, by their slots, and branches. ``apart``: whether only some lanes may be here.
    ``exits``: the conditions in a loop, by its number, that decide whether lanes leave it, or its trip.
    """

    slots: set[int] = field(default_factory=set)
    branches: set[int] = field(default_factory=set)
    exits: dict[int, list[n.Expr]] = field(default_factory=dict)

    def note_exits(self, node: Any) -> tuple[list[n.Expr], bool]:
        """Fills ``exits`` for the loops within a node; returns the node's own such conditions, and whether it leaves a loop."""
        conditions: list[n.Expr] = []
        leaves = isinstance(node, n.Break | n.Continue | n.Return)
        for each in inner_parts(node):
            more, leaves_too = self.note_exits(each)
            conditions += more
            leaves |= leaves_too
            if isinstance(node, n.Loop) and each is node.body:
                self.exits.setdefault(node.number, []).extend(more)
        if isinstance(node, n.If) and leaves:
            conditions.append(node.condition)
        return conditions, leaves

    def statement(self, node: n.Stmt | None, apart: bool) -> None:
        match node:
            case n.Block(statements=statements):
                for each in statements:
                    self.statement(each, apart)
            case n.If(condition=condition, then=then, otherwise=otherwise, branch=branch):
                apart = self._branch(branch, condition, apart) or apart
                self.statement(then, apart)
                self.statement(otherwise, apart)
            case n.Loop():
                self._loop(node, apart)
            case n.Unrolled(loop=loop):
                self._loop(loop, apart)
            case n.Declare(slot=slot, value=value) | n.Return(slot=slot, value=value) if value is not None:
                self._gives(slot, value, apart)
                self._effects(value, apart)
            case n.Evaluate(expression=expression):
                self._effects(expression, apart)
            case None:
                return
            case _:
                for each in inner_parts(node):
                    self._effects(each, apart)

    def _loop(self, loop: n.Loop, apart: bool) -> None:
        """A loop that some lanes leave before others runs for only some of them from then on."""
        ends_apart = loop.condition is not None and self._branch(loop.branch, loop.condition, apart)
        apart = apart or ends_apart or any(map(self.differs, self.exits[loop.number]))
        self.statement(loop.body, apart)
        if loop.step is not None:
            self._effects(loop.step, apart)

    def _branch(self, branch: int | None, condition: n.Expr, apart: bool) -> bool:
        """Whether a condition differs; notes the branch then."""
        self._effects(condition, apart)
        differs = self.differs(condition)
        if differs and branch is not None:
            self.branches.add(branch)
        return differs

    def _effects(self, node: Any, apart: bool) -> None:
        """What an expression assigns."""
        match node:
            case n.Assign(target=target, value=value):
                while isinstance(target, n.Component):
                    target = target.of
                if isinstance(target, n.Read):
                    self._gives(target.slot, value, apart)
            case n.Inline(bindings=bindings, body=body):
                for slot, value in bindings:
                    self._gives(slot, value, apart)
                    self._effects(value, apart)
                self.statement(body, apart)
                return
            case n.Select(condition=condition, then=then, otherwise=otherwise, branch=branch):
                differs = self._branch(branch, condition, apart)
                self._effects(then, apart or differs)
                self._effects(otherwise, apart or differs)
                return
        for each in inner_parts(node):
            self._effects(each, apart)

    def _gives(self, slot: int | None, value: n.Expr, apart: bool) -> None:
        if slot is not None and (apart or self.differs(value)):
            self.slots.add(slot)

    def differs(self, node: Any) -> bool:
        """Whether the value of an expression may differ between the threads of a block."""
        match node:
            case n.Index(of_block=of_block):
                return not of_block
            case n.Read(slot=slot) | n.Inline(result=int(slot)):
                return slot in self.slots
            case n.Deref() | n.Instruction() | n.Call(args=()):
                return True
        return any(map(self.differs, inner_parts(node)))
