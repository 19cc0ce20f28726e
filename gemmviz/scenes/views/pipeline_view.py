"""A block's pipeline: what is under way into each stage of its shared memory, when it is waited for and read, and how its warps
meet where they have roles of their own. Time runs to the right, from step to step; runs of equal steps are drawn shorter.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import BARRIER, COMPUTE, LOAD_A, LOAD_B, NOWHERE, STORE_C, STORE_TILE
from gemmviz.model.arrays import Bools, Floats, Longs
from gemmviz.model.messages import counted, many, marked, tr
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Touches, Trace
from gemmviz.scenes.kit.layout import (
    AIR,
    NEAR,
    REST,
    ROW_PITCH,
    STROKE,
    Box,
    fits_box,
    round_boxes,
    swatches,
    upright,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.theme import DIM, HALF, NOW, SOFT, Theme, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, framed, message

_MOST_STAGES, _MOST_TRACKS = 8, 4
_LONGEST, _STEP = 3.0, 15.0  # of a run of equal steps, in steps; width of a step, in units
_NAMES, _TRACK = 0.4, 34  # of the width: the names, at most; height of a track
_BEHIND = 0.62  # share of the room that shows what was before this step


class Fill(NamedTuple):
    """Elements of an array that come into one stage: the first and the last step that brings them, the step at which they have
    come (that of the wait for a copy), and the steps that read them, until the stage is filled again.
    """

    array: int
    stage: int
    first: int
    last: int
    arrives: int
    reads: tuple[int, ...]

    @property
    def end(self) -> int:
        return max((*self.reads, self.arrives, self.last)) + 1


class Track(NamedTuple):
    """Warps that wait at the same places: the first and the last, the steps that they make, with the kind of each, and whether
    they are all warps of the block.
    """

    warps: tuple[int, int]
    steps: Longs
    kinds: Longs
    is_alone: bool

    @property
    def name(self) -> str:
        """The warps, and what they do most if others do something else."""
        first, last = self.warps
        who = tr("warp {first}", first=first) if first == last else tr("warps {first} to {last}", first=first, last=last)
        fills, reads = (int((self.kinds == kind).sum()) for kind in (STORE_TILE, COMPUTE))
        if self.is_alone or fills == reads:
            return who
        return tr("{warps}: fill", warps=who) if fills > reads else tr("{warps}: compute", warps=who)


class Pipeline(NamedTuple):
    """``x`` (steps + 1,): where each step begins, in steps that runs of equal steps are shortened to; ``stages``: their number;
    ``meetings``: pairs of a track and a step at which tracks meet, the earlier first.
    """

    fills: tuple[Fill, ...]
    tracks: tuple[Track, ...]
    stages: int
    x: Floats
    meetings: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    @property
    def copies(self) -> list[Fill]:
        """The fills that are under way for some steps and are waited for."""
        return [fill for fill in self.fills if fill.arrives > fill.last and fill.arrives < len(self.x) - 1]


def pipeline_of(moment: Moment) -> Pipeline:
    """The pipeline of the watched block."""
    found: Pipeline = moment.replay.cached(("pipeline", moment.scope.of_block.start), lambda: _pipeline(moment))
    return found


def _pipeline(moment: Moment) -> Pipeline:
    trace, block = moment.trace, moment.scope.of_block
    fills = [fill for number, array in enumerate(trace.arrays) for fill in _fills(trace, block, number, array)]
    tracks = _warp_tracks(moment)
    stages = 1 + max((fill.stage for fill in fills), default=-1)
    kind, here = np.full(trace.steps, -1), np.full(trace.steps, -1)
    for number, track in enumerate(tracks):
        kind[track.steps], here[track.steps] = track.kinds, number
    breaks = (np.diff(kind) != 0) | (np.diff(here) != 0) | (np.diff(trace.phase) != 0)
    starts = np.concatenate([[0], np.flatnonzero(breaks) + 1, [trace.steps]])
    lengths = np.diff(starts)
    wide = np.repeat(np.minimum(1.0, _LONGEST / lengths), lengths) * (kind >= 0)
    return Pipeline(tuple(fills), tracks, stages, np.concatenate([[0.0], np.cumsum(wide)]), tuple(_meetings(trace, tracks)))


def _fills(trace: Trace, block: slice, number: int, array: MemoryArray) -> Iterator[Fill]:
    """Yield what comes into a shared array of the block, stage by stage."""
    writes = [_spans(trace, block, touches) for touches in trace.touches_of(number, "write")] if array.space == "shared" else []
    if not writes:
        return
    written = np.concatenate(writes, axis=1)
    written = written[:, np.argsort(written[0], kind="stable")]
    starts = _stage_starts(trace, array, written)
    reads = [_spans(trace, block, touches) for touches in trace.touches_of(number, "read")]
    read = np.concatenate([np.zeros((3, 0), np.int64), *reads], axis=1)
    (first, last), (first_read, last_read) = (np.searchsorted(starts, each[1:], side="right") - 1 for each in (written, read))
    for stage in range(len(starts)):
        steps = written[0, (first <= stage) & (last >= stage)]
        reading = np.sort(read[0, (first_read <= stage) & (last_read >= stage)])
        ends = trace.completes[steps] if len(trace.completes) else steps
        apart = (np.diff(ends) > 0) & (np.searchsorted(reading, steps[1:]) > np.searchsorted(reading, steps[:-1]))
        apart |= (np.diff(ends) > 0) & (ends[1:] != steps[1:])
        for start, stop in _runs(apart, len(steps)):
            begins, until = int(steps[start]), int(steps[stop]) if stop < len(steps) else trace.steps
            own = reading[(reading > begins) & (reading < until)]
            yield Fill(number, stage, begins, int(steps[stop - 1]), int(ends[start:stop].max()), tuple(own.tolist()))


def _runs(apart: Bools, count: int) -> Iterator[tuple[int, int]]:
    """The runs of ``count`` things, half-open; ``apart`` (count - 1,): whether a run ends between one and the next."""
    edges = [0, *(np.flatnonzero(apart) + 1).tolist(), count]
    return pairwise(edges if count else ())


def _spans(trace: Trace, block: slice, touches: Touches) -> Longs:
    """The steps of an operand at which the block takes part, and the first and the last element that it touches: (3, n)."""
    elements = trace.element[touches.rows, block].astype(np.int64)
    active = elements >= 0
    some = active.any(axis=1)
    low = np.where(active, elements, np.iinfo(np.int64).max).min(axis=1)
    high = elements.max(axis=1) + touches.operand.layout.farthest
    return np.stack([touches.steps[some].astype(np.int64), low[some], high[some]])


def _stage_starts(trace: Trace, array: MemoryArray, written: Longs) -> Longs:
    """The first element of each stage of an array: of its leading dimension if what is filled together lies in one index of
    that, else of the parts that are filled together. Copies that are waited for together are, and so are stores of a phase.
    """
    size, steps = array.size // array.shape[0], written[0]
    ends = trace.completes[steps] if len(trace.completes) else steps
    copied = ends > steps
    group, each = (ends[copied], steps[copied]) if copied.any() else (trace.phase[steps], trace.phase[steps])
    low, high = written[1:, copied] if copied.any() else written[1:]
    filled = _group_extents(each, low, high)
    if len(array.shape) > 1 and array.shape[0] <= _MOST_STAGES and all(a // size == b // size for a, b in filled):
        return np.arange(array.shape[0]) * size
    parts = _group_extents(group, low, high)
    starts, reached = list[int](), -1
    for low, high in sorted(set(parts)):
        starts += [low] if low > reached else []
        reached = max(reached, high)
    return np.array(starts if len(starts) <= _MOST_STAGES else starts[:1], np.int64)


def _group_extents(group: Longs, low: Longs, high: Longs) -> list[tuple[int, int]]:
    """The first and the last element of each group of spans."""
    return [(int(low[group == each].min()), int(high[group == each].max())) for each in np.unique(group).tolist()]


def _warp_tracks(moment: Moment) -> tuple[Track, ...]:
    """The warps of the block, divided into those that wait at the same places; warps that only wait with all others belong to
    no track, unless all do.
    """
    trace, block, size = moment.trace, moment.scope.of_block, moment.trace.rules.warp_size
    starts = np.arange(0, trace.space.threads_per_block, size)
    active = np.logical_or.reduceat(trace.element[trace.row[:-1], block] >= 0, starts, axis=1)
    kind = moment.replay.timeline.track.astype(np.int64)
    kind = np.where((kind == LOAD_A) | (kind == LOAD_B), STORE_TILE, kind)
    groups = list[set[int]]()
    for number, site in enumerate(trace.sites):
        warps = set(np.flatnonzero(active[trace.site == number].any(axis=0)).tolist())
        if site.kind in ("barrier", "arrive", "wait") and 0 < len(warps) < len(starts):
            joined = [group for group in groups if group & warps]
            groups = [group for group in groups if not group & warps] + [warps.union(*joined)]
    groups = sorted(groups or [set(range(len(starts)))], key=min)[:_MOST_TRACKS]
    tracks = []
    for group in groups:
        steps = np.flatnonzero(active[:, sorted(group)].any(axis=1))
        steps = steps[kind[steps] != NOWHERE]
        tracks.append(Track((min(group), max(group)), steps, kind[steps], len(groups) == 1))
    return tuple(tracks)


def _meetings(trace: Trace, tracks: tuple[Track, ...]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield each pair of steps of different tracks that follow each other at one barrier."""
    events: dict[Any, list[tuple[int, int]]] = {}
    steps, counts = np.unique(np.concatenate([track.steps for track in tracks]), return_counts=True)
    together = set(steps[counts > 1].tolist())
    for number, track in enumerate(tracks):
        for step in (each for each in track.steps.tolist() if each not in together):
            site = trace.site_of(step)
            if site.kind in ("barrier", "arrive") or (site.kind == "wait" and site.operand(0) is not None):
                row = trace.element[int(trace.row[step])]
                operand = site.operand(0)
                key = -1 if operand is None else operand.array, int(row.max())
                events.setdefault(key, []).append((step, number))
    for several in events.values():
        for (step, number), (later, other) in pairwise(sorted(several)):
            if number != other and step != later:
                yield (number, step), (other, later)


