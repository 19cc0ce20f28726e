"""The initial arrays of a kernel: random (reproducible by seed), their own indices, or ones; outputs are zero."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from math import prod
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.element_types import ElementType
from gemmviz.model.errors import Cancelled
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Shape
from gemmviz.model.setup import Filling

_CHUNK = 1 << 20
_LATEST, _CACHE_BYTES = 2, 64 << 20


class _MatrixCache:
    """A cache of random matrices: the two latest, and older ones while all together take at most 64 MiB."""

    def __init__(self) -> None:
        self._matrices: OrderedDict[tuple[int, str, int], npt.NDArray[Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[int, str, int], make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        with self._lock:
            cached = self._matrices.pop(key, None)
        data = make() if cached is None else cached
        with self._lock:
            self._matrices[key] = data
            while len(self._matrices) > _LATEST and sum(each.nbytes for each in self._matrices.values()) > _CACHE_BYTES:
                self._matrices.popitem(last=False)
        return data


_inputs_cache = _MatrixCache()


def _random_matrix(size: int, element: ElementType, seed: int, cancelled: Callable[[], bool]) -> npt.NDArray[Any]:
    generator = np.random.default_rng(seed)
    data = np.empty(size, element.stored)
    for start in range(0, size, _CHUNK):
        if cancelled():
            raise Cancelled
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


def _drawn(size: int, element: ElementType, filling: Filling, number: int, cancelled: Callable[[], bool]) -> npt.NDArray[Any]:
    if filling.pattern == "random":
        seed = filling.seed * 2 + number
        return _inputs_cache.get((size, element.name, seed), lambda: _random_matrix(size, element, seed, cancelled))
    numbers = np.ones(size) if filling.pattern == "ones" else np.arange(size, dtype=np.int64)
    exact = 2**element.significant if element.is_float else 8  # numbers below which the type holds exactly
    data = element.elements(numbers if filling.pattern == "ones" else numbers % exact)
    data.flags.writeable = False
    return data


def _bins(size: int, bins: int, element: ElementType, filling: Filling, number: int) -> npt.NDArray[Any]:
    """Whole numbers from 0 to ``bins`` - 1."""
    patterns: dict[str, Callable[[], npt.NDArray[Any]]] = {
        "random": lambda: np.random.default_rng(filling.seed * 2 + number).integers(0, bins, size),
        "index": lambda: np.arange(size) % bins,
        "ones": lambda: np.full(size, min(1, bins - 1)),
    }
    data = element.elements(patterns[filling.pattern]())
    data.flags.writeable = False
    return data


def initial_array(
    problem: Problem, name: str, shape: Shape, types: dict[str, ElementType], filling: Filling, cancelled: Callable[[], bool]
) -> npt.NDArray[Any]:
    """One array before the run, flat in memory order: read-only values of an input, or zeros or NaN of an output."""
    element, size, number = types[name], prod(shape), sorted(types).index(name)
    if not problem.holds_before(name):
        remains = np.zeros(size, element.stored)
        return element.elements(np.full(size, np.nan)) if filling.old_outputs == "nan" and element.is_float else remains
    if problem.array(name).contents == "bins":
        return _bins(size, problem.sizes["bins"], element, filling, number)
    data = _drawn(size, element, filling, number, cancelled)
    return data if problem.array(name).role == "input" else data.copy()


def matrices(
    problem: Problem,
    shapes: Mapping[str, Shape],
    types: dict[str, ElementType],
    filling: Filling,
    cancelled: Callable[[], bool],
) -> dict[str, Any]:
    """All arrays of a problem before the run, by name: inputs, which are read-only, and outputs, all zero or NaN unless
    they hold values before the run. They are flat arrays in memory order.

    Integers take the values 0 to 7: at random, or their index modulo 8; floats that hold only smaller indices than there are,
    their index modulo what they hold; elements of an array of bins 0 to bins - 1. Raises Cancelled.
    """
    return {name: initial_array(problem, name, shapes[name], types, filling, cancelled) for name in sorted(types)}
