"""Runs a launch to see whether its result is right, within a budget of work: on every computer the same runs are made."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from msgspec import Struct, structs

from gemmviz.cuda.launch.legality import can_run, device_for, setup_for
from gemmviz.cuda.types import HALF
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.messages import Cancelled, KernelFault, SettingError, cancellable, checkpoint
from gemmviz.model.problems import MULTIPLICATIONS
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Site
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.run.cpu.executor import bound, contents_of, inputs
from gemmviz.run.cpu.recorder import StepCounter
from gemmviz.run.cpu.simt.interpret import Binding, interpret
from gemmviz.run.data import Contents, check_result

# A unit of work is one thread's share of a step, about 20 ns. What each step and each run cost besides, in the same units:
_OF_STEP, _OF_RUN = 1 << 11, 1 << 20
_OF_TRIAL = 60 << 20
_MOST_THREADS, _MOST_ELEMENTS = 1 << 15, 1 << 25
_MOST_LIKE_ZERO = 16  # one of so many elements differs from zero by more than it may err
_FIRST_COMPARED = 16  # elements, which refute most layouts before all are compared
_TRIED_LAYOUTS = tuple(map(frozenset, ("", "ABC", "B", "A", "AB", "C", "AC", "BC")))


class WorkBudget:
    """A budget of work, in steps of threads."""

    def __init__(self, most: int = _OF_TRIAL) -> None:
        self.left = most

    @property
    def is_over(self) -> bool:
        return self.left <= 0


class TrialResult(Struct, frozen=True):
    """What one run showed: the layout in which C is right, None if in none; the arguments that were written; the phases with
    barriers, 0 for none.
    """

    column_major: frozenset[str] | None
    written: frozenset[str]
    phases: int = 0


class _Stores(StepCounter):
    """Marks the elements of the problem's arrays that are stored to, and counts phases."""

    def __init__(self, binding: Binding) -> None:
        super().__init__()
        self.sites: list[Site] = []
        self.phases, self.phase_loop = 0, binding.phase_loop
        self.marks = {array.name: np.zeros(array.size, bool) for array in binding.arrays if array.space == "global"}
        self._by_number = list(self.marks.values())

    @property
    def elements(self) -> dict[str, Longs]:
        """The elements by the names of their arrays."""
        return {name: np.flatnonzero(marks) for name, marks in self.marks.items() if marks.any()}

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        super().access(site, place, offset, mask, visits, epoch)
        if self.sites[site].is_barrier and self.phase_loop in self.sites[site].loops:
            self.phases = max(self.phases, visits[self.sites[site].loops.index(self.phase_loop)] + 1)
        operand = self.sites[site].operand(place)
        if operand is not None and operand.access == "write" and operand.array < len(self._by_number):
            at, active = np.broadcast_arrays(offset, True if mask is None else mask)
            for lane in operand.layout.offsets:
                self._by_number[operand.array][at[active] + lane] = True


def trial_of(setup: Setup, work: WorkBudget, *, in_part: bool = False) -> TrialResult | None:
    """Runs the whole launch, or ``in_part`` blocks at the corners of its grid, whose results alone are then compared. None for
    a launch with more threads than a trial may have, or one that takes more work than is left.

    Raises KernelFault, SettingError, SourceError or Cancelled.
    """
    binding = bound(setup)
    windows = list(_blocks_tried(binding.launch)) if in_part else [BlockRange.all(binding.launch)]
    threads = binding.launch.threads_per_block * max(each.count for each in windows)
    elements = sum(array.size for array in binding.arrays)
    adds_up = in_part and any("atomic" in access.kind for access in binding.program.accesses)  # what all blocks write together
    if threads > _MOST_THREADS or elements > _MOST_ELEMENTS or adds_up:
        return None
    most = min(work.left, _OF_TRIAL)
    work.left -= _OF_RUN + elements
    before = inputs(binding)
    outputs = setup.problem.output_names
    data = {**before, **{name: before[name].copy() for name in outputs}}  # the kernel writes into the outputs themselves
    spent = 0

    def is_over() -> bool:
        nonlocal spent
        spent += _OF_STEP + threads
        return spent > most

    stores = _Stores(binding)
    try:
        with cancellable(is_over):
            data = _memory_after(binding, windows[:1], data, stores)
            of_one = sum(int(stores.marks[name].sum()) for name in outputs)
            data = _memory_after(binding, windows[1:], data, stores)
    except Cancelled:
        checkpoint()
        return None
    finally:
        work.left -= spent
    written = stores.elements
    covers = not in_part or of_one * binding.launch.block_count >= sum(data[name].size for name in outputs)
    chosen = written if in_part else {name: np.arange(data[name].size, dtype=np.int64) for name in outputs}
    is_judged = {*written} == {*outputs} and covers
    return TrialResult(_right_layout(binding, data, chosen) if is_judged else None, frozenset(written), stores.phases)


def _memory_after(binding: Binding, windows: list[BlockRange], data: dict[str, Any], stores: _Stores) -> dict[str, Any]:
    """The arrays after the blocks of all windows have run."""
    for window in windows:
        space = ThreadSpace(binding.launch, window, device_for(binding.setup).rules.warp_size)
        stores.sites = []
        memories = interpret(binding, space, stores, data, wants_values=True)
        data = {name: memory.data for name, memory in memories.items()}
    return data


def _blocks_tried(launch: Launch) -> Iterator[BlockRange]:
    """One block at each corner of the grid, and one inside: those that differ in a right kernel."""
    x, y, z = launch.grid
    places = [*product(*((0, extent - 1) for extent in launch.grid)), (x // 3, y // 2, z // 2)]
    for i, j, k in dict.fromkeys(places):
        yield BlockRange((i, i + 1), (j, j + 1), (k, k + 1))


def attempted(setup: Setup, work: WorkBudget, *, in_part: bool = False) -> TrialResult | None:
    """What ``trial_of`` shows; None also if the launch can't be run, or the kernel faults. Raises SourceError and Cancelled."""
    try:
        return trial_of(setup, work, in_part=in_part) if can_run(setup) else None
    except (KernelFault, SettingError):
        return None


def is_right(spec: KernelSpec, work: WorkBudget) -> bool:
    """Whether the kernel's result is right at its own problem. Raises SourceError and Cancelled."""
    trial = attempted(setup_for(spec), work)
    return trial is not None and trial.column_major == spec.column_major


def _right_layout(binding: Binding, after: dict[str, Any], chosen: dict[str, Any]) -> frozenset[str] | None:
    """The arrays that are stored by columns if the ``chosen`` elements of the result are right so; rows are tried first. None
    if they are right in none.
    """
    contents, some = contents_of(binding, after), {name: elements[:_FIRST_COMPARED] for name, elements in chosen.items()}
    for layout in _TRIED_LAYOUTS if binding.setup.problem.kind.name in MULTIPLICATIONS else _TRIED_LAYOUTS[:1]:
        judged = structs.replace(contents, column_major=layout)
        if all(check_result(judged, each, False).passed for each in (some, chosen)) and _tells(judged, chosen):
            return layout
    return None


def _tells(contents: Contents, chosen: dict[str, Any]) -> bool:
    """Whether the comparison tells a result from zeros: long sums in half may err by more than they are."""
    if contents.rounding.each < HALF.element.roundoff:
        return True
    zeros = {name: np.zeros_like(contents.data[name]) for name in contents.problem.output_names}
    found = check_result(structs.replace(contents, data={**contents.data, **zeros}), chosen, False)
    return found.wrong * _MOST_LIKE_ZERO >= found.compared
