"""The colours in which a scene is drawn, and a choice of those that differ most."""

import numpy as np
import numpy.typing as npt

from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene

_ALIKE = 8  # of 255: distance within which colours are taken for one

Colours = npt.NDArray[np.uint8]  # (n, 3): red, green, blue


def colours_of(scene: Scene) -> set[str]:
    """Return all colours of the primitives of a scene and of its background, as #RRGGBB."""
    return {scene.background}.union(*map(_inks, scene.all))


def _inks(each: Primitive) -> set[str]:
    if isinstance(each, Rects):
        return {colour for colour in (each.fill, each.stroke) if colour is not None}
    if isinstance(each, Lines):
        return {each.stroke}
    if isinstance(each, Labels):
        return {each.colour}
    used = np.flatnonzero(np.bincount(each.fill.ravel())).tolist()
    named = {each.inks[place] for place in used} if each.labels is not None else set()
    line = {each.line} if isinstance(each, Cells) and each.line is not None else set()
    return {each.palette[place] for place in used} | named | line


def most_different(colours: Colours, most: int) -> Colours:
    """Return at most ``most`` of the colours, each as far as possible from those before it; the first one is kept."""
    if len(colours) <= most:
        return colours
    places, points = [0], colours.astype(np.int64)
    distance = ((points - points[0]) ** 2).sum(axis=1)
    for _ in range(most - 1):
        places.append(int(distance.argmax()))
        distance = np.minimum(distance, ((points - points[places[-1]]) ** 2).sum(axis=1))
    return colours[places]


def unlike(colours: Colours, inks: Colours) -> Colours:
    """Return those of the colours that nobody takes for one of the inks."""
    away = np.abs(colours[:, None].astype(np.int64) - inks[None]).max(axis=2).min(axis=1)
    return np.asarray(colours[away > _ALIKE])
