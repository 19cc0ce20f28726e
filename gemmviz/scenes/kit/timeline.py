"""The run as a picture: five tracks one below the other, time to the right, barriers across all tracks, and marks at
hazards and at an early end.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.timeline import BARRIER, STORE_C, TRACKS, short_track_names, track_names
from gemmviz.model.translation import many, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Palette, Theme, mixed

_MOST_COLUMNS = 1600
_FULL_SHARE = 0.34  # of the steps of a column: from here on a track has its full colour
_LEAST_BARRIER = 3.0  # units per step; narrower barriers would hide the tracks
_EMPTY, _SOFT, _FULL = range(3)
_TOP, _LEAST_HEIGHT = 14.0, 80.0  # above tracks without brackets; of a timeline with brackets
_NAME_AIR = 14.0  # between names and tracks
_PHASES, _NAME_PITCH = 1.4, 0.9  # height of the phases above the tracks, and of a track with a name, in sizes of text


def timeline_primitives(replay: Replay, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the timeline without the current position."""
    columns = min(replay.steps, _MOST_COLUMNS)
    fill = replay.cached(("timeline", columns), lambda: _filled(replay, columns))
    rows = TRACKS
    step = room.width / columns
    cells = Cells(
        "score", room.x, room.y, step, fill, timeline_palette(theme), timeline_palette(theme), height=room.height / rows,
    )  # fmt: skip
    return [cells, *_barriers(replay, room, theme), *_marks(replay, room, theme)]


def track_room(replay: Replay, whole: Box, theme: Theme) -> Box:
    """Return the part of a box that the tracks take beside their names and below the phases."""
    has_phases = replay.has_phases and whole.height >= _LEAST_HEIGHT
    room = whole.trimmed(top=_PHASES * theme.type.least if has_phases else _TOP)
    if room.height < _NAME_PITCH * theme.type.least * TRACKS:
        return room
    return room.trimmed(left=max(text_width(name, theme.type.least) for name in _names(replay)) + 2 * _NAME_AIR)


def timeline_names(replay: Replay, whole: Box, theme: Theme) -> list[Primitive]:
    """Draw the names of the tracks on their left and the phases above them, as far as there is room."""
    size, room = theme.type.least, track_room(replay, whole, theme)
    phases = _phases(replay, room, theme) if room.y - whole.y > _TOP else []
    if room.x == whole.x:
        return phases
    pitch, colours = room.height / TRACKS, _name_colours(theme)
    named = [(track, name) for track, name in enumerate(_names(replay)) if track in replay.timeline.tracks]
    at = {track: (room.x - _NAME_AIR, baseline(room.y + (track + 0.5) * pitch, size)) for track, _ in named}
    return [*(text_at(f"track-{track}", at[track], name, size, colours[track], "end") for track, name in named), *phases]


def _names(replay: Replay) -> tuple[str, ...]:
    names: tuple[str, ...] = replay.cached("short track names", lambda: short_track_names(replay.trace))
    return names


def _phases(replay: Replay, room: Box, theme: Theme) -> list[Primitive]:
    """Draw a numbered bracket above each phase that has the space for it."""
    size, phase = theme.type.least, replay.trace.phase
    starts = np.flatnonzero(np.diff(phase, prepend=phase[0] - 1))
    stops = np.append(starts[1:], len(phase))
    y, segments, at, texts = room.y - 7.0, [], [], []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        number = int(phase[start])
        left, right = (x_of_step(step, replay.steps, room) for step in (start, stop))
        text = tr("phase {number}", number=number + 1)
        if text_width(text, size) + 8 > right - left:
            text = str(number + 1)
        if not 0 <= number < replay.phases or text_width(text, size) + 8 > right - left:
            continue
        segments += [(left + 2, y, right - 2, y), (left + 2, y, left + 2, y + 5), (right - 2, y, right - 2, y + 5)]
        at.append(((left + right) / 2, y - 5))
        texts.append(text)
    if not texts:
        return []
    lines = Lines("phases", np.asarray(segments, np.float64), theme.faint, 1.5)
    return [lines, Labels("phase-names", points(*at), tuple(texts), size, theme.faint, "middle")]


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
    where = tr(", phase {phase}", phase=phase + 1) if replay.has_phases and 0 <= phase < replay.phases else ""
    steps = (
        tr("step {first}", first=first + 1) if stop - first == 1 else tr("steps {first} to {stop}", first=first + 1, stop=stop)
    )
    ends = trace.stop is not None and stop == trace.steps
    parts = [f"{steps}{where}: {what}"]
    hazards = [at for at in replay.conflicts.steps if first <= at < stop]
    parts += [tr("hazards in {steps}", steps=many(len(hazards), "step"))] if hazards else []
    return "; ".join([*parts, *([tr("the run ends here")] if ends else [])])


def timeline_palette(theme: Theme) -> Palette:
    """Return the colour of empty columns, then a soft and a full colour for each track: the matrices' own colours, and
    greys for tiles.
    """
    return theme.empty, *(
        shade for colour in _track_colours(theme) for shade in (mixed(theme.background, colour, 0.45), colour)
    )


def _track_colours(theme: Theme) -> tuple[str, ...]:
    grey, light = (mixed(theme.background, theme.text, share) for share in (0.3, 0.95))
    return theme.accent("A"), theme.accent("B"), grey, light, theme.accent("C")


def _name_colours(theme: Theme) -> tuple[str, ...]:
    """Return colours in which the names of the tracks can be read."""
    return theme.accent("A"), theme.accent("B"), theme.faint, theme.text, theme.accent("C")


def _filled(replay: Replay, columns: int) -> npt.NDArray[np.uint8]:
    density = replay.timeline.shares_over(columns)[:BARRIER]
    level = np.where(density >= _FULL_SHARE, _FULL, np.where(density > 0, _SOFT, _EMPTY))
    track = np.arange(BARRIER)[:, None]
    return np.where(level == _EMPTY, 0, 2 * track + level).astype(np.uint8)


def _barriers(replay: Replay, room: Box, theme: Theme) -> list[Primitive]:
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
    return [Rects("score-barriers", lines, theme.faint)]


def _marks(replay: Replay, room: Box, theme: Theme) -> list[Primitive]:
    """Draw marks above the tracks at hazards, and at the end of a run that ended early."""
    steps = [*replay.conflicts.steps, *([replay.steps - 1] if replay.trace.stop is not None else [])]
    if not steps:
        return []
    places = sorted({round(x_of_step(step + 0.5, replay.steps, room)) for step in steps})
    return [Rects("score-hazards", boxes(*((x - 2.5, room.y - 8.0, 5.0, 8.0) for x in places)), theme.warning)]
