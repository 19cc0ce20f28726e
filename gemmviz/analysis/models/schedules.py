"""Schedules of blocks: a model of their distribution over SMs, their states at an instant, and the blocks on each SM."""

import numpy as np
import numpy.typing as npt

from gemmviz.model.schedule import Schedule

WAITING, RUNNING, DONE = range(3)
WAVE_NS = 1000  # time of every block, in the model's unit


def modelled(blocks: int, sms: int, blocks_per_sm: int) -> Schedule:
    """A schedule in which every block takes the same time: the first blocks go to the SMs in turn until these are full; each
    later one takes the next free place. This models CUDA's waves, not the scheduler of any GPU, which is not published.
    """
    number = np.arange(blocks, dtype=np.int64)
    held = max(1, sms * blocks_per_sm)
    start = number // held * WAVE_NS
    return Schedule((number % held % sms).astype(np.int32), start, start + WAVE_NS, WAVE_NS)


def waves(blocks: int, sms: int, blocks_per_sm: int) -> int:
    """Number of times that all SMs are filled before every block has run."""
    return -(-blocks // max(1, sms * blocks_per_sm))


def states(schedule: Schedule, at_ns: float) -> npt.NDArray[np.int8]:
    """The state of each block at an instant: WAITING, RUNNING or DONE."""
    running = (schedule.start_ns <= at_ns) & (at_ns < schedule.stop_ns)
    return np.where(schedule.stop_ns <= at_ns, DONE, np.where(running, RUNNING, WAITING)).astype(np.int8)


def residents(schedule: Schedule, sms: int, columns: int, span_ns: int) -> npt.NDArray[np.int32]:
    """Blocks on each SM in the middle of each of ``columns`` intervals of a span: (sms, columns)."""
    middles = (np.arange(columns) + 0.5) * span_ns / columns
    changes = np.zeros((sms, columns + 1), np.int32)
    np.add.at(changes, (schedule.sm, np.searchsorted(middles, schedule.start_ns)), 1)
    np.add.at(changes, (schedule.sm, np.searchsorted(middles, schedule.stop_ns)), -1)
    return np.cumsum(changes, axis=1)[:, :columns].astype(np.int32)
