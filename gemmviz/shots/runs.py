"""Runs of a kernel: what is known of one so far, and all that a picture needs, completed before it is shown; and sizes: those
that the user requested, and the tile sizes to try for a setup.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.analysis.counts import LaunchCounts, loads_per_element
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.legality import broken_limit, nearest_setup, setup_for, shapes_for, tied
from gemmviz.model.kernel import KernelSpec, Parameter
from gemmviz.model.messages import GemmvizError, SettingError, counted, listed, many, spaced, tr
from gemmviz.model.setup import Setup
from gemmviz.model.threads import phases_text
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import Outcome, Trace
from gemmviz.run.cpu.executor import requested_blocks
from gemmviz.run.stored import RecordedTimes
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import FactAnswer, Knowledge, LaunchFacts, searched_blocks
from gemmviz.shots.picture import frame_for, options_for, theme_of
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view

_LARGE_RUN = 1_000_000  # accesses
_PIXELS = (1920.0, 1080.0)


class KnownRun(Struct, frozen=True, dict=True, eq=False):
    """A finished run and what is known of it so far. ``searched``: number of blocks searched for hazards; ``counted``: counts
    of the whole launch; ``timed``: speed of the real kernel; each None while it is unknown.
    """

    known: Knowledge
    replay: Replay
    searched: int | None = None
    counted: FactAnswer[LaunchCounts] | None = None
    timed: FactAnswer[KernelSpeed] | None = None

    @property
    def setup(self) -> Setup:
        return self.known.setup

    @property
    def outcome(self) -> Outcome:
        return self.known.outcome

    @property
    def from_file(self) -> bool:
        """Whether it was recorded earlier."""
        return self.known.from_file

    @property
    def trace(self) -> Trace:
        return self.replay.trace

    @property
    def counts(self) -> LaunchCounts | None:
        return None if self.counted is None else self.counted.value

    @property
    def speed(self) -> KernelSpeed | None:
        return None if self.timed is None else self.timed.value

    @property
    def no_counts(self) -> str:
        """Why the counts stay unknown."""
        return "" if self.counted is None else self.counted.why_none

    @property
    def no_speed(self) -> str:
        """Why the speed stays unknown."""
        return "" if self.timed is None else self.timed.why_none

    @cached_property
    def facts(self) -> LaunchFacts:
        """Facts about the whole launch."""
        stopped = self.trace.stop is not None
        no_counts = self.no_counts or (tr("the run ended early") if stopped else "")
        passed = self.trace.check.passed and not stopped
        return LaunchFacts(self.setup, self.counts, no_counts, self.speed, self.no_speed, passed)

    @cached_property
    def whole(self) -> LaunchFacts:
        """Facts about the launch at the sizes of main(), if they are known."""
        return self.facts if self.trace.stop is not None else self.known.whole_facts(self.facts)

    @property
    def is_counted(self) -> bool:
        """Whether both launches are counted, or known not to be."""
        return self.counted is not None and (self.whole.counts is not None or bool(self.whole.no_counts))


def run_so_far(known: Knowledge | None) -> KnownRun | None:
    """The run of a shot with what is known of it at present; None while it isn't finished."""
    first = Knowledge.first_replay.at_hand(known)
    if known is None or first is None:
        return None
    if first.trace.stop is not None:
        return KnownRun(known, first)
    replay = Knowledge.replay.at_hand(known)
    searched = None if replay is None else searched_blocks(replay.trace)
    return KnownRun(known, replay or first, searched, Knowledge.counted.at_hand(known), Knowledge.timed.at_hand(known))


def finished_run(known: Knowledge) -> KnownRun:
    """The run of a shot as soon as it is finished, with what frames need of its whole trace. Raises as ``replay_of`` does."""
    _draw_last(known.first_replay)
    run = run_so_far(known)
    assert run is not None
    return run


def recorded_run(trace: Trace) -> KnownRun:
    """A run from a file."""
    whole = trace.blocks.count == trace.launch.block_count
    phases = "" if trace.phases is None else phases_text(trace.phases)
    setup = structs.replace(trace.setup, blocks="" if whole else str(trace.blocks), phases=phases)
    outcome = Outcome(trace, trace.by)
    return finished_run(Knowledge(Shot(setup), RecordedTimes(), outcome, from_file=True, with_values=False))


def _draw_last(replay: Replay) -> None:
    """Draw the last frame of a large run, which prepares what all frames need."""
    trace = replay.trace
    if trace.element.size > _LARGE_RUN:
        for everyone in (False, True):
            focus = structs.replace(Focus().within(trace), everyone=everyone)
            view_named("stage").scene(Reader(replay, focus).at(trace.steps - 1), ViewOptions())


# Completes what is known of a shot before it is shown.


