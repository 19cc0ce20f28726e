"""The values of elements as text for cells: of inputs once they were read, of outputs once they were stored, of shared arrays
what they hold. A value that the run does not tell is left out.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.stage.matrix import label_size, longest_of

_DIGITS = (3, 2, 1, 0)  # decimals, tried from the most
_MOST = 1 << 22  # recorded values that are looked through


def matrix_values(moment: Moment, number: int) -> npt.NDArray[np.float64] | None:
    """Return the value of each element of a global array at a moment, flat, NaN where unknown; None if none is known."""
    if moment.replay.value is None or moment.replay.value.size > _MOST:
        return None
    if moment.trace.arrays[number].name in moment.trace.setup.problem.output_names:
        return _stored(moment, number, moment.step)
    known: npt.NDArray[np.float64] = moment.replay.cached(
        ("values", number, id(moment.replay.value)), lambda: _read(moment, number)
    )
    return known


def final_values(moment: Moment, number: int) -> npt.NDArray[np.float64] | None:
    """Return what the whole run stores in each element of a global array, flat, NaN where nothing; None if it is unknown."""
    if moment.replay.value is None or moment.replay.value.size > _MOST:
        return None
    return _stored(moment, number, moment.trace.steps)


def _read(moment: Moment, number: int) -> npt.NDArray[np.float64]:
    """Return what any thread read from an input at any step: inputs don't change."""
    found = np.full(moment.trace.arrays[number].size, np.nan)
    for touches in moment.trace.touches_of(number, "read"):
        _fill(moment, found, touches.rows)
    return found


def _stored(moment: Moment, number: int, step: int) -> npt.NDArray[np.float64]:
    """Return what was last stored into an output up to a step."""
    found = np.full(moment.trace.arrays[number].size, np.nan)
    for touches in moment.trace.touches_of(number, "write"):
        _fill(moment, found, touches.rows[touches.steps <= step])
    return found


def _fill(moment: Moment, found: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> None:
    assert moment.replay.value is not None
    elements, values = moment.trace.element[rows], moment.replay.value[rows]
    active = elements >= 0
    found[elements[active]] = values[active]


def value_texts(values: npt.NDArray[np.float64], cell: float, least: float) -> npt.NDArray[np.str_] | None:
    """Return numbers with as many decimals as fit a cell in the size ``least``, "" for unknown ones; None if none fits."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.full(values.shape, "")
    for digits in _DIGITS:
        texts = [_text(value, digits) for value in values.ravel().tolist()]
        if label_size(longest_of(texts), cell, least=least) and (digits or _are_whole(known)):
            return np.array(texts).reshape(values.shape)
    return None


def _are_whole(values: npt.NDArray[np.float64]) -> bool:
    return bool((values == np.round(values)).all()) or bool((np.abs(values) >= 1).all())


@lru_cache(maxsize=8192)
def _text(value: float, digits: int) -> str:
    """Return a number without zeros before its point and at its end, as in ".25"."""
    if np.isnan(value):
        return ""
    text = f"{abs(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    text = text.removeprefix("0") if text.startswith("0.") else text
    return f"-{text}" if value < 0 and text != "0" else text
