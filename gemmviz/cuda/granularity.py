"""Finds the scalar types by which a kernel accesses each of its memories, and so the unit in which accesses are recorded.

The offsets of a record count elements of an array. An array that is read in parts, such as an int matrix as bytes, is recorded
in those parts; a shared array that is accessed by wider types alone, such as a pool of bytes cut into tiles of floats, in the
wider ones. So every access covers whole elements, and its bytes are exact.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct, structs

from gemmviz.cuda import nodes as n
from gemmviz.cuda.types import UCHAR, USHORT, ArrayType, CType, PointerType, Scalar, StructType, VectorType, scalar_of
from gemmviz.cuda.walk import nodes_of, parts

# Integers that hold something of a memory's contents, such as elements of an int8 matrix or four floats copied as an int4.

_Targets = dict[int, set[int]]
_BYTE_SCALAR = UCHAR


@lru_cache(maxsize=64)
def types_of_memories(program: n.Program) -> dict[int, frozenset[Scalar]]:
    """The scalar types by which each parameter and each shared array may be accessed, by slot. Instructions that move matrices
    of 16-bit elements access such.
    """
    memories = {each.slot for each in program.parameters if isinstance(each.type, PointerType)}
    memories |= {each.slot for each in program.shared}
    targets = _pointer_targets(program, {slot: {slot} for slot in memories}, unknown_is_all=True)
    everything = {slot for several in targets.values() for slot in several}
    types: dict[int, set[Scalar]] = {slot: set() for slot in memories}
    shared = {each.slot for each in program.shared}
    untyped = {id(touch.at) for part in nodes_of(program) for touch in n.touches(part) if not touch.is_typed}
    for part in nodes_of(program):
        of_matrix = isinstance(part, n.LoadMatrix | n.StoreMatrix)
        at = part.row if of_matrix else part
        if isinstance(at, n.Deref) and (of_matrix or id(at) not in untyped):
            in_shared = getattr(at.pointer.type, "space", None) == "shared"
            for slot in _roots(at.pointer, targets, everything) & (shared if in_shared else memories):
                types[slot].add(USHORT if of_matrix else scalar_of(at.type))
    return {slot: frozenset(scalars) for slot, scalars in types.items()}


@lru_cache(maxsize=64)
def written_memories(program: n.Program) -> frozenset[int]:
    """The slots of the parameters and shared arrays that may be written."""
    memories = {each.slot for each in program.parameters if isinstance(each.type, PointerType)}
    memories |= {each.slot for each in program.shared}
    targets = _pointer_targets(program, {slot: {slot} for slot in memories}, unknown_is_all=True)
    written = (touch for part in nodes_of(program) for touch in n.touches(part) if touch.how == "write")
    return frozenset(slot for touch in written for slot in _roots(touch.at.pointer, targets, memories) & memories)


@lru_cache(maxsize=4)  # several functions read it in turn
def _given(program: n.Program) -> tuple[tuple[Any, n.Expr], ...]:
    """Everything that a variable (by its slot), a local array, or the target of an assignment is given in a program."""
    return tuple(each for part in nodes_of(program) for each in _given_by(part))


def _given_by(part: Any) -> Iterable[tuple[Any, n.Expr]]:
    """What a node gives itself, without the nodes below it."""
    match part:
        case n.Declare(slot=slot, value=value) | n.Return(slot=int(slot), value=value) if value is not None:
            return ((slot, value),)
        case n.DeclareArray(values=tuple(values)):
            return ((part, value) for value in values)
        case n.Assign(target=target, value=value):
            return ((target, value),)
        case n.Inline(bindings=bindings):
            return bindings
    return ()


def _pointer_targets(program: n.Program, targets: _Targets, unknown_is_all: bool) -> _Targets:
    """The memories, or local arrays, into which each pointer variable may point. ``targets``: those that are known."""
    flows = [(getattr(to, "slot", to), value) for to, value in _given(program) if isinstance(value.type, PointerType)]
    changed = True
    while changed:
        changed = False
        for slot, value in flows:
            if isinstance(slot, int):
                known = targets.setdefault(slot, set())
                everything = {each for several in targets.values() for each in several} if unknown_is_all else set()
                more = _roots(value, targets, everything) - known
                known |= more
                changed |= bool(more)
    return targets


def _roots(node: n.Expr, targets: Mapping[int, set[int]], unknown: set[int]) -> set[int]:
    """The slots of the memories or arrays into which a pointer may point; ``unknown`` if that isn't known."""
    match node:
        case n.Base(slot=slot):
            return {slot}
        case n.Read(slot=slot) | n.Inline(result=int(slot)):
            return targets.get(slot, set())
        case n.Offset(pointer=pointer) | n.Reinterpret(pointer=pointer):
            return _roots(pointer, targets, unknown)
        case n.Select(then=then, otherwise=otherwise):
            return _roots(then, targets, unknown) | _roots(otherwise, targets, unknown)
        case n.Assign(target=target):
            return _roots(target, targets, unknown)
        case n.Sequence(parts=(*_, last)):
            return _roots(last, targets, unknown)
    return unknown


