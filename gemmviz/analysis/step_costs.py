"""What every step costs, as a chart: sectors up, wavefronts of shared memory down, each split into needed and lost."""

import numpy as np

from gemmviz.analysis.focus import Scope, focus_text
from gemmviz.analysis.replay import Replay
from gemmviz.model.chart import Axis, Bars, Chart, Mark, Role
from gemmviz.model.sinks import COST_COLUMNS


def cost_chart(replay: Replay, scope: Scope, step: int) -> Chart:
    """Of the watched block or warps, with a mark at ``step``. Steps count from 1."""
    columns = [COST_COLUMNS.index(name) for name in ("sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")]
    sectors, needed, wavefronts, ideal = replay.costs(scope)[:, columns].T
    nothing = np.zeros_like(needed)
    parts: tuple[tuple[Role, np.ndarray, np.ndarray], ...] = (
        ("needed", nothing, needed),
        ("lost", needed, sectors - needed),
        ("also needed", nothing, -ideal),
        ("lost", -ideal, ideal - wavefronts),
    )
    rules = replay.trace.rules
    return Chart(
        "Cost of each step",
        Axis("step"),
        Axis(f"up: {rules.sector_bytes}-byte sectors of global memory; down: wavefronts of shared memory", unsigned=True),
        bars=tuple(_bars(*part) for part in parts if part[2].any()),
        marks=(Mark(step + 1, is_here=True),),
        notes=(f"{focus_text(scope.focus, replay.trace)}, counted from the trace; red: more than needed",),
        hint="Click to go to a step",
    )


def _bars(role: Role, bottoms: np.ndarray, heights: np.ndarray) -> Bars:
    steps = np.flatnonzero(heights)
    x, low, high = (steps + 1).tolist(), bottoms[steps].tolist(), heights[steps].tolist()
    return Bars(role, tuple(map(float, x)), tuple(map(float, low)), tuple(map(float, high)))
