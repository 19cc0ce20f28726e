"""Which rows and columns of the three matrices are on the stage: all of them, or, through the lens, those that matter now."""

from dataclasses import dataclass
from typing import Literal

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.threads import Range

Lens = Literal["auto", "lens", "whole"]
LENSES: tuple[Lens, ...] = ("auto", "lens", "whole")
_LEAST_STRETCH = 16  # of k: the least that is seen at once
_MOST_AROUND = 4


@dataclass(frozen=True, slots=True)
class Window:
    """Half-open ranges of the rows of C (``m``), of its columns (``n``), and of ``k``; ``whole``: M, N and K."""

    m: Range
    n: Range
    k: Range
    whole: tuple[int, int, int]

    @classmethod
    def all(cls, m: int, n: int, k: int) -> "Window":
        return cls((0, m), (0, n), (0, k), (m, n, k))

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many rows of C, columns of C, and values of k there are."""
        return self.m[1] - self.m[0], self.n[1] - self.n[0], self.k[1] - self.k[0]

    @property
    def is_lens(self) -> bool:
        """Whether it leaves anything out."""
        return self.counts != self.whole

    def of(self, name: str) -> tuple[Range, Range]:
        """The rows and columns of a matrix, by its name."""
        return {"A": (self.m, self.k), "B": (self.k, self.n), "C": (self.m, self.n)}[name]

    def extents(self, name: str) -> tuple[int, int]:
        """How many rows and columns the whole matrix has."""
        m, n, k = self.whole
        return {"A": (m, k), "B": (k, n), "C": (m, n)}[name]


def whole_of(moment: Moment) -> Window:
    problem = moment.trace.setup.problem
    return Window.all(problem.M, problem.N, problem.K)


def lens_of(moment: Moment) -> Window:
    """What the watched block or warp touches around this step, and a little of what is beside it."""
    (m, n, k) = whole_of(moment).whole
    areas = {array.name: moment.area(n) for n, array in enumerate(moment.trace.arrays) if array.space == "global"}
    a, b, c = (areas.get(name) for name in "ABC")
    rows = c[:2] if c else a[:2] if a else (0, m)
    columns = c[2:] if c else b[2:] if b else (0, n)
    depths = [each for each in (a[2:] if a else None, b[:2] if b else None) if each]
    inside = (min(d[0] for d in depths), max(d[1] for d in depths)) if depths else _end_of_k(moment, k)
    return Window(_around(rows, m), _around(columns, n), _stretch(inside, k), (m, n, k))


def _end_of_k(moment: Moment, k: int) -> Range:
    """Where nothing of A and B is touched: what was touched last, or what will be touched first."""
    return (0, 1) if moment.phase < 0 else (k - 1, k)


def _around(inside: tuple[int, ...], extent: int) -> Range:
    first, last = inside
    more = min(_MOST_AROUND, max(1, (last - first) // 8))
    return max(0, first - more), min(extent, last + more)


def _stretch(inside: Range, extent: int) -> Range:
    """A stretch of k that holds ``inside`` and stays where it is as long as that is within."""
    first, last = inside
    length = max(_LEAST_STRETCH, last - first)
    start = first // length * length
    return max(0, start - 1), min(extent, max(start + length, last) + 1)
