"""The run as a picture: five voices one below the other, time to the right, barriers across all of them, and marks where
threads collide or the run ends early.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.timeline import BARRIER, STORE_C, VOICES
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.palette import Palette
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, boxes
from gemmviz.scenes.kit.theme import Theme, mixed

_MOST_COLUMNS = 1600
_LOUD = 0.34  # of a stretch's steps: from here on a voice has its full colour
_LEAST_BARRIER = 3.0  # units of a step: below, barriers would cover all else
_SILENT, _SOFT, _FULL = range(3)


def score_primitives(replay: Replay, room: Box, theme: Theme, key: str = "score") -> list[Primitive]:
    """All of it but the place where one is."""
    columns = min(replay.steps, _MOST_COLUMNS)
    fill = _fill(replay, columns)
    rows = len(VOICES)
    step = room.width / columns
    cells = Cells(
        key, room.x, room.y, step, fill, score_palette(theme), score_palette(theme), height=room.height / rows,
    )  # fmt: skip
    return [cells, *_barriers(replay, room, theme, key), *_marks(replay, room, theme, key)]


def place_of(step: float, steps: int, room: Box) -> float:
    """Where a step begins, along the room."""
    return room.x + room.width * step / max(1, steps)


def step_under(x: float, steps: int, room: Box) -> int:
    """The step at a place along the room."""
    return max(0, min(steps - 1, int((x - room.x) / max(1e-9, room.width) * steps)))


def segment_text(replay: Replay, step: int) -> str:
    """What the segment around a step is: "steps 5 to 12, phase 1: compute"."""
    score, trace = replay.score, replay.trace
    first, stop = score.segment(step)
    voice, phase = int(score.voice[step]), int(trace.phase[step])
    site = trace.site_of(step)
    what = VOICES[voice] if voice < STORE_C else site.kind
    if voice == STORE_C:
        what = " ".join([what, *(trace.arrays[operand.array].name for operand in site.operands[:1])])
    where = f", phase {phase + 1}" if 0 <= phase < replay.phases else ""
    steps = f"step {first + 1}" if stop - first == 1 else f"steps {first + 1} to {stop}"
    ends = trace.stop is not None and stop == trace.steps
    said = [f"{steps}{where}: {what}"]
    hazards = [at for at in replay.conflicts.steps if first <= at < stop]
    said += [f"threads collide in {many(len(hazards), 'step')}"] if hazards else []
    return "; ".join([*said, *(["the run ends here"] if ends else [])])


def score_palette(theme: Theme) -> Palette:
    """Silent, then soft and full for each voice: the matrices' own colours, and greys for what has to do with tiles."""
    voices = (theme.accent("A"), theme.accent("B"), theme.faint, theme.text, theme.accent("C"))
    return theme.empty, *(colour for voice in voices for colour in (mixed(theme.background, voice, 0.45), voice))


def _fill(replay: Replay, columns: int) -> npt.NDArray[np.uint8]:
    """Which entry of the palette each voice has in each stretch: (voices, columns)."""
    return replay.kept(("score", columns), lambda: _filled(replay, columns))


def _filled(replay: Replay, columns: int) -> npt.NDArray[np.uint8]:
    loudness = replay.score.loudness(columns)[:BARRIER]
    level = np.where(loudness >= _LOUD, _FULL, np.where(loudness > 0, _SOFT, _SILENT))
    voice = np.arange(BARRIER)[:, None]
    return np.where(level == _SILENT, 0, 2 * voice + level).astype(np.uint8)


def _barriers(replay: Replay, room: Box, theme: Theme, key: str) -> list[Primitive]:
    """A line across all voices for each, where there is room for them."""
    wide = room.width / max(1, replay.steps)
    if wide < _LEAST_BARRIER:
        return []
    at = np.flatnonzero(replay.score.voice == BARRIER)
    if not len(at):
        return []
    thick = min(3.0, wide)
    x = room.x + (at + 0.5) * wide - thick / 2
    lines = np.stack([x, np.full(len(at), room.y), np.full(len(at), thick), np.full(len(at), room.height)], axis=1)
    return [Rects(f"{key}-barriers", lines, theme.warning)]


def _marks(replay: Replay, room: Box, theme: Theme, key: str) -> list[Primitive]:
    """Above the voices: where threads collide, and where the run ended before its time."""
    steps = [*replay.conflicts.steps, *([replay.steps - 1] if replay.trace.stop is not None else [])]
    if not steps:
        return []
    places = sorted({round(place_of(step + 0.5, replay.steps, room)) for step in steps})
    return [Rects(f"{key}-hazards", boxes(*((x - 2.0, room.y - 5.0, 4.0, 5.0) for x in places)), theme.warning)]
