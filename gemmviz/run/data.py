"""The data of a run: its initial arrays, which are random (reproducible by seed), their own indices, or ones, or
zero for outputs; and the check of the outputs against float64, by the rounding that their element types allow.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from msgspec import Struct, field

from gemmviz.cuda.functions import function_for
from gemmviz.cuda.granularity import given_once
from gemmviz.cuda.nodes import Assign, Atomic, Binary, Call, Convert, Loop, MatrixProduct, Program, Unrolled
from gemmviz.cuda.types import HALF, MATRIX_INSTRUCTIONS, Scalar, VectorType, scalar_of
from gemmviz.cuda.walk import nodes_of, parts
from gemmviz.model.arrays import AnyArray, Bools, Floats, Longs
from gemmviz.model.element_types import ElementType, element_type
from gemmviz.model.messages import checkpoint
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Reference, ReferenceRequest, Shape
from gemmviz.model.setup import Filling
from gemmviz.model.trace import Check

_CHUNK = 1 << 20
_LATEST, _CACHE_BYTES = 2, 64 << 20


class _MatrixCache:
    """A cache of random matrices: the two latest, and older ones while all together take at most 64 MiB."""

    def __init__(self) -> None:
        self._matrices: OrderedDict[tuple[int, str, int], AnyArray] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[int, str, int], make: Callable[[], AnyArray]) -> AnyArray:
        with self._lock:
            cached = self._matrices.pop(key, None)
        data = make() if cached is None else cached
        with self._lock:
            self._matrices[key] = data
            while len(self._matrices) > _LATEST and sum(each.nbytes for each in self._matrices.values()) > _CACHE_BYTES:
                self._matrices.popitem(last=False)
        return data


_inputs_cache = _MatrixCache()


def _random_matrix(size: int, element: ElementType, seed: int) -> AnyArray:
    generator = np.random.default_rng(seed)
    data = np.empty(size, element.stored)
    for start in range(0, size, _CHUNK):
        checkpoint()
        stop = min(size, start + _CHUNK)
        if not element.is_float:
            data[start:stop] = generator.integers(0, 8, stop - start)
            continue
        chunk = generator.random(stop - start, np.float32)
        chunk *= 2
        chunk -= 1
        data[start:stop] = element.elements(chunk)
    data.flags.writeable = False
    return data


def _drawn(size: int, element: ElementType, filling: Filling, number: int) -> AnyArray:
    if filling.pattern == "random":
        seed = filling.seed * 2 + number
        return _inputs_cache.get((size, element.name, seed), lambda: _random_matrix(size, element, seed))
    numbers = np.ones(size) if filling.pattern == "ones" else np.arange(size, dtype=np.int64)
    exact = 2**element.significant if element.is_float else 8  # numbers below which the type holds exactly
    data = element.elements(numbers if filling.pattern == "ones" else numbers % exact)
    data.flags.writeable = False
    return data


def _bins(size: int, bins: int, element: ElementType, filling: Filling, number: int) -> AnyArray:
    """Whole numbers from 0 to ``bins`` - 1."""
    patterns: dict[str, Callable[[], AnyArray]] = {
        "random": lambda: np.random.default_rng(filling.seed * 2 + number).integers(0, bins, size),
        "index": lambda: np.arange(size) % bins,
        "ones": lambda: np.full(size, min(1, bins - 1)),
    }
    data = element.elements(patterns[filling.pattern]())
    data.flags.writeable = False
    return data


def initial_array(problem: Problem, name: str, shape: Shape, types: dict[str, ElementType], filling: Filling) -> AnyArray:
    """One array before the run, flat in memory order: read-only values of an input, or zeros or NaN of an output."""
    element, size, number = types[name], prod(shape), sorted(types).index(name)
    if not problem.holds_before(name):
        remains = np.zeros(size, element.stored)
        return element.elements(np.full(size, np.nan)) if filling.old_outputs == "nan" and element.is_float else remains
    if problem.array(name).contents == "bins":
        return _bins(size, problem.sizes["bins"], element, filling, number)
    data = _drawn(size, element, filling, number)
    return data if problem.array(name).role == "input" else data.copy()


def matrices(
    problem: Problem,
    shapes: Mapping[str, Shape],
    types: dict[str, ElementType],
    filling: Filling,
) -> dict[str, Any]:
    """All arrays of a problem before the run, by name: inputs, which are read-only, and outputs, all zero or NaN unless
    they hold values before the run. They are flat arrays in memory order.

    Integers take the values 0 to 7: at random, or their index modulo 8; floats that hold only smaller indices than there are,
    their index modulo what they hold; elements of an array of bins 0 to bins - 1. Raises Cancelled.
    """
    return {name: initial_array(problem, name, shapes[name], types, filling) for name in sorted(types)}


# The check of the outputs.

_WORK_PER_CHUNK = 1 << 25
_MOST_WRONG = 4096
_DOUBLE_ROUNDOFF = 2.0**-53
_HALF_STEP = 2.0**-25  # half the smallest half
UNCHECKED = Check(0, 0, 0, 0.0, 0.0, (0, 0))


class Rounding(Struct, frozen=True):
    """Unit roundoffs of a kernel's arithmetic. ``each``: the largest of operations that may follow one another in a sum;
    ``once``: the sum of those of conversions that a value goes through at most once.
    """

    each: float = 0.0
    once: float = 0.0


class Contents(Struct, frozen=True):
    """The arrays of a problem after a run: ``data``, flat in memory order as stored, of these ``shapes`` and element ``types``;
    the arrays in ``column_major`` are stored column by column. ``rounding``: how the kernel's arithmetic rounds. ``before``:
    outputs that held values before the run.
    """

    problem: Problem
    shapes: Mapping[str, Shape]
    types: Mapping[str, ElementType]
    data: Mapping[str, AnyArray]
    column_major: frozenset[str] = frozenset()
    rounding: Rounding = Rounding()
    before: Mapping[str, AnyArray] = field(default_factory=dict)

    def shaped(self, name: str, data: Mapping[str, AnyArray]) -> AnyArray:
        """An array as numbers, unconverted if NumPy knows their type, in the shape in which it is indexed."""
        element, shape = self.types[name], self.shapes[name]
        numbers = data[name] if element.decode is None else element.numbers(data[name])
        if name in self.column_major:
            return numbers.reshape(_by_columns(shape)).swapaxes(-1, -2)
        return numbers.reshape(shape)

    def numbers(self, name: str) -> Floats:
        """An array after the run as float64, flat in memory order."""
        return self.types[name].numbers(self.data[name])

    def places(self, name: str, elements: Longs) -> tuple[Longs, ...]:
        """The indices of elements, given by their offsets in memory: one array for each dimension."""
        if name in self.column_major:
            *matrix, column, row = np.unravel_index(elements, _by_columns(self.shapes[name]))  # type: ignore[arg-type]
            return (*matrix, row, column)  # type: ignore[arg-type]
        return tuple(np.unravel_index(elements, self.shapes[name]))  # type: ignore[arg-type]


def _by_columns(shape: Shape) -> Shape:
    """The shape of matrices in memory that are stored column by column."""
    return (*shape[:-2], shape[-1], shape[-2])


def check_result(contents: Contents, written: Mapping[str, Longs], whole_launch: bool) -> Check:
    """The comparison of the outputs with float64. ``written``: the distinct elements of each output that were stored, as
    ascending offsets in memory. Elements that were never written count if the ``whole_launch`` was traced: as missing
    unless the value that they had is right, or, in an array that is changed in place, with that value.

    Each kind of problem counts the roundings that may add up (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
    3.1); halves also err by their smallest steps. Integers must be exact, modulo the range of the output. Raises Cancelled.
    """
    problem = contents.problem
    if problem.kind.reference is None:
        return Check(0, 0, 0, 0.0, 0.0, (0,), is_checked=False)
    (name,) = problem.output_names
    every = np.arange(contents.data[name].size, dtype=np.int64)
    held = whole_launch and problem.array(name).role == "both"
    is_written = np.full(len(every), held)
    is_written[written[name]] = True
    return _judged(contents, problem.kind.reference, name, every if whole_launch else written[name], is_written)


def _judged(contents: Contents, reference: Reference, name: str, elements: Longs, is_written: Bools) -> Check:
    """The comparison of some elements of one output, some at a time. Wrong ones that aren't written count as missing."""
    problem, unit = contents.problem, contents.types[name].roundoff
    arrays = {each: contents.shaped(each, {**contents.data, **contents.before}) for each in contents.data}
    after = contents.shaped(name, contents.data)
    wrong, unwritten, wrong_elements, worst = 0, 0, list[int](), _Worst(places=(0,) * after.ndim)
    step = max(1, _WORK_PER_CHUNK // problem.kind.work(problem.sizes))
    for start in range(0, len(elements), step):
        checkpoint()
        some = elements[start : start + step]
        places = contents.places(name, some)
        answer = reference(ReferenceRequest(problem.sizes, problem.factors, arrays, {name: after}, name, places, unit))
        limit = Limit(answer.roundings, contents.types[name], contents.rounding)
        error = limit.error(answer.right - np.asarray(after[places], np.float64))
        allowed = limit.factor * answer.magnitude + limit.least
        excess = np.where(np.isnan(error), np.inf, error - allowed)
        here = is_written[some]
        unwritten += int(((excess > 0) & ~here).sum())
        bad = np.flatnonzero((excess > 0) & here)
        wrong += len(bad)
        wrong_elements += some[bad[: _MOST_WRONG - len(wrong_elements)]].tolist()
        if here.any():
            at = np.flatnonzero(here)
            worst = max(
                worst,
                _worst(error[at], allowed[at], excess[at], tuple(each[at] for each in places)),
                key=lambda each: each.excess,
            )
    largest = worst.error if np.isfinite(worst.error) else None
    compared = int(is_written[elements].sum())
    return Check(compared, wrong, unwritten, largest, worst.allowed, worst.places, tuple(wrong_elements), name)


class Limit:
    """How far an element of an output may be from its right value, after a number of ``roundings``: ``factor`` times the sum of
    the magnitudes of what it is computed from, and ``least``.

    One rounding is that of the output's type, the others those of the arithmetic, or of the output's type if there is none; the
    right value itself is rounded as float64.
    """

    def __init__(self, roundings: float, output: ElementType, rounding: Rounding) -> None:
        unit = rounding.each or output.roundoff
        reference = roundings * _DOUBLE_ROUNDOFF if unit == _DOUBLE_ROUNDOFF else 0.0
        least_factor = output.roundoff + rounding.once + reference
        self.factor = (roundings - 1) * unit + least_factor if output.is_float and roundings else 0.0
        self.least = roundings * _HALF_STEP if output.is_float and HALF.element.roundoff in (unit, output.roundoff) else 0.0
        self.range = None if output.is_float or output.bytes == 8 else float(1 << (8 * output.bytes))

    def error(self, difference: Any) -> Any:
        """The size of a difference; of integers, modulo the range of the output's type."""
        if self.range is None:
            return np.abs(difference)
        rest = np.mod(difference, self.range)
        return np.minimum(rest, self.range - rest)


class _Worst(Struct, frozen=True):
    """The largest error among some elements: how far any error is beyond the allowed one, and the place of the largest."""

    excess: float = -np.inf
    error: float = 0.0
    allowed: float = 0.0
    places: tuple[int, ...] = ()


def _worst(error: Any, allowed: Any, excess: Any, places: tuple[Longs, ...]) -> _Worst:
    at = int(np.argmax(np.nan_to_num(error, nan=np.inf)))
    return _Worst(float(excess.max()), float(error[at]), float(allowed[at]), tuple(int(place[at]) for place in places))


# Finds how a kernel rounds: the unit roundoff of its floating-point arithmetic, by which its result is checked.

_ARITHMETIC = frozenset("+-*/")


_MOST_ROUNDINGS = 8  # of one type that a value and its two factors go through, other than in a sum


@lru_cache(maxsize=64)
def rounding_of(program: Program, significant: int = 0) -> Rounding:
    """How the arithmetic of a program rounds whose inputs have so many ``significant`` bits. A narrowing conversion outside of
    all loops rounds once, as does one of what isn't summed up. Matrix instructions take inputs that are cut to their type.
    """
    every, given, in_loops = nodes_of(program), given_once(program), set[int]()
    for loop in every:
        if isinstance(loop, Loop | Unrolled) and id(loop) not in in_loops:
            in_loops |= {id(part) for part in parts(loop)}
    each, cut, once = [0.0], 0.0, dict[float, int]()
    for part in every:
        if isinstance(part, MatrixProduct):
            matrix = MATRIX_INSTRUCTIONS[part.instruction]
            each.append(matrix.roundoff)
            factors = element_type(matrix.element) if matrix.element else None
            if factors is not None and significant > factors.significant:
                cut = max(cut, 4 * factors.roundoff)  # twice a unit roundoff each
            cut = max(cut, matrix.roundoff_of_factors)
            continue
        for scalar in _rounding_types(part):
            roundoff, is_once = scalar.element.roundoff, id(part) not in in_loops or id(part) in given
            if is_once and _is_narrowing(part, scalar):
                once[roundoff] = once.get(roundoff, 0) + (2 if id(part) in in_loops else 1)
            else:
                each.append(roundoff)
    conversions = sum(roundoff * min(many, _MOST_ROUNDINGS) for roundoff, many in once.items())
    return Rounding(max(each), cut + conversions)


def rounding_in(problem: Problem, types: Mapping[str, ElementType], program: Program) -> Rounding:
    """How a program rounds that computes a problem with arrays of these ``types``."""
    inputs = [types[array.name].significant for array in problem.arrays if array.role == "input" and array.name in types]
    return rounding_of(program, max(inputs, default=0))


def _is_narrowing(part: object, to: Scalar) -> bool:
    """Whether a node that rounds to a type is a conversion from a more precise one."""
    match part:
        case Convert():
            return True
        case Call(args=args):
            return any(_is_wider(arg.type, to) for arg in args)
    return False


def _rounding_types(part: object) -> tuple[Scalar, ...]:
    """The floating-point types to which a node rounds."""
    match part:
        case Binary(op=op, type=Scalar() as scalar) if op in _ARITHMETIC and scalar.is_float:
            return (scalar,)
        case Assign(op=str(op), within=Scalar() as scalar) if op in _ARITHMETIC and scalar.is_float:
            return (scalar,)
        case Convert(type=Scalar() as to, operand=operand) if to.is_float and _is_wider(operand.type, to):
            return (to,)
        case Call(type=Scalar() | VectorType() as ctype, name=name, args=args) if scalar_of(ctype).is_float:
            to, types = scalar_of(ctype), [arg.type for arg in args if isinstance(arg.type, Scalar | VectorType)]
            function = function_for(name, types)
            rounds = function is not None and (not function.is_exact or any(_is_wider(each, to) for each in types))
            return (to,) if rounds else ()
        case Atomic(type=Scalar() as scalar) if scalar.is_float:
            return (scalar,)
    return ()


def _is_wider(ctype: object, to: Scalar) -> bool:
    if not isinstance(ctype, Scalar | VectorType):
        return False
    scalar = scalar_of(ctype)
    return scalar.is_float and scalar.element.significant > to.element.significant
