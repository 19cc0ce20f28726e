"""The cost of each step as a chart: sectors upwards, wavefronts of shared memory downwards, each split into needed and
lost.

If there are more steps than fit a frame, each bar is the mean of some successive steps.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.focus import Scope, focus_text
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.chart import Axis, Bars, Chart, Mark, Role
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.translation import tr

_MOST_BARS = 2000


def cost_chart(replay: Replay, scope: Scope, step: int) -> Chart:
    """Return the costs of the watched block or warps, with a mark at ``step``. The axis counts steps from 1."""
    columns = [COST_COLUMNS.index(name) for name in ("sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")]
    costs: npt.NDArray[np.number[Any]] = replay.costs(scope)[:, columns]
    together = -(-len(costs) // _MOST_BARS)
    if together > 1:
        starts = np.arange(0, len(costs), together)
        costs = np.add.reduceat(costs, starts, axis=0) / np.diff(starts, append=len(costs))[:, None]
    sectors, needed, wavefronts, ideal = costs.T
    nothing = np.zeros_like(needed)
    parts: tuple[tuple[Role, np.ndarray, np.ndarray], ...] = (
        ("needed", nothing, needed),
        ("lost", needed, sectors - needed),
        ("also needed", nothing, -ideal),
        ("lost", -ideal, ideal - wavefronts),
    )
    rules = replay.trace.rules
    mean = tr("; each bar is the mean of {count} steps", count=together) if together > 1 else ""
    return Chart(
        tr("Cost per step"),
        Axis(tr("step")),
        Axis(
            tr(
                "up: {sector_bytes}-byte sectors of global memory; down: wavefronts of shared memory",
                sector_bytes=rules.sector_bytes,
            ),
            unsigned=True,
        ),
        bars=tuple(_cost_bars(*part, together) for part in parts if part[2].any()),
        marks=(Mark(step + 1, is_here=True),),
        notes=(
            tr(
                "{focus_text}, counted from the trace; red: excess{mean}",
                focus_text=focus_text(scope.focus, replay.trace),
                mean=mean,
            ),
        ),
        hint=tr("Click to go to a step"),
    )


def _cost_bars(role: Role, bottoms: np.ndarray, heights: np.ndarray, together: int) -> Bars:
    bars = np.flatnonzero(heights)
    x, low, high = (bars * together + (together + 1) / 2).tolist(), bottoms[bars].tolist(), heights[bars].tolist()
    return Bars(role, tuple(map(float, x)), tuple(map(float, low)), tuple(map(float, high)), 0.86 * together)