# The picture


class _Plan(NamedTuple):
    """The boxes of the tracks and of the stages, of their names, and of what is told below them. ``first`` and ``last``: the
    part of the time that is shown, ``across`` the room of it.
    """

    tracks: list[Box]
    stages: list[Box]
    below: Box
    names: float
    across: Box
    first: float
    last: float

    @classmethod
    def of(cls, found: Pipeline, moment: Moment, options: ViewOptions) -> "_Plan":
        room, words = options.room(), 2 * ROW_PITCH * options.theme.type.words if options.words else 0
        upper, below = room.rows(REST, words, gap=NEAR)
        style = options.theme.small
        names = min(_NAMES * room.width, max(map(style.width, _row_names(found))) + AIR)
        count = len(found.tracks)
        above, lower = upper.rows(count * _TRACK + (count - 1) * 2 * AIR, REST, gap=AIR)
        tracks = [box.trimmed(left=names) for box in above.rows(*[REST] * count, gap=2 * AIR)]
        stages = [box.trimmed(left=names) for box in lower.rows(*[REST] * max(1, found.stages), gap=AIR)]
        across = lower.trimmed(left=names)
        whole, wide = float(found.x[-1]), across.width / _STEP
        first = max(0.0, min(float(found.x[moment.step]) - _BEHIND * wide, whole - wide))
        return cls(tracks, stages, below, names, across, first, first + min(wide, whole))

    def at(self, x: float) -> float:
        """The place of a time, at an edge if it isn't shown."""
        return float(np.interp(x, (self.first, self.last), (self.across.x, self.across.right)))

    def between(self, box: Box, start: float, end: float) -> Box | None:
        """The part of a row between two times, None if it isn't shown."""
        left, right = self.at(start), self.at(end)
        return Box(left, box.y, right - left, box.height) if right - left > 0.5 else None


