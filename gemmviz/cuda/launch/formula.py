"""Formulas of headers and of host code: their values, the names in them, and the first sizes to try with them.

``/`` divides as in C: two integers give an integer, rounded towards zero; a floating-point number gives one.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, SettingError, SourceError, tr
from gemmviz.model.problem import Problem

_BINARY_OPERATIONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: lambda a, b: a / b if isinstance(a, float) or isinstance(b, float) else _truncated(a, b),
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY_OPERATIONS: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_FUNCTIONS: dict[str, Callable[..., int | float]] = {
    "ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "abs": abs, "int": int, "float": float, "ceil": math.ceil,
    "floor": math.floor, "sqrt": math.sqrt, "round": lambda a: math.floor(a + 0.5), "log2": math.log2, "pow": math.pow,
}  # fmt: skip
_LARGEST = 2**62
_LONGEST, _SHOWN = 4000, 60  # characters: the preprocessor's conditions may be longer than a header's formulas


def _truncated(a: int, b: int) -> int:
    """The quotient of C, rounded towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@lru_cache(maxsize=1024)
def _parsed(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def evaluate(formula: str, names: Mapping[str, int]) -> int:
    """The integer value of ``formula``. Raises what ``formula_value`` raises."""
    return int(formula_value(formula, names))


def formula_value(formula: str, names: Mapping[str, int | float]) -> int | float:
    """The value of ``formula``, a float only if one occurs in it.

    Raises SourceError if it contains anything but numbers, known names and arithmetic, and SettingError if it divides by
    zero, shifts by less than 0 or more than 63, or exceeds 2**62.
    """
    if len(formula) > _LONGEST:
        raise SourceError(
            tr(
                "the formula {formula} has {length} characters; at most {longest} are read",
                formula=_short(formula),
                length=f"{len(formula):,}",
                longest=f"{_LONGEST:,}",
            )
        )
    try:
        tree = _parsed(formula)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SourceError(tr("the formula {formula} has a syntax error", formula=_short(formula))) from None
    try:
        result: int | float = _value(tree, names, formula)
        int(result)  # infinity and NaN have no place in a launch
    except ZeroDivisionError:
        raise SettingError(tr("the formula {formula} divides by zero", formula=_short(formula))) from None
    except GemmvizError:
        raise
    except RecursionError:
        raise SourceError(tr("the formula {formula} is nested too deeply", formula=_short(formula))) from None
    except (KeyError, TypeError, ValueError, OverflowError):
        raise SourceError(tr("the formula {formula} can't be evaluated", formula=_short(formula))) from None
    return result


def _short(formula: str) -> str:
    return repr(formula if len(formula) <= _SHOWN else f"{formula[:_SHOWN]}…")


def _value(node: ast.expr, names: Mapping[str, int | float], formula: str) -> Any:
    value = _unchecked(node, names, formula)
    if isinstance(value, int | float) and abs(value) > _LARGEST:
        raise SettingError(tr("the formula {formula} exceeds 2**62", formula=_short(formula)))
    return value


def _unchecked(node: ast.expr, names: Mapping[str, int | float], formula: str) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name):
            allowed = ", ".join(sorted(names))
            raise SourceError(
                tr("the formula {formula} uses {name}", formula=_short(formula), name=f"{name!r}"),
                remedy=tr("it may use {allowed}", allowed=allowed),
            )
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY_OPERATIONS:
            return _UNARY_OPERATIONS[type(op)](_value(operand, names, formula))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY_OPERATIONS:
            a, b = _value(left, names, formula), _value(right, names, formula)
            if isinstance(op, ast.LShift | ast.RShift) and not 0 <= b < 64:
                raise SettingError(tr("the formula {formula} shifts by {b}", formula=_short(formula), b=b))
            return _BINARY_OPERATIONS[type(op)](a, b)
        case ast.BoolOp(op=op, values=values):
            results = (_value(each, names, formula) for each in values)
            return all(results) if isinstance(op, ast.And) else any(results)
        case ast.Compare(left=left, ops=ops, comparators=rights):
            terms = [_value(each, names, formula) for each in (left, *rights)]
            return all(_BINARY_OPERATIONS[type(op)](a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, names, formula) else orelse, names, formula)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*(_value(each, names, formula) for each in args))
    raise SourceError(tr("the formula {formula} contains more than arithmetic", formula=_short(formula)))


# Words in the formulas of a launch.

_WORD = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*|\d+)(?![\w.(])")
_FORMULA_KEYWORDS = ("if", "else", "and", "or", "not")


def names_in(formulas: Iterable[str]) -> list[str]:
    """Names and whole numbers in formulas, each once, in order."""
    words = (word for formula in formulas for word in _WORD.findall(formula))
    return list(dict.fromkeys(word for word in words if word not in _FORMULA_KEYWORDS))


def renamed(formula: str, names: Mapping[str, str]) -> str:
    """The formula with some of its names and numbers replaced."""
    return _WORD.sub(lambda match: names.get(match[0], match[0]), formula)


# Sizes for the first runs of a kernel: small ones that fill its tiles, oblong where the launch has a number for each.

_MOST, _MOST_WHOLE, _USUAL, _LARGE_TILE = 4096, 128, 8, 32
_MOST_STEPS = 1 << 22  # of the threads of a run that tries roles, all sizes multiplied
_VECTOR = 64  # elements of a vector that the grid doesn't cut
_LEAST, _LEAST_VECTOR = 2, 16  # a matrix with one row or column looks like a vector, a short vector like any other
_DIFFERENT_TILES = (2, 1, 3)  # tiles along the first, second, third size, so that all sizes differ
_SHIFTED = (1, 2, 2)
_MANY = (8, 4, 2)
OWN_SIZES = frozenset(("radius", "bins", "batch"))  # they don't scale with the others
_Sizes = dict[str, int]


def grid_units(kernel: KernelSpec) -> _Sizes:
    """How many elements of each size one block covers, as the grid cuts them; 0 if the grid doesn't depend on a size."""
    names, parameters = tuple(kernel.problem.sizes), tuple(kernel.defaults.items())
    return {name: _unit(kernel.grid, name, names, parameters) for name in names if name not in OWN_SIZES}


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
    other = (_scaled(wholes, _DIFFERENT_TILES), {**units, **own})  # sizes of one unit say less than the host's
    seen = set()
    for sizes in (
        _scaled(units, _DIFFERENT_TILES),
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


@lru_cache(maxsize=1024)
def _unit(grid: tuple[str, ...], size: str, sizes: tuple[str, ...], parameters: tuple[tuple[str, int], ...]) -> int:
    """How many elements of a size make one more block; 0 if the grid doesn't depend on it, or no size up to 4096 does."""

    def blocks(value: int) -> int:
        try:
            names = {**dict.fromkeys(sizes, _MOST), size: value, **dict(parameters)}
            return math.prod(max(0, evaluate(formula, names)) for formula in grid)
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
    return max((each for each in (*values.values(), *_block_extents(kernel)) if each <= _LARGE_TILE), default=0)


def _block_extents(kernel: KernelSpec) -> Iterator[int]:
    for formula in kernel.block:
        try:
            yield evaluate(formula, {**dict.fromkeys(kernel.problem.sizes, _USUAL), **kernel.defaults})
        except GemmvizError:
            continue