def recorded_scalar(declared: Scalar | None, used: frozenset[Scalar], may_widen: bool) -> Scalar:
    """The type of the elements in which accesses to a memory are recorded: the narrowest by which it is accessed.

    A memory that isn't accessed by narrower types than it is declared with keeps its own, unless it ``may_widen``; floats don't
    widen to integers, which move several of them. ``declared`` is None for structs of several types.
    """
    least = min((scalar.bytes for scalar in used), default=0)
    if declared is not None:
        widens = may_widen and (not declared.is_float or all(scalar.is_float for scalar in used))
        if not used or least == declared.bytes or (least > declared.bytes and not widens):
            return declared
    narrowest = [scalar for scalar in used if scalar.bytes == least]
    return min(narrowest, key=lambda scalar: (not scalar.is_float, scalar.name)) if narrowest else _BYTE_SCALAR


def declared_scalar(element: CType | None) -> Scalar | None:
    """The scalar of a declared element type, of a struct that of all its members; None for one with several."""
    scalars = set(scalars_in(element))
    return scalars.pop() if len(scalars) == 1 else None


def scalars_in(ctype: CType | None) -> Iterator[Scalar]:
    """The scalars that a type consists of."""
    match ctype:
        case Scalar() | VectorType():
            yield scalar_of(ctype)
        case ArrayType(element=element):
            yield from scalars_in(element)
        case StructType(fields=fields):
            for each in fields:
                yield from scalars_in(each.type)


# Floats that hold numbers and nothing of a matrix: sizes divided, rounded up, compared. What follows from them follows from
# the sizes alone.


def is_float(ctype: Any) -> bool:
    """Whether a type is that of one floating-point number."""
    return isinstance(ctype, Scalar) and ctype.is_float


@lru_cache(maxsize=64)
def number_slots(program: n.Program, contents: frozenset[int]) -> frozenset[int]:
    """The float variables that never hold a value of a matrix. ``contents``: the integer variables that may."""
    given = list(_floats_given(program))
    slots = {slot for slot, _ in given} | {each.slot for each in program.parameters if is_float(each.type)}
    while True:
        tainted = {slot for slot, value in given if slot in slots and not is_number(value, slots, contents)}
        if not tainted:
            return frozenset(slots)
        slots -= tainted


def _floats_given(program: n.Program) -> Iterator[tuple[int, n.Expr]]:
    """Every float variable with everything that it is given."""
    for to, value in _given(program):
        match to:
            case int() if is_float(value.type):
                yield to, value
            case n.Read(slot=slot, type=ctype) if is_float(ctype):
                yield slot, value


def is_number(node: n.Expr, slots: frozenset[int] | set[int], contents: frozenset[int]) -> bool:
    """Whether a value follows from numbers alone, where the float variables in ``slots`` and the integers not in ``contents``
    hold such.
    """
    match node:
        case n.Const() | n.Index() | n.Extent():
            return True
        case n.Read(slot=slot, type=Scalar() as ctype):
            return slot in slots if ctype.is_float else slot not in contents
        case n.Unary(operand=operand) | n.Convert(operand=operand):
            return is_number(operand, slots, contents)
        case n.Binary(left=left, right=right) | n.Logic(left=left, right=right):
            return is_number(left, slots, contents) and is_number(right, slots, contents)
        case n.Select(condition=condition, then=then, otherwise=otherwise):
            return all(is_number(each, slots, contents) for each in (condition, then, otherwise))
        case n.Assign(target=n.Read() as target, value=value):
            return is_number(target, slots, contents) and is_number(value, slots, contents)
        case n.Call(name=name, args=args):
            return not name.startswith("__shfl") and all(is_number(each, slots, contents) for each in args)
        case n.Sequence(parts=several):
            return all(is_number(each, slots, contents) for each in several)
        case n.Inline(bindings=bindings, body=body, result=result):
            reads_none = not any(isinstance(part, n.Deref | n.Component | n.Barrier) for part in parts(body))
            bound = [slot for slot, value in bindings if is_float(value.type)]
            own = bound + ([result] if result is not None and is_float(node.type) else [])
            return reads_none and slots.issuperset(own) and all(is_number(value, slots, contents) for _, value in bindings)
    return False