def pipeline_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw tracks and stages with all that comes, faintly."""
    found = pipeline_of(moment)
    if not found.stages:
        return framed(
            [message(tr("This kernel fills no shared memory: nothing is under way into it"), options)], moment, options
        )
    theme, plan = options.theme, _Plan.of(found, moment, options)
    rows = [*plan.tracks, *plan.stages]
    labels = [Box(box.x - plan.names, box.y, plan.names - NEAR, box.height) for box in rows]
    pieces: list[Primitive] = [
        round_boxes("rows", rows, theme.panel), write_all("names", labels, _row_names(found), theme.small)
    ]  # fmt: skip
    pieces += _track_bars(found, plan, moment, theme, found.x[-1], "planned")
    pieces += [
        *_meeting_lines(found, plan, moment, theme),
        *_copy_distances(found, plan, moment, theme),
        *_progress_words(found, plan, moment, options),
    ]
    return framed(pieces, moment, options)


def _row_names(found: Pipeline) -> list[str]:
    return [*(track.name for track in found.tracks), *(tr("stage {number}", number=n) for n in range(found.stages))]


def pipeline_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw what has happened until now, and the present moment."""
    found = pipeline_of(moment)
    if not found.stages:
        return ()
    theme, plan = options.theme, _Plan.of(found, moment, options)
    before, after = found.x[moment.step : moment.step + 2].tolist()
    now = before + (after - before) * options.way
    whole = plan.across.trimmed(top=plan.tracks[0].y - plan.across.y) if plan.tracks else plan.across
    return *_track_bars(found, plan, moment, theme, now, "done"), upright("now", plan.at(now), whole, theme.text)


