"""Two pictures as one in motion: what both have moves from its old place to its new one, what only one has fades.

Primitives with the same type and key are the same thing. Their rows are the same by number, texts by what they say, and cells
of a table by their label, so that the lanes of a warp find their new places one after the other.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from functools import partial
from itertools import groupby
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, Squares
from gemmviz.scenes.kit.theme import channels
from gemmviz.scenes.kit.view import eased

# One primitive on its way to another of the same type and key: the places and colours between the two.

Morph = Callable[[float], Primitive]  # of the share of the time that has passed
MOST_SQUARES = 1024  # cells that move one by one
_STAGGER = 0.35  # share of the time by which the last of many things starts later than the first
_SQUARE = 1.05  # how far from square a cell that moves alone may be
_MOST_ENTRIES = 256


class Split(Struct, frozen=True):
    """What of two primitives moves, and what of each only fades."""

    moves: tuple[Morph, ...]
    goes: tuple[Primitive, ...] = ()
    comes: tuple[Primitive, ...] = ()


def morph_of(one: Primitive, other: Primitive) -> Split | None:
    """Return how one primitive becomes the other; None if they have nothing in common that could move."""
    match one, other:
        case Rects(), Rects():
            return _of_rects(one, other)
        case Lines(), Lines() if len(one.segments) == len(other.segments):
            return Split((partial(_lines, one, other),))
        case Labels(), Labels():
            return _of_labels(one, other)
        case Squares(), Squares() if len(one.boxes) == len(other.boxes):
            return Split((_Squares(one, other),))
        case Cells(), Cells():
            return _of_cells(one, other)
    return None


def _between(one: Any, other: Any, share: Any) -> Any:
    return one + (other - one) * share


def mixed_colour(one: str | None, other: str | None, share: float) -> str | None:
    """Return the colour between two; the nearer one if either is none."""
    if one is None or other is None or one == other:
        return one if share < 0.5 else other
    pairs = zip(channels(one), channels(other), strict=True)
    return "#" + "".join(f"{round(_between(a, b, share)):02X}" for a, b in pairs)


def _changed(each: Any, **facts: Any) -> Any:
    copy = object.__new__(type(each))  # ten times as fast as dataclasses.replace
    copy.__dict__.update(each.__dict__, **facts)
    return copy


# Rectangles and lines


def _of_rects(one: Rects, other: Rects) -> Split | None:
    """Rows move by number; those that only one has fade."""
    both = min(len(one.boxes), len(other.boxes))
    if not both:
        return None
    rest = [(_changed(each, boxes=each.boxes[both:]),) if len(each.boxes) > both else () for each in (one, other)]
    first = (_changed(each, boxes=each.boxes[:both]) for each in (one, other))
    return Split((partial(_rects, *first),), *rest)


def _rects(one: Rects, other: Rects, share: float) -> Rects:
    along = eased(share)
    rects: Rects = _changed(
        other,
        boxes=_between(one.boxes, other.boxes, along),
        fill=mixed_colour(one.fill, other.fill, along),
        stroke=mixed_colour(one.stroke, other.stroke, along),
        stroke_width=_between(one.stroke_width, other.stroke_width, along),
    )
    return rects


def _lines(one: Lines, other: Lines, share: float) -> Lines:
    along = eased(share)
    lines: Lines = _changed(
        other, segments=_between(one.segments, other.segments, along), stroke=mixed_colour(one.stroke, other.stroke, along)
    )
    return lines


# Texts


def _of_labels(one: Labels, other: Labels) -> Split | None:
    """Texts that both have move, in order; the others fade."""
    if (one.anchor, one.face) != (other.anchor, other.face):
        return None
    if one.texts == other.texts:
        return Split((partial(_labels, one, other),))
    matcher = SequenceMatcher(None, one.texts, other.texts, autojunk=False)
    pairs = [(m.a + n, m.b + n) for m in matcher.get_matching_blocks() for n in range(m.size)]
    if not pairs:
        return None
    mine, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    moves = (partial(_labels, _label_rows(one, mine), _label_rows(other, theirs)),)
    return Split(moves, _others(one, mine), _others(other, theirs))


def _label_rows(labels: Labels, rows: list[int]) -> Labels:
    chosen: Labels = _changed(labels, at=labels.at[rows], texts=tuple(labels.texts[row] for row in rows))
    return chosen


def _others(labels: Labels, rows: list[int]) -> tuple[Labels, ...]:
    rest = sorted(set(range(len(labels.texts))) - set(rows))
    return (_label_rows(labels, rest),) if rest else ()


def _labels(one: Labels, other: Labels, share: float) -> Labels:
    """Colours change halfway: a painter keeps the glyphs of each colour."""
    along = eased(share)
    near = one if share < 0.5 else other
    size = other.size if one.size == other.size else _between(one.size, other.size, along)
    labels: Labels = _changed(other, at=_between(one.at, other.at, along), size=size, colour=near.colour)
    return labels


# Cells


class _Fills:
    """The colours of cells whose entries change: an entry for each pair of an old and a new one."""

    def __init__(self, one: Cells | Squares, other: Cells | Squares) -> None:
        pairs = one.fill.astype(np.int64) * _MOST_ENTRIES + other.fill
        found, inverse = np.unique(pairs, return_inverse=True)
        self.is_possible = len(found) <= _MOST_ENTRIES
        self.fill = inverse.reshape(one.fill.shape).astype(np.uint8)
        self._entries = [divmod(each, _MOST_ENTRIES) for each in found.tolist()]
        self._one, self._other = one, other

    def at(self, along: float) -> dict[str, Any]:
        """Return fill, palette and inks at a share of the way."""
        one, other, entries = self._one, self._other, self._entries
        near, place = (one, 0) if along < 0.5 else (other, 1)
        palette = tuple(mixed_colour(one.palette[a], other.palette[b], along) for a, b in entries)
        return {"fill": self.fill, "palette": palette, "inks": tuple(near.inks[pair[place]] for pair in entries)}


class _Squares:
    """Squares that move one after the other."""

    def __init__(self, one: Squares, other: Squares) -> None:
        self._one, self._other, self._fills = one, other, _Fills(one, other)
        count = len(one.boxes)
        self._start = _STAGGER * np.arange(count)[:, None] / max(1, count - 1)

    def __call__(self, share: float) -> Squares:
        one, other, along = self._one, self._other, eased(share)
        own = eased(np.clip((share - self._start) / (1.0 - _STAGGER), 0.0, 1.0))
        facts = self._fills.at(along) if self._fills.is_possible else {}
        near = one if share < 0.5 else other
        size = _between(one.label_size, other.label_size, along)
        squares: Squares = _changed(
            near, boxes=_between(one.boxes, other.boxes, own), label_size=size, labels=near.labels, **facts
        )
        return squares


def _of_cells(one: Cells, other: Cells) -> Split | None:
    """Tables whose labels keep their cells move as a whole; else the labelled cells move one by one over what fades."""
    mine, theirs = _common_cells(one, other)
    if one.fill.shape == other.fill.shape and mine == theirs:
        fills = _Fills(one, other)
        return Split((partial(_cells, one, other, fills),)) if fills.is_possible else None
    if not mine or len(mine) > MOST_SQUARES or not (_is_square(one) and _is_square(other)):
        return None
    squares, grounds = _Squares(_squares(one, mine), _squares(other, theirs)), (_without(one, mine), _without(other, theirs))
    ground = _Fills(*grounds) if one.fill.shape == other.fill.shape else None
    if ground is None or not ground.is_possible:
        return Split((squares,), grounds[:1], grounds[1:])
    return Split((partial(_cells, *grounds, ground), squares))


def _cells(one: Cells, other: Cells, fills: _Fills, share: float) -> Cells:
    along, near = eased(share), one if share < 0.5 else other
    cells: Cells = _changed(
        near,
        x=_between(one.x, other.x, along),
        y=_between(one.y, other.y, along),
        size=_between(one.size, other.size, along),
        height=_between(one.pitch, other.pitch, along),
        label_size=_between(one.label_size, other.label_size, along),
        **fills.at(along),
    )
    return cells


def _common_cells(one: Cells, other: Cells) -> tuple[list[int], list[int]]:
    """Return the cells of both tables that stand for the same thing, in the order of the first table."""
    mine, theirs = _cells_of_things(one), _cells_of_things(other)
    common = [thing for thing in mine if thing in theirs]
    return [mine[thing] for thing in common], [theirs[thing] for thing in common]


def _cells_of_things(cells: Cells) -> dict[str | int, int]:
    """Return the cell of each thing that a table shows once: by its id, else by its label."""
    things: list[str | int] = []
    if cells.ids is not None:
        things = [each if each >= 0 else "" for each in cells.ids.ravel().tolist()]
    elif cells.labels is not None:
        things = [str(each) for each in cells.labels.ravel()]
    counts = Counter(things)
    return {thing: place for place, thing in enumerate(things) if thing != "" and counts[thing] == 1}


def _is_square(cells: Cells) -> bool:
    return max(cells.size, cells.pitch) <= _SQUARE * min(cells.size, cells.pitch)


def _squares(cells: Cells, places: list[int]) -> Squares:
    row, column = np.divmod(np.array(places), cells.fill.shape[1])
    x, y = cells.x + column * cells.size, cells.y + row * cells.pitch
    boxes = np.stack([x, y, np.full(len(places), cells.size)], axis=1)
    labels = None if cells.labels is None else cells.labels.ravel()[places]
    return Squares(
        cells.key, boxes, cells.fill.ravel()[places], cells.palette, cells.inks, labels, cells.label_size, cells.line,
        cells.meaning,
    )  # fmt: skip


def _without(cells: Cells, places: list[int]) -> Cells:
    """Return a table without cells that move: they look like most of the other cells, or like none if there is no other."""
    fill, palette, inks = cells.fill.copy().ravel(), cells.palette, cells.inks
    rest = np.delete(fill, places)
    if len(rest):
        empty = int(np.bincount(rest).argmax())
    else:
        palette, inks, empty = (*palette, cells.line or palette[0]), (*inks, inks[0]), len(palette)
    fill[places] = empty
    labels = None if cells.labels is None else cells.labels.copy()
    if labels is not None:
        labels.flat[places] = ""
    return dataclasses.replace(cells, fill=fill.reshape(cells.fill.shape), labels=labels, palette=palette, inks=inks)


Fate = Literal["stays", "goes", "comes", "moves"]
_GONE, _COMES = 0.55, 0.25  # shares of the time at which what goes is gone, and what comes begins to be seen
_Key = tuple[type, str, int]


class PaintLayer(Struct, frozen=True):
    """Primitives that are painted with one opacity. ``moves``: whether they differ from moment to moment; others may be kept as
    pixels.
    """

    primitives: tuple[Primitive, ...]
    opacity: float = 1.0
    moves: bool = False


class _Part(Struct, frozen=True):
    """Neighbours in painting order with the same fate."""

    fate: Fate
    primitives: tuple[Primitive, ...]
    morphs: tuple[Morph, ...] = ()


class Transition:
    """The way from one scene to another of the same size. ``is_morph``: whether things move; otherwise the pictures cross-fade,
    and only what is equal in both, and the caption bar, stays.
    """

    def __init__(self, before: Scene, after: Scene, is_morph: bool = True) -> None:
        self.before, self.after = before, after
        self._parts = tuple(_parts(before, after, is_morph))

    def at(self, share: float) -> tuple[PaintLayer, ...]:
        """Return what is painted, in order, when ``share`` of the time has passed, 0 to 1."""
        layers = (_layer(part, share) for part in self._parts)
        return tuple(layer for layer in layers if layer.opacity > 0.0 and layer.primitives)


def _layer(part: _Part, share: float) -> PaintLayer:
    match part.fate:
        case "stays":
            return PaintLayer(part.primitives)
        case "goes":
            return PaintLayer(part.primitives, 1.0 - eased(min(1.0, share / _GONE)))
        case "comes":
            return PaintLayer(part.primitives, eased(max(0.0, (share - _COMES) / (1.0 - _COMES))))
        case "moves":
            return PaintLayer(tuple(morph(share) for morph in part.morphs), moves=True)


def _parts(before: Scene, after: Scene, is_morph: bool) -> Iterable[_Part]:
    """Return the parts in painting order. What fades below or above everything that moves is painted together, because few
    large parts are painted faster than many small ones.
    """
    fates: list[_Part] = []
    for layer in ("primitives", "above", "words"):
        fates += _fates(_keyed(getattr(before, layer)), _keyed(getattr(after, layer)), is_morph)
    moving = [place for place, part in enumerate(fates) if part.fate == "moves"]
    first, last = (moving[0], moving[-1] + 1) if moving else (len(fates), len(fates))
    yield from _joined_neighbours([*_sorted(fates[:first]), *fates[first:last], *_sorted(fates[last:])])


def _sorted(fates: list[_Part]) -> list[_Part]:
    """Return parts without motion with few changes of fate: surfaces that stay, what fades, then the words that stay."""
    order = {"goes": 1, "comes": 2, "stays": 3}

    def rank(part: _Part) -> int:
        is_ground = part.fate == "stays" and not isinstance(part.primitives[0], Labels | Lines)
        return 0 if is_ground else order[part.fate]

    return sorted(fates, key=rank)


def _joined_neighbours(fates: list[_Part]) -> Iterable[_Part]:
    """Return the parts with neighbours of the same fate joined."""
    for fate, run in groupby(fates, lambda part: part.fate):
        parts = tuple(run)
        primitives = tuple(each for part in parts for each in part.primitives)
        yield _Part(fate, primitives, tuple(each for part in parts for each in part.morphs))


def _keyed(primitives: Iterable[Primitive]) -> list[tuple[_Key, Primitive]]:
    """Return the primitives with their keys; those that share one are numbered."""
    counts: Counter[tuple[type, str]] = Counter()
    keyed = []
    for each in primitives:
        kind = type(each), each.key
        keyed.append(((*kind, counts[kind]), each))
        counts[kind] += 1
    return keyed


def _fates(before: list[tuple[_Key, Primitive]], after: list[tuple[_Key, Primitive]], is_morph: bool) -> Iterable[_Part]:
    """Return what becomes of each primitive of one level, in the order of the later picture; what goes is painted where it was
    in the earlier one.
    """
    old, places = dict(before), {key: place for place, (key, _) in enumerate(before)}
    new, passed = {key for key, _ in after}, 0
    for key, other in after:
        if key in old:
            yield from _going(before[passed : places[key]], new)
            passed = max(passed, places[key] + 1)
            yield from _of_both(old[key], other, is_morph or other.meaning == "band")
        else:
            yield _Part("comes", (other,))
    yield from _going(before[passed:], new)


def _going(rest: list[tuple[_Key, Primitive]], new: set[_Key]) -> Iterable[_Part]:
    return (_Part("goes", (each,)) for key, each in rest if key not in new)


def _of_both(one: Primitive, other: Primitive, is_morph: bool) -> Iterable[_Part]:
    if one == other:
        yield _Part("stays", (other,))
        return
    split = morph_of(one, other) if is_morph else None
    if split is None:
        yield _Part("goes", (one,))
        yield _Part("comes", (other,))
        return
    if split.goes:
        yield _Part("goes", split.goes)
    if split.comes:
        yield _Part("comes", split.comes)
    yield _Part("moves", (other,), split.moves)