def complete(known: Knowledge) -> Knowledge:
    """Run, count and compute what a shot's picture needs, and draw it once, which fills caches. Raises Cancelled only: an error
    is known as ``trouble``.
    """
    shot, needs = known.shot, subject_of_view(known.shot.view).needs
    try:
        requested_blocks(shot.setup, known.launch)
        if {"moment", "compared"} & set(needs):
            fault = known.outcome.fault
            block = None if fault is None else fault.block
            _complete_run(known if block is None else known.about(structs.replace(shot, focus=Focus(block))))
        elif "whole" in needs:
            known.facts, known.whole_counted  # noqa: B018
        if shot.against is not None and "compared" in needs:
            with suppress(GemmvizError):  # it is reported once the shot is shown
                _complete_run(known.compared)
    except GemmvizError as error:
        known.trouble = error.kept()
    try:
        _draw_once(known)
    except GemmvizError as error:
        known.trouble = known.trouble or error.kept()
    return known


def _complete_run(known: Knowledge) -> None:
    """Analyse a run as far as a window analyses it in the background."""
    _draw_last(known.replay)
    known.replay.sums(known.reader.scope)
    known.watch_result  # noqa: B018
    if known.replay.trace.stop is None:
        known.facts, known.whole_counted  # noqa: B018


def _draw_once(known: Knowledge) -> None:
    """Draw the picture unless a run is missing."""
    shot, subject = known.shot, subject_of_view(known.shot.view)
    lacks_other = "compared" in subject.needs and compared_run(known) is None
    if lacks_other or ("moment" in subject.needs and run_so_far(known) is None):
        return
    value: Any = subject.value(known)
    if value is not None:
        (width, height), scale = frame_for(shot, *_PIXELS)
        view_named(shot.view).scene(value, options_for(shot, theme_of(shot), (width, height), scale=scale))


def compared_run(known: Knowledge) -> KnownRun | None:
    """The run that a shot is compared with; None if it is not known."""
    return run_so_far(Knowledge.compared.at_hand(known))


def suits(known: Knowledge, shot: Shot) -> bool:
    """Whether the picture of another shot needs nothing else: it may differ in position, appearance and, within the watched
    block, in the watched threads.
    """
    return known.shot.view == shot.view and known.shares("subject", shot)


# Sizes: those that the user requested, and the tile sizes to try for a setup.


class RequestedSizes(Struct, frozen=True):
    """Sizes and parameters that the user set, by name; others have the kernel's defaults."""

    numbers: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, setup: Setup) -> "RequestedSizes":
        """The values of a setup that differ from its kernel's defaults."""
        own = {**setup.kernel.problem.sizes, **setup.kernel.defaults}
        return cls({name: value for name, value in setup.sizes_and_parameters.items() if own.get(name) != value})

    def with_numbers(self, **numbers: int) -> "RequestedSizes":
        return RequestedSizes({**self.numbers, **numbers})

    def for_kernel(self, kernel: KernelSpec, before: Setup) -> Setup:
        """The requested setup of a kernel; other settings are taken from ``before``."""
        sizes = {name: value for name, value in self.numbers.items() if name in kernel.problem.sizes}
        parameters = {name: value for name, value in self.numbers.items() if name in kernel.defaults}
        setup = structs.replace(
            setup_for(kernel, kernel.problem.__replace__(**sizes), parameters),
            filling=before.filling, device=before.device, blocks=before.blocks, phases=before.phases,
        )  # fmt: skip
        return tied(setup)


class ResolvedSetup(Struct, frozen=True):
    """A setup that can run. ``explanation``: why it is not the requested one; "" if it is."""

    setup: Setup
    explanation: str = ""


def resolve(requested: Setup) -> ResolvedSetup:
    """The requested setup if it can run, otherwise the nearest one that can; unchanged if there is none."""
    why = _why_unsuited(requested)
    if why is None:
        return ResolvedSetup(requested)
    nearest = nearest_setup(requested)
    if nearest is None:
        return ResolvedSetup(requested)
    named = nearest.sizes_and_parameters
    changed = ", ".join(f"{n} = {named[n]}" for n, value in requested.sizes_and_parameters.items() if named[n] != value)
    explanation = tr(
        "{kernel} can't run with your settings ({why}): it uses {changed}. Your settings are kept",
        kernel=requested.kernel.name,
        why=why,
        changed=changed,
    )
    return ResolvedSetup(nearest, explanation)


def _why_unsuited(setup: Setup) -> str | None:
    try:
        broken = broken_limit(setup)
    except SettingError as error:
        return error.message
    except GemmvizError:
        return None  # an error in the kernel is reported when it runs
    return None if broken is None else broken.sentence


# The tile sizes to try for a setup, what the others break, and what the present one brings, counted from its run.

_SIZE_WORDS = ("TILE", "BLOCK")
_USUAL_SIZES = (2, 4, 8, 16, 32, 64)
_EXACT = 1000  # reads that are told to the whole number
_LARGER, _FEW = 64, 3  # matrices to try larger tiles on, if fewer sizes than this suit


