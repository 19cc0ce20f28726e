"""Two pictures as one in motion: what both have moves from its old place to its new one, what only one has fades.

Primitives with the same type and key are the same thing. Their rows are the same by number, texts by what they say, and cells
of a table by their label, so that the lanes of a warp find their new places one after the other.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Literal

from msgspec import Struct

from gemmviz.scenes.kit.frame import eased
from gemmviz.scenes.kit.morph import Morph, morph_of
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Scene

Fate = Literal["stays", "goes", "comes", "moves"]
_GONE, _COMES = 0.55, 0.25  # shares of the time at which what goes is gone, and what comes begins to be seen
_BAND = "band"
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
    yield from _joined([*_sorted(fates[:first]), *fates[first:last], *_sorted(fates[last:])])


def _sorted(fates: list[_Part]) -> list[_Part]:
    """Return parts without motion with few changes of fate: surfaces that stay, what fades, then the words that stay."""
    order = {"goes": 1, "comes": 2, "stays": 3}

    def rank(part: _Part) -> int:
        is_ground = part.fate == "stays" and not isinstance(part.primitives[0], Labels | Lines)
        return 0 if is_ground else order[part.fate]

    return sorted(fates, key=rank)


def _joined(fates: list[_Part]) -> Iterable[_Part]:
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
            yield from _of_both(old[key], other, is_morph or other.key.startswith(_BAND))
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