_SlotSet = frozenset[int]


class SlotContents(Struct, frozen=True):
    """``numbers``: float variables that hold nothing of a memory; ``slots``: integer variables and local arrays that do;
    ``targets``: the local arrays to which each pointer variable may point; ``is_empty``: no integer or vector of the program
    holds something of a memory.
    """

    numbers: _SlotSet
    slots: _SlotSet
    targets: _Targets
    is_empty: bool = False

    def has(self, node: n.Expr) -> bool:
        """Whether the value of an integer or vector expression holds something of a memory, or follows from such."""
        if self.is_empty:
            return False
        match node:
            case n.Read(slot=slot):
                return slot in self.slots
            case n.Deref(access=None, pointer=pointer):
                return not self.slots.isdisjoint(self.roots(pointer))
            case n.Deref():
                return True
            case n.Component(of=of):
                return self.has(of)
            case n.MakeVector(parts=several) | n.Call(args=several):
                return any(self._reaches(each) for each in several)
            case n.Unary(operand=operand) | n.Convert(operand=operand):
                return self._reaches(operand)
            case n.Binary(left=left, right=right) | n.Logic(left=left, right=right):
                return self._reaches(left) or self._reaches(right)
            case n.Select(condition=condition, then=then, otherwise=otherwise):
                return any(self._reaches(each) for each in (condition, then, otherwise))
            case n.Assign(target=target, value=value, store=store):
                return store is not None or self._reaches(target) or self._reaches(value)
            case n.Inline(result=int(result)):
                return result in self.slots
            case n.Sequence(parts=several) if several:
                return self._reaches(several[-1])
        return isinstance(node, n.Instruction)

    def _reaches(self, node: n.Expr) -> bool:
        """Whether an operand of any type holds something of a memory."""
        if isinstance(node.type, PointerType):
            return False
        return not is_number(node, self.numbers, self.slots) if is_float(node.type) else self.has(node)

    def roots(self, pointer: n.Expr) -> set[int]:
        """The local arrays into which a pointer may point."""
        return _roots(pointer, self.targets, {slot for several in self.targets.values() for slot in several})


@lru_cache(maxsize=64)
def contents(program: n.Program) -> SlotContents:
    """What a program's variables hold of its memories."""
    given = [*_held_values(program)]
    targets = _pointer_targets(program, {}, unknown_is_all=False)
    known = SlotContents(number_slots(program, frozenset()), frozenset(), targets)
    while True:
        more = set(known.slots)
        for to, value in given:
            if not isinstance(value.type, PointerType) and known._reaches(value):
                more |= known.roots(to.pointer) if isinstance(to, n.Deref) else {to}
        for several in targets.values():  # what one pointer reaches holds contents alike
            if not several.isdisjoint(more):
                more |= several
        if more == known.slots:
            return structs.replace(known, is_empty=not any(map(known.has, _integers(program))))
        slots = frozenset(more)
        known = SlotContents(number_slots(program, slots), slots, targets)


def _integers(program: n.Program) -> Iterator[n.Expr]:
    """All integers and vectors that are computed."""
    for part in nodes_of(program):
        ctype = getattr(part, "type", None)
        if isinstance(ctype, VectorType) or (isinstance(ctype, Scalar) and not ctype.is_float):
            yield part


def _held_values(program: n.Program) -> Iterator[tuple[Any, n.Expr]]:
    """Every variable, and every place in local memory, with everything that it is given. Floats other than in arrays are left
    out.
    """
    for to, value in _given(program):
        match to:
            case n.Deref(access=None) if getattr(to.pointer.type, "space", None) == "local":
                yield to, value
            case n.Read(slot=slot) | n.Component(of=n.Read(slot=slot)) if not is_float(to.type):
                yield slot, value
            case int() | n.DeclareArray() if not is_float(value.type):
                yield getattr(to, "slot", to), value


# Finds what a program gives to variables that follow from earlier values of their own, such as a sum.


class _ValueFlow(NamedTuple):
    """A value that a node, by its identity, gives to variables or memories: their slots, and those that it is computed from."""

    node: int
    targets: set[int]
    sources: set[int]
    value: n.Expr


@lru_cache(maxsize=4)  # several functions read it in turn
def _flows(program: n.Program) -> tuple[_ValueFlow, ...]:
    """All values that a program gives, in the order of the source. Integers that hold nothing of a memory are no sources."""
    held = contents(program).slots
    return tuple(
        _ValueFlow(id(part), _targets(to, held), _variables_in(value, held), value)
        for part in nodes_of(program)
        for to, value in _given_by(part)
    )


