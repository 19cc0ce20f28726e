"""Runs made by hand, of instructions that the kernel reader does not know yet: played to sinks, or as a trace."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import Place
from gemmviz.model.outline import SiteKind
from gemmviz.model.problem import Problem
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import LoopInfo, MemoryArray, Operand, Site
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.model.trace import Check, Trace
from gemmviz.run.cpu.recorder import Recorder
from tests.conftest import kernel_from

LANES = np.arange(32)
_LIMIT = 1 << 24
_KERNEL = kernel_from("\n".join(["C[threadIdx.x] = A[threadIdx.x] * B[threadIdx.x];"] * 8), block='["32"]')


@dataclass
class HandMade:
    """A run of one warp, step by step. ``elements``: the element type of all arrays: A, B and C are 16 x 16, tile is 16 x 8."""

    elements: str = "float16"
    sites: list[Site] = field(default_factory=list)
    events: list[tuple[int, tuple[Any, ...], tuple[int, ...], int]] = field(default_factory=list)
    epoch: int = 0

    def __post_init__(self) -> None:
        whole = tuple(MemoryArray(name, "global", (16, 16), self.elements) for name in "ABC")
        self.arrays = (*whole, MemoryArray("tile", "shared", (16, 8), self.elements))

    @property
    def space(self) -> ThreadSpace:
        launch = Launch((1, 1, 1), (32, 1, 1))
        return ThreadSpace(launch, BlockRange.all(launch))

    def step(
        self, kind: SiteKind, *operands: tuple[Operand, Any], completes: Sequence[int] = (), **facts: Any
    ) -> int:  # fmt: skip
        """One more step at a site of its own, each operand with the element of every lane, -1 inactive. Its number.

        ``completes``: of a wait, the asynchronous steps, by their own numbers from 0.
        """
        line = 10 + len(self.sites) % 8
        place = Place(line, 1, line, 40)
        self.sites.append(Site(place, f"{kind} {line}", (), kind, tuple(operand for operand, _ in operands), **facts))
        self.events.append((len(self.sites) - 1, tuple(at for _, at in operands), tuple(completes), self.epoch))
        self.epoch += kind == "barrier"
        return len(self.events) - 1

    def play(self, sink: AccessSink) -> None:
        """All of it, to one sink."""
        sink.started(self)
        for number, (site, offsets, completes, epoch) in enumerate(self.events):
            sink.site(self.sites[site])
            for place, at in enumerate(offsets or (0,)):
                active = np.broadcast_to(np.asarray(at), LANES.shape)
                mask = None if (active >= 0).all() else active >= 0
                sink.access(site, place, np.where(active >= 0, active, 0), mask, (), epoch)
                sink.value(np.full(32, number + 0.5))
            if completes:
                sink.completed(completes)
        sink.ended()

    @property
    def exited(self) -> None:
        """Who has returned, as a machine knows it: nobody."""
        return

    def trace(self) -> Trace:
        recorder = Recorder(self.space, self.arrays, True, _LIMIT)
        self.play(recorder)
        setup = setup_for(_KERNEL, Problem(16, 16, 16))
        values = recorder.values
        assert values is not None
        return Trace(
            setup=setup, launch=self.space.launch, blocks=self.space.blocks, rules=device_for(setup).rules, arrays=self.arrays,
            sites=tuple(self.sites), loops=(LoopInfo(-1, Place(1, 1, 1, 2), True),),
            site=np.array(recorder.step_site, np.int32), visits=recorder.visit_table(),
            epoch=np.array(recorder.epoch, np.int32), element=recorder.element.finished(), value=values.finished(),
            check=Check(0, 0, 0), completes=recorder.completes(),
        )  # fmt: skip


A, B, C, TILE = range(4)
