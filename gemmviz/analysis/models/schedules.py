"""Blocks over time: a model of how an SM takes them, which of them run at an instant, and how many each SM holds."""

import numpy as np
import numpy.typing as npt

from gemmviz.model.schedule import Schedule

WAITING, RUNNING, DONE = range(3)
WAVE_NS = 1000  # of the model's own time: what every block takes


def modelled(blocks: int, sms: int, blocks_per_sm: int) -> Schedule:
    """As if every block took the same time: the first blocks go to the SMs in turn, as many as these hold; the next ones take
    the places that become free. A model of what CUDA calls a wave, not of any GPU's scheduler, which nobody has published.
    """
    number = np.arange(blocks, dtype=np.int64)
    held = max(1, sms * blocks_per_sm)
    start = number // held * WAVE_NS
    return Schedule((number % held % sms).astype(np.int32), start, start + WAVE_NS, WAVE_NS)


def waves(blocks: int, sms: int, blocks_per_sm: int) -> int:
    """How often all SMs are filled before every block has run."""
    return -(-blocks // max(1, sms * blocks_per_sm))


def states(schedule: Schedule, at_ns: float) -> npt.NDArray[np.int8]:
    """Of each block at an instant: WAITING, RUNNING or DONE."""
    running = (schedule.start_ns <= at_ns) & (at_ns < schedule.stop_ns)
    return np.where(schedule.stop_ns <= at_ns, DONE, np.where(running, RUNNING, WAITING)).astype(np.int8)


def residents(schedule: Schedule, sms: int, columns: int, span_ns: int) -> npt.NDArray[np.int32]:
    """How many blocks each SM holds in the middle of each of so many stretches of a span: (sms, columns)."""
    middles = (np.arange(columns) + 0.5) * span_ns / columns
    changes = np.zeros((sms, columns + 1), np.int32)
    np.add.at(changes, (schedule.sm, np.searchsorted(middles, schedule.start_ns)), 1)
    np.add.at(changes, (schedule.sm, np.searchsorted(middles, schedule.stop_ns)), -1)
    return np.cumsum(changes, axis=1)[:, :columns].astype(np.int32)
