"""Calls by which the lanes of a warp or the threads of a block exchange values."""

from gemmviz.cuda.nodes import (
    Assign,
    Barrier,
    Binary,
    Block,
    Call,
    Const,
    Declare,
    Deref,
    Evaluate,
    Expr,
    Inline,
    Read,
    Return,
    Stmt,
)  # fmt: skip
from gemmviz.cuda.ptx.registers import special_register
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.lowering import Lowering
from gemmviz.cuda.types import BOOL, INT, UINT, CType, PointerType, Scalar
from gemmviz.model.records import replace

_WARP, _FEWEST = 32, 2
_GRID_SYNC = "__gemmviz_grid_sync"
_SHUFFLES = [f"__shfl{way}" for way in ("", "_up", "_down", "_xor")]
_VOTES = ("__ballot", "__any", "__all")


def mark_loops(low: Lowering) -> None:
    """Notes that the loops around hold a barrier of the block."""
    for number in low.loop_stack:
        low.loops[number] = replace(low.loops[number], holds_barrier=True)


def barrier(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    is_block = name != "__syncwarp"
    mask = low.value(arguments[0]) if arguments and not is_block else None
    if isinstance(mask, Const) and int(mask.value).bit_count() < _FEWEST:  # nobody waits for another lane
        return Block(())
    number = low.add_access("barrier" if is_block else "warp barrier", None, node)
    if is_block:
        mark_loops(low)
    if name == _GRID_SYNC:
        low.accesses[number] = replace(low.accesses[number], visible_to="grid")
    return Barrier(number, low.place(node), is_block)


def _shuffle(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    ctype = low.type_of(node)
    values = [low.value(argument) for argument in arguments]
    before = [low.converted(values.pop(0), UINT, node)] if name.endswith("_sync") else []
    width = values[2] if len(values) == 3 else Const(INT, _WARP)
    moved = low.converted(values[0], ctype, node)
    lane, width = (low.converted(each, INT, node) for each in (values[1], width))
    return Call(ctype, name, (*before, moved, lane, width), low.place(node))


def _vote(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """A vote, match or reduction. The old ones without a mask ask the lanes that are active."""
    place, given = low.place(node), [low.value(argument) for argument in arguments]
    mask: Expr = Call(UINT, "__activemask", (), place)
    if name.endswith("_sync"):
        mask = low.converted(given.pop(0), UINT, node)
    value = given[0] if name.startswith("__match") else low.converted(given[0], _voted(low, name, node), node)
    return Call(low.type_of(node), name.removesuffix("_sync") + "_sync", (mask, value), place)


def _voted(low: Lowering, name: str, node: Node) -> CType:
    return low.type_of(node) if name.startswith("__reduce") else INT


def _match_all(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """``__match_all_sync``: also writes whether all lanes have the same value."""
    place, mask, value = low.place(node), low.value(arguments[0]), low.value(arguments[1])
    target = low.value(arguments[2])
    slot, result = low.new_slot(), low.new_slot()
    found = Read(UINT, slot, name, False, place)
    matched = Call(UINT, name, (low.converted(mask, UINT, node), value), place)
    assert isinstance(target.type, PointerType)
    is_same = low.converted(Binary(BOOL, "!=", found, Const(UINT, 0), place), INT, node)
    deref = Deref(INT, target, place)
    store = None if target.type.space == "local" else low.access("store", deref, node)
    written = Evaluate(Assign(INT, deref, is_same, None, None, store, False, place))
    return Inline(UINT, (), Block((Declare(slot, matched), written, Return(result, found))), result, place)


def _counted(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """``__syncthreads_count`` and the like: a barrier, then a vote of the block."""
    place, slot, result = low.place(node), low.new_slot(), low.new_slot()
    given = low.converted(low.value(arguments[0]), INT, node)
    stop = barrier(low, name, [], node)
    vote = Call(INT, name, (Read(INT, slot, name, False, place),), place)
    return Inline(INT, ((slot, given),), Block((stop, Return(result, vote))), result, place)


def _active(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    return Call(UINT, name, (), low.place(node))


def _lane(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    lane = special_register("laneid", low.place(node))
    assert lane is not None
    assert isinstance(lane.type, Scalar)
    return lane


WARP_STATEMENTS = {"__syncthreads": barrier, "__syncwarp": barrier, _GRID_SYNC: barrier}
WARP_FUNCTIONS = {
    **dict.fromkeys([*_SHUFFLES, *(f"{name}_sync" for name in _SHUFFLES)], _shuffle),
    **dict.fromkeys([*_VOTES, *(f"{name}_sync" for name in _VOTES), "__uni_sync", "__match_any_sync"], _vote),
    **dict.fromkeys([f"__reduce_{op}_sync" for op in ("add", "min", "max", "and", "or", "xor")], _vote),
    "__match_all_sync": _match_all,
    **dict.fromkeys(("__syncthreads_count", "__syncthreads_and", "__syncthreads_or"), _counted),
    "__activemask": _active,
    "__lane_id": _lane,
}
