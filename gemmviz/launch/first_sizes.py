"""Sizes for the first runs of a kernel: small ones that fill its tiles, oblong where the launch has a number for each."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gemmviz.launch.formula import evaluate
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem

_MOST, _MOST_K, _USUAL, _LARGE_TILE = 4096, 64, 8, 32
_MOST_PRODUCTS = 1 << 22  # of a run that tries roles


@dataclass(frozen=True, slots=True)
class Units:
    """The smallest numbers of rows of A, of columns of B and of terms that fill a block; 0 if the launch doesn't say."""

    M: int
    N: int
    K: int


def units_of(kernel: KernelSpec) -> Units:
    """The units of a kernel: M and N as its grid cuts them, K by its tile sizes."""
    names = {**kernel.defaults}
    m, n = (_unit(kernel, size, names) for size in "MN")
    return Units(m, n, _unit(kernel, "K", names) or _unit_of_terms(kernel, names))


def trial_problems(kernel: KernelSpec) -> Iterator[Problem]:
    """Problems to try roles at, small ones first, with sizes that differ where the launch allows."""
    units = units_of(kernel)
    m, n, k = (each or _USUAL for each in (units.M, units.N, units.K))
    whole = math.lcm(*(each for each in (m, n, k) if each <= 2 * _MOST_K))
    tied = {rule.that for rule in kernel.requirements}
    seen = set()
    for sizes in (
        _distinct(2 * m, n, 3 * k),
        _distinct(m, 2 * n, 2 * whole),
        _distinct(2 * whole, whole, 3 * whole),
        _distinct(8 * m, 4 * n, 64),
    ):
        problem = _with_ties(sizes, tied)
        if problem not in seen and problem.flops <= 2 * _MOST_PRODUCTS:
            seen.add(problem)
            yield problem
    for side in (whole, 2 * whole, 64, 128):
        square = Problem(side, side, side)
        if square not in seen and square.flops <= 2 * _MOST_PRODUCTS:
            seen.add(square)
            yield square


def first_problem(kernel: KernelSpec, tried: Problem) -> Problem:
    """The sizes of the first picture: two small tiles along each side, or one large one. At ``tried`` C is right."""
    units = units_of(kernel)
    sizes = (_first(unit, size) for unit, size in zip((units.M, units.N, units.K), tried.sizes.values(), strict=True))
    return _with_ties(tuple(sizes), {rule.that for rule in kernel.requirements})  # type: ignore[arg-type]


def _first(unit: int, tried: int) -> int:
    if unit <= 1:
        return min(tried, _USUAL)
    return 2 * unit if unit <= _LARGE_TILE else unit


def _distinct(m: int, n: int, k: int) -> tuple[int, int, int]:
    """The sizes, the last two enlarged until all differ."""
    n_step, k_step = n, k
    while n == m:
        n += n_step
    while k in (m, n):
        k += k_step
    return m, n, k


def _with_ties(sizes: tuple[int, int, int], tied: set[str]) -> Problem:
    """The problem with sizes that have one number in the launch at the largest of theirs."""
    named = dict(zip("MNK", sizes, strict=True))
    for rule in tied:
        size, _, other = rule.partition(" == ")
        named[size] = named[other] = max(named[size], named[other])
    for rule in tied:  # the second pass spreads a size that the last rule raised
        size, _, other = rule.partition(" == ")
        named[size] = named[other]
    return Problem(**named)


def _unit(kernel: KernelSpec, size: str, names: Mapping[str, int]) -> int:
    """How many elements of a size make one more block; 0 if the grid doesn't depend on it, or no size up to 4096 does."""

    def blocks(value: int) -> int:
        try:
            sizes = {name: value if name == size else _MOST for name in "MNK"}
            return math.prod(max(0, evaluate(formula, {**names, **sizes})) for formula in kernel.grid)
        except GemmvizError:
            return 0

    first = _first_above(blocks, 0, 1)
    if first is None or blocks(_MOST) == blocks(first):
        return 0
    second = _first_above(blocks, blocks(first), first)
    return 0 if second is None else second - first if first == 1 else first


def _first_above(blocks: Callable[[int], int], count: int, start: int) -> int | None:
    """The smallest size from ``start`` with more than ``count`` blocks."""
    low, high = start, _MOST
    if blocks(high) <= count:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if blocks(middle) > count else (middle + 1, high)
    return low


def _unit_of_terms(kernel: KernelSpec, names: Mapping[str, int]) -> int:
    """The tile's extent along K: that of a parameter with a K in its name, else of the block or the largest small tile."""
    named = [value for name, value in names.items() if "k" in name.lower().replace("block", "").replace("blk", "")]
    if named:
        return min(named)
    small = [value for value in names.values() if value <= _MOST_K]
    return max((*small, *(each for each in _extents(kernel, names) if each <= _MOST_K)), default=0)


def _extents(kernel: KernelSpec, names: Mapping[str, int]) -> Iterator[int]:
    for formula in kernel.block:
        try:
            yield evaluate(formula, {**names, "M": _USUAL, "N": _USUAL, "K": _USUAL})
        except GemmvizError:
            continue
