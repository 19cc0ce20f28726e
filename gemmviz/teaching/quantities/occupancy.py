"""Quantities of occupancy and of the schedule of blocks on multiprocessors."""

from typing import Literal

import numpy as np

from gemmviz.analysis.models.time import DONE, RUNNING, WAITING, hiding_of, states, waves
from gemmviz.model.cases import BlockPhase
from gemmviz.model.errors import UsageError
from gemmviz.model.schedule import GridCase, Schedule
from gemmviz.model.translation import marked, tr
from gemmviz.shots.catalog import value_of
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import quantity

ScheduleSource = Literal["recorded", "model"]


@quantity(marked("blocks per SM"), origin="model")
def blocks_per_sm(facts: Knowledge) -> int:
    """Blocks that fit on one multiprocessor at once."""
    return facts.limits.blocks_per_sm


@quantity(marked("blocks per SM, limited by {resource}"), origin="model")
def blocks_per_sm_limit(facts: Knowledge, resource: Literal["threads", "warps", "registers", "blocks", "shared"]) -> int:
    """Blocks on one multiprocessor that one resource alone allows."""
    limit = next((limit for key, limit in facts.limits.limits.items() if resource in key), None)
    if limit is None:
        raise UsageError(tr("the number of blocks that {resource} allow is not known", resource=resource))
    return limit


@quantity(marked("percent of an SM's {resource} in use"), origin="model")
def occupied_percent(facts: Knowledge, resource: Literal["threads", "warps"]) -> float:
    """Share of a multiprocessor's threads or warps that resident blocks take, in percent."""
    return facts.limits.threads_percent if resource == "threads" else facts.limits.warps_percent


@quantity("waves", origin="model")
def wave_count(facts: Knowledge) -> int:
    """Rounds in which the grid's blocks run if all take equally long."""
    return waves(facts.launch.block_count, facts.device.sms, facts.limits.blocks_per_sm)


@quantity(marked("waves of the compared launch"), origin="model")
def compared_wave_count(facts: Knowledge) -> int:
    """Rounds of the launch that the shot compares with. Raises UsageError where there is none."""
    return int(wave_count.compute(facts.compared))


@quantity(marked("most blocks resident on an SM"), origin="recorded")
def most_resident_blocks(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Largest number of blocks on one multiprocessor at the same time, in the schedule."""
    return int(_schedule(facts, source).resident().max())


@quantity(marked("blocks in the schedule"), origin="recorded")
def scheduled_blocks(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Blocks that the schedule holds."""
    return int(_schedule(facts, source).blocks)


def _schedule(facts: Knowledge, source: ScheduleSource) -> Schedule:
    """The schedule of the launch. Raises UsageError if it comes from something else than ``source``."""
    if value_of(GridCase, facts).is_model != (source == "model"):
        found = "model" if value_of(GridCase, facts).is_model else "recorded"
        what = tr("is not recorded") if value_of(GridCase, facts).is_model else tr("is recorded, not a model's")
        raise UsageError(tr("the schedule of this launch {what}", what=what), remedy=tr("write source={found}", found=found))
    return value_of(GridCase, facts).schedule


@quantity(marked("warps per scheduler"), origin="model")
def warps_per_scheduler(facts: Knowledge) -> float:
    """Resident warps of one warp scheduler."""
    return hiding_of(facts.occupancy).warps


@quantity(marked("warps per scheduler that would hide all latency"), origin="model")
def warps_to_hide_latency(facts: Knowledge) -> int:
    """Warps with which a scheduler would issue in every cycle, by the model of latency, whether it can hold them or not."""
    return hiding_of(facts.occupancy).enough


@quantity(marked("most warps per scheduler"), origin="definition")
def most_warps_per_scheduler(facts: Knowledge) -> int:
    """Warps that one warp scheduler of the device holds at most."""
    return hiding_of(facts.occupancy).most


@quantity(marked("tried {resource}"), origin="definition")
def tried_resource(facts: Knowledge, resource: Literal["threads", "registers", "shared_bytes"]) -> int:
    """A resource of the block whose occupancy is shown: the shot's trial value, else the kernel's own."""
    value = getattr(facts.occupancy.needs, resource)
    if value is None:
        raise UsageError(tr("the registers of this kernel are not known"))
    return int(value)


@quantity(marked("percent of cycles with an instruction issued"), origin="model")
def issued_percent(facts: Knowledge) -> float:
    """Share of cycles in which a scheduler can issue, in percent, by the model of latency."""
    return 100 * hiding_of(facts.occupancy).used


@quantity(marked("multiprocessors without a block"), origin="recorded")
def idle_multiprocessors(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Multiprocessors that no block of the schedule runs on."""
    return facts.device.sms - len(np.unique(_schedule(facts, source).sm))


@quantity(marked("loads that blocks can have pending on an SM, by {resource}"), origin="model")
def pending_loads(facts: Knowledge, resource: Literal["shared memory", "threads"]) -> int:
    """Loads of one phase of as many blocks as fit in one multiprocessor by one resource alone."""
    phase = value_of(BlockPhase, facts)
    return phase.fitting[resource] * phase.loads


@quantity(marked("blocks that are {state} at this instant"), origin="recorded")
def blocks_in_state(facts: Knowledge, state: Literal["waiting", "running", "done"], source: ScheduleSource = "recorded") -> int:
    """Blocks of the schedule that are waiting, running or done at the shot's instant."""
    schedule = _schedule(facts, source)
    number = {"waiting": WAITING, "running": RUNNING, "done": DONE}[state]
    return int((states(schedule, facts.shot.instant * schedule.duration_ns) == number).sum())


@quantity(marked("blocks that end before one with a lower number"), origin="recorded")
def overtaking_blocks(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Blocks of the schedule that end before some block with a lower number does."""
    stop = _schedule(facts, source).stop_ns
    return int((stop[1:] < np.maximum.accumulate(stop)[:-1]).sum())
