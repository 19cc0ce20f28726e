"""The run as a picture: five tracks one below the other, time to the right, barriers across all tracks, and marks at
hazards and at an early end.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.timeline import BARRIER, STORE_C, TRACKS, track_names
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.palette import Palette
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, boxes
from gemmviz.scenes.kit.theme import Theme, mixed

_MOST_COLUMNS = 1600
_FULL_SHARE = 0.34  # of the steps of a column: from here on a track has its full colour
_LEAST_BARRIER = 3.0  # units per step; narrower barriers would hide the tracks
_EMPTY, _SOFT, _FULL = range(3)


def timeline_primitives(replay: Replay, room: Box, theme: Theme, key: str = "score") -> list[Primitive]:
    """Draw the timeline without the current position."""
    columns = min(replay.steps, _MOST_COLUMNS)
    fill = _fill(replay, columns)
    rows = TRACKS
    step = room.width / columns
    cells = Cells(
        key, room.x, room.y, step, fill, timeline_palette(theme), timeline_palette(theme), height=room.height / rows,
    )  # fmt: skip
    return [cells, *_barriers(replay, room, theme, key), *_marks(replay, room, theme, key)]


def x_of_step(step: float, steps: int, room: Box) -> float:
    """Return the x of the beginning of a step."""
    return room.x + room.width * step / max(1, steps)


def step_under(x: float, steps: int, room: Box) -> int:
    """Return the step at an x."""
    return max(0, min(steps - 1, int((x - room.x) / max(1e-9, room.width) * steps)))


def segment_text(replay: Replay, step: int) -> str:
    """Describe the segment that contains a step: "steps 5 to 12, phase 1: compute"."""
    timeline, trace = replay.timeline, replay.trace
    first, stop = timeline.segment(step)
    track, phase = int(timeline.track[step]), int(trace.phase[step])
    site = trace.site_of(step)
    what = track_names(trace.setup.problem)[track] if track < STORE_C else site.kind
    if track == STORE_C:
        what = " ".join([what, *(trace.arrays[operand.array].name for operand in site.operands[:1])])
    where = f", phase {phase + 1}" if 0 <= phase < replay.phases else ""
    steps = f"step {first + 1}" if stop - first == 1 else f"steps {first + 1} to {stop}"
    ends = trace.stop is not None and stop == trace.steps
    parts = [f"{steps}{where}: {what}"]
    hazards = [at for at in replay.conflicts.steps if first <= at < stop]
    parts += [f"hazards in {many(len(hazards), 'step')}"] if hazards else []
    return "; ".join([*parts, *(["the run ends here"] if ends else [])])


def timeline_palette(theme: Theme) -> Palette:
    """Return the colour of empty columns, then a soft and a full colour for each track: the matrices' own colours, and
    greys for tiles.
    """
    colours = (theme.accent("A"), theme.accent("B"), theme.faint, theme.text, theme.accent("C"))
    return theme.empty, *(shade for colour in colours for shade in (mixed(theme.background, colour, 0.45), colour))


def _fill(replay: Replay, columns: int) -> npt.NDArray[np.uint8]:
    """Return the palette entry of each track in each column: (tracks, columns)."""
    return replay.cached(("timeline", columns), lambda: _filled(replay, columns))


def _filled(replay: Replay, columns: int) -> npt.NDArray[np.uint8]:
    density = replay.timeline.shares_over(columns)[:BARRIER]
    level = np.where(density >= _FULL_SHARE, _FULL, np.where(density > 0, _SOFT, _EMPTY))
    track = np.arange(BARRIER)[:, None]
    return np.where(level == _EMPTY, 0, 2 * track + level).astype(np.uint8)


def _barriers(replay: Replay, room: Box, theme: Theme, key: str) -> list[Primitive]:
    """Draw a line across all tracks for each barrier, if there is space."""
    wide = room.width / max(1, replay.steps)
    if wide < _LEAST_BARRIER:
        return []
    at = np.flatnonzero(replay.timeline.track == BARRIER)
    if not len(at):
        return []
    thick = min(3.0, wide)
    x = room.x + (at + 0.5) * wide - thick / 2
    lines = np.stack([x, np.full(len(at), room.y), np.full(len(at), thick), np.full(len(at), room.height)], axis=1)
    return [Rects(f"{key}-barriers", lines, theme.warning)]


def _marks(replay: Replay, room: Box, theme: Theme, key: str) -> list[Primitive]:
    """Draw marks above the tracks at hazards, and at the end of a run that ended early."""
    steps = [*replay.conflicts.steps, *([replay.steps - 1] if replay.trace.stop is not None else [])]
    if not steps:
        return []
    places = sorted({round(x_of_step(step + 0.5, replay.steps, room)) for step in steps})
    return [Rects(f"{key}-hazards", boxes(*((x - 2.0, room.y - 5.0, 4.0, 5.0) for x in places)), theme.warning)]
