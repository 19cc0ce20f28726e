"""The run as a picture: up to five tracks one below the other, time to the right, barriers across all tracks, and marks at
hazards and at an early end.
"""

import numpy as np

from gemmviz.analysis.replay.replay import BARRIER, STORE_C, TRACKS, Replay, short_track_names, track_names
from gemmviz.model.arrays import Bytes
from gemmviz.model.messages import many, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import CAP_HEIGHT, Cells, Labels, Lines, Primitive, Rects, boxes, fitted, points, text_width
from gemmviz.scenes.kit.theme import Palette, Theme, mixed

_MOST_COLUMNS = 1600
_FULL_SHARE = 0.34  # of the steps of a column: from here on a track has its full colour
_LEAST_BARRIER = 3.0  # units per step; narrower barriers would hide the tracks
_EMPTY, _SOFT, _FULL = range(3)
_TOP, _LEAST_HEIGHT = 14.0, 68.0  # above tracks without brackets; of a timeline with brackets
_NAME_AIR, _WIDEST_NAME = 14.0, 0.16  # between names and tracks; share of the width that a name has
_PHASES, _NAME_PITCH = 1.1, 1.12  # heights of the phases above the tracks, and of a track with a name, in sizes of text
_FLOAT_ERROR = 1e-6
_BASE, _TICK, _BESIDE = 7.0, 6.0, 6.0  # of a phase: baseline above the tracks; height of its ends; gap between line and text


def timeline_primitives(replay: Replay, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the timeline without the current position."""
    columns = min(replay.steps, _MOST_COLUMNS)
    fill = replay.cached(("timeline", columns), lambda: _filled(replay, columns))
    step, pitch = room.width / columns, room.height / len(fill)
    cells = Cells("score", room.x, room.y, step, fill, timeline_palette(theme), timeline_palette(theme), height=pitch)
    return [cells, *_barriers(replay, room, theme), *_hazard_marks(replay, room, theme)]


def height_with_names(replay: Replay | None, theme: Theme) -> float:
    """Return the height of the timeline of a run with the names of its tracks and phases; for None, the most of any run."""
    rows, has_phases = (TRACKS, True) if replay is None else (len(_used_tracks(replay)), replay.has_phases)
    size = theme.type.least
    return max(_LEAST_HEIGHT, (_PHASES * size if has_phases else _TOP) + rows * _NAME_PITCH * size)


def track_room(replay: Replay, whole: Box, theme: Theme) -> Box:
    """Return the part of a box that the tracks take beside their names and below the phases."""
    has_phases = replay.has_phases and whole.height >= _LEAST_HEIGHT
    room = whole.trimmed(top=_PHASES * theme.type.least if has_phases else _TOP)
    names = _track_names(replay, whole, theme)
    if room.height < _NAME_PITCH * theme.type.least * len(names) - _FLOAT_ERROR:
        return room
    return room.trimmed(left=max(text_width(name, theme.type.least) for name in names.values()) + 2 * _NAME_AIR)


def timeline_names(replay: Replay, whole: Box, theme: Theme) -> list[Primitive]:
    """Draw the names of the tracks on their left and the phases above them, as far as there is room."""
    size, room = theme.type.least, track_room(replay, whole, theme)
    phases = _phases(replay, room, theme) if room.y - whole.y > _TOP else []
    if room.x == whole.x:
        return phases
    names, colours = _track_names(replay, whole, theme), _name_colours(theme)
    pitch, right = room.height / len(names), room.x - _NAME_AIR
    words = [
        text_at(f"track-{track}", (right, baseline(room.y + (row + 0.5) * pitch, size)), name, size, colours[track], "end")
        for row, (track, name) in enumerate(names.items())
    ]
    return [*words, *phases]


def track_text(replay: Replay, y: float, room: Box) -> str:
    """Return what the track at a y holds, in words."""
    tracks = _used_tracks(replay)
    row = int((y - room.y) / room.height * len(tracks))
    return track_names(replay.trace.setup.problem)[tracks[max(0, min(len(tracks) - 1, row))]]


def _used_tracks(replay: Replay) -> list[int]:
    """Return the tracks that have a step, all of them in a run that only waits."""
    return sorted(replay.timeline.tracks & set(range(TRACKS))) or list(range(TRACKS))


def _track_names(replay: Replay, whole: Box, theme: Theme) -> dict[int, str]:
    """Return the names of the tracks, long ones cut."""
    names: tuple[str, ...] = replay.cached("short track names", lambda: short_track_names(replay.trace))
    return {track: fitted(names[track], theme.type.least, _WIDEST_NAME * whole.width) for track in _used_tracks(replay)}


def _phases(replay: Replay, room: Box, theme: Theme) -> list[Primitive]:
    """Draw a bracket with its number above each phase that has the space for it."""
    size, phase = theme.type.least, replay.trace.phase
    starts = np.flatnonzero(np.diff(phase, prepend=phase[0] - 1))
    stops = np.append(starts[1:], len(phase))
    base, segments, at, texts = room.y - _BASE, [], [], []
    y = base - CAP_HEIGHT * size / 2
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        number = int(phase[start])
        left, right = (x_of_step(step, replay.steps, room) for step in (start, stop))
        text = tr("phase {number}", number=number + 1)
        air = 2 * (_BESIDE + 2)
        if text_width(text, size) + air > right - left:
            text = str(number + 1)
        if not 0 <= number < replay.phases or text_width(text, size) + air > right - left:
            continue
        middle, half = (left + right) / 2, text_width(text, size) / 2 + _BESIDE
        for end, inner in ((left + 2, middle - half), (right - 2, middle + half)):
            segments += [(end, y, inner, y), (end, y, end, y + _TICK)]
        at.append((middle, base))
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


def _filled(replay: Replay, columns: int) -> Bytes:
    density = replay.timeline.shares_over(columns)[:BARRIER]
    level = np.where(density >= _FULL_SHARE, _FULL, np.where(density > 0, _SOFT, _EMPTY))
    track = np.arange(BARRIER)[:, None]
    return np.where(level == _EMPTY, 0, 2 * track + level).astype(np.uint8)[_used_tracks(replay)]


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


def _hazard_marks(replay: Replay, room: Box, theme: Theme) -> list[Primitive]:
    """Draw marks above the tracks at hazards, and at the end of a run that ended early."""
    steps = [*replay.conflicts.steps, *([replay.steps - 1] if replay.trace.stop is not None else [])]
    if not steps:
        return []
    places = sorted({round(x_of_step(step + 0.5, replay.steps, room)) for step in steps})
    return [Rects("score-hazards", boxes(*((x - 2.5, room.y - 8.0, 5.0, 8.0) for x in places)), theme.warning)]
