"""Saving of pictures and films in the format of the file's suffix. A file is written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.files.whole import atomic_write
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.translation import tr
from gemmviz.render.format import Deck, Film, Format, Page, RenderOptions, Still
from gemmviz.scenes.kit.primitives import Scene

if TYPE_CHECKING:
    from gemmviz.render.reel import Reel

OnProgress = Callable[[int, int], None]  # called with the pictures done and their total; may raise to stop
Item = TypeVar("Item")


def _nothing(done: int, of: int) -> None:
    pass


@cache
def formats() -> Catalog[Format]:
    """Return the formats by suffix without its dot."""
    return extensions_in("gemmviz.render.formats", "FORMAT", Still, Film, Deck, Page)


def stills() -> dict[str, Still]:
    """Return the formats of single pictures by suffix."""
    return {suffix: each for suffix, each in formats().items() if isinstance(each, Still)}


def format_of(path: Path) -> Format:
    """Return the format of a file by its suffix. Raises UsageError for an unknown suffix."""
    if _suffix(path) not in formats():
        remedy = tr(
            "use {formats}; or a folder: {path}/ --as png", formats=", ".join(f".{suffix}" for suffix in formats()), path=path
        )
        raise UsageError(tr("can't save as {suffix}", suffix=path.suffix or tr("a file without suffix")), remedy=remedy)
    return formats()[_suffix(path)]


def require_format(path: Path, options: RenderOptions) -> None:
    """Check that the packages which a file's format needs are installed. Raises GemmvizError with the command that installs
    them, and UsageError for an unknown suffix.
    """
    from gemmviz.files.extras import require_extras

    kind = format_of(path)
    require_extras(kind.extras(options), f"{tr(kind.title)} (.{_suffix(path)})")


def _suffix(path: Path) -> str:
    return path.suffix.lower().removeprefix(".")


def save_frame(scene: Scene, path: Path, options: RenderOptions | None = None) -> None:
    """Write one picture. Raises GemmvizError."""
    still = stills().get(_suffix(path))
    if still is None:
        known = tr(" or ").join(f".{suffix}" for suffix in stills())
        raise UsageError(
            tr("can't save a picture as {suffix}", suffix=path.suffix or tr("a file without suffix")),
            remedy=tr("use {known}", known=known),
        )
    options = options or RenderOptions()
    require_format(path, options)
    with atomic_write(path) as part:
        still.save(scene, part, options)


def save_reel(reel: Reel, path: Path, options: RenderOptions | None = None, on_progress: OnProgress = _nothing) -> None:
    """Write a reel into one file; a format of single pictures gets the first picture.

    Raises GemmvizError, and whatever ``on_progress`` raises. Nothing is written then.
    """
    options, kind = options or RenderOptions(), format_of(path)
    if options.is_transparent and not kind.can_be_clear:
        clear = ", ".join(f".{suffix}" for suffix, each in formats().items() if each.can_be_clear)
        raise UsageError(
            tr("{kind_title} doesn't support a transparent background", kind_title=tr(kind.title)),
            remedy=tr("use {clear}", clear=clear),
        )
    require_format(path, options)
    with atomic_write(path) as part:
        if isinstance(kind, Still):
            kind.save(reel.first(), part, options)
        else:
            kind.save(_watched(reel, on_progress), part, options)


def save_numbered(
    reel: Reel, target: Path, suffix: str, options: RenderOptions | None = None, on_progress: OnProgress = _nothing
) -> list[Path]:
    """Write each picture of a reel into a file of a folder, which is created if needed, and return the paths.

    Raises as ``save_reel``. Files that are complete stay.
    """
    still = stills().get(suffix)
    if still is None:
        raise UsageError(
            tr("can't save single pictures as {suffix}", suffix=suffix),
            remedy=tr("use --as {stills}", stills=tr(" or --as ").join(stills())),
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(tr("can't create the folder: {strerror}", strerror=error.strerror), file=str(target)) from None
    others = [each.name for each in target.iterdir() if _number_of(each, suffix) > reel.slide_count]
    if others:
        raise UsageError(
            tr("{target} contains other pictures: {others}", target=target, others=", ".join(sorted(others)[:3])),
            remedy=tr("choose another folder"),
        )
    digits, paths = max(3, len(str(reel.slide_count))), []
    for number, slide in enumerate(_counted(reel.slides(), reel.slide_count, on_progress), 1):
        path = target / f"{number:0{digits}}.{suffix}"
        save_frame(slide.scene, path, options)
        paths.append(path)
    return paths


def _number_of(path: Path, suffix: str) -> int:
    """Return the number of a numbered picture, 0 for any other file."""
    return int(path.stem) if path.suffix == f".{suffix}" and path.stem.isdecimal() else 0


def _watched(reel: Reel, on_progress: OnProgress) -> Reel:
    """Return a reel that reports each picture that is drawn."""
    return replace(
        reel,
        slides=lambda: _counted(reel.slides(), reel.slide_count, on_progress),
        frames=lambda fps: _counted(reel.frames(fps), reel.frame_count(fps), on_progress),
        steps=lambda: _counted(reel.steps(), reel.step_count, on_progress),
    )


def _counted(items: Iterator[Item], of: int, on_progress: OnProgress) -> Iterator[Item]:
    for done, item in enumerate(items):
        on_progress(done, of)
        yield item
    on_progress(of, of)
