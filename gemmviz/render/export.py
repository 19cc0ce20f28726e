"""Saving of pictures and films in the format of the file's suffix. A file is written completely or not at all."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.files.resources import atomic_write, resource
from gemmviz.model.messages import UsageError, tr
from gemmviz.render.film import FILMS
from gemmviz.render.pack import packed
from gemmviz.render.reel import Deck, Film, Format, Reel, RenderOptions, Still, WebPage
from gemmviz.scenes.kit.primitives import Scene

OnProgress = Callable[[int, int], None]  # called with the pictures done and their total; may raise to stop
Item = TypeVar("Item")


def _no_progress(done: int, of: int) -> None:
    pass


@cache
def formats() -> Catalog[Format]:
    """Return the formats by suffix without its dot."""
    films = {suffix: partial(FILMS.__getitem__, suffix) for suffix in FILMS}
    return extensions_in("gemmviz.render.formats", "FORMAT", Still, Film, Deck, WebPage, also=films)


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


def save_reel(reel: Reel, path: Path, options: RenderOptions | None = None, on_progress: OnProgress = _no_progress) -> None:
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
            kind.save(_reel_with_progress(reel, on_progress), part, options)


def save_numbered(
    reel: Reel, target: Path, suffix: str, options: RenderOptions | None = None, on_progress: OnProgress = _no_progress
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
    for number, slide in enumerate(_items_with_progress(reel.slides(), reel.slide_count, on_progress), 1):
        path = target / f"{number:0{digits}}.{suffix}"
        save_frame(slide.scene, path, options)
        paths.append(path)
    return paths


def _number_of(path: Path, suffix: str) -> int:
    """Return the number of a numbered picture, 0 for any other file."""
    return int(path.stem) if path.suffix == f".{suffix}" and path.stem.isdecimal() else 0


def _reel_with_progress(reel: Reel, on_progress: OnProgress) -> Reel:
    """Return a reel that reports each picture that is drawn."""
    return structs.replace(
        reel,
        slides=lambda: _items_with_progress(reel.slides(), reel.slide_count, on_progress),
        frames=lambda fps: _items_with_progress(reel.frames(fps), reel.frame_count(fps), on_progress),
        steps=lambda: _items_with_progress(reel.steps(), reel.step_count, on_progress),
    )


def _items_with_progress(items: Iterator[Item], of: int, on_progress: OnProgress) -> Iterator[Item]:
    for done, item in enumerate(items):
        on_progress(done, of)
        yield item
    on_progress(of, of)


# The script of a page or a figure from the player's files, without comments and blank lines.

_SCRIPT_COMMENT = re.compile(r"^\s*/\*\*.*?\*/|(?:^|\s+)// .*?$", re.MULTILINE | re.DOTALL)
_QUOTED_TEXT = re.compile('("[^"]*")')
_SPACED_SIGN = re.compile(r"\s*([{}()\[\];,=<>*?:&|])\s*")  # not + and -, which would join
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_NOTEBOOK = "export default {"


def page_asset(name: str) -> str:
    """Return the text of a file in ``assets/page``."""
    return resource(f"assets/page/{name}").read_text(encoding="utf-8")


def page_script(rest: str) -> str:
    """Return the player followed by ``rest`` as one script. It adds no name to the document, so that it can run twice."""
    player = page_asset("player.js").partition(_NOTEBOOK)[0]
    plain = _SCRIPT_COMMENT.sub("", _EXPORT.sub("", f"{player}\n{rest}"))
    lines = filter(None, (_dense(line.strip()) for line in plain.splitlines()))
    return "\n".join(("(() => {", '"use strict";', *lines, "})();"))


def _dense(line: str) -> str:
    """Return a line of code without the spaces around its signs, unless it may have a pattern or a text with code in it."""
    if re.search(r"['`/\\]", line):
        return line
    return "".join(part if part.startswith('"') else _SPACED_SIGN.sub(r"\1", part) for part in _QUOTED_TEXT.split(line))


def script_hash(text: str) -> str:
    """Return the source of a content security policy that allows this script or style (W3C CSP 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# A replay as a self-contained web page: the packed reel, and the player that draws it.

_START_SCRIPT = """
window.gemmviz = unpacked(document.getElementById("packed").textContent.trim())
  .then((data) => mount(document.getElementById("replay"), data));
"""


def page_html(reel: Reel, theme: str) -> str:
    """Return the page as HTML. Its content security policy allows its own script and style, and no network."""
    template, style, pack = page_asset("page.html"), page_asset("style.css"), packed(reel, theme)
    style = f"html, body {{ margin: 0; height: 100%; background: {pack.background}; }}\n{style}"
    player = page_script(_START_SCRIPT)
    policy = page_policy(player, style)
    return template.format(title=escape(reel.name), policy=policy, style=style, packed=pack.text, player=player)


def page_policy(script: str, style: str) -> str:
    """Return the content security policy: one script and one style by their hashes, and nothing else.

    No text can become a script, and the script can't turn text into markup (Trusted Types).
    """
    rules = {
        "default-src": "'none'", "script-src": script_hash(script), "style-src": script_hash(style),
        "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "'none'",
    }  # fmt: skip
    return "; ".join(f"{name} {value}" for name, value in rules.items())


# A report as a self-contained web page: text, and players of several replays.


def report_html(title: str, body: str) -> str:
    """Return a page with a ``body`` of HTML, whose elements with ``data-replay`` become players of the packed data in the
    elements with those ids.
    """
    style = f"{page_asset('style.css')}\n{page_asset('report.css')}"
    script = page_script(page_asset("report.js"))
    policy = page_policy(script, style)
    return page_asset("report.html").format(title=escape(title), policy=policy, style=style, body=body, script=script)
