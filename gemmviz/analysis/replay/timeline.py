"""The timeline of a run: the track of every step, one of five kinds of work, with barriers between. LOAD_A stands for loads of
the problem's first input, LOAD_B for those of its others, and STORE_C for accesses of its outputs.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.problem import Problem
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr

LOAD_A, LOAD_B, STORE_TILE, COMPUTE, STORE_C = range(5)
BARRIER = TRACKS = 5
NOWHERE = 6


class Timeline(Struct, frozen=True, dict=True):
    """``track`` int8 (steps,): the track of each step, BARRIER for one at which threads wait, NOWHERE for a branch. ``starts``
    (n,) ascending: the first step of each segment, within which track and phase are constant.
    """

    track: npt.NDArray[np.int8]
    starts: npt.NDArray[np.int64]

    @cached_property
    def tracks(self) -> frozenset[int]:
        """The tracks that have a step."""
        return frozenset(np.unique(self.track).tolist())

    def segment(self, step: int) -> tuple[int, int]:
        """The steps of the segment that a step belongs to, half-open."""
        at = int(np.searchsorted(self.starts, step, side="right")) - 1
        stop = int(self.starts[at + 1]) if at + 1 < len(self.starts) else len(self.track)
        return int(self.starts[at]), stop

    def shares_over(self, columns: int) -> npt.NDArray[np.float64]:
        """Shares of the tracks: for each of ``columns`` intervals of the run, the share of its steps in each track, then of the
        barriers: (tracks + 1, columns). Every interval has at least one step.
        """
        steps = len(self.track)
        edges = np.linspace(0, steps, columns + 1)
        first = np.minimum(edges[:-1].astype(np.int64), steps - 1)
        last = np.maximum(first + 1, np.minimum(np.ceil(edges[1:] - 1e-9).astype(np.int64), steps))
        shares = np.zeros((BARRIER + 1, columns))
        for track in range(BARRIER + 1):
            counts = np.concatenate([[0], np.cumsum(self.track == track)])
            shares[track] = (counts[last] - counts[first]) / (last - first)
        return shares


def timeline_of(trace: Trace) -> Timeline:
    """The timeline of a trace."""
    problem = trace.setup.problem
    track = np.array([track_of(trace.arrays, site, problem) for site in trace.sites], np.int8)[trace.site]
    changes = np.flatnonzero((np.diff(track) != 0) | (np.diff(trace.phase) != 0)) + 1
    return Timeline(track, np.concatenate([[0], changes]).astype(np.int64))


def track_names(problem: Problem) -> tuple[str, ...]:
    """The tracks in words, in order: "load A", "load B", "store into a tile", "compute", "load, store C"."""
    first, *others = [array.name for array in problem.arrays if array.role == "input"] or [tr("inputs")]
    outputs = ", ".join(problem.output_names) or tr("outputs")
    return (
        tr("load {first}", first=first),
        tr("load {others}", others=", ".join(others) or "–"),
        tr("store into a tile"),
        tr("compute"),
        tr("load, store {outputs}", outputs=outputs),
    )


def short_track_names(trace: Trace) -> tuple[str, ...]:
    """The tracks in few words, in order: "load A", "load B", "into tile", "multiply", "store C"; the last one is
    "load, store C" of a kernel that also loads from C.
    """
    problem = trace.setup.problem
    first, *others = [array.name for array in problem.arrays if array.role == "input"] or [tr("inputs")]
    more = (
        (tr("load {others}, …", others=others[0]) if len(others) > 1 else tr("load {others}", others=others[0]))
        if others
        else ""
    )
    outputs = problem.output_names
    stored = (
        (tr("store {outputs}, …", outputs=outputs[0]) if len(outputs) > 1 else tr("store {outputs}", outputs=outputs[0]))
        if outputs
        else "store"
    )
    loads_outputs = any(not site.accesses("write") and track_of(trace.arrays, site, problem) == STORE_C for site in trace.sites)
    names = tr("load {first}", first=first), more, tr("into tile"), tr("multiply") if problem.is_multiply else tr("compute")
    return *names, tr("load, {stored}", stored=stored) if loads_outputs else stored


def track_of(arrays: Sequence[MemoryArray], site: Site, problem: Problem) -> int:
    """The track of a site: for a copy, which loads and stores, that of the store; "compute" for a load from shared memory or a
    matrix operation in registers, BARRIER for a site that only orders steps, and NOWHERE for a branch.
    """
    written = [arrays[operand.array] for operand in site.accesses("write")]
    if site.is_of_mbarrier:
        return BARRIER
    if written:
        return STORE_TILE if written[-1].space == "shared" else STORE_C
    for operand in site.accesses("read"):
        read = arrays[operand.array]
        return COMPUTE if read.space == "shared" else _load_of(read.name, problem)
    return {"product": COMPUTE, "matrix": COMPUTE, "branch": NOWHERE}.get(site.kind, BARRIER)


def _load_of(name: str, problem: Problem) -> int:
    """The track of a load from a matrix."""
    inputs = [array.name for array in problem.arrays if array.role == "input"]
    if name not in inputs:
        return STORE_C
    return LOAD_A if name == inputs[0] else LOAD_B
