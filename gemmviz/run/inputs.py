"""The input matrices of a kernel: random (without zeros, reproducible by seed), their own indices, or ones."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.element_types import ElementType
from gemmviz.model.errors import Cancelled
from gemmviz.model.filling import Filling
from gemmviz.model.problem import Problem

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


_cache = _MatrixCache()


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


def _filled(size: int, element: ElementType, filling: Filling, number: int, cancelled: Callable[[], bool]) -> npt.NDArray[Any]:
    if filling.pattern == "random":
        seed = filling.seed * 2 + number
        return _cache.get((size, element.name, seed), lambda: _random_matrix(size, element, seed, cancelled))
    numbers = np.ones(size) if filling.pattern == "ones" else np.arange(size, dtype=np.int64)
    exact = 2**element.significant if element.is_float else 8  # numbers below which the type holds exactly
    data = element.elements(numbers if filling.pattern == "ones" else numbers % exact)
    data.flags.writeable = False
    return data


def matrices(
    problem: Problem, types: dict[str, ElementType], filling: Filling, cancelled: Callable[[], bool]
) -> dict[str, Any]:
    """A and B, read-only, and C, all zero, by name: flat arrays in memory order, of ``rows * columns`` elements.

    Integers take the values 0 to 7: at random, or their index modulo 8; floats that hold only smaller indices than there are,
    their index modulo what they hold. Raises Cancelled.
    """
    arrays: dict[str, Any] = {}
    for number, (name, element) in enumerate(sorted(types.items())):
        rows, columns = problem.shapes[name]
        if name == "C":
            arrays[name] = np.zeros(rows * columns, element.stored)
        else:
            arrays[name] = _filled(rows * columns, element, filling, number, cancelled)
    return arrays
