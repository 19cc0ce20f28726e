"""Lanes of a warp that go different ways: where they part, which lanes wait, what each way does, and where they meet again.

All of it follows from the record: lanes of a warp are together at a step at which both are active.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.costs import warp_rows
from gemmviz.analysis.counts import Counts, branch_costs
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.arrays import Bools, Longs

NOT_WAITING = -1


class Way(Struct, frozen=True):
    """One way of a branch: its lanes (warp size,), and the steps that they make until all lanes meet again, ascending."""

    lanes: Bools
    steps: Longs


class Divergence(Struct, frozen=True):
    """A branch at which lanes of one warp part: the step, the threads of the warp as columns of the record, the ways where its
    condition holds and where it doesn't, and the first step at which lanes of both are together again, None if there is none.
    """

    step: int
    threads: slice
    ways: tuple[Way, Way]
    meets: int | None


def divergence_of(moment: Moment) -> Divergence | None:
    """The branch at which the shown warp parts, or parted if some of its lanes wait; None if all lanes are together."""
    warp = moment.shown_warp
    if warp is None:
        return None
    step, threads, replay = moment.step, _warp_threads(moment, warp), moment.replay
    if not _is_parting(replay, step, threads):
        step = int(waiting_for(moment, warp).max(initial=NOT_WAITING))
    if step == NOT_WAITING:
        return None
    found: Divergence = replay.cached(("divergence", step, threads.start), lambda: _divergence_at(replay, step, threads))
    return found


def waiting_for(moment: Moment, warp: int) -> Longs:
    """The step of the branch at which each lane parted from those that are active now: int64 (threads of the warp,),
    NOT_WAITING for lanes that are active, or idle for another reason.
    """
    return moment.cached(("waits", warp), lambda: _waiting_for(moment, warp))


def waiting_in_block(moment: Moment) -> Longs:
    """The same for all threads of the watched block: int64 (threads,). At a branch, lanes that don't take it wait for it."""
    threads, size = moment.trace.space.threads_per_block, moment.trace.rules.warp_size
    if not any(site.kind == "branch" for site in moment.trace.sites):
        return np.full(threads, NOT_WAITING, np.int64)
    if moment.site.kind == "branch":
        ways = moment.trace.element[moment.trace.row[moment.step], moment.scope.of_block]
        return np.where(ways == 0, moment.step, NOT_WAITING)
    return np.concatenate([waiting_for(moment, warp) for warp in range(-(-threads // size))])


def _waiting_for(moment: Moment, warp: int) -> Longs:
    threads = _warp_threads(moment, warp)
    active, first = _active(moment.replay, threads)[: moment.step + 1], moment.trace.row[:-1]
    waits = np.full(active.shape[1], NOT_WAITING, np.int64)
    here = active[moment.step]
    if not here.any():
        return waits
    one = int(np.argmax(here))
    together = active & active[:, one : one + 1]
    latest = moment.step - np.argmax(together[::-1], axis=0)  # the last step at which a lane was with that one
    for lane in np.flatnonzero(~here & together.any(axis=0)).tolist():
        step = int(latest[lane])
        ways = moment.trace.element[first[step], threads]
        if moment.trace.site_of(step).kind == "branch" and ways[lane] != ways[one]:
            waits[lane] = step
    return waits


def _divergence_at(replay: Replay, step: int, threads: slice) -> Divergence:
    active, ways = _active(replay, threads), replay.trace.element[replay.trace.row[step], threads]
    after = active[step + 1 :]
    both = after[:, ways == 1].any(axis=1) & after[:, ways == 0].any(axis=1)
    meets = step + 1 + int(np.argmax(both)) if both.any() else None
    until = after[: None if meets is None else meets - step - 1]
    taken, passed = (
        Way(ways == way, step + 1 + np.flatnonzero(until[:, ways == way].any(axis=1))) for way in (1, 0)
    )  # fmt: skip
    return Divergence(step, threads, (taken, passed), meets)


def _active(replay: Replay, threads: slice) -> Bools:
    """Which of some threads take part in each step: bool (steps, threads)."""
    trace = replay.trace
    found: Bools = replay.cached(("active", threads.start, threads.stop), lambda: trace.element[trace.row[:-1], threads] >= 0)
    return found


def _warp_threads(moment: Moment, warp: int) -> slice:
    """The threads of a warp of the watched block, as columns of the record."""
    block, size = moment.scope.of_block, moment.trace.rules.warp_size
    return slice(block.start + warp * size, min(block.stop, block.start + (warp + 1) * size))


def _is_parting(replay: Replay, step: int, threads: slice) -> bool:
    """Whether some of these threads part at a step."""
    if replay.trace.site_of(step).kind != "branch":
        return False
    ways = replay.trace.element[replay.trace.row[step], threads]
    return bool((ways == 1).any() and (ways == 0).any())


def parted_warps(moment: Moment) -> tuple[int, int]:
    """At a branch: the warps of the watched threads that part, and all that take part."""
    ways = moment.trace.element[moment.trace.row[moment.step], moment.scope.of_warps]
    rows = warp_rows(ways.reshape(-1, min(len(ways), moment.trace.space.threads_per_block)), moment.trace.rules.warp_size)
    costs = Counts(*branch_costs(rows).tolist())
    return costs.excessive_wavefronts, costs.requests


def next_branch(moment: Moment) -> int | None:
    """The next step at which watched threads come to a branch where lanes part; None if there is none."""
    sites = [number for number, site in enumerate(moment.trace.sites) if site.kind == "branch"]
    return moment.replay.next_step(sites, moment.step, moment.scope)