def _track_bars(found: Pipeline, plan: _Plan, moment: Moment, theme: Theme, until: float, key: str) -> list[Primitive]:
    """Draw the steps of the tracks and the fills of the stages until a time: "planned" faintly, "done" in full."""
    drawn, is_done, x = list[Primitive](), key == "done", found.x
    groups: dict[str, list[Box]] = {}

    def add(colour: str, strength: float, box: Box, start: float, end: float) -> None:
        part = plan.between(box, min(start, until), min(end, until))
        if part is not None:
            groups.setdefault(theme.faded(colour, strength if is_done else DIM), []).append(part)

    for track, box in zip(found.tracks, plan.tracks, strict=True):
        for kind in np.unique(track.kinds).tolist():
            steps = track.steps[track.kinds == kind]
            for start, stop in _runs(np.diff(steps) > 1, len(steps)):
                add(_track_colour(kind, theme), NOW, box.inset(0, 4), float(x[steps[start]]), float(x[steps[stop - 1] + 1]))
    arrays = sorted({fill.array for fill in found.fills})
    for fill in found.fills:
        lanes = plan.stages[fill.stage].inset(0, 4).rows(*[REST] * len(arrays), gap=4)
        box, colour = lanes[arrays.index(fill.array)], _array_colour(moment, fill.array, theme)
        arrives, end = float(x[min(fill.arrives, len(x) - 1)]), float(x[fill.end]) if fill.end < len(x) else float(x[-1])
        if fill.arrives > fill.last:
            add(colour, SOFT, box.grid(3, 1)[1], float(x[fill.first]), arrives)
        else:
            arrives = float(x[fill.first])
        add(colour, HALF, box, arrives, end)
        reads = np.array(fill.reads, np.int64)
        for start, stop in _runs(np.diff(reads) > len(arrays), len(reads)):
            add(colour, NOW, box, float(x[reads[start]]), float(x[reads[stop - 1] + 1]))
    for number, (colour, several) in enumerate(groups.items()):
        drawn.append(round_boxes(f"{key}-{number}", several, colour))
    return drawn


def _track_colour(kind: int, theme: Theme) -> str:
    """The colour of the steps of a track: of what fills, loads from global memory among it, computes, waits, and stores."""
    waits = mixed(theme.empty, theme.faint, HALF)
    return {COMPUTE: theme.text, BARRIER: waits, STORE_C: theme.accent("C")}.get(kind, theme.chosen)


def _array_colour(moment: Moment, number: int, theme: Theme) -> str:
    """The colour of the matrix of which a shared array holds most elements."""
    trace, arrays = moment.trace, moment.trace.arrays
    sources = [
        operand.array for site in trace.sites if site.touches(number) for operand in site.operands
        if arrays[operand.array].space == "global"
    ] or _copied_matrices(trace, number)  # fmt: skip
    return theme.accent(arrays[sources[0]].name) if sources else theme.slate


