"""Saves pictures and films to files, whole or not at all: the suffix says how."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import gemmviz.render.formats as folder
from gemmviz.files.extensions import Extensions, extensions_in
from gemmviz.files.whole import atomic_write
from gemmviz.model.errors import UsageError
from gemmviz.render.format import Deck, Film, Format, Page, RenderOptions, Still
from gemmviz.render.reel import Reel
from gemmviz.scenes.kit.primitives import Scene

Told = Callable[[int, int], None]  # how many pictures of how many are done; may raise to end it all
Item = TypeVar("Item")


def _nothing(done: int, of: int) -> None:
    pass


@cache
def format_extensions() -> Extensions[Format]:
    """All formats, and the modules of ``gemmviz.render.formats`` that could not be used."""
    return extensions_in(folder, "FORMAT", Still, Film, Deck, Page)


def formats() -> dict[str, Format]:
    """Formats by suffix without its dot, in their order."""
    return format_extensions().items


def stills() -> dict[str, Still]:
    """The formats of single pictures."""
    return {suffix: each for suffix, each in formats().items() if isinstance(each, Still)}


def format_of(path: Path) -> Format:
    """By the suffix. Raises UsageError for one that none has."""
    found = formats().get(_suffix(path))
    if found is None:
        remedy = f"use {', '.join(f'.{suffix}' for suffix in formats())}; or a folder: {path}/ --as png"
        raise UsageError(f"nothing can be saved as {path.suffix or 'a file without suffix'}", remedy=remedy)
    return found


def _suffix(path: Path) -> str:
    return path.suffix.lower().removeprefix(".")


def save_frame(scene: Scene, path: Path, look: RenderOptions | None = None) -> None:
    """Writes one picture. Raises GemmvizError."""
    still = stills().get(_suffix(path))
    if still is None:
        known = " or ".join(f".{suffix}" for suffix in stills())
        raise UsageError(f"a frame can't be saved as {path.suffix or 'a file without suffix'}", remedy=f"use {known}")
    with atomic_write(path) as part:
        still.save(scene, part, look or RenderOptions())


def save_reel(reel: Reel, path: Path, look: RenderOptions | None = None, told: Told = _nothing) -> None:
    """Writes all of a reel into one file: its first picture, where the format is one of pictures. Raises GemmvizError, and
    whatever ``told`` raises; nothing is written then.
    """
    look, kind = look or RenderOptions(), format_of(path)
    if look.is_transparent and not kind.can_be_clear:
        clear = ", ".join(f".{suffix}" for suffix, each in formats().items() if each.can_be_clear)
        raise UsageError(f"a {kind.title} has no transparent background", remedy=f"use {clear}")
    with atomic_write(path) as part:
        if isinstance(kind, Still):
            kind.save(reel.first(), part, look)
        else:
            kind.save(_watched(reel, told), part, look)


def save_numbered(
    reel: Reel, target: Path, suffix: str, look: RenderOptions | None = None, told: Told = _nothing
) -> list[Path]:
    """Writes each picture of a reel into a file of its own in a folder, which is made if need be; their paths. Raises as
    ``save_reel``; files that are complete stay.
    """
    still = stills().get(suffix)
    if still is None:
        raise UsageError(f"single pictures can't be saved as {suffix}", remedy=f"use --as {' or --as '.join(stills())}")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"there can't be a folder: {error.strerror}", file=str(target)) from None
    others = [each.name for each in target.iterdir() if _number_of(each, suffix) > reel.slide_count]
    if others:
        raise UsageError(f"{target} holds other pictures: {', '.join(sorted(others)[:3])}", remedy="name another folder")
    digits, paths = max(3, len(str(reel.slide_count))), []
    for number, slide in enumerate(_counted(reel.slides(), reel.slide_count, told), 1):
        path = target / f"{number:0{digits}}.{suffix}"
        save_frame(slide.scene, path, look)
        paths.append(path)
    return paths


def _number_of(path: Path, suffix: str) -> int:
    """That of a numbered picture, 0 of another file."""
    return int(path.stem) if path.suffix == f".{suffix}" and path.stem.isdecimal() else 0


def _watched(reel: Reel, told: Told) -> Reel:
    """Tells of each picture that is asked for."""
    return replace(
        reel,
        slides=lambda: _counted(reel.slides(), reel.slide_count, told),
        frames=lambda fps: _counted(reel.frames(fps), reel.frame_count(fps), told),
        steps=lambda: _counted(reel.steps(), reel.step_count, told),
    )


def _counted(items: Iterator[Item], of: int, told: Told) -> Iterator[Item]:
    for done, item in enumerate(items):
        told(done, of)
        yield item
    told(of, of)