class TileSize(Struct, frozen=True):
    """A size to choose. ``why_not``: what it breaks, or why it shows little; "" for a size that suits."""

    value: int
    why_not: str = ""

    @property
    def suits(self) -> bool:
        return not self.why_not


class TileSizes(Struct, frozen=True):
    """The choices of a kernel's tile or block parameter. ``larger``: the setup with matrices for larger tiles, if few sizes
    suit.
    """

    name: str
    value: int
    sizes: tuple[TileSize, ...]
    larger: Setup | None = None

    @property
    def place(self) -> int:
        """Index of the present size."""
        return next(place for place, size in enumerate(self.sizes) if size.value == self.value)


def tile_sizes(setup: Setup, run: KnownRun | None = None) -> TileSizes | None:
    """The tile sizes of a setup; None for a kernel without a tile or block parameter. ``run``: the latest run; if it is of the
    same kernel and has a phase for each tile along K, a tile that leaves a single phase doesn't suit.
    """
    parameter = next((each for each in setup.kernel.parameters if any(word in each.name.upper() for word in _SIZE_WORDS)), None)
    if parameter is None:
        return None
    name, value = parameter.name, setup.parameters[parameter.name]
    is_same = run is not None and run.setup.kernel == setup.kernel
    follows = run is not None and is_same and run.replay.phases == _tiles_along_k(run.setup, run.setup.parameters[name])
    sizes = tuple(TileSize(each, _why_little(setup, name, each, follows)) for each in _values_to_try(parameter, value))
    return TileSizes(name, value, sizes, _larger(setup) if sum(size.suits for size in sizes) < _FEW else None)


def _values_to_try(parameter: Parameter, value: int) -> list[int]:
    return sorted({*(parameter.choices or _USUAL_SIZES), value})


def _tiles_along_k(setup: Setup, size: int) -> int:
    """Number of tiles along K; 0 without a K."""
    return -(-setup.problem.sizes.get("K", 0) // size)


def _why_little(setup: Setup, name: str, size: int, follows: bool) -> str:
    """What a size breaks, or why it shows little. ``follows``: whether the phases of the kernel are the tiles along K."""
    tried = setup.changed(**{name: size})
    try:
        broken = broken_limit(tried)
        outputs = {array.name: shapes_for(tried)[array.name] for array in setup.problem.arrays if array.role == "output"}
    except GemmvizError as error:
        return error.message
    if broken is not None:
        return broken.sentence
    for output, shape in outputs.items():
        if size > max(shape):
            return tr("a block is larger than {output}: most of its threads have no element", output=output)
    if setup.problem.is_multiply and follows and _tiles_along_k(setup, size) == 1:
        return tr("one tile holds all of K = {K}: there is a single phase", K=setup.problem.sizes["K"])
    return ""


def _larger(setup: Setup) -> Setup | None:
    """The setup with matrices that hold several large tiles; None if it has them, or is no multiplication."""
    if not setup.problem.is_multiply or max(setup.problem.sizes.values()) >= _LARGER:
        return None
    return setup.changed(**dict.fromkeys(setup.problem.sizes, _LARGER))


def tile_facts(run: KnownRun) -> str:
    """What the tile of a run brings: its blocks and phases, and how often each element is read; without the reads as long as
    they are being counted.
    """
    trace, phases = run.trace, run.replay.phases if run.replay.has_phases else 0
    parts = [many(trace.launch.block_count, "block")]
    if phases and trace.phases is None:
        parts.append(many(phases, "phase"))
    loads = _loads_per_element(run)
    reads = {
        array.name: loads[array.name] for array in trace.setup.problem.arrays if array.name in loads and array.role == "input"
    }
    if len(set(reads.values())) == 1 and len(reads) > 1:
        parts.append(tr("{reads} are read {next} each", reads=listed(reads), next=_reads_text(next(iter(reads.values())))))
    else:
        parts += [tr("{name} is read {times}", name=name, times=_reads_text(value)) for name, value in reads.items()]
    return ", ".join(parts)


def _loads_per_element(run: KnownRun) -> dict[str, float]:
    """Average number of loads of an element from global memory, by array: from the launch's counts, or before those are known
    from a trace of all blocks. Empty if neither is there.
    """
    trace = run.trace
    if run.counts is not None:
        return loads_per_element(run.counts)
    if trace.blocks.count < trace.launch.block_count or trace.phases is not None or trace.stop is not None:
        return {}
    return {
        array.name: _loads_in(trace, number) / array.size
        for number, array in enumerate(trace.arrays)
        if array.space == "global"
    }


def _loads_in(trace: Trace, number: int) -> int:
    """Number of elements of an array that all threads of a trace read."""
    return sum(
        int(np.count_nonzero(trace.element[touches.rows] >= 0)) * touches.operand.width
        for touches in trace.touches_of(number, "read")
    )


def _reads_text(loads: float) -> str:
    if loads == 1:
        return counted(tr("once"))
    return tr("{count} times", count=spaced(round(loads)) if loads >= _EXACT else counted(f"{loads:.4g}"))
