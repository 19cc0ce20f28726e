"""The meaning of cell colours: states of a matrix, of a tile, and the number of loads."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.problem import Problem
from gemmviz.scenes.kit.theme import WARP_ACCENTS, Theme, mixed

# States of the cells of a matrix. From FIRST_GROUP on: accessed by that group of threads; from FIRST_OWNER on: computed by that
# group; from FIRST_FILL on: how much of a sum of C is complete.
BASE, AREA, SOURCE, LIT, SEVERAL = range(5)
FIRST_GROUP = 5
FIRST_OWNER = FIRST_GROUP + len(WARP_ACCENTS)
FIRST_FILL, FILL_LEVELS = FIRST_OWNER + len(WARP_ACCENTS), 8
# States of the cells of a tile, three for each kind of content: stored in an earlier phase, stored, accessed.
STALE, HELD, TOUCHED = range(3)
# The three lights: how much of its matrix's colour a cell has at rest, in this phase, and accessed now.
REST, PHASE, NOW = 0.12, 0.38, 1.0
HEAT_LEVELS = 9
HEAT_LIT = HEAT_LEVELS

Palette = tuple[str, ...]


@lru_cache(maxsize=64)
def matrix_palette(theme: Theme, name: str, accents: tuple[str, ...]) -> Palette:
    """Return the colours of a matrix's states.

    They are BASE, in the block's AREA, SOURCE of a value that is read from a tile, LIT, lit by SEVERAL groups of threads,
    lit by each group (``accents``), owned by each group, and sums by completeness. White is left to the pointer.
    """
    tints = (theme.tint(name, share) for share in (REST, PHASE, PHASE, NOW))
    owned = (mixed(theme.background, accent, 0.6) for accent in accents)
    filled = (theme.tint(name, REST + (PHASE - REST) * level / FILL_LEVELS) for level in range(1, FILL_LEVELS + 1))
    return *tints, theme.faint, *accents, *owned, *filled


@lru_cache(maxsize=64)
def heat_palette(theme: Theme, accent: str) -> Palette:
    """Return the colours of the heat levels, and one for the current access."""
    shares = (0.05, *(0.16 + 0.54 * (level / (HEAT_LEVELS - 2)) ** 1.2 for level in range(HEAT_LEVELS - 1)))
    return *(mixed(theme.background, accent, share) for share in shares), accent


@lru_cache(maxsize=64)
def inks_for(theme: Theme, palette: Palette) -> Palette:
    """Return a text colour for each colour; faint text on the faintest ones."""
    return theme.faint, *(theme.ink_on(colour) for colour in palette[1:])


def most_loads(problem: Problem) -> int:
    """Return the top of the scale of loads.

    Without reuse, an element of A is loaded N times and one of B M times; a cell of a tile is loaded at most once for each
    of K.
    """
    return max(problem.sizes.values(), default=1)


def shared_cells(cells: npt.NDArray[np.int64], groups: npt.NDArray[Any], size: int) -> npt.NDArray[np.bool_]:
    """Return, for accesses of cells by groups of threads, whether other groups access the same cell."""
    latest = np.full(size, -1, np.int64)
    latest[cells] = groups
    several = np.zeros(size, bool)
    several[cells[latest[cells] != groups]] = True
    return np.asarray(several[cells])


def heat_levels(counts: npt.NDArray[np.int64], elements: int, top: int) -> npt.NDArray[np.uint8]:
    """Return levels on a logarithmic scale: 0 for none, 1 for one load, the last for ``top`` and more.

    ``counts`` are loads of cells of ``elements`` elements each.
    """
    bounds = elements * max(2, top) ** (np.arange(1, HEAT_LEVELS - 1) / (HEAT_LEVELS - 2)) * (1 - 1e-9)
    return np.where(counts > 0, 1 + np.searchsorted(bounds, counts, side="right"), 0).astype(np.uint8)
