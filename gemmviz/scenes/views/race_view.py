"""A race as it ran: the order of the threads, the two accesses of which one came too early or too late, joined by a line, and
the wrong C beside the right one.
"""

import numpy as np

from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.words import capital, many, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View

_MOST_TURNS, _MOST_ROWS, _MOST_SIDE = 64, 12, 16
_MOST_TURNS_AROUND = 40  # turns shown around the guilty pair if there are more
_READ, _WRITE, _BARRIER, _STORE, _DIFFERENT, _NO_TURN = range(6)
_MEANINGS = ("reads", "writes", "waits", "stores the result", "reads a wrong value")
_TALL = 0.56  # of a row: height of a turn


def race_scene(case: RaceCase, options: ViewOptions) -> Scene:
    """Draw the order on the left, and both results on the right."""
    room = Box(MARGIN, 120.0, options.width - 2 * MARGIN, options.height - 120.0 - 30.0)
    left = Box(room.x, room.y, 0.6 * room.width, room.height)
    right = Box(room.x + 0.64 * room.width, room.y, 0.36 * room.width, room.height)
    one = case.kind[:-1]
    if case.ahead < 0:
        title = f"No order found that makes {case.result} wrong: {case.what}"
        whose = f"of the {many(case.units, one)} of a block"
        note = f"{many(case.tried, 'order')} {whose} were run, each with one ahead by 1 step or more"
        if case.tried < case.orders:
            note += f". {spaced(case.orders - case.tried)} more were not tried"
    else:
        wrong_count = int(case.spoilt.sum())
        verb = "is" if wrong_count == 1 else "are"
        title = (
            f"{one} {case.ahead} runs ahead by {many(case.lead, 'step')}, and {many(wrong_count, 'element')} of {case.result} "
            f"{verb} wrong"
        )
        note = f"{case.what}. {many(case.tried, 'order')} were run; this one has the shortest lead"
    return titled([*_order(case, left, options), *_results(case, right, options)], capital(title), note, options)


def story(case: RaceCase) -> list[str]:
    """Return sentences about what went wrong."""
    one, pair = case.kind[:-1], guilty_pair(case)
    if pair is None:
        return [f"all {many(case.tried, 'order')} that were run give the same {case.result}"]
    place, other = pair
    turn = case.turns[place]
    values = f"gives {_value(turn.value)}; in lockstep it gives {_value(turn.expected)}"
    sentences = [f"{one} {turn.unit}, line {turn.line}: {turn.action} {values}"]
    if other is not None:
        who = f"{one} {case.turns[other].unit}"
        late = f"{who} writes it {many(other - place, 'turn')} too late" if other > place else ""
        sentences.append(late or f"{who} already wrote it for the next phase, line {case.turns[other].line}")
    return sentences


def guilty_pair(case: RaceCase) -> tuple[int, int | None] | None:
    """Return the places of the first turn that reads a wrong value, and of the write that came too late or too early, None if
    there is none; None if no value is wrong.
    """
    place = next((place for place, turn in enumerate(case.turns) if turn.is_spoilt), None)
    if place is None:
        return None
    turn = case.turns[place]
    writes = [at for at, each in enumerate(case.turns) if each.action == f"write {turn.action.removeprefix('read ')}"]
    before = [at for at in writes if at < place and case.turns[at].unit != turn.unit]
    after = [at for at in writes if at > place]
    if after and not before:
        return place, after[0]
    return place, before[-1] if before else None


def _value(value: float | None) -> str:
    return "?" if value is None else f"{value:.4g}"


def _kind(turn: Turn, case: RaceCase) -> int:
    if turn.is_spoilt:
        return _DIFFERENT
    if not turn.array:
        return _BARRIER
    if turn.action.startswith("write"):
        return _STORE if turn.array == case.result else _WRITE
    return _READ


