"""Local arrays: their slots, and how much of them a thread may have."""

from math import prod

from gemmviz.source.nodes import DeclareArray, Expr, Stmt
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.types import ArrayType, CType, Scalar, StructType, VectorType

_MOST_LOCAL_BYTES = 512 << 10  # CUDA C++ Programming Guide, compute capabilities: local memory of a thread


def local_array(
    low: Lowering,
    element: Scalar | VectorType | StructType,
    size: int,
    name: str,
    statements: list[Stmt],
    node: Node,
    values: tuple[Expr, ...] | None = None,
) -> int:
    """The slot of a new local array."""
    check_local_bytes(low, name, size * element.bytes, node)
    slot = low.new_slot()
    low.local_elements += size * _held(element)
    low.local_bytes += size * element.bytes
    statements.append(DeclareArray(slot, name, element, size, values))  # type: ignore[arg-type]
    return slot


def _held(element: CType) -> int:
    match element:
        case VectorType(count=count):
            return count
        case StructType(fields=fields):
            return sum(_held(each.type) for each in fields)
        case ArrayType(element=inner, dims=dims):
            return prod(dims) * _held(inner)
    return 1


def check_local_bytes(low: Lowering, name: str, added: int, node: Node) -> None:
    if low.local_bytes + added > _MOST_LOCAL_BYTES:
        size = f"with {name}, the local arrays of a thread take {low.local_bytes + added:,} bytes"
        remedy = "make them smaller or use shared memory"
        raise low.error(f"{size}; at most {_MOST_LOCAL_BYTES:,} are possible", node, remedy)
