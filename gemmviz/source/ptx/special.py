"""Special registers of PTX to expressions of the thread's indices."""

from gemmviz.model.errors import Place
from gemmviz.source.nodes import Binary, Const, Expr, Extent, Index
from gemmviz.source.types import UINT

_WARP = 32
_ALL_LANES = (1 << _WARP) - 1


def special_register(name: str, place: Place) -> Expr | None:
    """What a special register such as ``%tid.x`` or ``%laneid`` holds; None for an unknown one."""
    base, _, axis = name.removeprefix("%").removeprefix("%").partition(".")
    if axis in ("x", "y", "z"):
        return _of_axis(base, "xyz".index(axis))
    thread = _thread(place)
    lane = Binary(UINT, "&", thread, Const(UINT, _WARP - 1), place)
    below = Binary(UINT, "-", Binary(UINT, "<<", Const(UINT, 1), lane, place), Const(UINT, 1), place)
    own = Binary(UINT, "<<", Const(UINT, 1), lane, place)
    match base:
        case "laneid":
            return lane
        case "warpid":
            return Binary(UINT, ">>", thread, Const(UINT, _WARP.bit_length() - 1), place)
        case "lanemask_eq":
            return own
        case "lanemask_lt":
            return below
        case "lanemask_le":
            return Binary(UINT, "|", below, own, place)
        case "lanemask_gt":
            return Binary(UINT, "^", Binary(UINT, "|", below, own, place), Const(UINT, _ALL_LANES), place)
        case "lanemask_ge":
            return Binary(UINT, "^", below, Const(UINT, _ALL_LANES), place)
        case "WARP_SZ":
            return Const(UINT, _WARP)
    return None


def _of_axis(base: str, axis: int) -> Expr | None:
    match base:
        case "tid" | "ctaid":
            return Index(UINT, base == "ctaid", axis)
        case "ntid" | "nctaid":
            return Extent(UINT, base == "nctaid", axis)
    return None


def _thread(place: Place) -> Expr:
    """The number of a thread in its block."""
    x, y, z = (Index(UINT, False, axis) for axis in range(3))
    wide, high = Extent(UINT, False, 0), Extent(UINT, False, 1)
    row = Binary(UINT, "+", y, Binary(UINT, "*", high, z, place), place)
    return Binary(UINT, "+", x, Binary(UINT, "*", wide, row, place), place)
