"""Sizes for the first runs of a kernel: small ones that fill its tiles, oblong where the launch has a number for each."""

import math
from collections.abc import Callable, Iterator, Mapping

from gemmviz.launch.formula import evaluate
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem

_MOST, _MOST_WHOLE, _USUAL, _LARGE_TILE = 4096, 128, 8, 32
_MOST_STEPS = 1 << 22  # of the threads of a run that tries roles, all sizes multiplied
_VECTOR = 64  # elements of a vector that the grid doesn't cut
_LEAST, _LEAST_VECTOR = 2, 16  # a matrix with one row or column looks like a vector, a short vector like any other
_APART = (2, 1, 3)  # tiles along the first, second, third size, so that all sizes differ
_SHIFTED = (1, 2, 2)
_MANY = (8, 4, 2)
OWN_SIZES = frozenset(("radius", "bins", "batch"))  # they don't scale with the others
_Sizes = dict[str, int]


def grid_units(kernel: KernelSpec) -> _Sizes:
    """How many elements of each size one block covers, as the grid cuts them; 0 if the grid doesn't depend on a size."""
    return {name: _unit(kernel, name) for name in kernel.problem.sizes if name not in OWN_SIZES}


def _units_of(kernel: KernelSpec) -> _Sizes:
    """How many elements of each size one block covers: as the grid cuts them, or by the tile sizes if the grid doesn't depend
    on a size; 0 if neither tells.
    """
    units = grid_units(kernel)
    return {
        name: unit or (_unit_of_terms(kernel) if len(units) > 1 or not any(units.values()) else 0)
        for name, unit in units.items()
    }


def trial_problems(kernel: KernelSpec, own: Mapping[str, int]) -> Iterator[Problem]:
    """Problems to try roles at, small ones first, with sizes that differ where the launch allows. ``own``: sizes in the host
    code, which are tried too.
    """
    units = {name: unit or _USUAL for name, unit in _units_of(kernel).items()}
    whole = math.lcm(*(each for each in units.values() if each <= _MOST_WHOLE))
    wholes = dict.fromkeys(units, whole)
    other = (_scaled(wholes, _APART), {**units, **own})  # sizes of one unit say less than the host's
    seen = set()
    for sizes in (
        _scaled(units, _APART),
        _scaled({name: math.lcm(unit, whole) if name == "K" else unit for name, unit in units.items()}, _SHIFTED),
        *(other if whole > 1 else reversed(other)),
        _scaled(units, _MANY),
        *(dict.fromkeys(units, side) for side in (whole, 2 * whole, 64)),
    ):
        problem = _problem(kernel, sizes)
        if problem is not None and problem not in seen and math.prod(problem.sizes.values()) <= _MOST_STEPS:
            seen.add(problem)
            yield problem


def first_problem(kernel: KernelSpec) -> Problem:
    """The sizes of the first picture, if they suit the kernel: two small tiles along each side, or one large one. The kernel's
    own problem is one that suits it.
    """
    units = _units_of(kernel)
    vectors = [size.name for size in kernel.problem.kind.sizes if size.dimension > 1]
    sizes = {name: _first(unit, _VECTOR if name in vectors else kernel.problem.sizes[name]) for name, unit in units.items()}
    return _problem(kernel, sizes) or kernel.problem


def _first(unit: int, tried: int) -> int:
    """The first extent along a size: of tiles of ``unit`` elements, or else at most what was ``tried``."""
    if unit <= 1:
        return tried if tried == _VECTOR else _USUAL
    return 2 * unit if unit <= _LARGE_TILE else unit


def _scaled(units: Mapping[str, int], factors: tuple[int, ...]) -> _Sizes:
    """Multiples of the units, enlarged until all differ."""
    sizes: _Sizes = {}
    for (name, unit), factor in zip(units.items(), (*factors, *(1 for _ in units)), strict=False):
        size = factor * unit
        while size in sizes.values() or size < _LEAST:
            size += unit
        sizes[name] = size
    return sizes


def replace_sizes(kernel: KernelSpec, sizes: Mapping[str, int]) -> Problem:
    """The kernel's problem with some other sizes; its own if they don't suit it."""
    return _problem(kernel, dict(sizes)) or kernel.problem


def _problem(kernel: KernelSpec, sizes: _Sizes) -> Problem | None:
    """The kernel's problem at these sizes; sizes for which the launch has one number take the largest of theirs."""
    ties = [rule.that.split(" == ") for rule in kernel.requirements if rule.that.count(" == ") == 1]
    for _ in range(2):  # the second pass spreads what the last rule raised
        for size, other in ties:
            if size in sizes and other.isdecimal() and size not in OWN_SIZES:
                sizes = {**sizes, size: int(other)}
            elif size in sizes and other in sizes:
                sizes = {**sizes, size: max(sizes[size], sizes[other]), other: max(sizes[size], sizes[other])}
    vectors = [size.name for size in kernel.problem.kind.sizes if size.dimension > 1]
    if any(size < (_LEAST_VECTOR if name in vectors else _LEAST) for name, size in sizes.items() if name not in OWN_SIZES):
        return None
    try:
        return Problem.of_flat({**kernel.problem.to_flat(), **sizes})
    except SettingError:
        return None


def _unit(kernel: KernelSpec, size: str) -> int:
    """How many elements of a size make one more block; 0 if the grid doesn't depend on it, or no size up to 4096 does."""

    def blocks(value: int) -> int:
        try:
            names = {**dict.fromkeys(kernel.problem.sizes, _MOST), size: value, **kernel.defaults}
            return math.prod(max(0, evaluate(formula, names)) for formula in kernel.grid)
        except GemmvizError:
            return 0

    first = _first_above(blocks, 0, 1)
    if first is None or blocks(_MOST) == blocks(first):
        return 0
    second = _first_above(blocks, blocks(first), first)
    return 0 if second is None else second - first if first == 1 else max(first, second - first)


def _first_above(blocks: Callable[[int], int], count: int, start: int) -> int | None:
    """The smallest size from ``start`` with more than ``count`` blocks."""
    low, high = start, _MOST
    if blocks(high) <= count:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if blocks(middle) > count else (middle + 1, high)
    return low


def _unit_of_terms(kernel: KernelSpec) -> int:
    """The extent of a tile along K: that of a parameter with a K in its name, else of the largest small tile or block."""
    values = kernel.defaults
    named = [value for name, value in values.items() if "k" in name.lower().replace("block", "").replace("blk", "")]
    if named:
        return min(named)
    return max((each for each in (*values.values(), *_extents(kernel)) if each <= _LARGE_TILE), default=0)


def _extents(kernel: KernelSpec) -> Iterator[int]:
    for formula in kernel.block:
        try:
            yield evaluate(formula, {**dict.fromkeys(kernel.problem.sizes, _USUAL), **kernel.defaults})
        except GemmvizError:
            continue
