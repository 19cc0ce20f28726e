"""A race as it ran: the order of the threads, the value that was read too early or too late, and the wrong C beside the
right one.
"""

from collections.abc import Sequence

import numpy as np

from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.words import capital, many, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_MOST_TURNS, _MOST_ROWS, _MOST_SIDE = 64, 12, 16
_GLOBAL_READ, _SHARED_WRITE, _SHARED_READ, _BARRIER, _STORE, _DIFFERENT, _NO_TURN = range(7)
_MEANINGS = (
    "read from global memory",
    "write into a tile",
    "read from a tile",
    "wait",
    "store of the result",
    "value differs from lockstep",
)


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
    one = case.kind[:-1]
    turn = next((turn for turn in case.turns if turn.is_spoilt), None)
    if turn is None:
        return [f"all {many(case.tried, 'order')} that were run give the same {case.result}"]
    values = f"gives {_value(turn.value)}; in lockstep it gives {_value(turn.expected)}"
    sentences = [f"{one} {turn.unit}, line {turn.line}: {turn.action} {values}"]
    place = case.turns.index(turn)
    cell = turn.action.removeprefix("read ")
    before = [t for t in case.turns[:place] if t.action == f"write {cell}" and t.unit != turn.unit]
    after = [t for t in case.turns[place:] if t.action == f"write {cell}"]
    if after and not before:
        sentences.append(f"{one} {after[0].unit} writes it {many(case.turns.index(after[0]) - place, 'turn')} too late")
    elif before:
        sentences.append(f"{one} {before[-1].unit} already wrote it for the next phase, line {before[-1].line}")
    return sentences


def _value(value: float | None) -> str:
    return "?" if value is None else f"{value:.4g}"


def _kind(turn: Turn, case: RaceCase) -> int:
    if turn.is_spoilt:
        return _DIFFERENT
    if not turn.array:
        return _BARRIER
    if turn.action.startswith("write"):
        return _STORE if turn.array == case.result else _SHARED_WRITE
    return _GLOBAL_READ if turn.array in {array.name for array in case.problem.arrays} else _SHARED_READ


def _order(case: RaceCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw a row for each unit and a column for each turn, with the legend and the sentences below."""
    theme, size = options.theme, options.theme.type.note
    one = case.kind[:-1]
    first = next((place for place, turn in enumerate(case.turns) if turn.is_spoilt), 0)
    start = max(0, min(first - _MOST_TURNS // 2, len(case.turns) - _MOST_TURNS))
    turns = case.turns[start : start + _MOST_TURNS]
    shown = min(case.units, _MOST_ROWS)
    name = text_width(f"{one} {case.units - 1}", size) + 16
    cell = (room.width - name) / max(1, len(turns))
    pitch = min(0.42 * room.height / shown, 84.0)
    palette = _palette(theme)
    fill, tips = _table(turns, shown, case)
    top = room.y + 34
    inks = tuple(theme.ink_on(each) for each in palette)
    names = points(*((room.x + name - 12, top + (row + 0.5) * pitch + 0.35 * size) for row in range(shown)))
    heading = "steps in order, from left to right"
    primitives: list[Primitive] = [
        text_line("race-heading", (room.x, room.y + 18), heading, size, room.width, theme.faint),
        Labels("race-units", names, tuple(f"{one} {unit}" for unit in range(shown)), size, theme.text, "end"),
        Cells("race", room.x + name, top, cell, fill, palette, inks, line=theme.background, height=pitch, tips=tips),
    ]
    if case.ahead >= 0 and case.ahead < shown:
        lead = [place for place, turn in enumerate(turns) if turn.unit == case.ahead and turn.step < case.lead]
        if lead:
            x = room.x + name + lead[0] * cell
            box = boxes((x, top + case.ahead * pitch, (lead[-1] - lead[0] + 1) * cell, pitch))
            primitives.append(Rects("race-lead", box, None, theme.text, 3.0))
    legend, y = _legend(turns, case, palette, Box(room.x, top + shown * pitch + 30, room.width, 0.0), options)
    return [*primitives, *legend, *_story(case, Box(room.x, y, room.width, room.y + room.height - y), options)]


def _palette(theme: Theme) -> tuple[str, ...]:
    """Return the colours by kind of turn."""
    a, b, c = (theme.accent(name) for name in "ABC")
    return a, b, theme.tint("B", 0.5), theme.faint, c, theme.warning, theme.panel


def _table(turns: Sequence[Turn], shown: int, case: RaceCase) -> tuple[np.ndarray, np.ndarray]:
    """Return the kind and the hover text of each turn: (units, turns)."""
    fill, one = np.full((shown, len(turns)), _NO_TURN, np.uint8), case.kind[:-1]
    tips = np.full((shown, len(turns)), "", "<U120")
    for place, turn in enumerate(turns):
        if turn.unit < shown:
            fill[turn.unit, place] = _kind(turn, case)
            value = "" if turn.value is None else f"\n{_value(turn.value)}"
            tips[turn.unit, place] = f"{one} {turn.unit}, its step {turn.step + 1}\n{turn.action}, line {turn.line}{value}"
    return fill, tips


def _legend(
    turns: Sequence[Turn], case: RaceCase, palette: tuple[str, ...], room: Box, options: ViewOptions
) -> tuple[list[Primitive], float]:
    """Draw the legend, and return its lower edge."""
    theme, size = options.theme, options.theme.type.note
    primitives: list[Primitive] = []
    x, y = room.x, room.y
    for kind in sorted({_kind(turn, case) for turn in turns}):
        words = _MEANINGS[kind]
        wide = 30 + text_width(words, size) + 26
        if x + wide > room.x + room.width:
            x, y = room.x, y + 1.5 * size
        primitives.append(Rects(f"race-chip-{kind}", boxes((x, y, 20.0, 20.0)), palette[kind], radius=3.0))
        primitives.append(Labels(f"race-meaning-{kind}", points((x + 28, y + 17)), (words,), size, theme.faint))
        x += wide
    return primitives, y + 2.6 * size


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
    cell = min(room.width / columns, (high - 1.8 * size) / rows, 96.0)
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
        font = min(22.0, 0.5 * cell, (cell - 6) / text_width(longest, 1.0))
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
                texts if font >= 8 else None,
                font,
                theme.background,
            )
        )
    return primitives


VIEW = View("Race: an order that makes the result wrong", RaceCase, race_scene, order=49)
