"""The scalars of which a local variable, array or struct consists."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gemmviz.run.cpu.simt.access_types import AccessType, access_type
from gemmviz.source.types import (
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    named_type,
    scalar_of,
    size_bytes,
)

Leaf = tuple[int, Scalar]  # bytes before it in its element, and its type


@dataclass(frozen=True, slots=True)
class CellTable:
    """The cells of an array of ``count`` elements of ``bytes`` each, ``leaves`` in each. ``kind`` is the type of all of them if
    they have the same and nothing lies between them, else None.
    """

    leaves: tuple[Leaf, ...]
    bytes: int
    count: int
    kind: AccessType | None
    _starts: dict[int, int] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.leaves) * self.count

    def at(self, byte: int) -> int | None:
        """The cell that contains a byte; None between cells."""
        element, inner = divmod(byte, self.bytes)
        cell = self._starts.get(inner)
        return None if cell is None else element * len(self.leaves) + cell

    def start(self, cell: int) -> int:
        """Bytes before a cell."""
        element, leaf = divmod(cell, len(self.leaves))
        return element * self.bytes + self.leaves[leaf][0]

    def type(self, cell: int) -> AccessType:
        return access_type(self.leaves[cell % len(self.leaves)][1])


def cells_of(element: CType, count: int) -> CellTable:
    """The cells of an array of ``count`` elements."""
    leaves = tuple(sorted(_without_overlaps(list(_leaves(element, 0))), key=lambda leaf: leaf[0]))
    scalars = {scalar for _, scalar in leaves}
    is_dense = len(scalars) == 1 and sum(scalar.bytes for _, scalar in leaves) == size_bytes(element)
    kind = access_type(next(iter(scalars))) if is_dense else None
    cells = CellTable(leaves, max(1, size_bytes(element)), count, kind)
    for number, (start, scalar) in enumerate(leaves):
        cells._starts.update(dict.fromkeys(range(start, start + scalar.bytes), number))
    return cells


def _leaves(ctype: CType, start: int) -> Iterator[Leaf]:
    match ctype:
        case StructType(fields=fields):
            for each in fields:
                yield from _leaves(each.type, start + each.offset)
        case ArrayType(element=element):
            step = size_bytes(element)
            for at in range(size_bytes(ctype) // step):
                yield from _leaves(element, start + at * step)
        case PointerType():
            yield start, _unsigned(8)
        case VectorType() | Scalar():
            scalar = scalar_of(ctype)
            for at in range(size_bytes(ctype) // scalar.bytes):
                yield start + at * scalar.bytes, scalar


def _without_overlaps(leaves: list[Leaf]) -> Iterator[Leaf]:
    """The leaves; where those of a union overlap and differ, unsigned integers of the finest size cover the place."""
    taken: dict[int, set[Leaf]] = {}
    for start, scalar in leaves:
        for byte in range(start, start + scalar.bytes):
            taken.setdefault(byte, set()).add((start, scalar))
    clashing = {leaf for several in taken.values() if len(several) > 1 for leaf in several}
    yield from dict.fromkeys(leaf for leaf in leaves if leaf not in clashing)
    if clashing:
        finest = min(scalar.bytes for _, scalar in clashing)
        places = {byte - byte % finest for start, scalar in clashing for byte in range(start, start + scalar.bytes)}
        yield from ((place, _unsigned(finest)) for place in places)


def _unsigned(size: int) -> Scalar:
    scalar = named_type(f"uint{8 * size}_t")
    assert isinstance(scalar, Scalar)
    return scalar