def _copied_matrices(trace: Trace, number: int) -> list[int]:
    """The matrix of which the first copy in a shared array is."""
    steps = np.isin(
        trace.origin_step, [step for touches in trace.touches_of(number, "write") for step in touches.steps.tolist()]
    )
    found = trace.origin_array[steps]
    return [int(found[found >= 0][0])] if (found >= 0).any() else []


def _meeting_lines(found: Pipeline, plan: _Plan, moment: Moment, theme: Theme) -> list[Primitive]:
    """Draw a line for each meeting of two tracks until now, from who comes first to who comes next."""
    lines = []
    for (track, step), (other, later) in found.meetings:
        start, end = ((found.x[at] + found.x[at + 1]) / 2 for at in (step, later))
        if start < plan.first or later > moment.step:
            continue
        upper, lower = (plan.tracks[n] for n in (track, other))
        down = upper.y < lower.y
        lines.append((plan.at(start), upper.bottom if down else upper.y, plan.at(end), lower.y if down else lower.bottom))
    return [Lines("meetings", boxes(*lines), theme.faint, STROKE)] if lines else []


def _copy_distances(found: Pipeline, plan: _Plan, moment: Moment, theme: Theme) -> list[Primitive]:
    """Write the number of steps from the issue of a copy to its wait where there is room."""
    style, arrays = theme.aside, sorted({fill.array for fill in found.fills})
    parts, texts = list[Box](), list[str]()
    for fill in found.copies:
        if fill.array != arrays[0] or plan.first > found.x[fill.first]:
            continue
        lane = plan.stages[fill.stage].inset(0, 4).rows(*[REST] * len(arrays), gap=4)[0]
        box = plan.between(lane, float(found.x[fill.first]), float(found.x[fill.arrives]))
        text = many(fill.arrives - fill.first, "step")
        if box is not None and fits_box(box.grid(3, 1)[0], [text], style, NEAR):
            parts.append(box.grid(3, 1)[0])
            texts.append(text)
    return [write_all("distances", parts, texts, style, "middle")] if texts else []


def _progress_words(found: Pipeline, plan: _Plan, moment: Moment, options: ViewOptions) -> list[Rects | Labels]:
    """Say what is under way now, what is waited for, and how long copies take."""
    if not options.words:
        return []
    theme, (upper, lower) = options.theme, plan.below.rows(REST, REST)
    under_way = {fill.stage for fill in found.fills if fill.first <= moment.step < fill.arrives}
    read = sorted({fill.stage for fill in found.fills if moment.step in fill.reads})
    said = [tr("{count} of {stages} under way", count=counted(len(under_way)), stages=many(found.stages, "stage"))]
    said += [tr("stage {number} is read", number=stage) for stage in read]
    waited = [fill for fill in found.fills if fill.arrives == moment.step > fill.last]
    if waited:
        number, ago = min(fill.stage for fill in waited), moment.step - min(fill.first for fill in waited)
        said.append(tr("waits for stage {number}, issued {steps} ago", number=number, steps=many(ago, "step")))
    parts = (
        (_track_colour(STORE_TILE, theme), tr("fills")),
        (_track_colour(COMPUTE, theme), tr("computes")),
        (_track_colour(BARRIER, theme), tr("waits")),
    )
    strengths = (SOFT, tr("under way")), (HALF, tr("there")), (NOW, tr("read"))
    accent = _array_colour(moment, found.fills[0].array, theme)
    looks: list[tuple[list[tuple[str | None, str | None]], str]] = [([(colour, None)], text) for colour, text in parts]
    looks += [([(theme.faded(accent, strength), None)], text) for strength, text in strengths]
    lengths = [fill.arrives - fill.first for fill in found.copies]
    if lengths:
        mean = sum(lengths) / len(lengths)
        looks.append(([], tr("from issue to wait: {mean} steps on average", mean=counted(f"{mean:.1f}"))))
    return [
        write("said", upper, "; ".join(said), theme.strong),
        *swatches("legend", lower, looks, theme.type.note, theme.faint),
    ]


VIEW = View(marked("Pipeline: what is under way"), Moment, pipeline_scene, pipeline_motion, order=308)
