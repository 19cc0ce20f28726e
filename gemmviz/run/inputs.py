"""The matrices that a kernel multiplies: random (never zeros, and the same for the same seed), their own indices, or ones."""

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
_LATEST, _KEPT_BYTES = 2, 64 << 20


class _Kept:
    """The matrices that were made last: those of the latest problem, and others as long as all are small together."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[int, str, int], npt.NDArray[Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[int, str, int], make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        with self._lock:
            found = self._found.pop(key, None)
        data = make() if found is None else found
        with self._lock:
            self._found[key] = data
            while len(self._found) > _LATEST and sum(each.nbytes for each in self._found.values()) > _KEPT_BYTES:
                self._found.popitem(last=False)
        return data


_kept = _Kept()


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
        return _kept.get((size, element.name, seed), lambda: _random_matrix(size, element, seed, cancelled))
    numbers = np.ones(size) if filling.pattern == "ones" else np.arange(size, dtype=np.int64)
    data = element.elements(numbers if element.is_float or filling.pattern == "ones" else numbers % 8)
    data.flags.writeable = False
    return data


def matrices(
    problem: Problem, types: dict[str, ElementType], filling: Filling, cancelled: Callable[[], bool]
) -> dict[str, Any]:
    """Flat A and B, read-only; and C, all zero. Integers take 0 to 7: random, or their index modulo 8.

    Values are laid out in memory order, whichever order that is. Raises Cancelled.
    """
    found: dict[str, Any] = {}
    for number, (name, element) in enumerate(sorted(types.items())):
        rows, columns = problem.shapes[name]
        if name == "C":
            found[name] = np.zeros(rows * columns, element.stored)
        else:
            found[name] = _filled(rows * columns, element, filling, number, cancelled)
    return found
