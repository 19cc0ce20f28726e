"""The visible rows and columns of the three matrices: all of them, or, through the lens, those in use."""

from typing import Literal

from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import Scope, scope_of
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.threads import Range

Lens = Literal["auto", "lens", "whole"]
_LEAST_STRETCH, _LEAST_OF_TILES = 16, 8  # smallest visible range of k: of single elements, and of what tiles hold
_MOST_AROUND, _LEAST_ACROSS = 4, 10  # rows or columns beside what is accessed; smallest visible number of them


class Window(Struct, frozen=True):
    """Half-open ranges of the rows (``m``) and columns (``n``) of C, and of ``k``; ``whole``: M, N and K."""

    m: Range
    n: Range
    k: Range
    whole: tuple[int, int, int]

    @classmethod
    def all(cls, m: int, n: int, k: int) -> "Window":
        return cls((0, m), (0, n), (0, k), (m, n, k))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of visible rows of C, columns of C, and values of k."""
        return self.m[1] - self.m[0], self.n[1] - self.n[0], self.k[1] - self.k[0]

    @property
    def is_lens(self) -> bool:
        """Whether a part is left out."""
        return self.counts != self.whole

    def of(self, name: str) -> tuple[Range, Range]:
        """Return the visible rows and columns of a matrix."""
        return {"A": (self.m, self.k), "B": (self.k, self.n), "C": (self.m, self.n)}[name]

    def extents(self, name: str) -> tuple[int, int]:
        """Return the rows and columns of the whole matrix."""
        m, n, k = self.whole
        return {"A": (m, k), "B": (k, n), "C": (m, n)}[name]


class ArrayPart(Struct, frozen=True):
    """The visible rows and columns of one array, its shape and its extents."""

    name: str
    rows: Range
    columns: Range
    shape: tuple[int, ...]
    whole: tuple[int, int]


class Parts(Struct, frozen=True):
    """The visible parts of any number of arrays, for problems other than a multiplication of matrices."""

    arrays: tuple[ArrayPart, ...]

    @property
    def is_lens(self) -> bool:
        """Whether a part is left out."""
        return any((part.rows, part.columns) != ((0, part.whole[0]), (0, part.whole[1])) for part in self.arrays)

    def of(self, name: str) -> tuple[Range, Range]:
        """Return the visible rows and columns of an array."""
        part = self._named(name)
        return part.rows, part.columns

    def extents(self, name: str) -> tuple[int, int]:
        """Return the rows and columns of the whole array."""
        return self._named(name).whole

    def _named(self, name: str) -> ArrayPart:
        return next(part for part in self.arrays if part.name == name)


def whole_parts(moment: Moment) -> Parts:
    """Return all rows and columns of all matrices of a run."""
    matrices = [array for array in moment.trace.arrays if array.space == "global"]
    return Parts(tuple(ArrayPart(a.name, (0, a.extents[0]), (0, a.extents[1]), a.shape, a.extents) for a in matrices))


def lens_parts(moment: Moment) -> Parts:
    """Return of each matrix what the watched block or warp accesses around this step, with a margin."""
    parts = []
    for number, array in enumerate(moment.trace.arrays):
        if array.space == "global":
            (high, wide), area = array.extents, moment.area(number)
            rows, columns = (area[:2], area[2:]) if area else ((0, min(high, _LEAST_STRETCH)), (0, min(wide, _LEAST_STRETCH)))
            parts.append(ArrayPart(array.name, _around(rows, high), _around(columns, wide), array.shape, array.extents))
    return Parts(tuple(parts))


def has_lens(moment: Moment) -> bool:
    """Whether the lens would leave out anything."""
    return (lens_of(moment) if moment.trace.is_multiply else lens_parts(moment)).is_lens


def whole_of(moment: Moment) -> Window:
    problem = moment.trace.setup.problem
    return Window.all(problem.M, problem.N, problem.K)


def lens_of(moment: Moment) -> Window:
    """Return a window on what the watched warp accesses around this step, with a margin; on what the whole block accesses if
    it shares memory, whose contents all of its warps bring together.
    """
    return moment.cached("lens", lambda: _lens_of(moment))


def _lens_of(moment: Moment) -> Window:
    (m, n, k) = whole_of(moment).whole
    arrays, scope = moment.trace.arrays, _shared_scope(moment)
    areas = {each.name: moment.replay.area(n, moment.step, scope) for n, each in enumerate(arrays) if each.space == "global"}
    a, b, c = (areas.get(name) for name in "ABC")
    rows = c[:2] if c else a[:2] if a else (0, m)
    columns = c[2:] if c else b[2:] if b else (0, n)
    depths = [each for each in (a[2:] if a else None, b[:2] if b else None) if each]
    inside = (min(d[0] for d in depths), max(d[1] for d in depths)) if depths else ((0, 1) if moment.phase < 0 else (k - 1, k))
    least = _LEAST_STRETCH if scope is moment.scope else _LEAST_OF_TILES
    return Window(_around(rows, m), _around(columns, n), _stretch(inside, k, max(least, _deepest(moment, scope))), (m, n, k))


def _deepest(moment: Moment, scope: Scope) -> int:
    """Return of how many values of k the watched block or warp accesses elements of A or B in the phase with the most."""

    def deepest() -> int:
        inputs = [(number, "BA".index(each.name)) for number, each in enumerate(moment.trace.arrays) if each.name in ("A", "B")]
        areas = [(area, side) for number, side in inputs for area in moment.replay.areas(number, scope).values()]
        return max((area[2 * side + 1] - area[2 * side] for area, side in areas), default=0)

    return moment.replay.cached(("deepest", scope.of_warps.start, scope.of_warps.stop), deepest)


def _shared_scope(moment: Moment) -> Scope:
    """Return the scope of the watched block if it has shared arrays, else the watched scope itself."""
    if all(each.space != "shared" for each in moment.trace.arrays):
        return moment.scope
    return moment.cached("block's scope", lambda: scope_of(structs.replace(moment.focus, warp=None, thread=None), moment.trace))


def _around(inside: tuple[int, ...], extent: int) -> Range:
    first, last = inside
    more = max(min(_MOST_AROUND, max(1, (last - first) // 8)), (_LEAST_ACROSS - (last - first)) // 2)
    start = max(0, min(first - more, extent - _LEAST_ACROSS))
    return start, min(extent, max(last + more, start + min(_LEAST_ACROSS, extent)))


def _stretch(inside: Range, extent: int, length: int) -> Range:
    """Return a stretch of k that contains ``inside`` and stays constant while ``inside`` is within it: ``length`` values, and
    one on each side.
    """
    first, last = inside
    start = first // length * length
    low = max(0, min(start, extent - length - 1) - 1)
    return low, min(extent, max(low + length + 2, last + 1))