def _shown_turns(case: RaceCase) -> range:
    """Return the visible turns: all, or those around the guilty pair."""
    if len(case.turns) <= _MOST_TURNS:
        return range(len(case.turns))
    pair = guilty_pair(case)
    around = [0] if pair is None else [at for at in pair if at is not None]
    middle = (min(around) + max(around)) // 2
    start = max(0, min(middle - _MOST_TURNS_AROUND // 2, len(case.turns) - _MOST_TURNS_AROUND))
    return range(start, start + _MOST_TURNS_AROUND)


def _order(case: RaceCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw a row for each unit and a column for each turn, the guilty pair joined, with the legend and the sentences below."""
    theme, size = options.theme, options.theme.type.note
    one = case.kind[:-1]
    turns, shown = _shown_turns(case), min(case.units, _MOST_ROWS)
    name = text_width(f"{one} {case.units - 1}", size) + 16
    cell = (room.width - name) / max(1, len(turns))
    pitch = min(0.56 * room.height / shown, 112.0)
    x, top = room.x + name, room.y + 40
    names = points(*((x - 12, top + (row + 0.5) * pitch + 0.35 * size) for row in range(shown)))
    part = "" if len(turns) == len(case.turns) else f", turns {turns.start + 1} to {turns.stop} of {len(case.turns)}"
    primitives: list[Primitive] = [
        text_line("race-heading", (room.x, room.y + 18), f"time runs to the right{part}", size, room.width, theme.faint),
        Labels("race-units", names, tuple(f"{one} {unit}" for unit in range(shown)), size, theme.text, "end"),
        *_table(case, turns, shown, Box(x, top, cell, pitch), theme),
    ]
    if 0 <= case.ahead < shown:
        lead = [at for at in turns if case.turns[at].unit == case.ahead and case.turns[at].step < case.lead]
        if lead:
            left = x + (lead[0] - turns.start) * cell
            box = boxes((left, top + case.ahead * pitch, (lead[-1] - lead[0] + 1) * cell, pitch))
            primitives.append(Rects("race-lead", box, None, theme.faint, 2.0, 4.0))
    legend, y = _legend(case, turns, Box(room.x, top + shown * pitch + 36, room.width, 0.0), options)
    pair = _pair(case, turns, shown, Box(x, top, cell, pitch), theme)
    return [*primitives, *pair, *legend, *_story(case, Box(room.x, y, room.width, room.y + room.height - y), options)]


def _palette(theme: Theme) -> tuple[str, ...]:
    """Return the colours by kind of turn: greys, and red for a wrong value."""
    read, write, wait = (mixed(theme.background, theme.text, share) for share in (0.34, 0.62, 0.2))
    return read, write, wait, theme.accent("C"), theme.warning, theme.panel


def _table(case: RaceCase, turns: range, shown: int, at: Box, theme: Theme) -> list[Primitive]:
    """Draw a line for each unit and a box for each turn. ``at``: the first column and row."""
    palette, one = _palette(theme), case.kind[:-1]
    fill, tips = np.full((shown, len(turns)), _NO_TURN, np.uint8), np.full((shown, len(turns)), "", "<U120")
    rects: dict[int, list[tuple[float, float, float, float]]] = {}
    for place, number in enumerate(turns):
        turn = case.turns[number]
        if turn.unit < shown:
            value = "" if turn.value is None else f"\n{_value(turn.value)}"
            tips[turn.unit, place] = f"{one} {turn.unit}, its step {turn.step + 1}\n{turn.action}, line {turn.line}{value}"
            y = at.y + turn.unit * at.height + (1 - _TALL) / 2 * at.height
            box = at.x + place * at.width + 1, y, max(2.0, at.width - 2), _TALL * at.height
            rects.setdefault(_kind(turn, case), []).append(box)
    ground = Cells("race", at.x, at.y, at.width, fill, palette, palette, line=None, height=at.height, tips=tips)
    seams = [(at.x, at.y + row * at.height, at.x + len(turns) * at.width, at.y + row * at.height) for row in range(shown + 1)]
    parts: list[Primitive] = [ground, Lines("race-rows", np.array(seams), theme.background, 3.0)]
    return [*parts, *(Rects(f"race-turns-{kind}", boxes(*rects[kind]), palette[kind], radius=3.0) for kind in sorted(rects))]


def _pair(case: RaceCase, turns: range, shown: int, at: Box, theme: Theme) -> list[Primitive]:
    """Draw frames around the two accesses of the race, and a line between them."""
    pair = guilty_pair(case)
    places = [each for each in pair or () if each is not None and each in turns and case.turns[each].unit < shown]
    if not places:
        return []
    frames, middles = [], []
    for each in places:
        x, y = at.x + (each - turns.start) * at.width, at.y + (case.turns[each].unit + (1 - _TALL) / 2) * at.height
        frames.append((x - 3, y - 5, at.width + 6, _TALL * at.height + 10))
        middles.append((x + at.width / 2, y + _TALL * at.height / 2))
    parts: list[Primitive] = [Rects("race-pair", boxes(*frames), None, theme.warning, 3.5, 5.0)]
    if len(places) == 2:
        (x0, y0), (x1, y1) = middles
        half = _TALL * at.height / 2 + 5
        down = 1 if y1 >= y0 else -1
        if y0 != y1:
            y0, y1 = y0 + down * half, y1 - down * half
        else:
            reach = at.width / 2 + 3
            x0, x1 = (x0 + reach, x1 - reach) if x1 > x0 else (x0 - reach, x1 + reach)
        parts.append(Lines("race-pair-line", np.array([[x0, y0, x1, y1]]), theme.warning, 3.5))
    return parts


def _legend(case: RaceCase, turns: range, room: Box, options: ViewOptions) -> tuple[list[Primitive], float]:
    """Draw the legend, and return its lower edge."""
    theme, size, palette = options.theme, options.theme.type.note, _palette(options.theme)
    primitives: list[Primitive] = []
    x, y = room.x, room.y
    for kind in sorted({_kind(case.turns[at], case) for at in turns}):
        words = _MEANINGS[kind]
        wide = 30 + text_width(words, size) + 26
        if x + wide > room.x + room.width:
            x, y = room.x, y + 1.5 * size
        primitives.append(Rects(f"race-chip-{kind}", boxes((x, y, 20.0, 20.0)), palette[kind], radius=3.0))
        primitives.append(Labels(f"race-meaning-{kind}", points((x + 28, y + 17)), (words,), size, theme.faint))
        x += wide
    return primitives, y + 2.4 * size


def _story(case: RaceCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the sentences in as many lines as fit."""
    size = options.theme.type.caption
    lines = [line for sentence in story(case) for line in wrap_text(sentence, size, room.width, 3, "semibold")]
    lines = lines[: max(0, int(room.height / (1.3 * size)))]
    at = points(*((room.x, room.y + 1.3 * size * (number + 1)) for number in range(len(lines))))
    return [Labels("race-story", at, tuple(lines), size, options.theme.text, "start", "semibold")] if lines else []


def _results(case: RaceCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw C in lockstep above and C in this order below, with wrong elements highlighted."""
    theme, size = options.theme, options.theme.type.words
    rows, columns = (min(each, _MOST_SIDE) for each in case.right.shape)
    high = room.height / 2
    cell = min(room.width / columns, (high - 2.4 * size) / rows, 130.0)
    palette = (theme.tint("C", 0.45), theme.warning, theme.empty)
    inks = tuple(theme.ink_on(each) for each in palette)
    primitives: list[Primitive] = []
    for place, (name, table) in enumerate(
        ((f"{case.result} in lockstep", case.right), (f"{case.result} in this order", case.wrong))
    ):
        y = room.y + place * high
        some, bad = table[:rows, :columns], case.spoilt[:rows, :columns]
        fill = np.where(np.isnan(some), 2, bad & bool(place)).astype(np.uint8)
        texts = np.array([["" if np.isnan(value) else f"{value:.3g}" for value in row] for row in some.tolist()])
        longest = max(texts.ravel().tolist(), key=len) or "0"
        font = min(theme.type.words, 0.5 * cell, (cell - 8) / text_width(longest, 1.0))
        part = "" if case.right.shape == (rows, columns) else f", its first {rows} rows and {columns} columns"
        heading = f"{name}: {many(int(bad.sum()), 'element')} wrong{part}" if place else f"{name}{part}"
        if place and not case.spoilt.any():
            heading = f"{name}: the same"
        primitives.append(
            text_line(f"result-{place}-name", (room.x, y + size), heading, size, room.width, theme.text, "semibold")
        )
        primitives.append(
            Cells(
                f"result-{place}",
                room.x,
                y + 1.5 * size,
                cell,
                fill,
                palette,
                inks,
                texts if font >= theme.type.least else None,
                font,
                theme.background,
            )
        )
    return primitives


VIEW = View("Race: an order that makes the result wrong", RaceCase, race_scene, order=49)
