"""The kinds of sites, and the loop whose trips are phases: what the reader process needs of a trace, without NumPy."""

from collections.abc import Iterable, Sequence
from typing import Literal

from gemmviz.model.translation import marked

SiteKind = Literal[
    "load", "store", "copy", "atomic", "barrier", "warp barrier", "init", "arrive", "wait", "matrix", "product", "fence",
    "branch",
]  # fmt: skip
WORDS = (  # of the kinds, for several threads and for one: messages of the catalogue
    marked("load"), marked("store"), marked("copy"), marked("atomic"), marked("barrier"), marked("warp barrier"),
    marked("init"), marked("arrive"), marked("wait"), marked("matrix"), marked("product"), marked("fence"), marked("branch"),
    marked("loads"),
    marked("stores"),
)  # fmt: skip


def phase_loop(holds_barrier: Sequence[bool], loops_of_loads: Iterable[tuple[int, ...]]) -> int:
    """Number of the loop whose trips are the phases: the first that contains a barrier (loops are numbered outermost first),
    else the outermost around a global load, else -1.
    """
    if any(holds_barrier):
        return list(holds_barrier).index(True)
    return next((loops[0] for loops in loops_of_loads if loops), -1)