def _targets(to: Any, held: frozenset[int]) -> set[int]:
    """The variable or array that is given something, or through which an assignment reaches memory."""
    if isinstance(to, int):
        return {to}
    while isinstance(to, n.Deref | n.Offset | n.Reinterpret | n.Component):
        to = to.of if isinstance(to, n.Component) else to.pointer
    return {to.slot} if isinstance(to, n.DeclareArray | n.Read | n.Base) else _variables_in(to, held)


def _variables_in(node: Any, held: frozenset[int]) -> set[int]:
    """The variables in a node, without integers that hold nothing of a memory."""
    read = (part for part in parts(node) if isinstance(part, n.Base | n.Read))
    return {part.slot for part in read if isinstance(part, n.Base) or part.slot in held or not _is_integer(part)}


def _is_integer(node: n.Read) -> bool:
    return isinstance(node.type, Scalar) and not node.type.is_float


@lru_cache(maxsize=64)
def given_once(program: n.Program) -> frozenset[int]:
    """Identities of the nodes whose values are given to variables and memories, none of which follows from itself."""
    same, flows = dict[int, int](), _flows(program)

    def root(slot: int) -> int:
        while slot in same:
            slot = same[slot]
        return slot

    for _, targets, sources, value in flows:
        if isinstance(value.type, PointerType):  # what pointers reach is one
            first, *others = {root(slot) for slot in targets | sources} or {0}
            same.update(dict.fromkeys(others, first))
    sources_of: dict[int, set[int]] = {}
    for _, targets, sources, value in flows:
        if not isinstance(value.type, PointerType):
            for slot in targets:
                sources_of.setdefault(root(slot), set()).update(map(root, sources))
    once: set[int] = set()
    repeated: set[int] = set()
    for _, targets, sources, value in flows:
        follows_itself = not _reached(set(map(root, sources)), sources_of).isdisjoint(map(root, targets))
        (repeated if follows_itself else once).update(id(part) for part in parts(value))
    return frozenset(once - repeated)


def _reached(start: set[int], sources_of: Mapping[int, set[int]]) -> set[int]:
    """The slots that some follow from, and themselves."""
    found, left = set(start), list(start)
    while left:
        more = sources_of.get(left.pop(), set()) - found
        found |= more
        left += more
    return found


# Finds the variables whose values can reach shared memory, which alone determine the contents of its tiles.


def carriers(program: n.Program) -> frozenset[int]:
    """Slots whose values may be stored into shared memory, directly or through other variables and pointers to them.

    Integers that follow from the sizes and the thread's indices are not included.
    """
    held = contents(program).slots
    given = [way for flow in _flows(program) for way in _ways(flow)]
    written = (touch for part in nodes_of(program) for touch in n.touches(part) if _stores_to_shared(touch))
    found = {slot for touch in written for value in touch.given for slot in _variables_in(value, held)}
    while True:
        more = {slot for to, of in given if to & found for slot in of} - found
        if not more:
            return frozenset(found)
        found |= more


@lru_cache(maxsize=64)
def idle_loops(program: n.Program) -> frozenset[int]:
    """Numbers of the loops that neither store into shared memory nor change a variable that may reach it."""
    reaching = carriers(program)
    bringing = {id(part) for part in nodes_of(program) if _may_store(part)}
    bringing |= {flow.node for flow in _flows(program) if any(to & reaching for to, _ in _ways(flow))}
    loops = (part for part in nodes_of(program) if isinstance(part, n.Loop))
    return frozenset(loop.number for loop in loops if bringing.isdisjoint(map(id, parts(loop))))


def _may_store(part: Any) -> bool:
    """Whether a node itself may store into shared memory."""
    passes_pointer = isinstance(part, n.Call) and any(isinstance(arg.type, PointerType) for arg in part.args)
    return passes_pointer or any(map(_stores_to_shared, n.touches(part)))


def _ways(flow: _ValueFlow) -> Iterator[tuple[set[int], set[int]]]:
    """The slots that a value goes to and comes from; for a pointer also reversed, as a write through it changes its target."""
    yield flow.targets, flow.sources
    if isinstance(flow.value.type, PointerType):
        yield flow.sources, flow.targets


def _stores_to_shared(touch: n.Touch) -> bool:
    return touch.how == "write" and getattr(touch.at.pointer.type, "space", None) not in ("global", "local")
