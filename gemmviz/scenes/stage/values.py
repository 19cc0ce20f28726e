"""The values of elements as text for cells: of inputs once they were read, of outputs once they were stored, of shared arrays
what they hold. A value that the run does not tell is masked and left out, unlike a NaN that the run has stored.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.sites import Access
from gemmviz.scenes.stage.matrix import label_size, longest_of

_DIGITS = (3, 2, 1, 0)  # decimals, tried from the most
_NAN = "NaN"
_MOST = 1 << 22  # recorded values that are looked through

if TYPE_CHECKING:
    Known = np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]


def matrix_values(moment: Moment, number: int) -> Known | None:
    """Return the value of each element of a global array at a moment, flat, masked where unknown; None if none is known."""
    if moment.replay.value is None or moment.replay.value.size > _MOST:
        return None
    if moment.trace.arrays[number].name in moment.trace.setup.problem.output_names:
        return _held(moment, number, moment.step)
    known: Known = moment.replay.cached(("values", number, id(moment.replay.value)), lambda: _read(moment, number))
    return known


def final_values(moment: Moment, number: int) -> Known | None:
    """Return what the whole run stores in each element of a global array, flat, masked where nothing; None if none is
    known.
    """
    if moment.replay.value is None or moment.replay.value.size > _MOST:
        return None
    return _held(moment, number, moment.trace.steps, accesses=("write",))


def _read(moment: Moment, number: int) -> Known:
    """Return what any thread read from an input at any step: inputs don't change."""
    found = _unknown(moment, number)
    for touches in moment.trace.touches_of(number, "read"):
        _fill(moment, found, touches.rows)
    return found


def _held(moment: Moment, number: int, step: int, accesses: tuple[Access, ...] = ("read", "write")) -> Known:
    """Return what was last stored into an output up to a step, or what it held before and a thread has read."""
    found = _unknown(moment, number)
    for access in accesses:
        for touches in moment.trace.touches_of(number, access):
            _fill(moment, found, touches.rows[touches.steps <= step])
    return found


def _unknown(moment: Moment, number: int) -> Known:
    size = moment.trace.arrays[number].size
    return np.ma.MaskedArray(np.zeros(size), np.ones(size, bool))


def _fill(moment: Moment, found: Known, rows: npt.NDArray[np.int64]) -> None:
    assert moment.replay.value is not None
    elements, values = moment.trace.element[rows], moment.replay.value[rows]
    active = elements >= 0
    found[elements[active]] = values[active]


def value_texts(values: npt.NDArray[np.float64] | Known, cell: float, least: float) -> npt.NDArray[np.str_] | None:
    """Return numbers with as many decimals as fit a cell in the size ``least``, "" for unknown ones, which are masked or, in an
    array without a mask, NaN; None if none fits. If one decimal is too many, only numbers below 1 have one.
    """
    known = ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else ~np.isnan(values)
    data, found = np.ma.getdata(values), np.full(values.shape, "", "<U12")
    for digits in (*_DIGITS, None) if known.any() and label_size("0", cell, least=least) else ():
        texts = [_text(value, int(abs(value) < 1) if digits is None else digits) for value in data[known].tolist()]
        if label_size(longest_of(texts), cell, least=least) and (digits != 0 or _are_whole(data[known])):
            found[known] = texts
            return found
    return None if known.any() else found


def _are_whole(values: npt.NDArray[np.float64]) -> bool:
    return bool((values == np.round(values)).all()) or bool((np.abs(values) >= 1).all())


@lru_cache(maxsize=8192)
def _text(value: float, digits: int) -> str:
    """Return a number without zeros before its point and at its end, as in ".25"."""
    if np.isnan(value):
        return _NAN
    text = f"{abs(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    text = text.removeprefix("0") if text.startswith("0.") else text
    return f"-{text}" if value < 0 and text != "0" else text
