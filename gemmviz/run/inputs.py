"""The matrices that a kernel multiplies: random, never zeros, and the same for the same seed."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import Cancelled
from gemmviz.model.problem import Problem

_CHUNK = 1 << 20


@lru_cache(maxsize=8)
def _random_matrix(size: int, dtype: str, seed: int, cancelled: Callable[[], bool]) -> npt.NDArray[Any]:
    generator = np.random.default_rng(seed)
    data = np.empty(size, dtype)
    for start in range(0, size, _CHUNK):
        if cancelled():
            raise Cancelled
        stop = min(size, start + _CHUNK)
        if data.dtype.kind != "f":
            data[start:stop] = generator.integers(0, 8, stop - start)
            continue
        chunk = generator.random(stop - start, np.float32)
        chunk *= 2
        chunk -= 1
        data[start:stop] = chunk
    data.flags.writeable = False
    return data


class _Call:
    """A cancel flag that doesn't take part in cache keys."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self.cancelled = cancelled

    def __call__(self) -> bool:
        return self.cancelled()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Call)

    def __hash__(self) -> int:
        return 0


def matrices(problem: Problem, dtypes: dict[str, str], seed: int, cancelled: Callable[[], bool]) -> dict[str, Any]:
    """Flat A and B, uniform in [-1, 1) (whole numbers 0 to 7 for integers), read-only; and C, all zero.

    Values are laid out in memory order, whichever order that is. Raises Cancelled.
    """
    found: dict[str, Any] = {}
    for number, (name, dtype) in enumerate(sorted(dtypes.items())):
        rows, columns = problem.shapes[name]
        if name == "C":
            found[name] = np.zeros(rows * columns, dtype)
        else:
            found[name] = _random_matrix(rows * columns, dtype, seed * 2 + number, _Call(cancelled))
    return found
